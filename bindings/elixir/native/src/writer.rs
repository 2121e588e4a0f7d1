//! Encrypted files written in pieces.

use crate::file_keys::EncryptWith;
use crate::files::durability;
use crate::prelude::*;
use crate::shared::{Exclusive, ended};
use sealane::without_signals;

/// An encrypted file without a name yet. If it is dropped, for example because its process ended,
/// nothing remains.
pub(crate) struct Writer(Exclusive<file::Writer>);

#[rustler::resource_impl]
impl Resource for Writer {
    const IMPLEMENTS_DESTRUCTOR: bool = true;

    /// The garbage collector runs on a normal scheduler, and removing a long file takes a while.
    /// Without a thread, the closure is dropped here, and the writer with it.
    fn destructor(self, _: Env<'_>) {
        let builder = std::thread::Builder::new().name("sealane".into());
        let _ = without_signals(|| builder.spawn(move || drop(self)));
    }
}

on_dirty_scheduler! { "DirtyIo":
    tuple fn writer_create(file: Binary, with: ResourceArc<EncryptWith>) {
        let path = path_of(&file);
        let writer = file::Writer::create(&path, &with.0)?;
        Ok(ResourceArc::new(Writer(Exclusive::new(writer))))
    }

    done fn writer_push(writer: ResourceArc<Writer>, data: Binary) {
        Ok(writer.0.enter()?.as_mut().ok_or_else(ended)?.push(&data)?)
    }

    done fn writer_finish(writer: ResourceArc<Writer>, synced: bool) {
        let writer = writer.0.enter()?.take().ok_or_else(ended)?;
        Ok(writer.finish(durability(synced))?)
    }

    /// Removes what was written. A finished writer stays as it is.
    done fn writer_abort(writer: ResourceArc<Writer>) {
        drop(writer.0.enter()?.take());
        Ok(())
    }
}
