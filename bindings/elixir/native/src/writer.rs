//! Encrypted files written in pieces.

use crate::error::{Answer, CallError};
use crate::file_keys::EncryptWith;
use crate::paths::{durability, path};
use crate::shared::{Exclusive, ended};
use rustler::types::atom::ok;
use rustler::{Atom, Binary, Resource, ResourceArc};
use sealane::{file, without_signals};

/// An encrypted file without a name yet. If it is dropped, for example because its process ended,
/// nothing remains.
pub(crate) struct Writer(Exclusive<file::Writer>);

#[rustler::resource_impl]
impl Resource for Writer {
    const IMPLEMENTS_DESTRUCTOR: bool = true;

    /// The garbage collector runs on a normal scheduler, and removing a long file takes a while.
    /// Without a thread, the closure is dropped here, and the writer with it.
    fn destructor(self, _: rustler::Env<'_>) {
        let builder = std::thread::Builder::new().name("sealane".into());
        let _ = without_signals(|| builder.spawn(move || drop(self)));
    }
}

#[rustler::nif(schedule = "DirtyIo")]
fn writer_create(file: Binary, with: ResourceArc<EncryptWith>) -> Answer<(Atom, ResourceArc<Writer>)> {
    let writer =
        file::Writer::create(path(&file), &with.0).map_err(|error| CallError::from(error).tuple())?;
    Ok((ok(), ResourceArc::new(Writer(Exclusive::new(writer)))))
}

#[rustler::nif(schedule = "DirtyIo")]
fn writer_push(writer: ResourceArc<Writer>, data: Binary) -> Answer<Atom> {
    let push = || {
        let mut inside = writer.0.enter()?;
        inside.as_mut().ok_or_else(ended)?.push(&data)?;
        Ok(ok())
    };
    push().map_err(CallError::tuple)
}

#[rustler::nif(schedule = "DirtyIo")]
fn writer_finish(writer: ResourceArc<Writer>, synced: bool) -> Answer<Atom> {
    let finish = || {
        let writer = writer.0.enter()?.take().ok_or_else(ended)?;
        writer.finish(durability(synced))?;
        Ok(ok())
    };
    finish().map_err(CallError::tuple)
}

/// Removes what was written. A finished writer stays as it is.
#[rustler::nif(schedule = "DirtyIo")]
fn writer_abort(writer: ResourceArc<Writer>) -> Answer<Atom> {
    drop(writer.0.enter().map_err(CallError::raise)?.take());
    Ok(ok())
}
