//! The keys of a folder that describes itself: one Tink keyset, wrapped by a key of the user.
//!
//! ```text
//! keyset   = AES-256-GCM keys, the primary among them, for the contents of files;
//!            and an AES-SIV key without prefix, if names are encrypted
//! wrapped  = an armored age file with the keyset in JSON, for recipients or with a passphrase; or
//!            an encrypted Tink keyset: AEAD(keyset in binary, "sealane folder v1") by a symmetric
//!            key, or the ciphertext of a key service or a token
//! MAC      = HMAC-SHA-256(HKDF-SHA-256(keyset in binary, salt LABEL, info "mac"), text)
//! ```
//!
//! Tink makes no primitive of a keyset with keys of two kinds, so it reads a folder's keyset only
//! without the key of the names.

use super::kind::{KeyType, Purpose};
use super::{EncryptedKeyring, Entry, KeyState, Keyring, Prefix, json, new_id, proto};
use crate::age::{self, Identity, Recipient};
use crate::approved::expand_hkdf;
use crate::prelude::*;
use crate::wrapping;
use crate::{Fingerprint, KeyringAead};
use ::messages::Key;
use aws_lc_rs::{hkdf, hmac};

const LABEL: &[u8] = b"sealane folder description v1";
/// Binds what a symmetric key wraps to this use: others may choose what it seals elsewhere.
const WRAPPED: &[u8] = b"sealane folder v1";
const EXPECTED: Error = Error::Format(
    "expected the keyset of a folder: keys for contents, and at most one enabled aes-256-siv key for names",
);

/// What wraps the keys of a folder, or unwraps them.
#[derive(Clone)]
#[non_exhaustive]
pub enum FolderLock {
    /// A keyring of AEAD keys; see [`Self::key`] for a single key.
    Keyring(Keyring),
    /// Wraps for recipients.
    Recipients(Vec<Recipient>),
    /// Unwraps what was wrapped for recipients, or with a passphrase.
    Identities(Vec<Identity>),
    /// A passphrase.
    Passphrase(Zeroizing<String>),
    /// A key of a key service or a token, such as `aws-kms:ARN`, `vault:MOUNT/KEY` or `pkcs11:URI`.
    Service(String),
}

impl FolderLock {
    /// Wraps and unwraps with a key of 16 or 32 bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for another length.
    pub fn key(key: &Key) -> Result<Self> {
        let algorithm = match key.as_bytes().len() {
            16 => Algorithm::Aes128Gcm,
            32 => Algorithm::Aes256Gcm,
            got => return Err(Misuse::KeyLength { got, want: &[16, 32] }.into()),
        };
        Keyring::from_key(KeyType::Aead(algorithm), Prefix::Raw, key).map(Self::Keyring)
    }

    /// Returns the lock for a reference to a key that wraps, such as `vault:transit/backup`, or
    /// `None` for another reference. One with `#` names a file that such a key encrypts.
    pub fn service(reference: &str) -> Option<Self> {
        let is_service = ["aws-kms:", "vault:", "pkcs11:"].iter().any(|it| reference.starts_with(it));
        (is_service && !reference.contains('#')).then(|| Self::Service(reference.to_owned()))
    }
}

// Shows only the kind: a reference may contain a PIN.
debug_text!(FolderLock; |it| "{}", match it {
    FolderLock::Keyring(_) => "Keyring",
    FolderLock::Recipients(_) => "Recipients",
    FolderLock::Identities(_) => "Identities",
    FolderLock::Passphrase(_) => "Passphrase",
    FolderLock::Service(_) => "Service",
});

/// The keys of a folder: for the contents of its files, and for their names.
///
/// ```
/// use sealane::keys::{FolderKeys, FolderLock, Key};
///
/// let lock = FolderLock::key(&Key::generate(32)?)?;
/// let wrapped = FolderKeys::generate(true)?.wrap(&lock)?;
/// assert!(FolderKeys::unwrap(&wrapped, &lock)?.names().is_some());
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FolderKeys(Keyring);

impl FolderKeys {
    /// Generates a key for contents and, if `names`, one for names.
    ///
    /// # Errors
    /// Returns [`Error::Io`] without random bytes.
    pub fn generate(names: bool) -> Result<Self> {
        let mut ring = Keyring::generate(KeyType::Aead(Algorithm::Aes256Gcm), Prefix::Tink)?;
        if names {
            let key = Key::generate(KeyType::AesSiv.key_len())?;
            let (id, material) = (new_id(&ring.keys)?, Some((KeyType::AesSiv, key)));
            ring.keys.push(Entry { id, state: KeyState::Enabled, prefix: Prefix::Raw, material });
        }
        Ok(Self(ring))
    }

    /// Returns the keyring for the contents of files.
    pub fn content(&self) -> Keyring {
        let keys = self.0.keys.iter().filter(|entry| !is_of_names(entry)).cloned().collect();
        // The keys of contents come first.
        Keyring { keys, primary: self.0.primary }
    }

