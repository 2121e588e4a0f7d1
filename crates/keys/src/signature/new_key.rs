//! New Ed25519 keys in OpenSSH's format (PROTOCOL.key), as `ssh-keygen -t ed25519` makes them.

use crate::encoding::pem;
use crate::openssh::{self, STACK};
use crate::passphrase::check_passphrase;
use crate::prelude::*;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use ssh_key::private::{Ed25519Keypair, Ed25519PrivateKey};
use ssh_key::public::Ed25519PublicKey;
use ssh_key::{Cipher, Kdf, PrivateKey};

/// The rounds of `ssh-keygen`.
const ROUNDS: u32 = 24;
const FAILED: Error = Error::LimitExceeded("the SSH key could not be encoded");

/// A new Ed25519 key: it signs inventories, is an age identity, and OpenSSH reads it.
///
/// ```
/// use sealane::signature::{NewSigningKey, Signers, SigningKey};
///
/// let new = NewSigningKey::generate(None)?;
/// let signature = SigningKey::parse(new.text().as_bytes(), None)?.sign(b"inventory", "")?;
/// assert!(Signers::parse(new.public().as_bytes())?.verify(b"inventory", &signature).is_ok());
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct NewSigningKey {
    text: Zeroizing<String>,
    public: String,
}

impl NewSigningKey {
    /// Generates a key, encrypted if there is a passphrase.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for an empty passphrase,
    /// [`Error::Io`] without random bytes, and [`Error::Cancelled`].
    pub fn generate(passphrase: Option<&str>) -> Result<Self> {
        Computation::Signature.check()?;
        wiping_stack::<STACK, _>(|| Self::new(passphrase))
    }

    fn new(passphrase: Option<&str>) -> Result<Self> {
        let mut seed = Zeroizing::new([0; 32]);
        base::random::fill(&mut *seed)?;
        let random: [u8; 20] = base::random::array()?;
        // The errors of the libraries are about lengths, which are right.
        let pair = Ed25519KeyPair::from_seed_unchecked(&*seed).map_err(|_| FAILED)?;
        let public = Ed25519PublicKey(pair.public_key().as_ref().try_into().map_err(|_| FAILED)?);
        let pair = Ed25519Keypair { public, private: Ed25519PrivateKey::from_bytes(&seed) };
        let mut key = PrivateKey::new(pair.into(), "").map_err(|_| FAILED)?;
        // This one, too.
        let public = key.public_key().to_openssh().map_err(|_| FAILED)?.trim_end().to_owned() + "\n";
        if let Some(passphrase) = passphrase {
            check_passphrase(passphrase).map_err(Error::unsuitable_key)?;
            let (passphrase, plain) = (Zeroizing::new(passphrase.to_owned()), Box::new(key.clone()));
            let (salt, check) = random.split_at(16);
            let check = check.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
            let kdf = Kdf::Bcrypt { salt: salt.to_vec(), rounds: ROUNDS };
            key = interruptible(move || {
                wiping_stack::<STACK, _>(|| {
                    // And this one.
                    plain.encrypt_with(Cipher::Aes256Ctr, kdf, check, &*passphrase).map_err(|_| FAILED)
                })
            })?;
        }
        // And this one.
        Ok(Self { text: pem::write(openssh::LABEL, &key.to_bytes().map_err(|_| FAILED)?)?, public })
    }

    /// Returns the text of the private key file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line of the public key file, `ssh-ed25519 AAAA…`.
    pub fn public(&self) -> &str {
        &self.public
    }
}
