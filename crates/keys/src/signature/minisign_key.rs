//! minisign's signatures, over the crate `minisign`.
//!
//! A secret key is two lines: a comment, and base64. Its third and fourth byte name the derivation
//! from a password, or are zero.

use super::rejection::Rejection;
use base::interrupt::interruptible;
use base::{Error, Misuse};
use base64ct::{Base64, Encoding};
use minisign::{SecretKey, SecretKeyBox, SignatureBox};
use std::io::Cursor;

/// Length of an encoded secret key in bytes.
const SECRET_LEN: usize = 158;
/// Length of an encoded public key in bytes.
const PUBLIC_LEN: usize = 42;
/// Length of a signature in bytes: its algorithm, the key's number, and 64 bytes of Ed25519.
const SIGNATURE_LEN: usize = 74;
/// Length of the trusted comment's signature in bytes.
const COMMENT_SIGNATURE_LEN: usize = 64;

pub(super) struct Private(SecretKey);

#[derive(Clone, Debug)]
pub(super) struct Public(minisign::PublicKey);

impl Private {
    /// Parses a secret key; `None` for other text.
    pub(super) fn parse(text: &str, passphrase: Option<&str>) -> Result<Option<Self>, Error> {
        let Some(encoded) = text.lines().nth(1) else { return Ok(None) };
        let mut bytes = zeroize::Zeroizing::new([0; SECRET_LEN]);
        match Base64::decode(encoded.trim_end(), &mut *bytes) {
            Ok(found) if found.len() == SECRET_LEN && found.starts_with(b"Ed") => {}
            _ => return Ok(None),
        }
        let is_encrypted = bytes[2..4] != [0, 0];
        // The error may quote what it found.
        let boxed = SecretKeyBox::from_string(text).map_err(|_| DAMAGED)?;
        let key = match (is_encrypted, passphrase) {
            // minisign writes zeros as the checksum of such a key; the library would refuse them.
            (false, None) => SecretKey::from_bytes(&*bytes).map_err(|_| DAMAGED),
            (false, Some(_)) => return Err(Misuse::KeyNotEncrypted.into()),
            (true, None) => return Err(Misuse::KeyPassphraseRequired.into()),
            // The error does not distinguish a wrong password from damage.
            (true, Some(text)) => {
                let text = text.to_owned();
                interruptible(move || boxed.into_secret_key(Some(text)).map_err(|_| Error::WrongPassphrase))
            }
        };
        key.map(|key| Some(Self(key)))
    }

    pub(super) fn public(&self) -> Public {
        Public(minisign::PublicKey::from_secret_key(&self.0).expect("the key is decrypted"))
    }

    pub(super) fn sign(&self, message: &[u8], comment: &str) -> Result<String, Error> {
        let signed = minisign::sign(None, &self.0, Cursor::new(message), Some(comment), Some("signature"));
        // The library reads from memory, so only random bytes can be missing.
        let text = signed.map_err(|e| Error::from(std::io::Error::other(e.to_string())))?.into_string();
        // A key without a checksum may be damaged.
        match verify(&[&self.public()], message, &text) {
            Ok(()) => Ok(text),
            Err(_) => Err(DAMAGED),
        }
    }
}

const DAMAGED: Error = Error::Format("expected a minisign secret key, found a damaged one");

impl Public {
    /// Parses a public key file, or only its line of base64; `None` for other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (first, second) = (lines.next()?, lines.next());
        let encoded = second.unwrap_or(first);
        let mut bytes = [0; PUBLIC_LEN];
        // Longer data does not fit, and the library refuses shorter data.
        let found = Base64::decode(encoded, &mut bytes).ok().filter(|found| found.starts_with(b"Ed"))?;
        minisign::PublicKey::from_bytes(found).ok().map(Self)
    }
}

pub(super) fn verify(keys: &[&Public], message: &[u8], signature: &str) -> Result<(), Rejection> {
    // The library ignores the end of a longer signature, and panics if the comment's is shorter.
    let has_len = |line, len| {
        let found = signature.lines().nth(line).and_then(|line| Base64::decode_vec(line.trim()).ok());
        found.is_some_and(|found| found.len() == len)
    };
    if !has_len(1, SIGNATURE_LEN) || !has_len(3, COMMENT_SIGNATURE_LEN) {
        return Err(Rejection::Malformed);
    }
    // The errors say no more than the rejections.
    let signature = SignatureBox::from_string(signature).map_err(|_| Rejection::Malformed)?;
    let signer = keys.iter().find(|key| key.0.keynum() == signature.keynum());
    let signer = signer.ok_or(Rejection::OtherSigner)?;
    // Nor does this one.
    minisign::verify(&signer.0, &signature, Cursor::new(message), true, false, false)
        .map_err(|_| Rejection::Invalid)
}
