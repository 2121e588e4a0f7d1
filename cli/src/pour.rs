//! From a source to standard output, piece by piece.

use crate::error::{Failure, Kind};
use crate::interrupt;
use crate::places::{self, Source};
use crate::tui::Bar;
use sealane::Error;
use sealane::file::{DecryptWith, Decryptor, EncryptWith, Encryptor, ReadAt, Reader};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;

/// Enough for a [`Reader`] to spread one piece over threads.
const PIECE: usize = 8 << 20;
/// What a pipe is read by: the whole of it, where it was made as large as Linux lets anyone.
const SIP: usize = 1 << 20;

/// Encrypts `source` to standard output, which is handed back.
pub(crate) fn encrypt(source: &Source, lock: &EncryptWith, bar: &mut Bar) -> Result<File, Failure> {
    let file = source.open_file()?;
    let out = places::stdout_apart_from(&file)?;
    let mut encryptor = Encryptor::new(out, lock).map_err(|e| on_stdout(source, e))?;
    let read = |piece: &mut [u8]| sip(&file, source, piece);
    pour(SIP, read, |piece| encryptor.push(piece).map_err(|e| on_stdout(source, e)), bar)?;
    encryptor.finish().map_err(|e| on_stdout(source, e))
}

/// Decrypts `source` to standard output, which is handed back.
///
/// Of a plain file the end is verified before the first byte goes out. Of a pipe it cannot be.
pub(crate) fn decrypt(source: &Source, unlock: &DecryptWith, bar: &mut Bar) -> Result<File, Failure> {
    let file = source.open_file()?;
    let out = places::stdout_apart_from(&file)?;
    if places::plain_from_start(&file).is_some() {
        match Reader::new(&file, unlock) {
            Ok(reader) => return range(&reader, 0..u64::MAX, source, out, bar),
            // Armor whose lines end in different ways can still be read in order, and broken armor be told better.
            Err(Error::Armor(_)) => {}
            Err(e) => return Err(Failure::about(&source.name(), e)),
        }
    }
    let warned = |error| match on_stdout(source, error) {
        said if matches!(said.kind(), Kind::Authentication | Kind::Truncated) => {
            said.and("do not use what came out before")
        }
        said => said,
    };
    let mut decryptor = Decryptor::new(out, unlock);
    let read = |piece: &mut [u8]| sip(&file, source, piece);
    pour(SIP, read, |piece| decryptor.push(piece).map_err(warned), bar)?;
    decryptor.finish().map_err(warned)
}

/// A range of the plaintext, clipped to what there is.
pub(crate) fn range(
    reader: &Reader<impl ReadAt>,
    range: Range<u64>,
    source: &Source,
    mut out: File,
    bar: &mut Bar,
) -> Result<File, Failure> {
    let end = range.end.min(reader.size());
    let mut at = range.start;
    let len = end.saturating_sub(at).min(PIECE as u64) as usize;
    let read = |piece: &mut [u8]| {
        let len = end.saturating_sub(at).min(piece.len() as u64) as usize;
        let n = reader.read_at(at, &mut piece[..len]).map_err(|e| Failure::about(&source.name(), e))?;
        at += n as u64;
        Ok(n)
    };
    pour(len, read, |piece| out.write_all(piece).map_err(|e| Failure::stdout(&e)), bar)?;
    Ok(out)
}

/// Reads pieces of up to `len` bytes until there are none.
fn pour(
    len: usize,
    mut read: impl FnMut(&mut [u8]) -> Result<usize, Failure>,
    mut write: impl FnMut(&[u8]) -> Result<(), Failure>,
    bar: &mut Bar,
) -> Result<(), Failure> {
    let mut piece = vec![0; len];
    let mut done = 0;
    loop {
        let n = read(&mut piece)?;
        if n == 0 {
            return Ok(());
        }
        write(&piece[..n])?;
        done += n as u64;
        if bar.at(done).is_break() {
            return Err(Failure::interrupted());
        }
    }
}

fn sip(mut file: &File, source: &Source, piece: &mut [u8]) -> Result<usize, Failure> {
    loop {
        match file.read(piece) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) => {
                interrupt::settle();
                return if interrupt::requested() { Err(Failure::interrupted()) } else { Ok(0) };
            }
            result => return result.map_err(|e| Failure::io(&source.name(), &e)),
        }
    }
}

/// The ciphers speak of the source; an answer of the system that names no file is about the output.
fn on_stdout(source: &Source, error: Error) -> Failure {
    match error {
        Error::Io { path: None, source } => Failure::stdout(&source),
        other => Failure::about(&source.name(), other),
    }
}
