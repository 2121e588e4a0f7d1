//! What a file is locked with, and what opens it.

use super::chunked::{self, Chunked};
use crate::age::payload::{self, Payload};
use crate::age::{Armor, Identity, Recipient};
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
    /// People, or a passphrase: age v1.
    Age {
        /// Any one of them can decrypt. A passphrase is one, and then the only one.
        recipients: Vec<Recipient>,
        /// Whether the file is text.
        armor: Armor,
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
    /// Private keys, or a passphrase, for a file in the format age v1, armored or not.
    Age {
        /// They are tried in turn.
        identities: Vec<Identity>,
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

    /// People, or a passphrase, for the format age v1.
    pub fn age(recipients: &[Recipient], armor: Armor) -> Self {
        Self::Age { recipients: recipients.to_vec(), armor }
    }

    /// Whether the file is text.
    pub(super) fn armor(&self) -> Armor {
        match self {
            Self::Age { armor, .. } => *armor,
            Self::Key { .. } => Armor::Binary,
        }
    }

    /// Keys for a new file, and its header.
    pub(super) fn begin(&self) -> Result<(Keys, Vec<u8>), Error> {
        match self {
            Self::Key { key, context } => {
                let (chunked, header) = Chunked::create(key, context)?;
                Ok((Box::new(chunked), header.to_vec()))
            }
            Self::Age { recipients, .. } => {
                let (payload, header) = Payload::create(recipients)?;
                Ok((Box::new(payload), header))
            }
        }
    }
}

impl Unlock {
    /// The symmetric key of a file in the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// Private keys, or a passphrase, for a file in the format age v1.
    pub fn age(identities: &[Identity]) -> Self {
        Self::Age { identities: identities.to_vec() }
    }

    /// What a file is that begins with `prefix`; `None` where that is too short to say.
    pub(super) fn armor(&self, prefix: &[u8]) -> Option<Armor> {
        match self {
            Self::Age { .. } => Armor::detect(prefix),
            Self::Key { .. } => Some(Armor::Binary),
        }
    }

    /// The keys of the file that begins with `prefix`.
    pub(super) fn begin(&self, prefix: &[u8]) -> Result<Begun, Error> {
        match self {
            Self::Key { key, context } => match prefix.first_chunk() {
                Some(header) => Ok(Begun::Ready(Box::new(Chunked::open(key, context, header)?))),
                None => Ok(Begun::More(chunked::HEADER_LEN)),
            },
            Self::Age { identities } => match Payload::begin(prefix, identities)? {
                payload::Begun::Ready(payload) => Ok(Begun::Ready(Box::new(payload))),
                payload::Begun::More(len) => Ok(Begun::More(len)),
            },
        }
    }

    /// The keys of a file that can be read anywhere.
    pub(super) fn begin_at(&self, source: &dyn ReadAt, size: u64) -> Result<Keys, Error> {
        let mut prefix = Vec::new();
        loop {
            match self.begin(&prefix)? {
                Begun::Ready(keys) => return Ok(keys),
                // What is wanted may be more than there is, and still what there is enough.
                Begun::More(_) if prefix.len() as u64 == size => return Err(Error::Truncated),
                Begun::More(len) => {
                    let len = len.max(prefix.len() + 1);
                    prefix.resize(usize::try_from(size).unwrap_or(usize::MAX).min(len), 0);
                    source.read_exact_at(0, &mut prefix)?;
                }
            }
        }
    }
}
