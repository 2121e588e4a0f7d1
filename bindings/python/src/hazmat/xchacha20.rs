//! `sealane.hazmat.XChaCha20`.

use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::{keys, number};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

chacha! {
    /// The keystream of XChaCha20 (draft-irtf-cfrg-xchacha-03), 2**32 blocks of 64 bytes for a nonce, at any
    /// offset.
    XChaCha20;

    ///     24 bytes, which may be random.
    nonce
}
