//! Messages for the holder of a private key.

use crate::error::{Answer, CallError};
use crate::keys::Secret;
use crate::library::algorithm_named;
use crate::output::written;
use rustler::types::atom::ok;
use rustler::{Atom, Binary, Env, ResourceArc};
use sealane::hybrid::{self, Options, hpke};
use sealane::keys::PublicKey;

/// Returns the HPKE options.
fn options<'a>(info: &'a [u8], suite: Option<&str>) -> Result<Options<'a>, CallError> {
    let suite = suite.map(|name| Ok::<_, CallError>(hpke::Aead::try_from(algorithm_named(name)?)?));
    Ok(Options { info, suite: suite.transpose()? })
}

#[rustler::nif(schedule = "DirtyCpu")]
fn hybrid_seal<'a>(
    env: Env<'a>,
    public_key: &str,
    data: Binary,
    aad: Binary,
    info: Binary,
    suite: Option<&str>,
) -> Answer<(Atom, Binary<'a>)> {
    let seal = || {
        let public_key = PublicKey::from_text(public_key)?;
        let sealer = hybrid::sealer(&public_key, options(&info, suite)?)?;
        written(env, sealer.sealed_len(data.len())?, |out| sealer.seal_exact(&data, &aad, out))
    };
    Ok((ok(), seal().map_err(CallError::tuple)?))
}

#[rustler::nif(schedule = "DirtyCpu")]
fn hybrid_open<'a>(
    env: Env<'a>,
    key: ResourceArc<Secret>,
    message: Binary,
    aad: Binary,
    info: Binary,
    suite: Option<&str>,
) -> Answer<(Atom, Binary<'a>)> {
    let open = || {
        let opener = hybrid::opener(key.key(), options(&info, suite)?)?;
        let len = opener.opened_len(message.len())?;
        written(env, len, |out| opener.open_into(&message, &aad, out).map(drop))
    };
    Ok((ok(), open().map_err(CallError::tuple)?))
}
