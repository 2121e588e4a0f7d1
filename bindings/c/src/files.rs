//! Files by path, files in memory, and files written in pieces.

use crate::call::{exports, freed};
use crate::constants::SEALANE_SYNCED;
use crate::error::{ArgumentError, Result, flags};
use crate::memory::{self, Destination, Owned, ResultBytes, SizedIn, count};
use sealane::Misuse;
use sealane::file::{self, BufferDecryptor, BufferEncryptor, DecryptWith, Durability, EncryptWith};
use std::num::NonZeroUsize;
use std::path::Path;

fn durability(found: u32) -> Result<Durability, ArgumentError> {
    Ok(if flags(found, SEALANE_SYNCED)? == 0 { Durability::Cached } else { Durability::Synced })
}

/// Runs an operation with the caller's options.
fn with_options(
    options: SizedIn<memory::Options>,
    work: impl FnOnce(file::Options<'_>) -> Result<(), sealane::Error>,
) -> Result<i64> {
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

exports! {
    fn sealane_encrypt_file(
        from: &Path, to: &Path, with: &EncryptWith, options: SizedIn<memory::Options>
    ) -> i64 {
        with_options(options, |options| file::encrypt_file(from, to, with, options))
    }

    fn sealane_decrypt_file(
        from: &Path, to: &Path, with: &DecryptWith, options: SizedIn<memory::Options>
    ) -> i64 {
        with_options(options, |options| file::decrypt_file(from, to, with, options))
    }

    fn sealane_verify_file(from: &Path, with: &DecryptWith, options: SizedIn<memory::Options>) -> i64 {
        with_options(options, |options| file::verify_file(from, with, options))
    }

    fn sealane_encrypt(with: &EncryptWith, data: &[u8][data_len], out: Destination) -> i64 {
        let encryptor = BufferEncryptor::new(data, with)?;
        let mut file = ResultBytes::zeroed(encryptor.len())?;
        encryptor.encrypt_into(file.bytes())?;
        Ok(file.give(out))
    }

    fn sealane_decrypt(with: &DecryptWith, file: &[u8][file_len], out: Destination) -> i64 {
        let decryptor = BufferDecryptor::new(file, with)?;
        let mut data = ResultBytes::zeroed(decryptor.len())?;
        decryptor.decrypt_into(data.bytes())?;
        Ok(data.give(out))
    }
}

/// An encrypted file being written in pieces; `None` once finished.
pub(crate) struct Writer(Option<file::Writer>);

exports! {
    fn sealane_writer_create(path: &Path, with: &EncryptWith) -> Owned<Writer> {
        Ok(Owned::new(Writer(Some(file::Writer::create(path, with)?))))
    }

    fn sealane_writer_push(writer: &mut Writer, data: &[u8][data_len]) -> i64 {
        let writer = writer.0.as_mut();
        writer.ok_or(Misuse::AlreadyFinalized)?.push(data)?;
        Ok(count(data.len()))
    }

    fn sealane_writer_finish(writer: &mut Writer, flags: u32) -> i64 {
        let writer = &mut writer.0;
        let durability = durability(flags)?;
        writer.take().ok_or(Misuse::AlreadyFinalized)?.finish(durability)?;
        Ok(0)
    }
}

freed!(sealane_writer_free(writer: Writer));
