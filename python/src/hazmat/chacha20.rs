//! `sealane.hazmat.ChaCha20`.

use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::{keys, number};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

keystream! {
    /// The keystream of ChaCha20 (RFC 8439), 2**32 blocks of 64 bytes for a nonce, at any offset.
    ///
    /// **No authentication**: whoever flips a bit of the ciphertext flips that bit of the plaintext. Two
    /// texts under one keystream give away their difference.
    ///
    /// Parameters
    /// ----------
    /// key : bytes-like or sealane.keys.Key
    ///     32 bytes. It is copied.
    /// nonce : bytes-like
    ///     12 bytes.
    /// counter : int
    ///     The number of the block that offset 0 begins with, below 2**32.
    ///
    /// Every ``offset`` is in bytes from the start of the stream. Encrypting and decrypting are the same
    /// call. Block 2**32 raises LimitExceededError before any byte is written; nothing ever wraps. Safe to
    /// share between threads.
    ChaCha20 {
        #[new]
        #[pyo3(signature = (key, nonce, counter = 0))]
        fn new(
            py: Python<'_>,
            key: &Bound<'_, PyAny>,
            nonce: &Bound<'_, PyAny>,
            #[pyo3(from_py_with = number::counter)] counter: u32,
        ) -> PyResult<Self> {
            let mut slot = Slot::new(py);
            let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
            let core = sealane::hazmat::ChaCha20::new(key.as_bytes(), nonce, counter).map_err(raise)?;
            Ok(Self { core })
        }
    }
}
