//! Batches: many messages in one call, consecutive in one buffer, with their lengths.

use crate::call::{Argument, Buffer, Passed, exports};
use crate::error::{ArgumentError, CallError, Result};
use crate::memory::{self, Call, In, Input, Layout, Out, Output};
use sealane::{Algorithm, MessageKeys as Aead, Misuse};
use zeroize::Zeroizing;

/// `const uint64_t *`: lengths to read, as bytes.
struct Lengths<'a>(Input<'a>);

impl Passed for Lengths<'_> {
    type Raw = In;
}

impl<'a> Buffer<'a> for Lengths<'a> {
    fn convert(raw: In, count: usize, call: &'a Call, name: &'static str) -> Result<Self, ArgumentError> {
        raw.input(call, name, count.saturating_mul(size_of::<u64>())).map(Self)
    }
}

/// `uint8_t *`: where the verdict on each message goes, or null.
struct Verdicts<'a>(Out, &'a Call);

impl Passed for Verdicts<'_> {
    type Raw = Out;
}

impl<'a> Argument<'a> for Verdicts<'a> {
    fn convert(raw: Out, call: &'a Call, _: &'static str) -> Result<Self, ArgumentError> {
        Ok(Self(raw, call))
    }
}

exports! {
    fn sealane_aead_seal_many(
        aead: &Aead, data: Input[data_len], lens: Lengths[count], aad: Input[aad_len], out: Output[out_len]
    ) -> i64 {
        let aead = for_batches(aead)?;
        let need = count.saturating_mul(aead.overhead()).saturating_add(data_len);
        let Layout { head: out, others: [data, lens, aad], .. } =
            out.arrange(need, Input::NONE, 0, [data, lens.0, aad])?;
        aead.seal_packed_into(data, &offsets(lens, data.len())?, aad, out)?;
        Ok(memory::count(out.len()))
    }

    fn sealane_aead_open_many(
        aead: &Aead, sealed: Input[sealed_len], lens: Lengths[count], aad: Input[aad_len], out: Output[out_len],
        verdicts: Verdicts
    ) -> i64 {
        let aead = for_batches(aead)?;
        let inputs = [sealed, lens.0, aad];
        let Verdicts(verdicts, call) = verdicts;
        let verdicts = if verdicts.is_null() {
            None
        } else {
            let verdicts = verdicts.output(call, "verdicts", count)?;
            if verdicts.overlaps(&out) {
                return Err(Misuse::PartialOverlap.into());
            }
            Some(verdicts.arrange(count, Input::NONE, 0, inputs)?.head)
        };
        let need = sealed_len.saturating_sub(count.saturating_mul(aead.overhead()));
        let Layout { head: out, others: [sealed, lens, aad], .. } =
            out.arrange(need, Input::NONE, 0, inputs)?;
        let offsets = offsets(lens, sealed.len())?;
        let result = aead.open_packed_into(sealed, &offsets, aad, out).map_err(CallError::from);
        if let Some(verdicts) = verdicts {
            judge(aead, &result, sealed, &offsets, aad, verdicts);
        }
        result?;
        Ok(memory::count(out.len()))
    }
}

/// Returns the keys, unless they are of Speck-Poly1305.
fn for_batches(aead: &Aead) -> Result<&Aead, ArgumentError> {
    match Algorithm::from_name(aead.primary().algorithm()) {
        Some(_) => Ok(aead),
        None => Err(ArgumentError::Unsuitable(
            "expected a key of sealane_aead_new() for a batch, found one of Speck-Poly1305",
        )),
    }
}

/// Writes a batch's verdict on each message.
fn judge(aead: &Aead, result: &Result<()>, sealed: &[u8], offsets: &[i64], aad: &[u8], verdicts: &mut [u8]) {
    match result {
        Ok(()) => verdicts.fill(1),
        // The batch stopped at the first unauthentic message, so open each message again, alone.
        Err(error) if error.code() == CallError::AUTHENTICATION.code() => {
            for (verdict, pair) in verdicts.iter_mut().zip(offsets.windows(2)) {
                let message = &sealed[pair[0] as usize..pair[1] as usize];
                *verdict = aead.open(message, aad).map(Zeroizing::new).is_ok().into();
            }
        }
        Err(_) => {}
    }
}

/// Returns the offsets of messages with these lengths, `len` bytes in total.
fn offsets(lens: &[u8], len: usize) -> Result<Vec<i64>> {
    let lens = || lens.as_chunks().0.iter().map(|len| u64::from_ne_bytes(*len));
    let found = lens().map(u128::from).sum();
    if found != len as u128 {
        return Err(ArgumentError::LengthsOfBatch { found, expected: len }.into());
    }
    let count = lens().len() + 1;
    let mut offsets = Vec::new();
    // The error carries no detail.
    offsets.try_reserve_exact(count).map_err(|_| CallError::out_of_memory(count * size_of::<i64>()))?;
    let mut end = 0;
    offsets.push(end);
    offsets.extend(lens().map(|len| {
        // They add up to the length of a buffer.
        end += len as i64;
        end
    }));
    Ok(offsets)
}
