//! From text to keys.

use super::pkcs8::{self, Algorithm, Private};
use super::shape::Shape;
use super::{Secret, from_jwk, pbes2, pem};
use crate::asymmetric::secp256k1::Encoding;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::{Error, Misuse, age};
use zeroize::Zeroizing;

const NOT_PRIVATE: Error = Error::Format("not a private key: this is a public one");
const NO_NUMBER: Error =
    Error::Format("not a private key of its curve: it must have 32 bytes, from 1 to the order less 1");
const NO_HEX: Error = Error::Format("not a private key of 64 hexadecimal digits: it has other characters");
const NO_X25519: Error = Error::Format("not a private key of X25519: it must have 32 bytes");
const NO_SEED: Error = Error::Format("not a seed of X-Wing: it must have 32 bytes");

const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";

/// What opens a text.
pub(super) enum DecryptWith<'a> {
    Nothing,
    Passphrase(&'a str),
    Identities(&'a [age::Identity]),
}

/// The key in a file.
pub(super) fn secret(content: &[u8], unlock: DecryptWith<'_>) -> Result<Secret, Error> {
    let plainly = match Shape::of(content)? {
        Shape::Wrapped(file) => return plain(Shape::of(&unwrapped(file, unlock)?)?),
        Shape::Pem(text) if is_openssh(text) => match (age::Identity::from_ssh(text, None), &unlock) {
            (Err(Error::Misuse(Misuse::KeyPassphraseRequired)), DecryptWith::Passphrase(passphrase)) => {
                return age::Identity::from_ssh(text, Some(passphrase)).map(Secret::Age);
            }
            (identity, _) => Secret::Age(identity?),
        },
        Shape::Pem(text) => {
            let block = pem::read(text)?;
            if block.label == ENCRYPTED {
                return decrypted(&block.der, unlock);
            }
            from_block(&block)?
        }
        shape => plain(shape)?,
    };
    match unlock {
        DecryptWith::Nothing => Ok(plainly),
        DecryptWith::Passphrase(_) | DecryptWith::Identities(_) => Err(Misuse::KeyNotEncrypted.into()),
    }
}

/// An identity that opens age files, and nothing else. Its encryption is OpenSSH's.
fn is_openssh(text: &str) -> bool {
    text.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----")
}

fn decrypted(der: &[u8], unlock: DecryptWith<'_>) -> Result<Secret, Error> {
    let DecryptWith::Passphrase(passphrase) = unlock else {
        return Err(Misuse::KeyPassphraseRequired.into());
    };
    let der = pbes2::open(der, passphrase)?;
    // One wrong passphrase in 256 leaves what looks like padding.
    match pkcs8::is_private(&der) {
        true => from_private(pkcs8::private(&der)?),
        false => Err(Error::WrongPassphrase),
    }
}

/// The text in an age file.
fn unwrapped(file: &[u8], unlock: DecryptWith<'_>) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut binary = Vec::new();
    let file = match age::Armor::detect(file) {
        Some(age::Armor::Ascii) => {
            let mut decoder = age::armor::Decoder::new();
            decoder.push(file, &mut binary)?;
            decoder.finish(&mut binary)?;
            &binary
        }
        _ => file,
    };
    let (header, _) = age::Header::parse_whole(file)?;
    match (unlock, header.wants_passphrase()) {
        (DecryptWith::Passphrase(passphrase), true) => {
            age::open(file, &[age::Identity::passphrase(passphrase)])
        }
        (DecryptWith::Identities(identities), false) => age::open(file, identities),
        (_, true) => Err(Misuse::KeyPassphraseRequired.into()),
        (_, false) => Err(Misuse::KeyIdentityRequired.into()),
    }
}

/// Of what is not encrypted, or not any more.
fn plain(shape: Shape<'_>) -> Result<Secret, Error> {
    match shape {
        Shape::Jwk(text) => from_jwk(text).map(Secret::Symmetric),
        Shape::Pem(text) if is_openssh(text) => age::Identity::from_ssh(text, None).map(Secret::Age),
        Shape::Pem(text) => from_block(&pem::read(text)?),
        Shape::Identity(line) => line.parse().map(Secret::Age),
        Shape::PrivateHex(digits) => {
            let mut bytes = Zeroizing::new([0; 32]);
            base16ct::mixed::decode(digits, &mut *bytes).map_err(|_| NO_HEX)?;
            secp256k1::PrivateKey::from_bytes(&bytes).map(Secret::Secp256k1).map_err(|_| NO_NUMBER)
        }
        Shape::Recipient(_) | Shape::PublicHex(_) => Err(NOT_PRIVATE),
        Shape::Wrapped(_) => Err(Error::Format("not a key: there is another age file in this one")),
    }
}

fn from_block(block: &pem::Block) -> Result<Secret, Error> {
    match &block.label[..] {
        "PRIVATE KEY" => from_private(pkcs8::private(&block.der)?),
        "EC PRIVATE KEY" => from_private(pkcs8::private_sec1(&block.der)?),
        "RSA PRIVATE KEY" => {
            let pkcs8 = pkcs8::to_private(Algorithm::Rsa, &block.der, &[])?;
            from_private(pkcs8::private(&pkcs8)?)
        }
        ENCRYPTED => Err(Error::Format("not a key: what the age file holds is encrypted once more")),
        label if label.ends_with("PUBLIC KEY") => Err(NOT_PRIVATE),
        _ => Err(Error::Format("not a private key in PEM: expected -----BEGIN PRIVATE KEY-----")),
    }
}

fn from_private(private: Private<'_>) -> Result<Secret, Error> {
    let bytes = private.secret;
    let number = || <&[u8; 32]>::try_from(bytes).map_err(|_| NO_NUMBER);
    match private.algorithm {
        Algorithm::Rsa => rsa::PrivateKey::from_pkcs8(bytes).map(Secret::Rsa),
        Algorithm::P256 => {
            let key = p256::PrivateKey::from_bytes(number()?).map_err(|_| NO_NUMBER)?;
            private.check(key.public().as_bytes())?;
            Ok(Secret::P256(key))
        }
        Algorithm::Secp256k1 => {
            let key = secp256k1::PrivateKey::from_bytes(number()?).map_err(|_| NO_NUMBER)?;
            private.check(&key.public().to_bytes(Encoding::Uncompressed))?;
            Ok(Secret::Secp256k1(key))
        }
        Algorithm::X25519 => {
            let key = x25519::PrivateKey::from_bytes(bytes.try_into().map_err(|_| NO_X25519)?)?;
            private.check(key.public().as_bytes())?;
            Ok(Secret::X25519(key))
        }
        Algorithm::XWing => {
            let key = xwing::PrivateKey::from_seed(bytes.try_into().map_err(|_| NO_SEED)?)?;
            private.check(key.public().as_bytes())?;
            Ok(Secret::XWing(key))
        }
    }
}
