//! Keyrings: keys with identifiers and states. One of them is the primary key.
//!
//! The primary key seals and encrypts, every enabled key opens and decrypts, so old data stays
//! readable when keys are replaced (rotated). A keyring is a Tink keyset, for all Tink tools.

mod deterministic;
mod encrypted;
#[cfg(feature = "pkcs11")]
pub(crate) mod envelope;
mod folder;
mod json;
mod jwk_set;
mod kind;
mod messages;
mod proto;
mod streaming;
#[cfg(test)]
mod test;

pub use self::messages::KeyringAead;
pub use deterministic::KeyringDeterministicAead;
pub use encrypted::EncryptedKeyring;
pub use folder::{FolderKeys, FolderLock};
pub use kind::{KeyType, Purpose};
pub use streaming::{HASHES, Hash, PREFIX_LEN, Parameters, SEGMENTS, Segment, TEMPLATES, Template};

use super::store::MAX_LEN;
use crate::prelude::*;
use ::messages::Key;
use proto::{KeyData, KeysetKey, OUTPUT_PREFIX, STATUS, SYMMETRIC};

/// Maximum number of keys in a keyring; keeps every key file below 256 KiB.
const MAX_KEYS: usize = 512;

const NO_KEY: Misuse = Misuse::UnsuitableKey(
    "the keyring has no key with this identifier; list its keys to see their identifiers",
);
const TOO_MANY: Error =
    Error::LimitExceeded("a keyring is limited to 512 keys, destroyed ones included; generate a new keyring");

/// A keyring. Its keys are wiped on drop and hidden from `Debug`.
///
/// ```
/// use sealane::keys::{Keyring, Prefix};
///
/// let mut ring = Keyring::generate("aes-256-gcm".parse()?, Prefix::Tink)?;
/// let old = ring.primary().id;
/// let new = ring.rotate()?;
/// assert_eq!(ring.primary().id, new);
/// ring.disable(old)?;
/// assert_eq!(Keyring::from_json(&ring.to_json())?.keys().count(), 2);
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    keys: Vec<Entry>,
    /// Index of the primary key in `keys`; it is enabled.
    primary: usize,
}

#[derive(Clone)]
struct Entry {
    id: u32,
    state: KeyState,
    prefix: Prefix,
    /// `None` if and only if the key is destroyed.
    material: Option<(KeyType, Key)>,
}

/// The state of a key. The numbers are Tink's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyState {
    /// The key opens and decrypts.
    Enabled = 1,
    /// The key is kept, but not used until it is enabled again.
    Disabled = 2,
    /// The key is gone. Its identifier remains.
    Destroyed = 3,
}

/// The bytes before each message of a key, to find the key. The numbers are Tink's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Prefix {
    /// The byte 01 and the identifier, big-endian.
    Tink = 1,
    /// The byte 00 and the identifier, big-endian.
    Crunchy = 4,
    /// The bytes of [`Self::Crunchy`], for every type of key in a keyring.
    Legacy = 2,
    /// No bytes: every key without a prefix is tried.
    Raw = 3,
}

/// Public facts about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyInfo {
    /// Its identifier, unique in the keyring.
    pub id: u32,
    /// Its state.
    pub state: KeyState,
    /// The bytes before each message of this key.
    pub prefix: Prefix,
    /// Its type; `None` if it is destroyed.
    pub key_type: Option<KeyType>,
    /// Whether it is the primary key.
    pub primary: bool,
}

/// An enabled key with its secret.
pub struct Enabled<'a> {
    #[doc(hidden)]
    pub id: u32,
    #[doc(hidden)]
    pub prefix: Prefix,
    #[doc(hidden)]
    pub key_type: &'a KeyType,
    #[doc(hidden)]
    pub key: &'a Key,
}

impl KeyState {
    const ALL: [Self; 3] = [Self::Enabled, Self::Disabled, Self::Destroyed];

