//! What lies around the bytes of a file: nothing, or armor.

use super::file_keys::DecryptWith;
use crate::Error;
use crate::age::Armor;
use crate::age::armor::{Decoder, Encoder, View};
use crate::engine::io::{Concurrency, ReadAt};
use std::io::{self, Write};

/// Bytes of a file to which armor is put, or not, on their way to a writer.
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

    /// Writes the end and hands the writer back, flushed.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Binary(mut inner) => inner.flush().map(|()| inner),
            Self::Ascii(encoder) => encoder.finish(),
        }
    }
}

/// Takes armor, where there is some, from pieces of a file.
pub(super) enum ArmorReader {
    /// It is not known yet; what came so far.
    Unknown(Vec<u8>),
    Binary,
    Ascii(Box<Decoder>),
}

impl ArmorReader {
    /// The bytes of the file in a piece, in `room` where they are not the piece itself; `None` where it is too early to
    /// say.
    pub(super) fn push<'a>(
        &mut self,
        unlock: &DecryptWith,
        piece: &'a [u8],
        room: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Error> {
        room.clear();
        if let Self::Unknown(prefix) = self {
            prefix.extend_from_slice(piece);
            let prefix = match unlock.detect_armor(prefix) {
                None => return Ok(&[]),
                Some(_) => std::mem::take(prefix),
            };
            return self.know(unlock, prefix, room);
        }
        match self {
            Self::Ascii(decoder) => decoder.push(piece, room).map(|()| &room[..]),
            _ => Ok(piece),
        }
    }

    /// What is left.
    pub(super) fn finish<'a>(
        &mut self,
        unlock: &DecryptWith,
        room: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Error> {
        room.clear();
        match std::mem::replace(self, Self::Binary) {
            Self::Unknown(prefix) => self.know(unlock, prefix, room),
            Self::Binary => Ok(&[]),
            Self::Ascii(decoder) => decoder.finish(room).map(|()| &room[..]),
        }
    }

    fn know<'a>(
        &mut self,
        unlock: &DecryptWith,
        prefix: Vec<u8>,
        room: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Error> {
        match unlock.detect_armor(&prefix) {
            Some(Armor::Ascii) => {
                let mut decoder = Box::new(Decoder::new());
                let result = decoder.push(&prefix, room);
                *self = Self::Ascii(decoder);
                result?;
            }
            _ => {
                *self = Self::Binary;
                *room = prefix;
            }
        }
        Ok(room)
    }
}

/// The bytes of a file that can be read anywhere, without their armor.
pub(super) enum DearmoredSource<S> {
    Binary(S),
    Ascii(View<S>),
}

impl<S: ReadAt> DearmoredSource<S> {
    pub(super) fn new(source: S, unlock: &DecryptWith) -> Result<Self, Error> {
        // More than the white space that may come before armor.
        let mut prefix = vec![0; source.size()?.min(2048) as usize];
        source.read_exact_at(0, &mut prefix)?;
        match unlock.detect_armor(&prefix) {
            Some(Armor::Ascii) => View::new(source).map(Self::Ascii),
            _ => Ok(Self::Binary(source)),
        }
    }

    /// What is read from.
    pub(super) fn source(&self) -> &S {
        match self {
            Self::Binary(source) => source,
            Self::Ascii(view) => view.source(),
        }
    }
}

impl<S: ReadAt> ReadAt for DearmoredSource<S> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Binary(source) => source.read_at(offset, into),
            Self::Ascii(view) => view.read_at(offset, into),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Binary(source) => source.size(),
            Self::Ascii(view) => view.size(),
        }
    }

    fn concurrency(&self) -> Concurrency {
        self.source().concurrency()
    }
}
