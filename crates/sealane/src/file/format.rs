//! The formats by their names.

use crate::Error;
use std::str::FromStr;

/// A file format, as users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// C2SP chunked-encryption@v1.
    Chunked,
    /// age v1.
    Age,
    /// Tink AES-GCM-HKDF streaming with segments of 4 KiB.
    Tink4Kb,
    /// The same with segments of 1 MiB.
    Tink1Mb,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Chunked, Self::Age, Self::Tink4Kb, Self::Tink1Mb];

    /// The name that is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chunked => "chunked",
            Self::Age => "age",
            Self::Tink4Kb => "tink-4kb",
            Self::Tink1Mb => "tink-1mb",
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    /// # Errors
    /// [`Error::Format`], which lists the names.
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or(Error::Format("not the name of a format: known are chunked, age, tink-4kb and tink-1mb"))
    }
}
