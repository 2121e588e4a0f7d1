//! Streams: pieces go in, encrypted or decrypted bytes come out.

use crate::error::{Answer, CallError};
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::output::written;
use crate::shared::{Exclusive, ended};
use rustler::types::atom::ok;
use rustler::{Atom, Binary, Env, Resource, ResourceArc};
use sealane::file::{ByteQueue, Decryptor, Encryptor};

enum Work {
    Encrypt(Box<Encryptor<ByteQueue>>),
    Decrypt(Box<Decryptor<ByteQueue>>),
}

/// One stream.
pub(crate) struct Filter(Exclusive<Work>);

#[rustler::resource_impl]
impl Resource for Filter {}

/// Moves a stream's output to a binary.
fn taken<'a>(env: Env<'a>, queue: &mut ByteQueue) -> Result<(Atom, Binary<'a>), CallError> {
    let bytes = written(env, queue.len(), |out| {
        queue.take(out);
        Ok::<_, CallError>(())
    });
    Ok((ok(), bytes?))
}

/// A passphrase takes a second, and thousands of recipients too.
#[rustler::nif(schedule = "DirtyCpu")]
fn encryptor_new(with: ResourceArc<EncryptWith>) -> Answer<(Atom, ResourceArc<Filter>)> {
    let new =
        Encryptor::new(ByteQueue::default(), &with.0).map_err(|error| CallError::from(error).tuple())?;
    Ok((ok(), ResourceArc::new(Filter(Exclusive::new(Work::Encrypt(Box::new(new)))))))
}

#[rustler::nif(schedule = "DirtyCpu")]
fn decryptor_new(with: ResourceArc<DecryptWith>) -> Answer<(Atom, ResourceArc<Filter>)> {
    let new = Decryptor::new(ByteQueue::default(), &with.0);
    Ok((ok(), ResourceArc::new(Filter(Exclusive::new(Work::Decrypt(Box::new(new)))))))
}

#[rustler::nif(schedule = "DirtyCpu")]
fn filter_push<'a>(env: Env<'a>, filter: ResourceArc<Filter>, data: Binary) -> Answer<(Atom, Binary<'a>)> {
    let push = || {
        let mut inside = filter.0.enter()?;
        match inside.as_mut().ok_or_else(ended)? {
            Work::Encrypt(encryptor) => encryptor.push(&data).map(|()| encryptor.get_mut()),
            Work::Decrypt(decryptor) => decryptor.push(&data).map(|()| decryptor.get_mut()),
        }
        .map_err(CallError::from)
        .and_then(|queue| taken(env, queue))
    };
    push().map_err(CallError::tuple)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn filter_finish<'a>(env: Env<'a>, filter: ResourceArc<Filter>) -> Answer<(Atom, Binary<'a>)> {
    let finish = || {
        let work = filter.0.enter()?.take().ok_or_else(ended)?;
        let mut queue = match work {
            Work::Encrypt(encryptor) => encryptor.finish()?,
            Work::Decrypt(decryptor) => decryptor.finish()?,
        };
        taken(env, &mut queue)
    };
    finish().map_err(CallError::tuple)
}
