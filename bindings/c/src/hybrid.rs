//! Messages for the holder of a private key.

use crate::call::{Error, guarded};
use crate::error::CallError;
use crate::keys::Secret;
use crate::library::algorithm_named;
use crate::memory::{CText, Given, In, ResultBytes, Shared, Unique};
use sealane::hybrid::{self, Options, hpke};
use sealane::keys::PublicKey;

/// Returns the HPKE options.
fn options<'a>(info: &'a [u8], suite: Option<&str>) -> Result<Options<'a>, CallError> {
    let suite = suite.map(|name| Ok::<_, CallError>(hpke::Aead::try_from(algorithm_named(name)?)?));
    Ok(Options { info, suite: suite.transpose()? })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hybrid_seal(
    public_key: CText,
    data: In,
    data_len: usize,
    aad: In,
    aad_len: usize,
    info: In,
    info_len: usize,
    suite: CText,
    out: Given,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        out.put("out", || {
            let public_key = PublicKey::from_text(public_key.required(call, "public_key")?)?;
            let (data, aad) = (data.bytes(call, "data", data_len)?, aad.bytes(call, "aad", aad_len)?);
            let info = info.bytes(call, "info", info_len)?;
            let options = options(info, suite.optional(call, "suite")?)?;
            let sealer = hybrid::sealer(&public_key, options)?;
            let mut message = ResultBytes::zeroed(sealer.sealed_len(data.len())?)?;
            sealer.seal_into(data, aad, message.bytes())?;
            Ok(message)
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hybrid_open(
    secret: Shared<Secret>,
    message: In,
    message_len: usize,
    aad: In,
    aad_len: usize,
    info: In,
    info_len: usize,
    suite: CText,
    out: Given,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        out.put("out", || {
            let secret = secret.get(call, "secret")?;
            let message = message.bytes(call, "message", message_len)?;
            let (aad, info) = (aad.bytes(call, "aad", aad_len)?, info.bytes(call, "info", info_len)?);
            let options = options(info, suite.optional(call, "suite")?)?;
            let opener = hybrid::opener(secret.key(), options)?;
            let mut data = ResultBytes::zeroed(opener.opened_len(message.len())?)?;
            opener.open_into(message, aad, data.bytes())?;
            Ok(data)
        })
    })
}