    /// Returns the name of the state: `"enabled"`, `"disabled"` or `"destroyed"`.
    pub fn name(self) -> &'static str {
        STATUS[self as usize]
    }
}

impl Prefix {
    /// All prefixes, in the order in which users see them.
    pub const ALL: [Self; 4] = [Self::Tink, Self::Crunchy, Self::Legacy, Self::Raw];

    /// Returns the name, such as `"tink"`.
    pub fn name(self) -> &'static str {
        OUTPUT_PREFIX[self as usize]
    }

    /// Returns the default prefix: [`Self::Raw`] for streaming keys, else [`Self::Tink`].
    pub fn default_for(key_type: &KeyType) -> Self {
        if key_type.purpose() == Purpose::Streaming { Self::Raw } else { Self::Tink }
    }

    /// Checks that Tink allows this prefix for this type.
    fn check(self, key_type: &KeyType) -> Result<(), Misuse> {
        let is_xaes = matches!(key_type, KeyType::Aead(Algorithm::Xaes256Gcm) | KeyType::XaesShortSalt(_));
        match (key_type.purpose(), self) {
            (Purpose::Streaming, Self::Tink | Self::Crunchy | Self::Legacy) => {
                Err(Misuse::UnsuitableKey("a streaming key has no prefix; expected raw, found another"))
            }
            (_, Self::Crunchy | Self::Legacy) if is_xaes => {
                Err(Misuse::UnsuitableKey("a key of xaes-256-gcm has the prefix tink or raw, found another"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the bytes before each message of the key `id`, if any.
    pub(crate) fn bytes(self, id: u32) -> Option<[u8; 5]> {
        let [a, b, c, d] = id.to_be_bytes();
        match self {
            Self::Tink => Some([1, a, b, c, d]),
            Self::Crunchy | Self::Legacy => Some([0, a, b, c, d]),
            Self::Raw => None,
        }
    }
}

impl FromStr for Prefix {
    type Err = Error;

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] with a list of the names.
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|prefix| prefix.name() == name);
        found.ok_or(Error::unsuitable_key("expected the prefix tink, raw, crunchy or legacy, found another"))
    }
}

impl Keyring {
    /// Generates a keyring of one key. Most users want the prefix from [`Prefix::default_for`].
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] if the prefix is wrong, [`Error::Io`] without random
    /// bytes.
    pub fn generate(key_type: KeyType, prefix: Prefix) -> Result<Self> {
        Self::from_key(key_type, prefix, &Key::generate(key_type.key_len())?)
    }

    /// Makes a keyring of one key. Streaming keys, and keys used without a keyring, need
    /// [`Prefix::Raw`].
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] or [`Misuse::UnsuitableKey`] if key or prefix do not fit.
    pub fn from_key(key_type: KeyType, prefix: Prefix, key: &Key) -> Result<Self> {
        let entry = Self::entry(&[], None, key_type, prefix, key)?;
        Ok(Self { keys: vec![entry], primary: 0 })
    }

    /// Parses a cleartext Tink keyset in JSON.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other text, or without an enabled primary key.
    /// [`Error::InKeyring`] names the bad key with the reason: [`Error::UnknownKeyType`] for an
    /// unsupported type, [`Error::Format`] for a damaged key or a repeated identifier,
    /// [`Misuse::UnsuitableKey`] or [`Error::LimitExceeded`] for streaming parameters that Tink or
    /// this crate refuses.
    pub fn from_json(text: &str) -> Result<Self> {
        check_len(text.as_bytes())?;
        Self::read(json::read(text)?)
    }

    /// Parses a cleartext Tink keyset in the binary format (protocol buffers).
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_json`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        check_len(bytes)?;
        Self::read(proto::decode(bytes).ok_or(Error::Format(
            "expected a cleartext Tink keyset in the binary format, without unknown fields; found other bytes",
        ))?)
    }

    /// Returns the cleartext keyset in Tink's JSON, with the secret keys.
    pub fn to_json(&self) -> Zeroizing<String> {
        json::write(&self.keyset())
    }

    /// Returns the cleartext keyset in Tink's binary format, with the secret keys.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        proto::encode(&self.keyset())
    }

    /// Returns the use of the keyring, the same for all its keys.
    pub fn purpose(&self) -> Purpose {
        purpose(&self.keys).expect("the primary key has a type")
    }

    /// Lists the keys in order, without secrets.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = KeyInfo> + '_ {
        self.keys.iter().enumerate().map(|(at, entry)| KeyInfo {
            id: entry.id,
            state: entry.state,
            prefix: entry.prefix,
            key_type: entry.material.as_ref().map(|(key_type, _)| *key_type),
            primary: at == self.primary,
        })
    }

    /// Returns public facts about the primary key.
    pub fn primary(&self) -> KeyInfo {
        self.keys().nth(self.primary).expect("a keyring has a primary key")
    }

    /// Adds a key, to open and decrypt; [`Self::promote`] it to seal. Returns its identifier.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] or [`Misuse::UnsuitableKey`] if the key, its prefix or its use
    /// does not fit, and [`Error::LimitExceeded`] above 512 keys.
    pub fn add(&mut self, key_type: KeyType, prefix: Prefix, key: &Key) -> Result<u32> {
        let entry = Self::entry(&self.keys, None, key_type, prefix, key)?;
        let id = entry.id;
        self.keys.push(entry);
        Ok(id)
    }

    /// Generates and adds a key. Returns its identifier. To seal with it, [`Self::promote`] it.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`], and [`Error::Io`] without random bytes.
    pub fn add_new(&mut self, key_type: KeyType, prefix: Prefix) -> Result<u32> {
        self.add(key_type, prefix, &Key::generate(key_type.key_len())?)
    }

    /// Generates a primary key like the old one, which stays enabled. Returns the new identifier.
    ///
    /// If other machines share the keyring, [`Self::add_new`] a key first, distribute the keyring,
    /// and [`Self::promote`] the key later: they cannot open its messages without it.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] above 512 keys, and [`Error::Io`] without random bytes.
    pub fn rotate(&mut self) -> Result<u32> {
        let KeyInfo { key_type, prefix, .. } = self.primary();
        let id = self.add_new(key_type.expect("the primary key has a type"), prefix)?;
        self.promote(id)?;
        Ok(id)
    }

    /// Makes an enabled key the primary key.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] in [`Error::InKeyring`] if it is missing or not enabled.
    pub fn promote(&mut self, id: u32) -> Result<()> {
        let at = self.find_whole(id)?;
        if self.keys[at].state == KeyState::Disabled {
            return Err(refused(id, "expected an enabled key, found a disabled one; enable it first"));
        }
        self.primary = at;
        Ok(())
    }

    /// Disables a key. It is kept, but opens nothing until it is enabled again.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] in [`Error::InKeyring`] if it is primary, destroyed or
    /// missing.
    pub fn disable(&mut self, id: u32) -> Result<()> {
        let at = self.find_retired(id)?;
        self.keys[at].state = KeyState::Disabled;
        Ok(())
    }

    /// Enables a disabled key.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] in [`Error::InKeyring`] if it is destroyed or missing.
    pub fn enable(&mut self, id: u32) -> Result<()> {
        let at = self.find_whole(id)?;
        self.keys[at].state = KeyState::Enabled;
        Ok(())
    }

    /// Destroys a key: wipes its secret and keeps its identifier. What only this key opens is lost.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] in [`Error::InKeyring`] if it is primary, destroyed or
    /// missing.
    pub fn destroy(&mut self, id: u32) -> Result<()> {
        let at = self.find_retired(id)?;
        (self.keys[at].state, self.keys[at].material) = (KeyState::Destroyed, None);
        Ok(())
    }

    /// Removes a key and its identifier, like `delete` of Tink's keyset managers; what only it
    /// opens is lost. Tink in Go and Java read no keyring with a destroyed key.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] in [`Error::InKeyring`] if it is primary or missing.
    pub fn delete(&mut self, id: u32) -> Result<()> {
        let at = self.find(id)?;
        if at == self.primary {
            return Err(refused(id, IS_PRIMARY));
        }
        self.keys.remove(at);
        self.primary -= usize::from(at < self.primary);
        Ok(())
    }

    /// Returns a keyring with only the primary key.
    #[doc(hidden)]
    pub fn primary_alone(&self) -> Self {
        Self { keys: vec![self.keys[self.primary].clone()], primary: 0 }
    }

    /// Returns the enabled keys with their secrets, the primary key first.
    #[doc(hidden)]
    pub fn enabled(&self) -> impl Iterator<Item = Enabled<'_>> {
        let (older, newer) = self.keys.split_at(self.primary);
        newer.iter().chain(older).filter_map(|entry| match (&entry.material, entry.state) {
            (Some((key_type, key)), KeyState::Enabled) => {
                Some(Enabled { id: entry.id, prefix: entry.prefix, key_type, key })
            }
            _ => None,
        })
    }

    /// Returns the enabled streaming keys with their parameters, the primary key first.
    #[doc(hidden)]
    pub fn streaming(&self) -> impl Iterator<Item = (&Parameters, &Key)> {
        self.enabled().filter_map(|enabled| match enabled.key_type {
            KeyType::Streaming(parameters) => Some((parameters, enabled.key)),
            _ => None,
        })
    }

    /// Makes an entry for a keyring with `others`. The default identifier is random and unique.
    fn entry(
        others: &[Entry],
        id: Option<u32>,
        key_type: KeyType,
        prefix: Prefix,
        key: &Key,
    ) -> Result<Entry> {
        key_type.check(key)?;
        prefix.check(&key_type)?;
        let id = id.map_or_else(|| new_id(others), Ok)?;
        let entry = Entry { id, state: KeyState::Enabled, prefix, material: Some((key_type, key.clone())) };
        check_beside(others, &entry)?;
        Ok(entry)
    }

    fn find(&self, id: u32) -> Result<usize> {
        let found = self.keys.iter().position(|entry| entry.id == id);
        found.ok_or(Error::from(NO_KEY).in_keyring(id))
    }

    /// Returns the index of a key that is not destroyed.
    fn find_whole(&self, id: u32) -> Result<usize> {
        let at = self.find(id)?;
        if self.keys[at].state == KeyState::Destroyed { Err(refused(id, DESTROYED)) } else { Ok(at) }
    }

    /// Returns the index of a key that is neither primary nor destroyed.
    fn find_retired(&self, id: u32) -> Result<usize> {
        let at = self.find_whole(id)?;
        if at == self.primary { Err(refused(id, IS_PRIMARY)) } else { Ok(at) }
    }

    /// Checks a parsed keyset.
    fn read(keyset: proto::Keyset) -> Result<Self> {
        let mut keys = Vec::new();
        for key in &keyset.key {
            let entry = Entry::read(key).map_err(|error| error.in_keyring(key.key_id))?;
            check_beside(&keys, &entry)?;
            keys.push(entry);
        }
        let id = keyset.primary_key_id;
        let primary = keys.iter().position(|entry| entry.id == id);
        let wrong = match primary.map(|at| (at, keys[at].state)) {
            Some((primary, KeyState::Enabled)) => return Ok(Self { keys, primary }),
            Some((_, KeyState::Destroyed)) => "expected an enabled primary key, found a destroyed one",
            Some((_, KeyState::Disabled)) => {
                "expected an enabled primary key, found a disabled one; enable it or promote another key"
            }
            None => "expected the primary key, found no key with its identifier",
        };
        Err(Error::Format(wrong).in_keyring(id))
    }

    fn keyset(&self) -> proto::Keyset {
        proto::Keyset {
            primary_key_id: self.keys[self.primary].id,
            key: self.keys.iter().map(Entry::write).collect(),
        }
    }
}

