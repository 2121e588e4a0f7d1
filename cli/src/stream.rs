//! Reads files, and encrypts and decrypts them to standard output, piece by piece.

use crate::console::Bar;
use crate::endpoints::{self, Source, Target};
use crate::error::STDOUT;
use crate::prelude::*;
use crate::{signal, url};
use sealane::file::{DecryptWith, Decryptor, EncryptWith, Encryptor, ReadAt, Reader};
use sealane::vault::Contents;
use std::io::Seek;
use std::ops::Range;

/// Bytes read from a [`Reader`] at once: enough for several threads.
const PIECE_LEN: usize = 8 << 20;
/// Bytes read from a pipe at once: the largest buffer that Linux gives a pipe by default.
const PIPE_LEN: usize = 1 << 20;

/// Encrypts `source` to standard output, and returns the output.
pub(crate) fn encrypt(source: &Source, with: &EncryptWith, bar: &mut Bar) -> Result<File> {
    let file = source.open_file()?;
    let out = endpoints::stdout_apart_from(&file)?;
    with.check_output(&out, Path::new(STDOUT)).map_err(|e| on_stdout(source, e))?;
    let read = |piece: &mut [u8]| read_some(&file, source, piece);
    encrypt_to(out, read, |e| on_stdout(source, e), with, bar)
}

/// Encrypts a source, which may be at a URL, to `out`, and returns `out`. `about` names the errors
/// of `out`.
pub(crate) fn encrypt_any<W: Write>(
    source: &Source,
    out: W,
    about: impl Fn(Error) -> Failure,
    with: &EncryptWith,
    bar: &mut Bar,
) -> Result<W> {
    let Some(url) = source.url() else {
        let file = source.open_file()?;
        return encrypt_to(out, |piece: &mut [u8]| read_some(&file, source, piece), about, with, bar);
    };
    let (from, mut at) = (url::file(url)?, 0);
    let size = |from: &dyn ReadAt| from.size().map_err(|e| Failure::io(url, &e));
    let read = |piece: &mut [u8]| {
        let n = from.read_at(at, piece).map_err(|e| Failure::io(url, &e))?;
        at += n as u64;
        // Several requests read it, so it may have changed between them.
        let found = if n == 0 { size(&*url::file(url)?)? } else { at };
        match found == at {
            true => Ok(n),
            false => Err(Failure::about(url, Error::SourceChanged { path: url.into(), expected: at, found })),
        }
    };
    encrypt_to(out, read, about, with, bar)
}

fn encrypt_to<W: Write>(
    out: W,
    read: impl FnMut(&mut [u8]) -> Result<usize>,
    about: impl Fn(Error) -> Failure,
    with: &EncryptWith,
    bar: &mut Bar,
) -> Result<W> {
    let mut encryptor = Encryptor::new(out, with).map_err(&about)?;
    copy(PIPE_LEN, read, |piece| encryptor.push(piece).map_err(&about), bar)?;
    encryptor.finish().map_err(about)
}

/// Decrypts `source` to standard output, and returns the output.
///
/// Verifies the end of a regular file before writing the first byte. It cannot do that for a pipe.
pub(crate) fn decrypt(source: &Source, with: &DecryptWith, bar: &mut Bar) -> Result<File> {
    let mut file = source.open_file()?;
    let out = endpoints::stdout_apart_from(&file)?;
    with.check_output(&out, Path::new(STDOUT)).map_err(|e| on_stdout(source, e))?;
    if endpoints::regular_len(&file).is_some() {
        match Reader::new(&file, with) {
            Ok(reader) => return range(&reader, 0..u64::MAX, &source.name(), out, bar),
            // Armor with mixed line ends can only be read in order. For damaged armor, that gives
            // the better error.
            Err(Error::Armor(_)) => {
                // On Windows, positional reads move the file position.
                file.rewind().map_err(|e| Failure::io(&source.name(), &e))?;
            }
            Err(e) => return Err(Failure::about(&source.name(), e)),
        }
    }
    let warned = |error| match on_stdout(source, error) {
        failure if matches!(failure.kind(), Kind::AUTHENTICATION | Kind::TRUNCATED) => {
            failure.and("do not use the incomplete output")
        }
        failure => failure,
    };
    let mut decryptor = Decryptor::new(out, with);
    let read = |piece: &mut [u8]| read_some(&file, source, piece);
    copy(PIPE_LEN, read, |piece| decryptor.push(piece).map_err(warned), bar)?;
    decryptor.finish().map_err(warned)
}

/// Writes a range of the plaintext, up to the end of the file.
pub(crate) fn range(
    reader: &dyn Contents,
    range: Range<u64>,
    source: &str,
    mut out: File,
    bar: &mut Bar,
) -> Result<File> {
    let end = range.end.min(reader.size());
    // We and the reader of a pipe wait for each other less often if it holds more. Other outputs
    // have no such size, and a user may have too many pipes.
    #[cfg(target_os = "linux")]
    let _ = nix::fcntl::fcntl(&out, nix::fcntl::FcntlArg::F_SETPIPE_SZ(PIPE_LEN as i32));
    let mut at = range.start;
    let len = end.saturating_sub(at).min(PIECE_LEN as u64) as usize;
    let read = |piece: &mut [u8]| {
        let len = end.saturating_sub(at).min(piece.len() as u64) as usize;
        let n = reader.read_at(at, &mut piece[..len]).map_err(|e| Failure::about(source, e))?;
        at += n as u64;
        Ok(n)
    };
    copy(len, read, |piece| out.write_all(piece).map_err(|e| Failure::stdout(&e)), bar)?;
    Ok(out)
}

/// Writes a range of the plaintext of a file with this name, with a progress bar.
pub(crate) fn print(
    contents: &dyn Contents,
    part: Range<u64>,
    name: &str,
    out: File,
    console: &Console,
) -> Result<File> {
    let total = part.end.min(contents.size()).saturating_sub(part.start);
    let mut bar = console.bar(name, Some(total)).unless(Target::Stdout.is_terminal());
    range(contents, part, name, out, &mut bar)
}

/// Reads `source` to its end, piece by piece.
pub(crate) fn read(source: &Source, mut hear: impl FnMut(&[u8]), bar: &mut Bar) -> Result<()> {
    let file = source.open()?;
    let hear = |piece: &[u8]| {
        hear(piece);
        Ok(())
    };
    copy(PIPE_LEN, |piece| read_some(&file, source, piece), hear, bar)
}

/// Copies pieces of up to `len` bytes until `read` returns none.
fn copy(
    len: usize,
    mut read: impl FnMut(&mut [u8]) -> Result<usize>,
    mut write: impl FnMut(&[u8]) -> Result<()>,
    bar: &mut Bar,
) -> Result<()> {
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

fn read_some(mut file: &File, source: &Source, piece: &mut [u8]) -> Result<usize> {
    loop {
        match file.read(piece) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) => {
                signal::wait_for_pending_signal();
                return if signal::requested() { Err(Failure::interrupted()) } else { Ok(0) };
            }
            result => return result.map_err(|e| Failure::io(&source.name(), &e)),
        }
    }
}

/// Returns the failure for an error about the source or (a system error without a path) the output.
pub(crate) fn on_stdout(source: &Source, error: Error) -> Failure {
    match error {
        Error::Io { path: None, source } => Failure::stdout(&source),
        other => Failure::about(&source.name(), other),
    }
}
