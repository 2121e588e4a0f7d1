//! Files by path, and files in memory.

use crate::file_keys::{DecryptWith, EncryptWith};
use crate::prelude::*;
use rustler::LocalPid;
use sealane::file::{BufferDecryptor, BufferEncryptor, Durability};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

mod atoms {
    rustler::atoms! { sealane_progress }
}

/// The number of threads, whether files are synced, and a process that gets reports.
type Options = (usize, bool, Option<LocalPid>);

pub(crate) fn durability(synced: bool) -> Durability {
    if synced { Durability::Synced } else { Durability::Cached }
}

/// Runs an operation with the caller's options. It is cancelled when the calling process ends.
fn with_options(
    env: Env<'_>,
    (threads, synced, progress): Options,
    work: impl FnOnce(file::Options<'_>) -> Result<(), sealane::Error>,
) -> Result<()> {
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
    Ok(work(options)?)
}

on_dirty_scheduler! { "DirtyIo":
    done fn encrypt_file[env](from: Binary, to: Binary, with: ResourceArc<EncryptWith>, options: Options) {
        with_options(env, options, |options| file::encrypt_file(&path_of(&from), &path_of(&to), &with.0, options))
    }

    done fn decrypt_file[env](from: Binary, to: Binary, with: ResourceArc<DecryptWith>, options: Options) {
        with_options(env, options, |options| file::decrypt_file(&path_of(&from), &path_of(&to), &with.0, options))
    }

    done fn verify_file[env](from: Binary, with: ResourceArc<DecryptWith>, options: Options) {
        with_options(env, options, |options| file::verify_file(&path_of(&from), &with.0, options))
    }
}

on_dirty_scheduler! { "DirtyCpu":
    tuple fn encrypt_bytes[env](data: Binary, with: ResourceArc<EncryptWith>) {
        let encryptor = BufferEncryptor::new(&data, &with.0)?;
        written(env, encryptor.len(), |out| encryptor.encrypt_into(out))
    }

    tuple fn decrypt_bytes[env](file: Binary, with: ResourceArc<DecryptWith>) {
        let decryptor = BufferDecryptor::new(&file, &with.0)?;
        written(env, decryptor.len(), |out| decryptor.decrypt_into(out))
    }
}
