//! A symmetric key: bytes that are wiped when dropped and never shown.

use crate::Error;
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The bytes of a symmetric key. Wiped on drop; never shown.
#[derive(Clone)]
pub struct Key(Zeroizing<Box<[u8]>>);

impl Key {
    /// A copy of `bytes`, which must be uniformly random: never a password.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// `len` fresh bytes from the operating system.
    pub fn generate(len: usize) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new(vec![0; len].into_boxed_slice());
        crate::random::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The secret itself.
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

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({} bytes)", self.0.len())
    }
}