    /// Returns the keyring for names, if names are encrypted.
    pub fn names(&self) -> Option<Keyring> {
        let found = self.0.keys.iter().find(|entry| is_of_names(entry))?;
        Some(Keyring { keys: vec![found.clone()], primary: 0 })
    }

    /// Generates a new primary key for contents. The old ones stay enabled.
    ///
    /// # Errors
    /// Returns the errors of [`Keyring::rotate`].
    pub fn rotate(&mut self) -> Result<()> {
        let names: Vec<_> = self.0.keys.iter().filter(|entry| is_of_names(entry)).cloned().collect();
        self.0.rotate()?;
        self.0.keys.retain(|entry| !is_of_names(entry));
        self.0.primary = self.0.keys.len() - 1;
        self.0.keys.extend(names);
        Ok(())
    }

    /// Disables all keys for contents but the primary one, after no file needs them any more.
    pub fn retire(&mut self) {
        let primary = self.0.primary;
        for (at, entry) in self.0.keys.iter_mut().enumerate() {
            if at != primary && entry.state == KeyState::Enabled && !is_of_names(entry) {
                entry.state = KeyState::Disabled;
            }
        }
    }

    /// Wraps the keys: returns the text of a key file.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of another use, no recipient, or identities;
    /// the errors of [`age::seal`], and of the key service or the token.
    pub fn wrap(&self, lock: &FolderLock) -> Result<String> {
        let ring = &self.0;
        let ciphertext = match lock {
            FolderLock::Recipients(recipients) => {
                return Ok(std::mem::take(&mut *ring.to_text_for(recipients)?));
            }
            FolderLock::Passphrase(text) => {
                return Ok(std::mem::take(&mut *ring.to_text_for(&[Recipient::passphrase(text)?])?));
            }
            FolderLock::Identities(_) => return Err(Error::unsuitable_key(FOR_RECIPIENTS)),
            FolderLock::Keyring(key) => KeyringAead::new(key)?.seal(&ring.to_bytes(), WRAPPED)?,
            FolderLock::Service(name) => wrapping::wrap(name, &ring.to_bytes())?,
        };
        Ok(EncryptedKeyring::new(ring, &ciphertext).to_json())
    }

    /// Unwraps the keys in the text of a key file.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] if they were wrapped in another way,
    /// [`Error::Authentication`] or [`Error::NoMatchingKey`] for another key, and [`Error::Format`]
    /// for other content.
    pub fn unwrap(text: &str, lock: &FolderLock) -> Result<Self> {
        if !text.starts_with('{') {
            let file = age::armor::decode(text.as_bytes())?;
            let identities: &[_] = match lock {
                FolderLock::Identities(identities) => identities,
                FolderLock::Passphrase(text) => &[Identity::passphrase(text)],
                _ => return Err(Error::unsuitable_key(FOR_IDENTITIES)),
            };
            let keyset = age::open(&file, identities)?;
            // The position of the first invalid byte does not help.
            let keyset = std::str::from_utf8(&keyset).map_err(|_| EXPECTED)?;
            return wiping_stack::<2048, _>(|| Self::read(json::read(keyset)?));
        }
        let wrapped = EncryptedKeyring::parse(text.as_bytes())?;
        let keyset = match lock {
            FolderLock::Keyring(key) => {
                Zeroizing::new(KeyringAead::new(key)?.open(wrapped.ciphertext(), WRAPPED)?)
            }
            FolderLock::Service(name) => wrapping::unwrap(name, wrapped.ciphertext())?,
            _ => return Err(Error::unsuitable_key(FOR_A_KEY)),
        };
        super::check_len(&keyset)?;
        wiping_stack::<2048, _>(|| Self::read(proto::decode(&keyset).ok_or(EXPECTED)?))
    }

    fn read(keyset: proto::Keyset) -> Result<Self> {
        let proto::Keyset { primary_key_id, key } = keyset;
        let siv = KeyType::AesSiv.type_url();
        let is_siv = |key: &proto::KeysetKey| key.key_data.as_ref().is_some_and(|it| it.type_url == siv);
        let (names, key): (Vec<_>, Vec<_>) = key.into_iter().partition(is_siv);
        let mut ring = Keyring::read(proto::Keyset { primary_key_id, key })?;
        let names = names.iter().map(Entry::read).collect::<Result<Vec<_>, _>>()?;
        let is_usable = |entry: &Entry| {
            entry.state == KeyState::Enabled && ring.keys.iter().all(|other| other.id != entry.id)
        };
        if ring.purpose() != Purpose::Messages || names.len() > 1 || !names.iter().all(is_usable) {
            return Err(EXPECTED);
        }
        ring.keys.extend(names);
        Ok(Self(ring))
    }

