//! What a file tells without a key. Nothing of it is verified.

use super::paths::Source;
use super::tink::Segment;
use super::{Format, chunked, tink};
use crate::age::armor::View;
use crate::age::{self, Armor, Header};
use crate::engine::io::ReadAt;
use crate::engine::plan::Layout;
use crate::engine::prefix::{Parsed, parse_prefix};
use crate::{Error, Misuse};
use std::path::Path;

/// What can be told of an encrypted file without a key. Nothing of it is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The format's name.
    pub format: &'static str,
    /// Whether it is text.
    pub armor: Armor,
    /// The kinds of its recipients, in their order, as the format names them. Of age files only.
    pub recipients: Vec<String>,
    /// Bytes of the file.
    pub file_len: u64,
    /// Bytes of plaintext, if the file is whole.
    pub plaintext_len: u64,
    /// Chunks.
    pub chunks: u64,
    /// Bytes of plaintext in a full chunk.
    pub chunk_len: u64,
}

/// Tells what a file says of itself, and what its size says.
///
/// An age file is known by its first line. Anything else is taken for what `format` says, or else for
/// chunked-encryption@v1: the others have no mark of their own, and any file of a fitting size looks like one.
///
/// # Errors
/// [`Error::Truncated`] for a size that no whole file has; [`Error::Header`]; [`Error::Io`]; [`Misuse::UnsupportedSource`] for a
/// pipe.
pub fn inspect(from: &Path, format: Option<Format>) -> Result<Info, Error> {
    let source = Source::open(from)?;
    if !source.found.is_file() {
        return Err(Misuse::UnsupportedSource("only a plain file can be inspected").into());
    }
    let about = |e: Error| e.about(from);
    let file_len = source.found.len();
    let mut beginning = vec![0; file_len.min(2048) as usize];
    source.file.read_exact_at(0, &mut beginning).map_err(|e| Error::io(from, e))?;
    if Armor::detect(&beginning) == Some(Armor::Ascii) {
        let view = View::new(&source.file).map_err(about)?;
        let size = view.size().map_err(|e| Error::io(from, e))?;
        return people(&view, size, file_len, Armor::Ascii).map_err(about);
    }
    match Header::parse(&beginning) {
        _ if beginning.is_empty() => Err(Error::Truncated),
        Err(Error::Format(_)) => unmarked(&beginning, file_len, format.unwrap_or(Format::Chunked)),
        _ => people(&source.file, file_len, file_len, Armor::Binary).map_err(about),
    }
}

/// Of a file that does not say what it is.
fn unmarked(beginning: &[u8], file_len: u64, format: Format) -> Result<Info, Error> {
    let (name, layout) = match format {
        Format::Chunked => ("chunked-encryption@v1", chunked::LAYOUT),
        Format::Tink4Kb => ("Tink AES-GCM-HKDF, 4 KiB", tink::layout(Segment::Kb4, beginning)?),
        Format::Tink1Mb => ("Tink AES-GCM-HKDF, 1 MiB", tink::layout(Segment::Mb1, beginning)?),
        Format::Age => return Err(Error::Format("not an age file: its first line is another")),
    };
    info(name, layout, file_len, file_len)
}

fn people(source: &dyn ReadAt, size: u64, file_len: u64, armor: Armor) -> Result<Info, Error> {
    let (header, len) = parse_prefix(source, size, |prefix, _| match Header::parse(prefix)? {
        age::Parsed::Whole(header, len) => Ok(Parsed::Ready((header, len))),
        age::Parsed::More { want } => Ok(Parsed::NeedsMore(want)),
    })?;
    let recipients = header.stanzas().map(|stanza| stanza.kind().to_owned()).collect();
    let info = info("age v1", age::layout((len + age::NONCE_LEN) as u64), size, file_len)?;
    Ok(Info { armor, recipients, ..info })
}

fn info(format: &'static str, layout: Layout, size: u64, file_len: u64) -> Result<Info, Error> {
    let plan = layout.plan_sealed(size)?;
    Ok(Info {
        format,
        armor: Armor::Binary,
        recipients: Vec::new(),
        file_len,
        plaintext_len: plan.plain_len,
        chunks: plan.chunks(),
        chunk_len: layout.chunk,
    })
}
