//! New Erlang binaries for results.

use crate::error::{CallError, Result};
use rustler::{Binary, Env, NewBinary, OwnedBinary};
use sealane::InOut;

/// From this length on, a binary is allocated by a call that can fail. For a shorter one, the
/// machine ends if it is out of memory, as for any other term.
const LONG: usize = 1 << 16;

/// A binary being written.
pub(crate) enum Output<'a> {
    Short(NewBinary<'a>),
    Long(OwnedBinary, Env<'a>),
}

impl<'a> Output<'a> {
    #[inline]
    pub(crate) fn new(env: Env<'a>, len: usize) -> Result<Self> {
        if len < LONG {
            return Ok(Self::Short(NewBinary::new(env, len)));
        }
        OwnedBinary::new(len).map(|binary| Self::Long(binary, env)).ok_or(CallError::out_of_memory(len))
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Short(binary) => binary.as_mut_slice(),
            Self::Long(binary, _) => binary.as_mut_slice(),
        }
    }

    #[inline]
    pub(crate) fn finish(self) -> Binary<'a> {
        match self {
            Self::Short(binary) => binary.into(),
            Self::Long(binary, env) => binary.release(env),
        }
    }
}

/// Returns a binary of `len` bytes written by `work`.
#[inline]
pub(crate) fn written<'a, E: Into<CallError>>(
    env: Env<'a>,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> Result<Binary<'a>> {
    let mut out = Output::new(env, len)?;
    work(out.bytes()).map_err(Into::into)?;
    Ok(out.finish())
}

/// Returns a binary with a copy of `bytes`.
pub(crate) fn copied<'a>(env: Env<'a>, bytes: &[u8]) -> Result<Binary<'a>> {
    written(env, bytes.len(), |out| {
        out.copy_from_slice(bytes);
        Ok::<_, CallError>(())
    })
}

/// Returns a binary as long as `data`, computed from it by `work`.
#[inline]
pub(crate) fn transformed<'a>(
    env: Env<'a>,
    data: &[u8],
    work: impl FnOnce(InOut<'_>) -> Result<(), sealane::Error>,
) -> Result<Binary<'a>> {
    written(env, data.len(), |out| work(InOut::apart(data, out)))
}