    /// Returns the MAC of a text under the keys, in hexadecimal.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] without memory.
    pub fn mac(&self, text: &[u8]) -> Result<String> {
        let mut key = Zeroizing::new([0; 32]);
        wiping_stack::<2048, _>(|| {
            let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, LABEL).extract(&self.0.to_bytes());
            expand_hkdf(&prk, &[b"mac"], &mut *key)
        })?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &*key), text);
        Ok(base16ct::lower::encode_string(tag.as_ref()))
    }

    /// Returns whether `mac` is the MAC of a text, in constant time.
    ///
    /// # Errors
    /// Returns the errors of [`Self::mac`].
    pub fn verifies(&self, text: &[u8], mac: &str) -> Result<bool> {
        Ok(self.mac(text)?.as_bytes().ct_eq(mac.as_bytes()).into())
    }

    /// Returns the public commitment to the keys.
    ///
    /// # Errors
    /// Returns the errors of [`Fingerprint::of_keyring`].
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        Fingerprint::of_keyring(&self.0)
    }
}

const FOR_RECIPIENTS: &str = "expected recipients or a key, found identities; they only decrypt";
const FOR_IDENTITIES: &str = "the keys of the folder are encrypted for recipients or with a passphrase; give an identity or the passphrase";
const FOR_A_KEY: &str = "the keys of the folder are encrypted with a symmetric key, or by a key service or a token; \
                         give this key, or its reference";

fn is_of_names(entry: &Entry) -> bool {
    matches!(entry.material, Some((KeyType::AesSiv, _)))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::age::Kind;

    #[test]
    fn every_lock_unwraps_what_it_wrapped_and_no_other() {
        let identities: Vec<_> = (0..2).map(|_| Identity::generate(Kind::X25519).unwrap()).collect();
        let key = || FolderLock::key(&Key::generate(32).unwrap()).unwrap();
        let ring = Keyring::generate("xaes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
        let [one, other] = [key(), key()];
        let identity = |at: usize| FolderLock::Identities(vec![identities[at].clone()]);
        let recipients = FolderLock::Recipients(vec![identities[0].recipient()]);
        let cases = [
            (&recipients, identity(0), identity(1)),
            (&one, one.clone(), other),
            (&FolderLock::Keyring(ring.clone()), FolderLock::Keyring(ring), one.clone()),
        ];
        for names in [false, true] {
            let keys = FolderKeys::generate(names).unwrap();
            for (wrap, right, wrong) in &cases {
                let text = keys.wrap(wrap).unwrap();
                let found = FolderKeys::unwrap(&text, right).unwrap();
                assert_eq!(found.0.to_bytes(), keys.0.to_bytes());
                assert_eq!(found.names().is_some(), names);
                assert!(FolderKeys::unwrap(&text, wrong).is_err());
            }
            let text = keys.wrap(&recipients).unwrap();
            assert!(matches!(FolderKeys::unwrap(&text, &one), Err(Error::Misuse(_))));
            let text = keys.wrap(&one).unwrap();
            assert!(matches!(FolderKeys::unwrap(&text, &identity(0)), Err(Error::Misuse(_))));
        }
    }

    #[test]
    fn rotation_keeps_the_key_of_names() {
        let mut keys = FolderKeys::generate(true).unwrap();
        let (mac, names) = (keys.mac(b"text").unwrap(), keys.names().unwrap().to_bytes());
        let old = keys.content().primary().id;
        keys.rotate().unwrap();
        assert_ne!(keys.content().primary().id, old);
        assert_ne!(keys.mac(b"text").unwrap(), mac);
        assert_eq!(keys.names().unwrap().to_bytes(), names);
        keys.retire();
        assert_eq!(keys.content().enabled().count(), 1);
        let lock = FolderLock::key(&Key::generate(16).unwrap()).unwrap();
        let again = FolderKeys::unwrap(&keys.wrap(&lock).unwrap(), &lock).unwrap();
        assert_eq!(again.0.to_bytes(), keys.0.to_bytes());
    }

    #[test]
    fn keysets_of_other_uses_are_refused() {
        let lock = FolderLock::key(&Key::generate(32).unwrap()).unwrap();
        for name in ["tink-4kb", "aes-256-siv"] {
            let key_type: KeyType = name.parse().unwrap();
            let ring = Keyring::generate(key_type, Prefix::default_for(&key_type)).unwrap();
            let text = FolderKeys(ring).wrap(&lock).unwrap();
            assert!(FolderKeys::unwrap(&text, &lock).is_err(), "{name}");
        }
        let mut keys = FolderKeys::generate(true).unwrap();
        let twice = keys.0.keys[1].clone();
        keys.0.keys.push(Entry { id: twice.id ^ 1, ..twice });
        assert!(FolderKeys::unwrap(&keys.wrap(&lock).unwrap(), &lock).is_err());
        keys.0.keys.pop();
        keys.0.keys[1].id = keys.0.keys[0].id;
        assert!(FolderKeys::unwrap(&keys.wrap(&lock).unwrap(), &lock).is_err());
    }
}