const IS_PRIMARY: &str = "the primary key stays enabled; promote another key first";
const DESTROYED: &str = "expected a key with a secret, found a destroyed one, which cannot be restored";

impl Entry {
    fn read(key: &KeysetKey) -> Result<Self> {
        let state = KeyState::ALL
            .into_iter()
            .find(|state| *state as i32 == key.status)
            .ok_or(Error::Format("expected the status ENABLED, DISABLED or DESTROYED, found another one"))?;
        let prefix = Prefix::ALL.into_iter().find(|prefix| *prefix as i32 == key.output_prefix_type).ok_or(
            Error::Format("expected outputPrefixType TINK, RAW, CRUNCHY or LEGACY, found another one"),
        )?;
        let material = match (state, &key.key_data) {
            (KeyState::Destroyed, _) => None,
            (_, None) => return Err(Error::Format("expected the member keyData, found none")),
            (_, Some(data)) => {
                let found = KeyType::decode(&data.type_url, &data.value)?;
                if data.key_material_type != SYMMETRIC {
                    return Err(Error::Format("expected keyMaterialType SYMMETRIC, found another one"));
                }
                // The mistake is in a file, not in the call.
                prefix.check(&found.0).map_err(|_| {
                    Error::Format("expected an outputPrefixType that keys of this type have, found another")
                })?;
                Some(found)
            }
        };
        Ok(Self { id: key.key_id, state, prefix, material })
    }

