//! Symmetric keys.

use crate::prelude::*;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The bytes of a symmetric key, wiped on drop and hidden from `Debug`.
///
/// ```
/// use sealane::{Algorithm, Key};
///
/// let key = Key::generate(Algorithm::Aes256Gcm.key_len())?;
/// assert_eq!(key.as_bytes().len(), 32);
/// assert!(!format!("{key:?}").contains(&format!("{:?}", key.as_bytes())));
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone)]
pub struct Key(Zeroizing<Box<[u8]>>);

impl Key {
    /// Copies a key. Its bytes must be uniformly random. For a password, use `keys::derive`.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// Generates a key of `len` bytes with the operating system's random generator.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes, and
    /// [`Error::OutOfMemory`].
    pub fn generate(len: usize) -> Result<Self> {
        let mut bytes = Zeroizing::new(memory::zeroed(len)?.into_boxed_slice());
        base::random::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Returns the bytes of the key. Keep them confidential.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Compares the bytes in constant time. The lengths are not secret.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl Eq for Key {}

debug_text!(Key; |it| "Key({} bytes)", it.0.len());
