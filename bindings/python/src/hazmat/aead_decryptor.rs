//! `sealane.hazmat.AeadDecryptor`.

use super::{Shared, algorithm_of, tag_of};
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::keys;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::InOut;

pieces! {
    /// Decrypts one message in pieces of any length: associated data first, then data, then the tag.
    ///
    /// **It releases plaintext that was not verified.** Until ``finalize(tag)`` returned, what ``update`` gave
    /// may be anything that an attacker likes: do not act on it, do not show it, do not parse it, and throw all
    /// of it away when ``finalize`` raises. ``sealane.Aead`` and ``sealane.decrypt_file`` never put you there.
    ///
    /// Parameters
    /// ----------
    /// algorithm : str
    ///     "aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305" or "xchacha20-poly1305".
    /// key : bytes-like or sealane.keys.Key
    ///     As many bytes as the algorithm has. It is copied.
    /// nonce : bytes-like
    ///     12 bytes, 24 with XChaCha20.
    ///
    /// After ``finalize`` every call raises ValueError. Threads may share an object: whole pieces follow each
    /// other, in the order in which they come.
    AeadDecryptor;

    /// The plaintext of a piece of ciphertext, of the same length, as new bytes. **Not verified.**
    ///
    /// Raises LimitExceededError past what the algorithm can carry; nothing was decrypted then.
    update;

    {
        /// Whether all of it was what somebody with the key encrypted.
        ///
        /// Raises AuthenticationError where it was not: throw away what ``update`` gave.
        fn finalize<'py>(&self, py: Python<'py>, tag: &Bound<'py, PyAny>) -> PyResult<()> {
            let tag = tag_of(tag)?;
            self.core.take(py)?.finalize(&tag).map_err(raise)
        }
    }
}
