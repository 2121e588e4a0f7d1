//! `sealane.hazmat.SpeckCtr`.

use super::{byte_order, speck_size};
use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::{keys, number};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

keystream! {
    /// The keystream of Speck in counter mode, at any offset.
    ///
    /// **No authentication**: whoever flips a bit of the ciphertext flips that bit of the plaintext. Two
    /// texts under one keystream give away their difference. **Prefer AesCtr or ChaCha20.** Never share a key
    /// with a ``hazmat.Aead``: its one-time keys come from this very stream.
    ///
    /// Parameters
    /// ----------
    /// variant : str
    ///     "speck32-64", "speck48-72", "speck48-96", "speck64-96", "speck64-128", "speck96-96",
    ///     "speck96-144", "speck128-128", "speck128-192" or "speck128-256": bits of a block and of a key.
    ///     Blocks of 32, 48 and 64 bits are told from chance after 2**16, 2**24 and 2**32 of them.
    /// key : bytes-like or sealane.keys.Key
    ///     As many bytes as the variant says. It is copied.
    /// iv : bytes-like
    ///     One block, the first counter: the whole of it counts, big-endian in both byte orders.
    /// byte_order : str
    ///     "big", as the paper prints blocks and keys, or "little", as NSA's guide, Linux and Crypto++ have
    ///     them.
    ///
    /// Every ``offset`` is in bytes from the start of the stream. Encrypting and decrypting are the same
    /// call. The stream ends after 2**64 bytes, or where a small counter would come back to its start:
    /// LimitExceededError, before any byte is written. Safe to share between threads.
    SpeckCtr {
        #[new]
        #[pyo3(signature = (variant, key, iv, byte_order = "big"))]
        fn new(
            py: Python<'_>,
            variant: &str,
            key: &Bound<'_, PyAny>,
            iv: &Bound<'_, PyAny>,
            byte_order: &str,
        ) -> PyResult<Self> {
            let (size, order) = (speck_size(variant)?, self::byte_order(byte_order)?);
            let mut slot = Slot::new(py);
            let (key, iv) = (keys::extract(key)?, slot.read(iv)?.bytes());
            let core = sealane::hazmat::SpeckCtr::new(size, key.as_bytes(), iv, order).map_err(raise)?;
            Ok(Self { core })
        }
    }
}
