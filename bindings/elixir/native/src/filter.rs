//! Streams: pieces go in, encrypted or decrypted bytes come out.

use crate::file_keys::{DecryptWith, EncryptWith};
use crate::prelude::*;
use crate::shared::{Exclusive, ended};
use sealane::file::{ByteQueue, Decryptor, Encryptor};

enum Work {
    Encrypt(Box<Encryptor<ByteQueue>>),
    Decrypt(Box<Decryptor<ByteQueue>>),
}

/// One stream.
pub(crate) struct Filter(Exclusive<Work>);

#[rustler::resource_impl]
impl Resource for Filter {}

fn begun(work: Work) -> ResourceArc<Filter> {
    ResourceArc::new(Filter(Exclusive::new(work)))
}

/// Moves a stream's output to a binary.
fn taken<'a>(env: Env<'a>, queue: &mut ByteQueue) -> Result<Binary<'a>> {
    written(env, queue.len(), |out| {
        queue.take(out);
        Ok::<_, CallError>(())
    })
}

on_dirty_scheduler! { "DirtyCpu":
    /// A passphrase takes a second, and thousands of recipients too.
    tuple fn encryptor_new(with: ResourceArc<EncryptWith>) {
        Ok(begun(Work::Encrypt(Box::new(Encryptor::new(ByteQueue::default(), &with.0)?))))
    }

    tuple fn decryptor_new(with: ResourceArc<DecryptWith>) {
        Ok(begun(Work::Decrypt(Box::new(Decryptor::new(ByteQueue::default(), &with.0)))))
    }

    tuple fn filter_push[env](filter: ResourceArc<Filter>, data: Binary) {
        let mut inside = filter.0.enter()?;
        let queue = match inside.as_mut().ok_or_else(ended)? {
            Work::Encrypt(encryptor) => encryptor.push(&data).map(|()| encryptor.get_mut()),
            Work::Decrypt(decryptor) => decryptor.push(&data).map(|()| decryptor.get_mut()),
        };
        taken(env, queue?)
    }

    tuple fn filter_finish[env](filter: ResourceArc<Filter>) {
        let work = filter.0.enter()?.take().ok_or_else(ended)?;
        let mut queue = match work {
            Work::Encrypt(encryptor) => encryptor.finish()?,
            Work::Decrypt(decryptor) => decryptor.finish()?,
        };
        taken(env, &mut queue)
    }
}
