//! `sealane.hazmat.ChaCha20`.

use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::{keys, number};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

chacha! {
    /// The keystream of ChaCha20 (RFC 8439), 2**32 blocks of 64 bytes for a nonce, at any offset.
    ChaCha20;

    ///     12 bytes.
    nonce
}
