//! Adapts a file's bytes to and from optional armor.

use crate::prelude::*;
use engine::io::Concurrency;
use keys::age::armor::{Decoder, Encoder, View};
use std::io::Write;

/// Adds armor, if requested, to a file's bytes on their way to a writer.
pub(super) enum ArmorWriter<W: Write> {
    Binary(W),
    Ascii(Encoder<W>),
}

impl<W: Write> ArmorWriter<W> {
    pub(super) fn new(inner: W, armor: Armor) -> io::Result<Self> {
        match armor {
            Armor::Binary => Ok(Self::Binary(inner)),
            Armor::Ascii => Encoder::new(inner).map(Self::Ascii),
        }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Binary(inner) => inner.write_all(bytes),
            Self::Ascii(encoder) => encoder.write_all(bytes),
        }
    }

    pub(super) fn get_mut(&mut self) -> &mut W {
        match self {
            Self::Binary(inner) => inner,
            Self::Ascii(encoder) => encoder.get_mut(),
        }
    }

    /// Writes the end of the armor, flushes the writer and returns it.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Binary(mut inner) => inner.flush().map(|()| inner),
            Self::Ascii(encoder) => encoder.finish(),
        }
    }
}

/// Removes armor, if present, from a file's pieces.
pub(super) enum ArmorReader {
    /// The encoding is still unknown; these are the bytes so far.
    Unknown(Vec<u8>),
    Binary,
    Ascii(Box<Decoder>),
}

impl ArmorReader {
    /// Returns a piece's binary bytes, in `buffer` if they differ from the piece. Empty until we
    /// know whether the file is armored.
    pub(super) fn push<'a>(
        &mut self,
        detect: impl Fn(&[u8]) -> Option<Armor>,
        piece: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        buffer.clear();
        if let Self::Unknown(prefix) = self {
            memory::append(prefix, piece)?;
            let Some(armor) = detect(prefix) else { return Ok(&[]) };
            let prefix = std::mem::take(prefix);
            return self.start(Some(armor), prefix, buffer);
        }
        match self {
            Self::Ascii(decoder) => {
                memory::reserve(buffer, piece.len())?;
                decoder.push(piece, buffer).map(|()| &buffer[..])
            }
            _ => Ok(piece),
        }
    }

    /// Returns the remaining binary bytes at end of file.
    pub(super) fn finish<'a>(
        &mut self,
        detect: impl Fn(&[u8]) -> Option<Armor>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        buffer.clear();
        match std::mem::replace(self, Self::Binary) {
            Self::Unknown(prefix) => self.start(detect(&prefix), prefix, buffer),
            Self::Binary => Ok(&[]),
            Self::Ascii(decoder) => decoder.finish(buffer).map(|()| &buffer[..]),
        }
    }

    fn start<'a>(
        &mut self,
        armor: Option<Armor>,
        prefix: Vec<u8>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        match armor {
            Some(Armor::Ascii) => {
                let mut decoder = Box::new(Decoder::new());
                let result = decoder.push(&prefix, buffer);
                *self = Self::Ascii(decoder);
                result?;
            }
            _ => {
                *self = Self::Binary;
                *buffer = prefix;
            }
        }
        Ok(buffer)
    }
}

/// Presents a source, armored or binary, as a binary file.
pub(super) enum DearmoredSource<S> {
    /// A binary file and its size in bytes.
    Binary(S, u64),
    Ascii(View<S>),
}

impl<S: ReadAt> DearmoredSource<S> {
    pub(super) fn new(source: S, detect: impl Fn(&[u8]) -> Option<Armor>) -> Result<Self> {
        let size = source.size()?;
        // Files for a symmetric key are never armored, so we read nothing.
        let mut armor = detect(&[]);
        if armor.is_none() {
            // Longer than the white space that may precede armor. bounded: 2 KiB.
            let mut prefix = vec![0; size.min(2048) as usize];
            source.read_exact_at(0, &mut prefix)?;
            armor = detect(&prefix);
        }
        match armor {
            Some(Armor::Ascii) => View::new(source).map(Self::Ascii),
            _ => Ok(Self::Binary(source, size)),
        }
    }

    pub(super) fn armor(&self) -> Armor {
        match self {
            Self::Binary(..) => Armor::Binary,
            Self::Ascii(_) => Armor::Ascii,
        }
    }

    pub(super) fn source(&self) -> &S {
        match self {
            Self::Binary(source, _) => source,
            Self::Ascii(view) => view.source(),
        }
    }
}

impl<S: ReadAt> ReadAt for DearmoredSource<S> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Binary(source, _) => source.read_at(offset, into),
            Self::Ascii(view) => view.read_at(offset, into),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Binary(_, size) => Ok(*size),
            Self::Ascii(view) => view.size(),
        }
    }

    fn concurrency(&self) -> Concurrency {
        self.source().concurrency()
    }
}
