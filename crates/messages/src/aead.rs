//! Authenticated encryption of one message.

use crate::Key;
use crate::prelude::*;

mod batch;
mod counter;
pub(crate) mod deterministic;
mod key;
mod keys;
pub(crate) mod packed;
mod usage;

pub(crate) use counter::Counter;
pub use key::MessageKey;
pub use keys::MessageKeys;
pub(crate) use usage::Limit;

/// Gives a wrapper of [`MessageKeys`] or of another wrapper, in its field `keys`, the methods of
/// that type.
#[macro_export]
macro_rules! message_keys {
    ($name:ident: $keys:ident; |$it:ident| $($field:ident: $value:expr),+) => {
        impl std::ops::Deref for $name {
            type Target = $keys;

            #[inline(always)]
            fn deref(&self) -> &$keys {
                &self.keys
            }
        }

        impl From<$name> for $keys {
            fn from(keys: $name) -> Self {
                keys.keys
            }
        }

        impl $name {
            /// Sets the number of threads, see `MessageKeys::with_threads`.
            #[must_use]
            pub fn with_threads(mut self, threads: std::num::NonZeroUsize) -> Self {
                self.keys = self.keys.with_threads(threads);
                self
            }
        }

        base::debug_fields!($name; |$it| $($field: $value),+);
    };
}
/// An algorithm with a key. It can be shared between threads and used after a fork.
///
/// A *sealed* message is `nonce || ciphertext || tag` under a fresh random nonce. `encrypt` and
/// `decrypt` take the nonce from you: never use one twice with the same key. The methods are those
/// of [`MessageKeys`].
///
/// ```
/// use sealane::{Aead, Algorithm, Key};
///
/// let aead = Aead::new(Algorithm::ChaCha20Poly1305, &Key::generate(32)?)?;
/// let sealed = aead.seal(b"hello", b"header")?;
/// assert_eq!(sealed.len(), 5 + aead.overhead());
/// assert_eq!(aead.open(&sealed, b"header")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Aead {
    keys: MessageKeys,
    algorithm: Algorithm,
}

impl Aead {
    /// Expands a key with the default provider: of the process, else of `SEALANE_PROVIDER`, else
    /// the fastest.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for a key that the algorithm does not take,
    /// [`Error::ProviderUnavailable`] if the selected provider (or every provider) cannot compute
    /// the algorithm, [`Error::Environment`] if `SEALANE_PROVIDER` or `SEALANE_CPU` is invalid, and
    /// [`Error::SelfTest`] or [`Error::ProviderRefused`] if the provider fails.
    pub fn new(algorithm: Algorithm, key: &Key) -> Result<Self> {
        Self::with_provider(algorithm, key, None)
    }

    /// Expands a key with `provider`, or as [`Self::new`] if it is `None`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`]. [`Error::ProviderUnavailable`] lists the usable
    /// providers.
    pub fn with_provider(algorithm: Algorithm, key: &Key, provider: Option<Provider>) -> Result<Self> {
        Ok(Self { keys: MessageKey::new(algorithm, key, provider)?.into(), algorithm })
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

message_keys!(Aead: MessageKeys; |it| algorithm: it.algorithm.name(), provider: it.provider().name(), variant: it.variant());

/// A buffer for one message: fill it and seal it without a copy. It is wiped on drop.
///
/// ```
/// # use sealane::{Aead, Algorithm, Key};
/// # let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32)?)?;
/// let mut buffer = aead.buffer(4096);
/// buffer.plaintext()[..5].copy_from_slice(b"hello");
/// let wire = buffer.seal(5, b"")?;
/// assert_eq!(aead.open(wire, b"")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Buffer<'a> {
    aead: &'a MessageKeys,
    bytes: Vec<u8>,
}

impl MessageKeys {
    /// Returns a buffer to seal messages of up to `capacity` bytes in place.
    pub fn buffer(&self, capacity: usize) -> Buffer<'_> {
        // bounded: the caller chooses the capacity, not an input.
        Buffer { aead: self, bytes: vec![0; capacity.saturating_add(self.overhead())] }
    }
}

impl Buffer<'_> {
    /// Returns the plaintext part of the buffer.
    pub fn plaintext(&mut self) -> &mut [u8] {
        let (from, to) = (self.aead.nonce_len(), self.bytes.len() - self.aead.tag_len());
        &mut self.bytes[from..to]
    }

    /// Seals the first `len` bytes. The sealed message stays in the buffer until the next call.
    ///
    /// # Errors
    /// Returns [`Misuse::BufferTooShort`] if `len` exceeds the capacity and the errors of
    /// [`MessageKeys::seal`].
    pub fn seal(&mut self, len: usize, aad: &[u8]) -> Result<&[u8]> {
        let holds = self.plaintext().len();
        if len > holds {
            return Err(Misuse::BufferTooShort { got: holds, need: len }.into());
        }
        let total = self.aead.seal_in_place(&mut self.bytes, len, aad)?;
        Ok(&self.bytes[..total])
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.bytes);
    }
}

debug_fields!(Buffer<'_>; |it| aead: it.aead);

#[cfg(test)]
mod test {
    use super::*;
    use base::error::MessagePart;

    /// Checked as numbers: no test can process 64 GiB.
    #[test]
    fn the_longest_messages() {
        for &algorithm in Algorithm::ALL {
            let aead = Aead::new(algorithm, &Key::generate(algorithm.key_len()).unwrap()).unwrap();
            let nonce = vec![0; aead.nonce_len()];
            let (data, aad) = (aead.max_plaintext_len() as usize, algorithm.max_aad_len() as usize);
            aead.primary().check(&nonce, aad, data).unwrap();
            aead.primary().check(&nonce, 0, 0).unwrap();
            let refused = |aad, data| match aead.primary().check(&nonce, aad, data) {
                Err(Error::MessageLength { part, found, limit }) => (part, found - limit),
                other => panic!("{}: {other:?}", algorithm.name()),
            };
            assert_eq!(refused(0, data + 1), (MessagePart::Data, 1));
            assert_eq!(refused(0, data + 2), (MessagePart::Data, 2));
            if aad < usize::MAX - 1 {
                assert_eq!(refused(aad + 1, data), (MessagePart::AssociatedData, 1));
                assert_eq!(refused(aad + 2, data), (MessagePart::AssociatedData, 2));
            }
        }
    }

    #[test]
    fn a_buffer_seals_up_to_its_length() {
        let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32).unwrap()).unwrap();
        let mut buffer = aead.buffer(100);
        for len in [0, 1, 99, 100] {
            buffer.plaintext().fill(7);
            let wire = buffer.seal(len, b"aad").unwrap();
            assert_eq!(wire.len(), aead.overhead() + len);
            assert_eq!(aead.open(wire, b"aad").unwrap(), vec![7; len]);
        }
        for len in [101, 102, 1000] {
            let refused = buffer.seal(len, b"").map(<[u8]>::len);
            assert!(
                matches!(refused, Err(Error::Misuse(Misuse::BufferTooShort { got: 100, need })) if need == len)
            );
        }
    }
}
