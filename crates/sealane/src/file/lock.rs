//! What a file is locked with, and what opens it.

use super::Format;
use super::chunked::{self, Chunked};
use super::tink::{Keyset, Segment, Template};
use crate::age::{Armor, Identity, Payload, Recipient};
use crate::engine::io::ReadAt;
use crate::engine::pipeline::ChunkCipher;
use crate::engine::prefix::{Parsed, Prefix, parse_prefix};
use crate::{Error, Key, Misuse};

/// What a file is encrypted with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EncryptWith {
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
    /// A keyset of Tink's: AES-GCM-HKDF streaming under its primary key.
    Tink {
        /// The keys.
        keyset: Keyset,
        /// Whoever decrypts needs the same one. Tink calls it associated data.
        context: Vec<u8>,
    },
}

/// What opens an encrypted file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DecryptWith {
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
    /// A keyset of Tink's, for a file in the format AES-GCM-HKDF streaming.
    Tink {
        /// They are tried in turn.
        keyset: Keyset,
        /// The one it was encrypted with.
        context: Vec<u8>,
    },
}

/// The keys of one file and where its chunks lie.
pub(super) type Keys = Box<dyn ChunkCipher>;

impl EncryptWith {
    /// A symmetric key, for the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// People, or a passphrase, for the format age v1.
    pub fn age(recipients: &[Recipient], armor: Armor) -> Self {
        Self::Age { recipients: recipients.to_vec(), armor }
    }

    /// A keyset of Tink's, for the format AES-GCM-HKDF streaming.
    pub fn tink(keyset: &Keyset, context: &[u8]) -> Self {
        Self::Tink { keyset: keyset.clone(), context: context.to_vec() }
    }

    /// A symmetric key, for one of the formats that take such keys.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`] for Tink's; [`Misuse::UnsuitableKey`] for age's.
    pub fn of_key(key: &Key, format: Format, context: &[u8]) -> Result<Self, Error> {
        Ok(match segment(format)? {
            None => Self::key(key, context),
            Some(segment) => Self::tink(&keyset(key, segment)?, context),
        })
    }

    /// Whether the file is text.
    pub(super) fn armor(&self) -> Armor {
        match self {
            Self::Age { armor, .. } => *armor,
            Self::Key { .. } | Self::Tink { .. } => Armor::Binary,
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
            Self::Tink { keyset, context } => {
                let (tink, header) = keyset.create(context)?;
                Ok((Box::new(tink), header))
            }
        }
    }
}

impl DecryptWith {
    /// The symmetric key of a file in the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::Key { key: key.clone(), context: context.to_vec() }
    }

    /// Private keys, or a passphrase, for a file in the format age v1.
    pub fn age(identities: &[Identity]) -> Self {
        Self::Age { identities: identities.to_vec() }
    }

    /// A keyset of Tink's, for a file in the format AES-GCM-HKDF streaming.
    pub fn tink(keyset: &Keyset, context: &[u8]) -> Self {
        Self::Tink { keyset: keyset.clone(), context: context.to_vec() }
    }

    /// A symmetric key, for one of the formats that take such keys.
    ///
    /// # Errors
    /// As [`EncryptWith::of_key`].
    pub fn of_key(key: &Key, format: Format, context: &[u8]) -> Result<Self, Error> {
        Ok(match segment(format)? {
            None => Self::key(key, context),
            Some(segment) => Self::tink(&keyset(key, segment)?, context),
        })
    }

    /// What a file is that begins with `prefix`; `None` where that is too short to say.
    pub(super) fn armor(&self, prefix: &[u8]) -> Option<Armor> {
        match self {
            Self::Age { .. } => Armor::detect(prefix),
            Self::Key { .. } | Self::Tink { .. } => Some(Armor::Binary),
        }
    }

    /// The keys of the file that begins with `prefix`.
    pub(super) fn begin(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<Keys>, Error> {
        // The other formats have no mark, but no salt of theirs looks like this one's either.
        let marks = [&b"age-encryption.org/v1\n"[..], b"-----BEGIN AGE ENCRYPTED FILE-----"];
        if !matches!(self, Self::Age { .. }) && marks.iter().any(|mark| prefix.starts_with(mark)) {
            return Err(Error::Format(
                "not a file for a symmetric key but an age file: it takes an identity or a passphrase",
            ));
        }
        match self {
            Self::Key { key, context } => match prefix.first_chunk() {
                Some(header) => Ok(Parsed::Ready(Box::new(Chunked::open(key, context, header)?))),
                None => Ok(Parsed::NeedsMore(chunked::HEADER_LEN)),
            },
            Self::Age { identities } => {
                Ok(Payload::begin(prefix, identities)?.map(|payload| Box::new(payload) as Keys))
            }
            Self::Tink { keyset, context } => keyset.find(context, prefix, extent),
        }
    }

    /// The keys of a file that can be read anywhere.
    pub(super) fn begin_at(&self, source: &dyn ReadAt, size: u64) -> Result<Keys, Error> {
        parse_prefix(source, size, |prefix, extent| self.begin(prefix, extent))
    }
}

/// The segments of Tink's in this format; `None` for chunked-encryption@v1.
fn segment(format: Format) -> Result<Option<Segment>, Error> {
    match format {
        Format::Chunked => Ok(None),
        Format::Tink4Kb => Ok(Some(Segment::Kb4)),
        Format::Tink1Mb => Ok(Some(Segment::Mb1)),
        Format::Age => Err(Misuse::UnsuitableKey(
            "age files are for recipients or a passphrase, not for a symmetric key",
        )
        .into()),
    }
}

fn keyset(key: &Key, segment: Segment) -> Result<Keyset, Error> {
    Keyset::of_key(Template::of(segment, key)?.parameters, key)
}
