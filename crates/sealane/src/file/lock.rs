//! What a file is locked with, and what opens it.

use super::chunked::{self, Chunked};
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
}

/// The keys of one file and where its chunks lie.
pub(super) type Keys = Box<dyn Chunks>;

/// How far a look at the beginning of a file got.
pub(super) enum Begun {
    Ready(Keys),
    /// As many bytes have to be seen.
    More(usize),
}

impl Lock {
    /// A symmetric key, for the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// Keys for a new file, and its header.
    pub(super) fn begin(&self) -> Result<(Keys, Vec<u8>), Error> {
        match self {
            Self::Key { key, context } => {
                let (chunked, header) = Chunked::create(key, context)?;
                Ok((Box::new(chunked), header.to_vec()))
            }
        }
    }
}

impl Unlock {
    /// The symmetric key of a file in the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// The keys of the file that begins with `prefix`.
    pub(super) fn begin(&self, prefix: &[u8]) -> Result<Begun, Error> {
        match self {
            Self::Key { key, context } => match prefix.first_chunk() {
                Some(header) => Ok(Begun::Ready(Box::new(Chunked::open(key, context, header)?))),
                None => Ok(Begun::More(chunked::HEADER_LEN)),
            },
        }
    }

    /// The keys of a file that can be read anywhere.
    pub(super) fn begin_at(&self, source: &dyn ReadAt, size: u64) -> Result<Keys, Error> {
        let mut prefix = Vec::new();
        loop {
            match self.begin(&prefix)? {
                Begun::Ready(keys) => return Ok(keys),
                Begun::More(len) if len as u64 <= size => {
                    prefix.resize(len, 0);
                    source.read_exact_at(0, &mut prefix)?;
                }
                Begun::More(_) => return Err(Error::Truncated),
            }
        }
    }
}
