//! From keys to text.

use super::pkcs8::{self, Algorithm};
use super::{Secret, pbes2, pem, to_jwk};
use crate::asymmetric::secp256k1::Encoding;
use crate::{Error, Misuse, age};
use zeroize::Zeroizing;

/// What a text is encrypted with.
pub(super) enum Protection<'a> {
    Open,
    Passphrase(&'a str),
    Recipients(&'a [age::Recipient]),
}

/// The text of a key, encrypted or not.
pub(super) fn text(key: &Secret, lock: Protection<'_>) -> Result<Zeroizing<String>, Error> {
    let file = match lock {
        Protection::Open => return plain(key),
        Protection::Passphrase("") => return Err(pbes2::EMPTY_PASSPHRASE),
        Protection::Passphrase(passphrase) => match to_pkcs8(key)? {
            Some(der) => return pem::write("ENCRYPTED PRIVATE KEY", &pbes2::seal(&der, passphrase)?),
            None => sealed(key, &[age::Recipient::passphrase(passphrase)?])?,
        },
        Protection::Recipients(recipients) => sealed(key, recipients)?,
    };
    String::from_utf8(file).map(Zeroizing::new).map_err(|_| Error::Format("not an armored age file"))
}

fn sealed(key: &Secret, recipients: &[age::Recipient]) -> Result<Vec<u8>, Error> {
    age::seal(plain(key)?.as_bytes(), recipients, age::Armor::Ascii)
}

fn plain(key: &Secret) -> Result<Zeroizing<String>, Error> {
    match (key, to_pkcs8(key)?) {
        (_, Some(der)) => pem::write("PRIVATE KEY", &der),
        (Secret::Symmetric(key), _) => Ok(to_jwk(key)),
        (Secret::Age(identity), _) => {
            let (identity, recipient) = (identity.to_text()?, identity.recipient().to_string());
            // Room for all of it: a string that grows leaves copies behind.
            let mut text = Zeroizing::new(String::with_capacity(recipient.len() + identity.len() + 32));
            // As age-keygen writes it.
            for part in ["# public key: ", &recipient, "\n", &identity, "\n"] {
                text.push_str(part);
            }
            Ok(text)
        }
        _ => Err(Misuse::UnsuitableKey("this key has no text, and cannot be kept in a file").into()),
    }
}

/// `None` of keys that are not kept so.
fn to_pkcs8(key: &Secret) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    let (algorithm, secret, public): (_, &[u8], _) = match key {
        Secret::Symmetric(_) | Secret::Age(_) => return Ok(None),
        Secret::Rsa(key) => return key.to_pkcs8().map(Some),
        Secret::P256(key) => (Algorithm::P256, key.as_bytes(), key.public().as_bytes().to_vec()),
        Secret::Secp256k1(key) => {
            (Algorithm::Secp256k1, key.as_bytes(), key.public().to_bytes(Encoding::Uncompressed))
        }
        Secret::X25519(key) => (Algorithm::X25519, key.as_bytes(), Vec::new()),
        Secret::XWing(key) => (Algorithm::XWing, key.seed(), Vec::new()),
    };
    pkcs8::to_private(algorithm, secret, &public).map(Some)
}
