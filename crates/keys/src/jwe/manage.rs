//! How a recipient gets the content encryption key, the CEK (RFC 7518, section 4).

use super::algorithm::{Alg, How};
use super::header::Header;
use super::key::{Entry, Material};
use crate::asymmetric::{p256, x25519};
use crate::encoding::pbes2;
use crate::prelude::*;
use crate::{PublicKey, SecretKey};
use aes_kw::{KeyInit, KwAes192};
use aws_lc_rs::kdf::{SskdfDigestAlgorithmId, get_sskdf_digest_algorithm, sskdf_digest};
use aws_lc_rs::key_wrap::{AES_128, AES_256, AesKek, KeyWrap};
use base::random;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Map, Value, json};
use std::num::NonZeroU32;

/// Words of stack on which the library keeps round keys.
const STACK: usize = 1024;
/// Rounds of PBKDF2 for new tokens: about 0.1 s. `token::PASSWORDS` of them are tried.
const ROUNDS: u32 = 300_000;
const SALT_LEN: usize = 16;
/// Bytes of an encrypted key: those of a modulus of 8192 bits.
const MAX_ENCRYPTED_KEY_LEN: usize = 1024;
/// Bytes of a token's salt (RFC 7518, section 4.8.1.1).
const MIN_SALT_LEN: usize = 8;

const NO_KDF: Error = Error::LimitExceeded("the Concat KDF could not be computed: memory is exhausted");

/// The CEK of a new token, and what the recipient needs to get it.
pub(super) struct Wrapped {
    pub(super) cek: Key,
    pub(super) encrypted_key: Vec<u8>,
    pub(super) members: Map<String, Value>,
}

impl Entry {
    /// Encrypts or derives the CEK of a new token. `cek` is the one of its other recipients.
    pub(super) fn wrap(&self, header: &Header, cek: Option<&Key>) -> Result<Wrapped> {
        let (alg, enc) = (header.alg, header.enc);
        let mut members = Map::new();
        let fresh = || cek.map_or_else(|| Key::generate(enc.key_len), |cek| Ok(cek.clone()));
        let (cek, encrypted_key) = match (alg.how, &self.material) {
            (How::Direct, Material::Symmetric(key)) => (key.clone(), Vec::new()),
            (How::Wrap(_), Material::Symmetric(key)) => wrapped(key, fresh()?)?,
            (How::GcmWrap(algorithm), Material::Symmetric(key)) => {
                let cek = fresh()?;
                let mut iv = Aead::new(algorithm, key)?.seal(cek.as_bytes(), b"")?;
                let mut encrypted_key = iv.split_off(algorithm.nonce_len());
                let tag = encrypted_key.split_off(cek.as_bytes().len());
                members.insert("iv".into(), BASE64.encode(iv).into());
                members.insert("tag".into(), BASE64.encode(tag).into());
                (cek, encrypted_key)
            }
            (How::Agreement(wrap), _) => {
                let public = self.curve().ok_or(Error::NoMatchingKey)?;
                let own = match public {
                    PublicKey::P256(_) => p256::PrivateKey::generate().map(SecretKey::P256)?,
                    _ => x25519::PrivateKey::generate().map(SecretKey::X25519)?,
                };
                let derived = agree(&own, &public, header)?;
                members.insert("epk".into(), own.public().map_or(Value::Null, |public| jwk(&public)));
                match wrap {
                    None => (derived, Vec::new()),
                    Some(_) => wrapped(&derived, fresh()?)?,
                }
            }
            (How::Oaep(hash), _) => {
                let Some(PublicKey::Rsa(public)) = self.public() else { return Err(Error::NoMatchingKey) };
                let cek = fresh()?;
                let encrypted_key = public.wrap(hash, b"", cek.as_bytes())?;
                (cek, encrypted_key)
            }
            (How::Password(..), Material::Symmetric(key)) => {
                let salt: [u8; SALT_LEN] = random::array()?;
                members.insert("p2s".into(), BASE64.encode(salt).into());
                members.insert("p2c".into(), ROUNDS.into());
                wrapped(&stretched(key, alg, &salt, ROUNDS)?, fresh()?)?
            }
            _ => return Err(Error::NoMatchingKey),
        };
        Ok(Wrapped { cek, encrypted_key, members })
    }

