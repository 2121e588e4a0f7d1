//! The block cipher Speck.

use crate::call::{Error, guarded, infallible};
use crate::error::{ArgumentError, CallError};
use crate::library::unknown;
use crate::memory::{CText, In, Layout, Out, Owned, Shared, Unique, count};
use sealane::InOut;
use sealane::hazmat::{self, ByteOrder, SpeckSize};

/// A key of the block cipher.
pub(crate) struct Speck(hazmat::Speck);

/// Returns the Speck size named `name` without `suffix`.
pub(crate) fn size_named(name: &str, suffix: &str) -> Result<SpeckSize, CallError> {
    name.strip_suffix(suffix).and_then(SpeckSize::from_name).ok_or_else(|| {
        let names: Vec<_> = SpeckSize::ALL.iter().map(|size| format!("{}{suffix}", size.name())).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        unknown("algorithm", &names)
    })
}

/// Returns the byte order with this name; the paper's order if there is no name.
pub(crate) fn order_named(name: Option<&str>) -> Result<ByteOrder, CallError> {
    match name {
        None | Some("big") => Ok(ByteOrder::Big),
        Some("little") => Ok(ByteOrder::Little),
        Some(_) => {
            Err(ArgumentError::Name { name: "byte_order", expected: "\"big\" or \"little\"".into() }.into())
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_speck_new(
    algorithm: CText,
    key: In,
    key_len: usize,
    byte_order: CText,
    error: Unique<Error>,
) -> Owned<Speck> {
    guarded(error, |call| {
        let size = size_named(algorithm.required(call, "algorithm")?, "")?;
        let order = order_named(byte_order.optional(call, "byte_order")?)?;
        Ok(Owned::new(Speck(hazmat::Speck::new(size, key.bytes(call, "key", key_len)?, order)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_speck_free(speck: Owned<Speck>) {
    infallible(|| speck.free());
}

#[unsafe(no_mangle)]
extern "C" fn sealane_speck_encrypt_blocks(
    speck: Shared<Speck>,
    data: In,
    data_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    blocks(speck, (data, data_len), (out, out_len), error, hazmat::Speck::encrypt_blocks)
}

#[unsafe(no_mangle)]
extern "C" fn sealane_speck_decrypt_blocks(
    speck: Shared<Speck>,
    data: In,
    data_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    blocks(speck, (data, data_len), (out, out_len), error, hazmat::Speck::decrypt_blocks)
}

fn blocks(
    speck: Shared<Speck>,
    (data, data_len): (In, usize),
    (out, out_len): (Out, usize),
    error: Unique<Error>,
    each: fn(&hazmat::Speck, InOut<'_>) -> Result<(), sealane::Error>,
) -> i64 {
    guarded(error, |call| {
        let speck = speck.get(call, "speck")?;
        let data = data.input(call, "data", data_len)?;
        let Layout { data, .. } = out.output(call, "out", out_len)?.arrange(0, data, 0, [])?;
        let len = data.len();
        each(&speck.0, data)?;
        Ok(count(len))
    })
}
