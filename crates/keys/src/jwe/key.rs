//! The keys of tokens, and what each of them may do.

use super::algorithm::{Accepted, Alg, Enc, How};
use crate::asymmetric::{p256, rsa, x25519};
use crate::encoding::{json, pkcs8};
use crate::jwk::{self, Members};
use crate::prelude::*;
use crate::{Jwk, KeyFile, Keyring, LoadOptions, PublicKey, SecretKey};

/// Keys to encrypt and decrypt tokens: one, or those of a keyring or a JSON Web Key Set.
#[derive(Clone)]
pub struct Keys(pub(super) Vec<Entry>);

debug_fields!(Keys; |it| len: it.0.len());

/// A key with the members of its JSON Web Key that restrict its use.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) kid: Option<String>,
    alg: Option<String>,
    ops: Option<Vec<String>>,
    pub(super) material: Material,
}

#[derive(Clone)]
pub(super) enum Material {
    Symmetric(Key),
    Secret(SecretKey),
    Public(PublicKey),
}

const DAMAGED: Error = Error::Format(
    "expected a JSON Web Key of type oct, EC on P-256, OKP on X25519, or RSA, with its members in base64url; found \
     another key, a part of one, or a point that is not on the curve",
);
const OTHER_USE: Error = Error::Misuse(Misuse::UnsuitableKey(
    "expected a key for encryption, found a JSON Web Key with another use; give one with the use \"enc\" or without a use",
));
const OTHER_KIND: Error = Error::Misuse(Misuse::UnsuitableKey(
    "expected a symmetric key, a P-256, X25519 or RSA key for tokens, found another kind of key",
));

impl Keys {
    /// Parses a JSON Web Key or a JSON Web Key Set with keys of the types `oct`, `EC` on P-256,
    /// `OKP` on X25519 and `RSA`, or another key file without a passphrase.
    ///
    /// Of a set, keys for other uses and of unsupported types are ignored (RFC 7517, section 5).
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other text, a damaged key and a member that is repeated, and
    /// [`Misuse::UnsuitableKey`] for a key with another use.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let whole = text.starts_with('{').then(|| Members::parse(text)).transpose()?;
        let Some(whole) = whole.filter(|whole| whole.keys.is_some() || whole.has_type()) else {
            return match KeyFile::parse(text.as_bytes(), LoadOptions::default())? {
                KeyFile::Secret(key) => (&key).try_into(),
                KeyFile::Public(key) => (&key).try_into(),
                KeyFile::Keyring(ring) => (&ring).try_into(),
            };
        };
        if text.len() > crate::store::MAX_LEN {
            return Err(Error::Format("expected a JSON Web Key, found more than 256 KiB"));
        }
        let keys = jwk::readable(&whole.all()?, Entry::parse)?;
        if keys.is_empty() { Err(DAMAGED) } else { Ok(Self(keys)) }
    }

    /// Joins the keys of several sources; the first ones come first.
    #[must_use]
    pub fn join(all: impl IntoIterator<Item = Self>) -> Self {
        Self(all.into_iter().flat_map(|keys| keys.0).collect())
    }

    /// Returns whether tokens of these keys and `algorithms` need only fast symmetric encryption,
    /// so that only their length decides how long they take.
    pub fn are_quick(&self, algorithms: &[&str]) -> bool {
        let own = self.0.iter().filter_map(|key| key.alg.as_deref());
        let mut all = own.chain(algorithms.iter().copied()).filter_map(Alg::named);
        let is_symmetric = |key: &Entry| matches!(key.material, Material::Symmetric(_));
        self.0.iter().all(is_symmetric) && !all.any(Alg::is_password)
    }

    /// Returns the key that encrypts: the one with this `kid`, or else the first.
    pub(super) fn first(&self, kid: Option<&str>) -> Result<&Entry> {
        let fits = |key: &&Entry| kid.is_none_or(|kid| key.kid.as_deref().is_none_or(|own| own == kid));
        self.0.iter().find(fits).ok_or(
            Misuse::UnsuitableKey("no key has the kid of the headers; give another key, or another kid")
                .into(),
        )
    }

    /// Returns the keys that a header with this `kid` may mean: those with this `kid`, or else
    /// those without one.
    pub(super) fn candidates<'a>(&'a self, kid: Option<&'a str>) -> impl Iterator<Item = &'a Entry> {
        let named = kid.is_some() && self.0.iter().any(|key| key.kid.as_deref() == kid);
        self.0.iter().filter(move |key| kid.is_none() || key.kid.as_deref() == kid.filter(|_| named))
    }
}