    /// Decrypts or derives the CEK. The header's algorithms fit the key.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] for a key that cannot be decrypted, or has another length;
    /// [`Error::Format`] for a header that lacks what its `alg` needs.
    pub(super) fn unwrap(&self, header: &Header, encrypted_key: &[u8]) -> Result<Key> {
        let alg = header.alg;
        let needs_key = !matches!(alg.how, How::Direct | How::Agreement(None));
        if !needs_key && !encrypted_key.is_empty() {
            return Err(Error::Format("expected no encrypted key beside an agreed or shared key, found one"));
        }
        // No CEK or modulus is longer. AES Key Wrap takes six passes over what it unwraps.
        if encrypted_key.len() > MAX_ENCRYPTED_KEY_LEN {
            return Err(Error::Authentication);
        }
        let cek = match (alg.how, &self.material) {
            (How::Direct, Material::Symmetric(key)) => key.clone(),
            (How::Wrap(_), Material::Symmetric(key)) => unwrapped(key, encrypted_key)?,
            (How::GcmWrap(algorithm), Material::Symmetric(key)) => {
                let (iv, tag) = (header.bytes("iv")?, header.bytes("tag")?);
                if (iv.len(), tag.len()) != (algorithm.nonce_len(), algorithm.tag_len()) {
                    return Err(Error::Format("expected an iv of 12 bytes and a tag of 16 in the header"));
                }
                let sealed = [encrypted_key, &tag].concat();
                let cek = Zeroizing::new(Aead::new(algorithm, key)?.decrypt(&iv, &sealed, b"")?);
                Key::from_bytes(&cek)
            }
            (How::Agreement(wrap), Material::Secret(secret)) => {
                let derived = agree(secret, &header.epk()?, header).map_err(hidden)?;
                match wrap {
                    None => derived,
                    Some(_) => unwrapped(&derived, encrypted_key)?,
                }
            }
            (How::Oaep(hash), Material::Secret(SecretKey::Rsa(key))) => {
                // RFC 7516, section 11.5: with a random CEK, a wrong encrypted key takes as long as
                // a wrong content.
                let random = Key::generate(header.enc.key_len)?;
                match key.unwrap(hash, b"", encrypted_key) {
                    Ok(cek) if cek.len() == header.enc.key_len => Key::from_bytes(&cek),
                    Ok(_) | Err(Error::Authentication) => random,
                    Err(why) => return Err(why),
                }
            }
            (How::Password(..), Material::Symmetric(key)) => {
                let key = stretched(key, alg, &header.bytes("p2s")?, header.rounds()?)?;
                unwrapped(&key, encrypted_key)?
            }
            _ => return Err(Error::NoMatchingKey),
        };
        // Who shares the key, or has the public key, can wrap a CEK of any length.
        if cek.as_bytes().len() == header.enc.key_len { Ok(cek) } else { Err(Error::Authentication) }
    }
}

/// A point of low order is an error of the sender, not of the call.
fn hidden(why: Error) -> Error {
    if let Error::Misuse(_) = why { Error::Authentication } else { why }
}

/// ECDH and the Concat KDF of NIST SP 800-56A (RFC 7518, section 4.6.2).
///
/// ```text
/// key  = first bytes of SHA-256(00000001 || Z || info)...
/// info = algorithm || apu || apv, each after its length in 32 bits, || length of the key in bits
/// ```
pub(super) fn agree(own: &SecretKey, other: &PublicKey, header: &Header) -> Result<Key> {
    Computation::ConcatKdf.check()?;
    let shared = match (own, other) {
        (SecretKey::P256(own), PublicKey::P256(other)) => own.diffie_hellman(other)?,
        (SecretKey::X25519(own), PublicKey::X25519(other)) => own.diffie_hellman(other)?,
        _ => return Err(Error::Format("expected an epk on the curve of the recipient's key, found another")),
    };
    let (name, len) = match header.alg.how {
        How::Agreement(Some(len)) => (header.alg.name, len),
        _ => (header.enc.name, header.enc.key_len),
    };
    let mut info = Vec::new();
    for part in [name.as_bytes(), &header.optional_bytes("apu")?, &header.optional_bytes("apv")?] {
        // A header is short.
        info.extend((part.len() as u32).to_be_bytes());
        info.extend_from_slice(part);
    }
    info.extend((8 * len as u32).to_be_bytes());
    let mut key = Zeroizing::new([0; 64]);
    let sha256 = get_sskdf_digest_algorithm(SskdfDigestAlgorithmId::Sha256).ok_or(NO_KDF)?;
    let done = wiping_stack::<STACK, _>(|| sskdf_digest(sha256, &*shared, &info, &mut key[..len]));
    // The lengths are right, so only an allocation can have failed.
    done.map_err(|_| NO_KDF)?;
    Ok(Key::from_bytes(&key[..len]))
}