    fn write(&self) -> KeysetKey {
        KeysetKey {
            key_data: self.material.as_ref().map(|(key_type, key)| KeyData {
                type_url: key_type.type_url(),
                // Taken, to avoid copying the bytes.
                value: std::mem::take(&mut *key_type.encode(key)),
                key_material_type: SYMMETRIC,
            }),
            status: self.state as i32,
            key_id: self.id,
            output_prefix_type: self.prefix as i32,
        }
    }
}

/// Checks that a key fits the others: a new identifier, the same use, and not too many keys.
fn check_beside(others: &[Entry], entry: &Entry) -> Result<()> {
    if others.len() >= MAX_KEYS {
        return Err(TOO_MANY);
    }
    if others.iter().any(|other| other.id == entry.id) {
        return Err(Error::Format("expected one key with this identifier, found two").in_keyring(entry.id));
    }
    match (purpose(others), &entry.material) {
        (Some(purpose), Some((key_type, _))) if key_type.purpose() != purpose => Err(refused(
            entry.id,
            "expected a key with the use of the other keys (AEADs, AES-SIV or streaming), found one with another use",
        )),
        _ => Ok(()),
    }
}

fn purpose(keys: &[Entry]) -> Option<Purpose> {
    keys.iter().find_map(|entry| entry.material.as_ref()).map(|(key_type, _)| key_type.purpose())
}

/// Draws a new identifier.
fn new_id(others: &[Entry]) -> Result<u32> {
    loop {
        let id = u32::from_be_bytes(base::random::array()?);
        // Tink accepts every identifier, but warns of 0, because it stands for none.
        if id != 0 && others.iter().all(|other| other.id != id) {
            return Ok(id);
        }
    }
}

/// Checks the length of a keyset before it is parsed.
fn check_len(bytes: &[u8]) -> Result<()> {
    match bytes.len() {
        0..=MAX_LEN => Ok(()),
        _ => Err(Error::Format("expected a keyset, found more than 256 KiB")),
    }
}

fn refused(id: u32, text: &'static str) -> Error {
    Error::unsuitable_key(text).in_keyring(id)
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys()).finish()
    }
}