impl TryFrom<&SecretKey> for Keys {
    type Error = Error;

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a key of another kind or use.
    fn try_from(key: &SecretKey) -> Result<Self> {
        match key {
            SecretKey::Symmetric(jwk) => Entry::symmetric(jwk.clone(), None),
            SecretKey::P256(_) | SecretKey::X25519(_) | SecretKey::Rsa(_) => {
                Ok(Material::Secret(key.clone()).into())
            }
            _ => Err(OTHER_KIND),
        }
        .map(|key| Self(vec![key]))
    }
}

impl TryFrom<&PublicKey> for Keys {
    type Error = Error;

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a key of another kind.
    fn try_from(key: &PublicKey) -> Result<Self> {
        match key {
            PublicKey::P256(_) | PublicKey::X25519(_) | PublicKey::Rsa(_) => {
                Ok(Self(vec![Material::Public(key.clone()).into()]))
            }
            _ => Err(OTHER_KIND),
        }
    }
}

impl TryFrom<&Keyring> for Keys {
    type Error = Error;

    /// Takes the enabled keys, the primary key first, as [`Keyring::to_jwk_set`] writes them: for
    /// `dir` with the `enc` of their type, and with the identifier as the `kid`.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for keys other than AES-GCM.
    fn try_from(ring: &Keyring) -> Result<Self> {
        Self::parse(&ring.to_jwk_set()?)
    }
}

impl From<Key> for Keys {
    fn from(key: Key) -> Self {
        Self(vec![Material::Symmetric(key).into()])
    }
}

impl From<Material> for Entry {
    fn from(material: Material) -> Self {
        Self { kid: None, alg: None, ops: None, material }
    }
}

impl Entry {
    fn symmetric(jwk: Jwk, ops: Option<Vec<String>>) -> Result<Self> {
        check_use(jwk.usage.as_deref())?;
        Ok(Self { kid: jwk.kid, alg: jwk.alg, ops, material: Material::Symmetric(jwk.key) })
    }

    fn parse(members: &Members<'_>) -> Result<Self> {
        let ops = members.key_ops.map(|ops| {
            let ops = json::array(ops)?.into_iter().map(json::string);
            ops.map(|op| op.map(|op| op.to_string())).collect::<Option<Vec<_>>>()
        });
        let ops = ops.map(|ops| ops.ok_or(DAMAGED)).transpose()?;
        if members.is_type("oct") {
            return Self::symmetric(members.jwk()?, ops);
        }
        let [kid, alg, usage] = members.names()?;
        check_use(usage.as_deref())?;
        Ok(Self { kid, alg, ops, material: Material::asymmetric(members)? })
    }

    /// Returns whether this key may be used with these algorithms: its own `alg` and `key_ops`
    /// allow it, and it has the type and the length. A key is a password only if its `alg` or the
    /// caller says so.
    pub(super) fn fits(&self, alg: &Alg, enc: &Enc, to: Direction, accepted: Accepted<'_>) -> bool {
        let direct = matches!(alg.how, How::Direct);
        let named = match self.alg.as_deref() {
            Some(own) => own == alg.name || (direct && own == enc.name),
            None => !alg.is_password() || accepted.names(alg.name),
        };
        let length =
            |len: usize| matches!(&self.material, Material::Symmetric(key) if key.as_bytes().len() == len);
        let typed = match alg.how {
            How::Direct => length(enc.key_len),
            How::Wrap(len) => length(len),
            How::GcmWrap(algorithm) => length(algorithm.key_len()),
            How::Password(..) => matches!(self.material, Material::Symmetric(_)),
            How::Agreement(_) => self.curve().is_some(),
            How::Oaep(_) => matches!(
                self.material,
                Material::Secret(SecretKey::Rsa(_)) | Material::Public(PublicKey::Rsa(_))
            ),
        };
        // A public key of ECDH does nothing that has a name among the operations.
        let may = |ops: &Vec<String>| match (alg.how, to) {
            (How::Agreement(_), Direction::Encrypt) => true,
            (How::Direct, Direction::Encrypt) => has(ops, &["encrypt"]),
            (How::Direct, Direction::Decrypt) => has(ops, &["decrypt"]),
            (How::Agreement(_) | How::Password(..), _) => has(ops, &["deriveKey", "deriveBits"]),
            (_, Direction::Encrypt) => has(ops, &["wrapKey", "encrypt"]),
            (_, Direction::Decrypt) => has(ops, &["unwrapKey", "decrypt"]),
        };
        let secret = matches!(to, Direction::Encrypt) || !matches!(self.material, Material::Public(_));
        named && typed && secret && self.ops.as_ref().is_none_or(may)
    }

