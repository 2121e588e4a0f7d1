//! A symmetric key: bytes that are wiped when dropped and never shown.

use crate::Error;
use std::fmt;
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

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({} bytes)", self.0.len())
    }
}
