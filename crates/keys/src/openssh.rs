//! Keys in OpenSSH's formats (sshd(8), PROTOCOL.key), over the crate `ssh-key`.

use crate::encoding::pem::Block;
use crate::prelude::*;
use ssh_key::encoding::Decode;
use ssh_key::{Cipher, Kdf, PrivateKey, PublicKey};

/// The PEM label of a private key.
pub(crate) const LABEL: &str = "OPENSSH PRIVATE KEY";

/// Words of stack to wipe after the crate `ssh-key` has had a private key.
pub(crate) const STACK: usize = 1 << 12;

/// Maximum bcrypt rounds for a key's passphrase, about ten seconds. The default of `ssh-keygen` is
/// 24.
const MAX_ROUNDS: u32 = 1024;

pub(crate) const UNSUPPORTED_TYPE: &str =
    "unsupported type of SSH key: ssh-ed25519 and ssh-rsa are supported";
pub(crate) const UNSUPPORTED: Error = Error::Format(UNSUPPORTED_TYPE);
pub(crate) const NOT_PUBLIC: Error =
    Error::Format("expected an SSH public key of type ssh-ed25519 or ssh-rsa, found a damaged one");
pub(crate) const NOT_PRIVATE: Error =
    Error::Format("expected an OpenSSH private key of type ssh-ed25519 or ssh-rsa, found a damaged one");
const OTHER: Error = Error::Format(
    "expected an OpenSSH private key, found another format; convert it with 'ssh-keygen -p -f FILE', for Ed25519 in \
     PKCS#8 with OpenSSH 9.6 or newer",
);
const CIPHER: Error = Error::Format(
    "unsupported encryption of an OpenSSH private key: its cipher is 3des-cbc or unknown here; change it with \
     'ssh-keygen -p -Z aes256-ctr -f FILE'",
);
pub(crate) const MISMATCH: Error =
    Error::Format("the public key in the OpenSSH private key does not match the private key");

/// Returns whether a line is a public key of some type, perhaps with a typing error.
pub(crate) fn is_public(line: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| line.starts_with(start))
}

/// Parses a public key: its type and base64 in fields separated by blanks, perhaps with a comment.
///
/// # Errors
/// Returns [`Error::Format`].
pub(crate) fn public(line: &str) -> Result<PublicKey> {
    let mut fields = line.split_ascii_whitespace();
    match (fields.next(), fields.next()) {
        (Some("ssh-ed25519" | "ssh-rsa"), None) => Err(NOT_PUBLIC),
        // The library's error does not help.
        (Some(kind @ ("ssh-ed25519" | "ssh-rsa")), Some(key)) => {
            PublicKey::from_openssh(&format!("{kind} {key}")).map_err(|_| NOT_PUBLIC)
        }
        _ => Err(UNSUPPORTED),
    }
}

/// Parses a private key, perhaps encrypted.
///
/// # Errors
/// Returns [`Error::Format`].
pub(crate) fn private(block: &Block) -> Result<Box<PrivateKey>> {
    if block.label != LABEL {
        return Err(OTHER);
    }
    let [cipher, kind] = names(&block.der).ok_or(NOT_PRIVATE)?;
    // The name is not UTF-8, or not known.
    let cipher = std::str::from_utf8(&cipher).ok().and_then(|name| name.parse().ok());
    if cipher.is_none_or(|cipher: Cipher| cipher == Cipher::TdesCbc) {
        return Err(CIPHER);
    }
    if ![&b"ssh-ed25519"[..], b"ssh-rsa"].contains(&&kind[..]) {
        return Err(UNSUPPORTED);
    }
    boxed(|| PrivateKey::from_bytes(&block.der)).map_err(|error| match error {
        // Nothing was decrypted yet.
        Error::WrongPassphrase => NOT_PRIVATE,
        other => other,
    })
}

/// Returns a key that moves as a pointer. Its bytes would leave copies, also in the threads and
/// channels of [`interruptible`].
fn boxed(work: impl FnOnce() -> Result<PrivateKey, ssh_key::Error>) -> Result<Box<PrivateKey>> {
    wiping_stack::<STACK, _>(|| work().map(Box::new).map_err(refused))
}

/// Returns the names of the cipher and of the key's type.
fn names(der: &[u8]) -> Option<[Vec<u8>; 2]> {
    let mut rest = der.strip_prefix(b"openssh-key-v1\0")?;
    let mut string = || Vec::decode(&mut rest).ok();
    let (cipher, _kdf, _options) = (string()?, string()?, string()?);
    // After the number of keys: a string with the public key, which begins with its type.
    let mut public = rest.get(8..)?;
    Some([cipher, Vec::decode(&mut public).ok()?])
}

/// Decrypts a private key.
///
/// # Errors
/// Returns [`Misuse::KeyPassphraseRequired`], [`Error::WrongPassphrase`], [`Error::Format`] for a
/// damaged key, and [`Error::LimitExceeded`] for more than 1024 rounds of bcrypt.
pub(crate) fn decrypt(key: &PrivateKey, passphrase: Option<&str>) -> Result<Box<PrivateKey>> {
    let passphrase = passphrase.ok_or(Misuse::KeyPassphraseRequired)?;
    match key.kdf() {
        Kdf::Bcrypt { rounds, .. } if *rounds > MAX_ROUNDS => {
            return Err(Error::LimitExceeded("the SSH key requests more than 1024 rounds of bcrypt"));
        }
        Kdf::Bcrypt { rounds: 1.., salt } if !salt.is_empty() => {}
        _ => return Err(NOT_PRIVATE),
    }
    let (key, passphrase) = (key.clone(), Zeroizing::new(passphrase.to_owned()));
    interruptible(move || boxed(|| key.decrypt(&*passphrase)))
}

fn refused(error: ssh_key::Error) -> Error {
    match error {
        // The check value, or the tag of an AEAD.
        ssh_key::Error::Crypto => Error::WrongPassphrase,
        ssh_key::Error::PublicKey => MISMATCH,
        // The others could quote a secret.
        _ => NOT_PRIVATE,
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::encoding::pem;
    use crate::signature::NewSigningKey;

    #[test]
    fn a_damaged_key_without_a_passphrase_is_damaged() {
        let mut block = pem::read(NewSigningKey::generate(None).unwrap().text()).unwrap();
        for at in 0..block.der.len() {
            block.der[at] ^= 1;
            assert!(matches!(private(&block), Ok(_) | Err(Error::Format(_))), "byte {at}");
            block.der[at] ^= 1;
        }
    }
}
