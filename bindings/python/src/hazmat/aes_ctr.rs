//! `sealane.hazmat.AesCtr`.

use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::{keys, number};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

keystream! {
    /// The keystream of AES in counter mode (NIST SP 800-38A), 2**64 bytes of it, at any offset.
    ///
    /// **No authentication**: whoever flips a bit of the ciphertext flips that bit of the plaintext. Two
    /// texts under one keystream give away their difference.
    ///
    /// Parameters
    /// ----------
    /// key : bytes-like or sealane.keys.Key
    ///     16, 24 or 32 bytes. It is copied.
    /// iv : bytes-like
    ///     16 bytes, the first counter block: the whole of it counts, big-endian, modulo 2**128.
    ///
    /// Every ``offset`` is in bytes from the start of the stream. Encrypting and decrypting are the same
    /// call. Passing 2**64 raises LimitExceededError before any byte is written; nothing ever wraps. Safe to
    /// share between threads.
    AesCtr {
        #[new]
        fn new(py: Python<'_>, key: &Bound<'_, PyAny>, iv: &Bound<'_, PyAny>) -> PyResult<Self> {
            let mut slot = Slot::new(py);
            let (key, iv) = (keys::extract(key)?, slot.read(iv)?.bytes());
            Ok(Self { core: sealane::hazmat::AesCtr::new(key.as_bytes(), iv).map_err(raise)? })
        }
    }
}
