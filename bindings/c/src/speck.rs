//! The block cipher Speck.

use crate::call::{exports, freed};
use crate::error::{ArgumentError, CallError};
use crate::library::unknown;
use crate::memory::{Handle, Input, Layout, Output, Owned, count};
use sealane::InOut;
use sealane::hazmat::{self, ByteOrder, SpeckSize};

/// A key of the block cipher.
pub(crate) struct Speck(hazmat::Speck);

impl Handle for Speck {}

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

exports! {
    fn sealane_hazmat_speck_new(
        algorithm: &str, key: &[u8][key_len], byte_order: Option<&str>
    ) -> Owned<Speck> {
        let size = size_named(algorithm, "")?;
        let order = order_named(byte_order)?;
        Ok(Owned::new(Speck(hazmat::Speck::new(size, key, order)?)))
    }
}

freed!(sealane_speck_free(speck: Speck));

exports! {
    fn sealane_speck_encrypt_blocks(speck: &Speck, data: Input[data_len], out: Output[out_len]) -> i64 {
        blocks(data, out, |data| speck.0.encrypt_blocks(data))
    }

    fn sealane_speck_decrypt_blocks(speck: &Speck, data: Input[data_len], out: Output[out_len]) -> i64 {
        blocks(data, out, |data| speck.0.decrypt_blocks(data))
    }
}

fn blocks(
    data: Input<'_>,
    out: Output<'_>,
    each: impl FnOnce(InOut<'_>) -> Result<(), sealane::Error>,
) -> Result<i64, CallError> {
    let Layout { data, .. } = out.arrange(0, data, 0, [])?;
    let len = data.len();
    each(data)?;
    Ok(count(len))
}
