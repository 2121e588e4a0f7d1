//! The keys of the three curves, and how a message key is made of them.

use super::{Config, Curve, Encoding};
use crate::asymmetric::{ed25519, secp256k1, x25519};
use crate::{Error, Misuse};
use hkdf::HkdfExtract;
use sha2::Sha256;
use zeroize::Zeroizing;

const NO_EPHEMERAL_KEY: Error = Error::Format(
    "not a message of this configuration: it begins with no public key of its curve, or with an encoding that is not allowed",
);

/// Who can read a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PublicKey {
    Secp256k1(secp256k1::PublicKey),
    X25519(x25519::PublicKey),
    Ed25519(ed25519::PublicKey),
}

/// What reads a message. Wiped on drop; never shown.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PrivateKey {
    Secp256k1(secp256k1::PrivateKey),
    X25519(x25519::PrivateKey),
    Ed25519(ed25519::PrivateKey),
}

/// The key of one message.
type MessageKey = Zeroizing<[u8; 32]>;

impl PublicKey {
    /// The public key with these bytes: 32; of secp256k1 33, 65, or 64 as Ethereum has them.
    ///
    /// # Errors
    /// [`Error::Format`] for another length, a second encoding of a key, no point of the curve, and for ed25519 a
    /// point of low order. Those of x25519 are refused where they are used.
    pub fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Self, Error> {
        match curve {
            Curve::Secp256k1 => secp256k1::PublicKey::from_bytes(bytes).map(Self::Secp256k1),
            Curve::X25519 => x25519_public(bytes).map(Self::X25519),
            Curve::Ed25519 => ed25519_public(bytes).map(Self::Ed25519),
        }
    }

    /// The same from hex, with or without `0x`.
    ///
    /// # Errors
    /// Those of [`Self::from_bytes`]; [`Misuse::UnsuitableKey`] for what is not hex.
    pub fn from_hex(curve: Curve, text: &str) -> Result<Self, Error> {
        let digits = digits(text);
        // One byte more than the longest: what is too long is refused below, whatever is cut off.
        let mut room = [0; secp256k1::UNCOMPRESSED_LEN + 1];
        let digits = digits.as_bytes().get(..2 * room.len()).unwrap_or(digits.as_bytes());
        let bytes = base16ct::mixed::decode(digits, &mut room).map_err(|_| {
            Misuse::UnsuitableKey("the public key is not hex: two digits for each byte, after 0x or nothing")
        })?;
        Self::from_bytes(curve, bytes)
    }

    /// Where it is from.
    pub fn curve(&self) -> Curve {
        match self {
            Self::Secp256k1(_) => Curve::Secp256k1,
            Self::X25519(_) => Curve::X25519,
            Self::Ed25519(_) => Curve::Ed25519,
        }
    }

    /// Writes a fresh ephemeral key, and agrees with it on a message key.
    pub(super) fn encapsulate(&self, config: &Config, ephemeral: &mut [u8]) -> Result<MessageKey, Error> {
        match self {
            Self::Secp256k1(public) => {
                let private = secp256k1::PrivateKey::generate()?;
                let mut own = private.public_point();
                let key = derive_secp256k1(config, &mut own.clone(), private.shared_point(public));
                ephemeral.copy_from_slice(encoded(&mut own, config.ephemeral_key));
                Ok(key)
            }
            Self::X25519(public) => {
                let private = x25519::PrivateKey::generate()?;
                ephemeral.copy_from_slice(private.public().as_bytes());
                Ok(derive(ephemeral, &*private.diffie_hellman(public)?))
            }
            Self::Ed25519(public) => {
                let private = ed25519::PrivateKey::generate()?;
                ephemeral.copy_from_slice(private.public().as_bytes());
                Ok(derive(ephemeral, &*private.shared_point(public)))
            }
        }
    }
}

impl PrivateKey {
    /// The private key with these 32 bytes, as eciespy writes it.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`]; [`Misuse::UnsuitableKey`] for what is no key of secp256k1.
    pub fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Self, Error> {
        let bytes = bytes.try_into().map_err(|_| Misuse::KeyLength { got: bytes.len(), want: &[32] })?;
        Ok(match curve {
            Curve::Secp256k1 => Self::Secp256k1(secp256k1::PrivateKey::from_bytes(bytes)?),
            Curve::X25519 => Self::X25519(x25519::PrivateKey::from_bytes(bytes)?),
            Curve::Ed25519 => Self::Ed25519(ed25519::PrivateKey::from_bytes(bytes)),
        })
    }

    /// The same from hex, with or without `0x`; without tables, since it is the secret.
    ///
    /// # Errors
    /// Those of [`Self::from_bytes`]; [`Misuse::UnsuitableKey`] for what is not hex.
    pub fn from_hex(curve: Curve, text: &str) -> Result<Self, Error> {
        let digits = digits(text);
        let mut room = Zeroizing::new([0; 32]);
        if digits.len() != 2 * room.len() {
            return Err(Misuse::KeyLength { got: digits.len() / 2, want: &[32] }.into());
        }
        let bytes = base16ct::mixed::decode(digits, &mut *room).map_err(|_| {
            Misuse::UnsuitableKey("the private key is not hex: two digits for each byte, after 0x or nothing")
        })?;
        Self::from_bytes(curve, bytes)
    }

