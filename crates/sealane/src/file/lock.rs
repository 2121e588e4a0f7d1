//! What a file is locked with, and what opens it.

use super::chunked::{self, Chunked};
use super::tink::{Keyset, Segment, Template};
use crate::engine::io::ReadAt;
use crate::engine::pipeline::Chunks;
use crate::{Error, Key};

/// What a file is encrypted with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Lock {
    /// A symmetric key: C2SP chunked-encryption@v1.
    Key {
        /// 16 or 32 bytes.
        key: Key,
        /// Whoever decrypts needs the same one.
        context: Vec<u8>,
    },
    /// The primary key of a keyset: Tink's AES-GCM-HKDF streaming.
    Tink {
        /// What belongs to the key is in it too.
        keyset: Keyset,
        /// Tink's associated data.
        context: Vec<u8>,
    },
}

/// What opens an encrypted file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Unlock {
    /// The symmetric key of a file in the format C2SP chunked-encryption@v1.
    Key {
        /// 16 or 32 bytes.
        key: Key,
        /// The one it was encrypted with.
        context: Vec<u8>,
    },
    /// The keys of a file in Tink's AES-GCM-HKDF streaming format, which does not say that it is one.
    Tink {
        /// One of its keys encrypted the file.
        keyset: Keyset,
        /// The associated data it was encrypted with.
        context: Vec<u8>,
    },
}

/// The keys of one file and where its chunks lie.
pub(super) type Keys = Box<dyn Chunks>;

/// How far a look at the beginning of a file got.
pub(super) enum Begun {
    Ready(Keys),
    /// As many bytes have to be seen, or the whole file.
    More(usize),
}

/// How much of a file there is to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Its beginning: more may follow.
    Beginning,
    Whole,
}

impl Lock {
    /// A symmetric key, for the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// A symmetric key, for Tink's AES-GCM-HKDF streaming in segments of this size.
    ///
    /// # Errors
    /// [`crate::Misuse::KeyLength`].
    pub fn tink(segment: Segment, key: &Key, context: &[u8]) -> Result<Self, Error> {
        let keyset = Keyset::of_key(Template::of(segment, key)?.parameters, key)?;
        Ok(Self::Tink { keyset, context: context.to_vec() })
    }

    /// Keys for a new file, and its header.
    pub(super) fn begin(&self) -> Result<(Keys, Vec<u8>), Error> {
        match self {
            Self::Key { key, context } => {
                let (chunked, header) = Chunked::create(key, context)?;
                Ok((Box::new(chunked), header.to_vec()))
            }
            Self::Tink { keyset, context } => {
                let (tink, header) = keyset.create(context)?;
                Ok((Box::new(tink), header))
            }
        }
    }
}

impl Unlock {
    /// The symmetric key of a file in the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// The symmetric key of a file in Tink's AES-GCM-HKDF streaming format, in segments of this size.
    ///
    /// # Errors
    /// [`crate::Misuse::KeyLength`].
    pub fn tink(segment: Segment, key: &Key, context: &[u8]) -> Result<Self, Error> {
        let keyset = Keyset::of_key(Template::of(segment, key)?.parameters, key)?;
        Ok(Self::Tink { keyset, context: context.to_vec() })
    }

    /// The keys of the file that begins with `prefix`.
    pub(super) fn begin(&self, prefix: &[u8], seen: Seen) -> Result<Begun, Error> {
        match self {
            Self::Key { key, context } => match prefix.first_chunk() {
                Some(header) => Ok(Begun::Ready(Box::new(Chunked::open(key, context, header)?))),
                None => Ok(Begun::More(chunked::HEADER_LEN)),
            },
            Self::Tink { keyset, context } => keyset.find(context, prefix, seen),
        }
    }

    /// The keys of a file that can be read anywhere.
    pub(super) fn begin_at(&self, source: &dyn ReadAt, size: u64) -> Result<Keys, Error> {
        let mut prefix = Vec::new();
        loop {
            let seen = if prefix.len() as u64 == size { Seen::Whole } else { Seen::Beginning };
            match self.begin(&prefix, seen)? {
                Begun::Ready(keys) => return Ok(keys),
                Begun::More(len) if seen == Seen::Beginning => {
                    prefix.resize(usize::try_from(size).unwrap_or(usize::MAX).min(len), 0);
                    source.read_exact_at(0, &mut prefix)?;
                }
                Begun::More(_) => return Err(Error::Truncated),
            }
        }
    }
}