    /// Returns the public key of a curve; `None` for another type of key.
    pub(super) fn curve(&self) -> Option<PublicKey> {
        self.public().filter(|key| matches!(key, PublicKey::P256(_) | PublicKey::X25519(_)))
    }

    pub(super) fn public(&self) -> Option<PublicKey> {
        match &self.material {
            Material::Symmetric(_) => None,
            Material::Secret(key) => key.public(),
            Material::Public(key) => Some(key.clone()),
        }
    }
}

/// What a key is wanted for.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

fn has(ops: &[String], wanted: &[&str]) -> bool {
    ops.iter().any(|op| wanted.contains(&op.as_str()))
}

fn check_use(usage: Option<&str>) -> Result<()> {
    if usage.is_none_or(|usage| usage == "enc") { Ok(()) } else { Err(OTHER_USE) }
}

/// Parses the public key of a curve in a header (`epk`).
pub(super) fn ephemeral(text: &str) -> Option<PublicKey> {
    let Ok(Material::Public(key)) = Material::asymmetric(&Members::parse(text).ok()?) else { return None };
    Some(key)
}

impl Material {
    /// Parses the members of RFC 7518, sections 6.2 and 6.3, and RFC 8037, section 2. A private key
    /// must belong to the public key beside it.
    fn asymmetric(members: &Members<'_>) -> Result<Self> {
        let get = |json: Option<_>| json.and_then(jwk::bytes);
        let number =
            |json| get(json).and_then(|bytes| <[u8; 32]>::try_from(&**bytes).ok()).map(Zeroizing::new);
        let is_curve = |name| members.crv.and_then(json::string).is_some_and(|crv| *crv == name);
        let (secret, public) = if members.is_type("EC") && is_curve("P-256") {
            let (x, y) = (number(members.x).ok_or(DAMAGED)?, number(members.y).ok_or(DAMAGED)?);
            let public = p256::PublicKey::from_bytes(&[&[4][..], &*x, &*y].concat())?;
            let secret = members.d.map(|d| p256::PrivateKey::from_bytes(&*number(Some(d)).ok_or(DAMAGED)?));
            (secret.transpose()?.map(SecretKey::P256), PublicKey::P256(public))
        } else if members.is_type("OKP") && is_curve("X25519") {
            let public = x25519::PublicKey::from_bytes(&*number(members.x).ok_or(DAMAGED)?);
            let secret = members.d.map(|d| x25519::PrivateKey::from_bytes(&*number(Some(d)).ok_or(DAMAGED)?));
            (secret.transpose()?.map(SecretKey::X25519), PublicKey::X25519(public))
        } else if members.is_type("RSA") && members.oth.is_none() {
            let (n, e) = (get(members.n).ok_or(DAMAGED)?, get(members.e).ok_or(DAMAGED)?);
            let public = rsa::PublicKey::from_spki(&pkcs8::rsa_public(&n, &e)?)?;
            let secret = members.d.map(|d| {
                let Members { p, q, dp, dq, qi, .. } = members;
                let rest = [Some(d), *p, *q, *dp, *dq, *qi].map(get);
                let [Some(d), Some(p), Some(q), Some(dp), Some(dq), Some(qi)] = &rest else {
                    return Err(DAMAGED);
                };
                rsa::PrivateKey::from_pkcs8(&pkcs8::rsa_private([&n, &e, d, p, q, dp, dq, qi])?)
            });
            (secret.transpose()?.map(SecretKey::Rsa), PublicKey::Rsa(public))
        } else {
            return Err(DAMAGED);
        };
        match secret {
            None => Ok(Self::Public(public)),
            Some(secret) if secret.public().as_ref() == Some(&public) => Ok(Self::Secret(secret)),
            Some(_) => {
                Err(Error::Format("the public key of the JSON Web Key does not match its private key"))
            }
        }
    }
}
