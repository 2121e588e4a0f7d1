//! Calls common to all keystreams.

use crate::prelude::*;
use base::parallel::FreeThreads;
use providers::{InOut, MessageError, segments};
use std::sync::OnceLock;

/// XORs `data` with a keystream from byte `offset` on, and gives segments of long data to free
/// threads. `xor` uses one thread, and writes nothing if the keystream is too short.
pub(super) fn xor_on_threads(
    offset: u64,
    mut data: InOut<'_>,
    xor: impl Fn(u64, InOut<'_>) -> Result<(), MessageError> + Sync,
) -> Result<()> {
    let len = data.len();
    let last = len.saturating_sub(1);
    let threads = FreeThreads::for_message(len, None);
    let (Some(threads), Some(last_offset)) = (threads, offset.checked_add(last as u64)) else {
        return Ok(xor(offset, data)?);
    };
    // The last byte first: if the keystream is too short, nothing is written.
    xor(last_offset, data.part(last, len - last))?;
    let failed = OnceLock::new();
    segments::each(&threads, data.part(0, last), |at, segment| {
        if let Err(error) = xor(offset + at as u64, segment) {
            let _ = failed.set(error);
        }
    });
    failed.into_inner().map_or(Ok(()), |error| Err(error.into()))
}

/// Implements three calls over a keystream's `xor`, and a `Debug` without secrets.
macro_rules! keystream_calls {
    ($keystream:ident) => {
        impl $keystream {
            /// Returns `data` XOR the keystream from byte `offset` on.
            ///
            /// # Errors
            /// Returns [`Error::MessageLength`] if the data ends after the keystream, and writes
            /// nothing: the keystream never wraps.
            pub fn xor_at(&self, offset: u64, data: &[u8]) -> Result<Vec<u8>> {
                let mut out = base::memory::zeroed(data.len())?;
                self.xor(offset, InOut::apart(data, &mut out))?;
                Ok(out)
            }

            /// Writes `data` XOR the keystream to the start of `out`.
            ///
            /// # Errors
            /// Returns the errors of [`Self::xor_at`] and
            /// [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort).
            pub fn xor_into(&self, offset: u64, data: &[u8], out: &mut [u8]) -> Result<()> {
                self.xor(offset, InOut::apart(data, base::memory::first(out, data.len())?))
            }

            /// XORs `data` with the keystream from `offset` on, in place.
            ///
            /// # Errors
            /// Returns the errors of [`Self::xor_at`].
            pub fn xor_in_place(&self, offset: u64, data: &mut [u8]) -> Result<()> {
                self.xor(offset, InOut::in_place(data))
            }
        }

        base::debug_fields!($keystream; |it| variant: it.variant());
    };
}
