//! Files by path, and files in memory.

use crate::error::{Answer, CallError};
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::output::written;
use crate::paths::{durability, path};
use rustler::types::atom::ok;
use rustler::{Atom, Binary, Env, LocalPid, ResourceArc};
use sealane::file::{self, BufferDecryptor, BufferEncryptor};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

mod atoms {
    rustler::atoms! { sealane_progress }
}

/// Runs an operation with the caller's options. It is cancelled when the calling process ends.
fn with_options(
    env: Env<'_>,
    (threads, synced, progress): (usize, bool, Option<LocalPid>),
    work: impl FnOnce(file::Options<'_>) -> Result<(), sealane::Error>,
) -> Answer<Atom> {
    let caller = env.pid();
    let mut report = |done: u64, total: Option<u64>| {
        if let Some(pid) = &progress {
            // A process that has ended needs no reports.
            let _ = env.send(pid, (atoms::sealane_progress(), caller, done, total));
        }
        if env.is_process_alive(caller) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = file::Options {
        threads: NonZeroUsize::new(threads),
        progress: Some(&mut report),
        durability: durability(synced),
    };
    work(options).map_err(|error| CallError::from(error).tuple())?;
    Ok(ok())
}

#[rustler::nif(schedule = "DirtyIo")]
fn encrypt_file(
    env: Env<'_>,
    from: Binary,
    to: Binary,
    with: ResourceArc<EncryptWith>,
    options: (usize, bool, Option<LocalPid>),
) -> Answer<Atom> {
    with_options(env, options, |options| file::encrypt_file(path(&from), path(&to), &with.0, options))
}

#[rustler::nif(schedule = "DirtyIo")]
fn decrypt_file(
    env: Env<'_>,
    from: Binary,
    to: Binary,
    with: ResourceArc<DecryptWith>,
    options: (usize, bool, Option<LocalPid>),
) -> Answer<Atom> {
    with_options(env, options, |options| file::decrypt_file(path(&from), path(&to), &with.0, options))
}

#[rustler::nif(schedule = "DirtyIo")]
fn verify_file(
    env: Env<'_>,
    from: Binary,
    with: ResourceArc<DecryptWith>,
    options: (usize, bool, Option<LocalPid>),
) -> Answer<Atom> {
    with_options(env, options, |options| file::verify_file(path(&from), &with.0, options))
}

#[rustler::nif(schedule = "DirtyCpu")]
fn encrypt_bytes<'a>(
    env: Env<'a>,
    data: Binary,
    with: ResourceArc<EncryptWith>,
) -> Answer<(Atom, Binary<'a>)> {
    let encrypt = || {
        let encryptor = BufferEncryptor::new(&data, &with.0)?;
        written(env, encryptor.len(), |out| encryptor.encrypt_into(out))
    };
    Ok((ok(), encrypt().map_err(CallError::tuple)?))
}

#[rustler::nif(schedule = "DirtyCpu")]
fn decrypt_bytes<'a>(
    env: Env<'a>,
    file: Binary,
    with: ResourceArc<DecryptWith>,
) -> Answer<(Atom, Binary<'a>)> {
    let decrypt = || {
        let decryptor = BufferDecryptor::new(&file, &with.0)?;
        written(env, decryptor.len(), |out| decryptor.decrypt_into(out))
    };
    Ok((ok(), decrypt().map_err(CallError::tuple)?))
}
