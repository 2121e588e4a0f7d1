//! The table of file formats.

use super::file_cipher::{Description, SymmetricFile};
use super::tink::{self, Segment, TinkFile};
use super::{age_file, chunked};
use crate::prelude::*;
use keys::{KeyType, Prefix};
use std::str::FromStr;

/// A file format. Users type its name, such as `tink-1mb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// C2SP chunked-encryption@v1, for a symmetric key.
    Chunked,
    /// age v1, for recipients or a passphrase.
    Age,
    /// Tink AES-GCM-HKDF streaming with segments of 4 KiB, for a symmetric key.
    Tink4Kb,
    /// Tink AES-GCM-HKDF streaming with segments of 1 MiB, for a symmetric key.
    Tink1Mb,
}

/// Checks a symmetric key and binds it to a context.
type WithKey = fn(&Key, &[u8]) -> Result<Arc<dyn SymmetricFile>>;

/// A format's names and layout.
pub(super) struct FormatEntry {
    pub(super) format: Format,
    /// The name that users type.
    pub(super) name: &'static str,
    /// The name of the format's specification.
    pub(super) specification: &'static str,
    /// Checks a symmetric key and binds it to a context; `None` if the format takes recipients.
    pub(super) with_key: Option<WithKey>,
    /// Recognises a file by its first bytes; `None` if the format has no mark.
    pub(super) detect: Option<fn(&[u8]) -> bool>,
    /// Describes a file of the given length, without a key.
    pub(super) describe: fn(&dyn ReadAt, u64) -> Result<Description>,
}

/// All formats, in the order of [`Format`]'s variants.
pub(super) static FORMATS: [FormatEntry; 4] = [
    FormatEntry {
        format: Format::Chunked,
        name: "chunked",
        specification: "chunked-encryption@v1",
        with_key: Some(|key, context| Ok(Arc::new(chunked::ChunkedFile::checked(key, context)?))),
        detect: None,
        describe: |_, len| Ok(Description::binary(chunked::LAYOUT, len)),
    },
    FormatEntry {
        format: Format::Age,
        name: "age",
        specification: "age v1",
        with_key: None,
        detect: Some(age_file::detect),
        describe: age_file::describe,
    },
    FormatEntry {
        format: Format::Tink4Kb,
        name: "tink-4kb",
        specification: "Tink AES-GCM-HKDF, 4 KiB",
        with_key: Some(|key, context| tink_file(Format::Tink4Kb, key, context)),
        detect: None,
        describe: |source, len| tink::describe(Segment::Kb4, source, len),
    },
    FormatEntry {
        format: Format::Tink1Mb,
        name: "tink-1mb",
        specification: "Tink AES-GCM-HKDF, 1 MiB",
        with_key: Some(|key, context| tink_file(Format::Tink1Mb, key, context)),
        detect: None,
        describe: |source, len| tink::describe(Segment::Mb1, source, len),
    },
];

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Chunked, Self::Age, Self::Tink4Kb, Self::Tink1Mb];

    /// Returns the name that users type.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub(super) fn entry(self) -> &'static FormatEntry {
        &FORMATS[self as usize]
    }
}

fn tink_file(format: Format, key: &Key, context: &[u8]) -> Result<Arc<dyn SymmetricFile>> {
    let keyring = Keyring::from_key(KeyType::for_key(format.name(), key)?, Prefix::Raw, key)?;
    Ok(Arc::new(TinkFile::new(keyring, context)?))
}

impl FromStr for Format {
    type Err = Error;

    /// # Errors
    /// Returns [`Misuse::UnknownName`] with the known names.
    fn from_str(name: &str) -> Result<Self> {
        let found = FORMATS.iter().find(|entry| entry.name == name);
        let known = || FORMATS.iter().map(|entry| entry.name);
        found.map(|entry| entry.format).ok_or_else(|| Misuse::unknown("format", known()).into())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn table_has_the_order_of_the_enumeration() {
        assert_eq!(FORMATS.each_ref().map(|entry| entry.format), Format::ALL);
        for (index, format) in Format::ALL.into_iter().enumerate() {
            assert_eq!(format as usize, index);
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
    }
}
