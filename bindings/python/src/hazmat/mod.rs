//! `sealane.hazmat`: raw parts.

use crate::aead::{self, WORTH_DETACHING, unknown};
use crate::buffer::Slot;
use crate::error::raise;
use pyo3::prelude::*;
use sealane::hazmat::{ByteOrder, SpeckSize, TAG_LEN};
use sealane::{Algorithm, Error, Misuse};
use std::sync::{Mutex, PoisonError, TryLockError};

#[macro_use]
mod keystream;
#[macro_use]
mod pieces;

mod aead_decryptor;
mod aead_encryptor;
mod aes_ctr;
mod chacha20;
mod poly1305;
mod speck;
mod speck_aead;
mod speck_ctr;
mod xchacha20;

pub(crate) use aead_decryptor::AeadDecryptor;
pub(crate) use aead_encryptor::AeadEncryptor;
pub(crate) use aes_ctr::AesCtr;
pub(crate) use chacha20::ChaCha20;
pub(crate) use poly1305::Poly1305;
pub(crate) use speck::Speck;
pub(crate) use speck_aead::SpeckAead;
pub(crate) use speck_ctr::SpeckCtr;
pub(crate) use xchacha20::XChaCha20;

/// Something that changes with every call, until it is taken; for threads that come at the same time.
///
/// Whoever holds the lock never waits for the interpreter, so nobody who waits for the lock can be waited
/// for.
struct Shared<T>(Mutex<Option<T>>);

impl<T: Send> Shared<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(Some(value)))
    }

    /// Runs `work` on `len` bytes, letting other Python threads run meanwhile where that pays or has to be.
    ///
    /// # Errors
    /// `ValueError` after [`Self::take`], and those of `work`.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        len: usize,
        work: impl FnOnce(&mut T) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let run = |value: &mut Option<T>| work(value.as_mut().ok_or(Misuse::AlreadyFinalized)?);
        if len < WORTH_DETACHING {
            match self.0.try_lock() {
                Ok(mut value) => return run(&mut value).map_err(raise),
                Err(TryLockError::Poisoned(value)) => return run(&mut value.into_inner()).map_err(raise),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        py.detach(|| run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))).map_err(raise)
    }

    /// The last call.
    ///
    /// # Errors
    /// `ValueError` where it is not the first last one.
    fn take(&self, py: Python<'_>) -> PyResult<T> {
        let value = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        value.ok_or_else(|| raise(Misuse::AlreadyFinalized.into()))
    }
}

fn tag_of(tag: &Bound<'_, PyAny>) -> PyResult<[u8; TAG_LEN]> {
    let mut slot = Slot::new(tag.py());
    let tag = slot.read(tag)?.bytes();
    tag.try_into().map_err(|_| raise(Misuse::TagLength { got: tag.len(), want: TAG_LEN }.into()))
}

fn algorithm_of(name: &str) -> PyResult<Algorithm> {
    aead::find(name)
}

fn speck_size(name: &str) -> PyResult<SpeckSize> {
    SpeckSize::from_name(name)
        .ok_or_else(|| unknown("variant", name, SpeckSize::ALL.iter().map(|size| size.name())))
}

fn byte_order(name: &str) -> PyResult<ByteOrder> {
    match name {
        "big" => Ok(ByteOrder::Big),
        "little" => Ok(ByteOrder::Little),
        _ => Err(unknown("byte order", name, ["big", "little"].into_iter())),
    }
}