    /// Where it is from.
    pub fn curve(&self) -> Curve {
        match self {
            Self::Secp256k1(_) => Curve::Secp256k1,
            Self::X25519(_) => Curve::X25519,
            Self::Ed25519(_) => Curve::Ed25519,
        }
    }

    /// The public side.
    pub fn public(&self) -> PublicKey {
        match self {
            Self::Secp256k1(key) => PublicKey::Secp256k1(key.public()),
            Self::X25519(key) => PublicKey::X25519(key.public()),
            Self::Ed25519(key) => PublicKey::Ed25519(key.public()),
        }
    }

    /// The message key that somebody agreed on with this ephemeral key.
    pub(super) fn decapsulate(&self, config: &Config, ephemeral: &[u8]) -> Result<MessageKey, Error> {
        let key = match self {
            Self::Secp256k1(private) => secp256k1::PublicKey::from_bytes(ephemeral).map(|public| {
                let mut theirs = public.uncompressed();
                derive_secp256k1(config, &mut theirs, private.shared_point(&public))
            }),
            Self::X25519(private) => x25519_public(ephemeral)
                .and_then(|public| private.diffie_hellman(&public))
                .map(|shared| derive(ephemeral, &*shared)),
            Self::Ed25519(private) => {
                ed25519_public(ephemeral).map(|public| derive(ephemeral, &*private.shared_point(&public)))
            }
        };
        // Of low order too: that depends on the message alone.
        key.map_err(|_| NO_EPHEMERAL_KEY)
    }
}

impl From<secp256k1::PublicKey> for PublicKey {
    fn from(key: secp256k1::PublicKey) -> Self {
        Self::Secp256k1(key)
    }
}

impl From<x25519::PublicKey> for PublicKey {
    fn from(key: x25519::PublicKey) -> Self {
        Self::X25519(key)
    }
}

impl From<ed25519::PublicKey> for PublicKey {
    fn from(key: ed25519::PublicKey) -> Self {
        Self::Ed25519(key)
    }
}

impl From<secp256k1::PrivateKey> for PrivateKey {
    fn from(key: secp256k1::PrivateKey) -> Self {
        Self::Secp256k1(key)
    }
}

impl From<x25519::PrivateKey> for PrivateKey {
    fn from(key: x25519::PrivateKey) -> Self {
        Self::X25519(key)
    }
}

impl From<ed25519::PrivateKey> for PrivateKey {
    fn from(key: ed25519::PrivateKey) -> Self {
        Self::Ed25519(key)
    }
}

fn x25519_public(bytes: &[u8]) -> Result<x25519::PublicKey, Error> {
    let bytes = bytes.try_into().ok().filter(is_reduced);
    let expected = "not a public key of x25519: 32 bytes, little-endian, of a number below 2^255 - 19";
    Ok(x25519::PublicKey::from_bytes(&bytes.ok_or(Error::Format(expected))?))
}

fn ed25519_public(bytes: &[u8]) -> Result<ed25519::PublicKey, Error> {
    let bytes = bytes.try_into().map_err(|_| Error::Format("not a public key of ed25519: 32 bytes"))?;
    ed25519::PublicKey::from_bytes(bytes)
}

fn digits(text: &str) -> &str {
    text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text)
}

/// Whether a u coordinate is below 2^255 - 19, so that no other bytes are the same key (RFC 7748 section 5).
fn is_reduced(u: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = u;
    *high < 0x7f || (*high == 0x7f && (*low < 0xed || middle.iter().any(|byte| *byte != 0xff)))
}

/// An uncompressed point of secp256k1 (SEC 1 section 2.3.3), encoded where it lies.
fn encoded(point: &mut [u8; secp256k1::UNCOMPRESSED_LEN], encoding: Encoding) -> &[u8] {
    if encoding == Encoding::Compressed {
        point[0] = 2 | (point[64] & 1);
    }
    &point[..encoding.public_len()]
}

pub(super) fn derive_secp256k1(
    config: &Config,
    ephemeral: &mut [u8; secp256k1::UNCOMPRESSED_LEN],
    mut shared: Zeroizing<[u8; secp256k1::UNCOMPRESSED_LEN]>,
) -> MessageKey {
    derive(encoded(ephemeral, config.hkdf_key), encoded(&mut shared, config.hkdf_key))
}

/// HKDF-SHA256 (RFC 5869) without salt and info. The ephemeral key is in it: ECIES would be malleable otherwise.
pub(super) fn derive(ephemeral: &[u8], shared: &[u8]) -> MessageKey {
    let mut extract = HkdfExtract::<Sha256>::new(None);
    extract.input_ikm(ephemeral);
    extract.input_ikm(shared);
    let (mut prk, hkdf) = extract.finalize();
    let mut key = Zeroizing::new([0; 32]);
    hkdf.expand(&[], &mut *key).expect("32 bytes are one block");
    zeroize::Zeroize::zeroize(prk.as_mut_slice());
    key
}
