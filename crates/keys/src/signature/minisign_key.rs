//! Signatures of minisign, computed by the crate `minisign`.
//!
//! A secret key is two lines: a comment, and base64 whose third and fourth byte name the derivation from a password, or are
//! zero.

use super::rejection::Rejection;
use base::interrupt::interruptible;
use base::{Error, Misuse};
use base64ct::{Base64, Encoding};
use minisign::{SecretKey, SecretKeyBox, SignatureBox};
use std::io::Cursor;

/// Number of bytes in an encoded secret key.
const SECRET_LEN: usize = 158;
/// Number of bytes in an encoded public key.
const PUBLIC_LEN: usize = 42;
/// Number of bytes in a signature: its algorithm, the number of the key, and 64 bytes of Ed25519.
const SIGNATURE_LEN: usize = 74;
/// Number of bytes in the signature of the trusted comment.
const COMMENT_SIGNATURE_LEN: usize = 64;

pub(super) struct Private(SecretKey);

#[derive(Clone, Debug)]
pub(super) struct Public(minisign::PublicKey);

impl Private {
    /// Parses a secret key; returns `None` for other text.
    pub(super) fn parse(text: &str, passphrase: Option<&str>) -> Result<Option<Self>, Error> {
        let Some(encoded) = text.lines().nth(1) else { return Ok(None) };
        let mut bytes = zeroize::Zeroizing::new([0; SECRET_LEN]);
        match Base64::decode(encoded.trim_end(), &mut *bytes) {
            Ok(found) if found.len() == SECRET_LEN && found.starts_with(b"Ed") => {}
            _ => return Ok(None),
        }
        let is_encrypted = bytes[2..4] != [0, 0];
        // The text of the error may quote what it found.
        let boxed = SecretKeyBox::from_string(text).map_err(|_| DAMAGED)?;
        let key = match (is_encrypted, passphrase) {
            // The program writes zeros as the checksum of such a key, which the library would refuse.
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
        // The library reads from memory, so only the random bytes of the system can be missing.
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
    /// Parses a public key file, or the line of base64 alone; returns `None` for other text.
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
    // The library ignores the end of a longer signature, and panics for a shorter one of the comment.
    let has_len = |line, len| {
        let found = signature.lines().nth(line).and_then(|line| Base64::decode_vec(line.trim()).ok());
        found.is_some_and(|found| found.len() == len)
    };
    if !has_len(1, SIGNATURE_LEN) || !has_len(3, COMMENT_SIGNATURE_LEN) {
        return Err(Rejection::Malformed);
    }
    // The errors say nothing that the rejections do not.
    let signature = SignatureBox::from_string(signature).map_err(|_| Rejection::Malformed)?;
    let signer = keys.iter().find(|key| key.0.keynum() == signature.keynum());
    let signer = signer.ok_or(Rejection::OtherSigner)?;
    // Nor does this one.
    minisign::verify(&signer.0, &signature, Cursor::new(message), true, false, false)
        .map_err(|_| Rejection::Invalid)
}
