//! Files by path, files in memory, and files written in pieces.

use crate::call::{Error, guarded, infallible};
use crate::constants::SEALANE_SYNCED;
use crate::error::{ArgumentError, CallError, flags};
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::memory::{self, CText, Given, In, Owned, ResultBytes, Shared, SizedIn, Unique, count};
use sealane::Misuse;
use sealane::file::{self, BufferDecryptor, BufferEncryptor, Durability};
use std::num::NonZeroUsize;

fn durability(found: u32) -> Result<Durability, ArgumentError> {
    Ok(if flags(found, SEALANE_SYNCED)? == 0 { Durability::Cached } else { Durability::Synced })
}

/// Runs an operation with the caller's options.
fn with_options(
    options: SizedIn<memory::Options>,
    work: impl FnOnce(file::Options<'_>) -> Result<(), sealane::Error>,
) -> Result<i64, CallError> {
    let Some(options) = options.optional("options")? else {
        work(file::Options::default())?;
        return Ok(0);
    };
    let (threads, durability) = (NonZeroUsize::new(options.threads as usize), durability(options.flags)?);
    let mut progress = options.progress();
    let progress = progress.as_mut().map(|report| report as &mut file::Callback<'_>);
    work(file::Options { threads, progress, durability })?;
    Ok(0)
}

#[unsafe(no_mangle)]
extern "C" fn sealane_encrypt_file(
    from: CText,
    to: CText,
    with: Shared<EncryptWith>,
    options: SizedIn<memory::Options>,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let (from, to, with) = (from.path(call, "from")?, to.path(call, "to")?, with.get(call, "with")?);
        with_options(options, |options| file::encrypt_file(from, to, &with.0, options))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_decrypt_file(
    from: CText,
    to: CText,
    with: Shared<DecryptWith>,
    options: SizedIn<memory::Options>,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let (from, to, with) = (from.path(call, "from")?, to.path(call, "to")?, with.get(call, "with")?);
        with_options(options, |options| file::decrypt_file(from, to, &with.0, options))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_verify_file(
    from: CText,
    with: Shared<DecryptWith>,
    options: SizedIn<memory::Options>,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let (from, with) = (from.path(call, "from")?, with.get(call, "with")?);
        with_options(options, |options| file::verify_file(from, &with.0, options))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_encrypt(
    with: Shared<EncryptWith>,
    data: In,
    data_len: usize,
    out: Given,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        out.put("out", || {
            let with = with.get(call, "with")?;
            let encryptor = BufferEncryptor::new(data.bytes(call, "data", data_len)?, &with.0)?;
            let mut file = ResultBytes::zeroed(encryptor.len())?;
            encryptor.encrypt_into(file.bytes())?;
            Ok(file)
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_decrypt(
    with: Shared<DecryptWith>,
    file: In,
    file_len: usize,
    out: Given,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        out.put("out", || {
            let with = with.get(call, "with")?;
            let decryptor = BufferDecryptor::new(file.bytes(call, "file", file_len)?, &with.0)?;
            let mut data = ResultBytes::zeroed(decryptor.len())?;
            decryptor.decrypt_into(data.bytes())?;
            Ok(data)
        })
    })
}

/// An encrypted file being written in pieces; `None` once finished.
pub(crate) struct Writer(Option<file::Writer>);

#[unsafe(no_mangle)]
extern "C" fn sealane_writer_create(
    path: CText,
    with: Shared<EncryptWith>,
    error: Unique<Error>,
) -> Owned<Writer> {
    guarded(error, |call| {
        let (path, with) = (path.path(call, "path")?, with.get(call, "with")?);
        Ok(Owned::new(Writer(Some(file::Writer::create(path, &with.0)?))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_writer_push(
    writer: Unique<Writer>,
    data: In,
    data_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let writer = writer.get(call, "writer")?.0.as_mut();
        let data = data.bytes(call, "data", data_len)?;
        writer.ok_or(Misuse::AlreadyFinalized)?.push(data)?;
        Ok(count(data.len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_writer_finish(writer: Unique<Writer>, flags: u32, error: Unique<Error>) -> i64 {
    guarded(error, |call| {
        let writer = &mut writer.get(call, "writer")?.0;
        let durability = durability(flags)?;
        writer.take().ok_or(Misuse::AlreadyFinalized)?.finish(durability)?;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_writer_free(writer: Owned<Writer>) {
    infallible(|| writer.free());
}
