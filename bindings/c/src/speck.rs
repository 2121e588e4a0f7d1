//! The block cipher Speck.

use crate::call::{exports, freed};
use crate::error::Result;
use crate::memory::{Handle, Input, Layout, Output, Owned, count};
use sealane::hazmat::Speck;
use sealane::{InOut, named};

impl Handle for Speck {}

exports! {
    fn sealane_hazmat_speck_new(
        algorithm: &str, key: &[u8][key_len], byte_order: Option<&str>
    ) -> Owned<Speck> {
        let size = named::speck_size(algorithm, "")?;
        let order = named::byte_order(byte_order)?;
        Ok(Owned::new(Speck::new(size, key, order)?))
    }
}

freed!(sealane_speck_free(speck: Speck));

exports! {
    fn sealane_speck_encrypt_blocks(speck: &Speck, data: Input[data_len], out: Output[out_len]) -> i64 {
        blocks(data, out, |data| speck.encrypt_blocks(data))
    }

    fn sealane_speck_decrypt_blocks(speck: &Speck, data: Input[data_len], out: Output[out_len]) -> i64 {
        blocks(data, out, |data| speck.decrypt_blocks(data))
    }
}

fn blocks(
    data: Input<'_>,
    out: Output<'_>,
    each: impl FnOnce(InOut<'_>) -> Result<(), sealane::Error>,
) -> Result<i64> {
    let Layout { data, .. } = out.arrange(0, data, 0, [])?;
    let len = data.len();
    each(data)?;
    Ok(count(len))
}