/// PBKDF2 of a password (RFC 7518, section 4.8.1).
fn stretched(password: &Key, alg: &Alg, salt: &[u8], rounds: u32) -> Result<Key> {
    let How::Password(hash, len) = alg.how else { return Err(Error::NoMatchingKey) };
    let rounds = NonZeroU32::new(rounds).ok_or(Error::Format("expected a p2c above 0, found 0"))?;
    if salt.len() < MIN_SALT_LEN {
        return Err(Error::Format("expected a salt (p2s) of at least 8 bytes, found a shorter one"));
    }
    let label = [alg.name.as_bytes(), &[0]].concat();
    let key = pbes2::pbkdf2(hash, rounds, password.as_bytes(), (&label, salt), len)?;
    Ok(Key::from_bytes(&key))
}

/// AES Key Wrap (RFC 3394). AWS-LC does not offer it for keys of 24 bytes.
enum Kek {
    AwsLc(AesKek),
    RustCrypto(Box<KwAes192>),
}

impl Kek {
    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            24 => KwAes192::new_from_slice(key).ok().map(Box::new).map(Self::RustCrypto),
            len => AesKek::new(if len == 16 { &AES_128 } else { &AES_256 }, key).ok().map(Self::AwsLc),
        }
    }
}

fn check(key: &Key) -> Result<()> {
    let is_192 = key.as_bytes().len() == 24;
    if is_192 { Computation::AesKeyWrap192 } else { Computation::AesKeyWrap }.check()
}

/// Wraps the CEK, and returns both.
pub(super) fn wrapped(key: &Key, cek: Key) -> Result<(Key, Vec<u8>)> {
    check(key)?;
    let mut out = memory::zeroed(cek.as_bytes().len() + 8)?;
    let done = wiping_stack::<STACK, _>(|| match Kek::new(key.as_bytes())? {
        Kek::AwsLc(kek) => kek.wrap(cek.as_bytes(), &mut out).map(drop).ok(),
        Kek::RustCrypto(kek) => kek.wrap_key(cek.as_bytes(), &mut out).map(drop).ok(),
    });
    // Neither gives a reason, or refuses anything of these lengths.
    done.ok_or(Error::ProviderRefused("the provider refused a key of AES Key Wrap"))?;
    Ok((cek, out))
}

pub(super) fn unwrapped(key: &Key, encrypted_key: &[u8]) -> Result<Key> {
    check(key)?;
    let mut out = Zeroizing::new(memory::zeroed(encrypted_key.len())?);
    let len = wiping_stack::<STACK, _>(|| match Kek::new(key.as_bytes())? {
        Kek::AwsLc(kek) => kek.unwrap(encrypted_key, &mut out).map(|cek| cek.len()).ok(),
        Kek::RustCrypto(kek) => kek.unwrap_key(encrypted_key, &mut out).map(<[u8]>::len).ok(),
    });
    // A reason would be about the key.
    Ok(Key::from_bytes(&out[..len.ok_or(Error::Authentication)?]))
}

/// Returns the JSON Web Key of an ephemeral public key.
fn jwk(key: &PublicKey) -> Value {
    match key {
        PublicKey::P256(key) => {
            let [x, y] = [1..33, 33..65].map(|part| BASE64.encode(&key.as_bytes()[part]));
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": y})
        }
        PublicKey::X25519(key) => json!({"kty": "OKP", "crv": "X25519", "x": BASE64.encode(key.as_bytes())}),
        _ => Value::Null,
    }
}
