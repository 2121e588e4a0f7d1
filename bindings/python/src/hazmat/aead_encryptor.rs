//! `sealane.hazmat.AeadEncryptor`.

use super::{Shared, algorithm_of};
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::keys;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::InOut;

pieces! {
    /// Encrypts one message in pieces of any length: associated data first, then data, then the tag.
    ///
    /// Parameters
    /// ----------
    /// algorithm : str
    ///     "aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305" or "xchacha20-poly1305".
    /// key : bytes-like or sealane.keys.Key
    ///     As many bytes as the algorithm has. It is copied.
    /// nonce : bytes-like
    ///     12 bytes, 24 with XChaCha20. **Never twice with one key.**
    ///
    /// The ciphertext is that of one call over the whole, wherever it is cut. After ``finalize`` every call
    /// raises ValueError. Threads may share an object: whole pieces follow each other, in the order in which they
    /// come.
    AeadEncryptor;

    /// The ciphertext of a piece of plaintext, of the same length, as new bytes.
    ///
    /// Raises LimitExceededError past what the algorithm can carry; nothing was encrypted then.
    update;

    {
        /// The tag, 16 bytes.
        fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
            Ok(PyBytes::new(py, &self.core.take(py)?.finalize()))
        }
    }
}
