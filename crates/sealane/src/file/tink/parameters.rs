//! Hash functions, parameters and templates of Tink's AES-GCM-HKDF streaming keys.

use crate::engine::io::ReadAt;
use crate::engine::plan::{End, Layout};
use crate::file::file_cipher::Description;
use crate::{Algorithm, Error, Key, Misuse};
use aws_lc_rs::hkdf;

pub(super) const TAG_LEN: usize = 16;
pub(super) const PREFIX_LEN: usize = 7;

/// Maximum length of a segment in bytes. Tink allows 2^31, but each thread allocates a segment.
const MAX_SEGMENT_LEN: usize = 1 << 24;

/// The hash function of HKDF, which derives the key of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Hash {
    Sha1,
    Sha256,
    Sha512,
}

/// The hash functions with their numbers in Tink's `HashType` and their AWS-LC implementations.
pub(super) static HASHES: [(Hash, u64, &hkdf::Algorithm); 3] = [
    (Hash::Sha1, 1, &hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY),
    (Hash::Sha256, 3, &hkdf::HKDF_SHA256),
    (Hash::Sha512, 4, &hkdf::HKDF_SHA512),
];

/// The algorithms of segments by the length of the derived key.
pub(super) const SEGMENTS: [(usize, Algorithm); 2] = [(16, Algorithm::Aes128Gcm), (32, Algorithm::Aes256Gcm)];

/// The parameters of a key, which a file does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) hash: Hash,
    pub(super) derived_len: usize,
    pub(super) segment_len: usize,
}

impl Parameters {
    /// Returns parameters for segments of `segment_len` bytes, the tag included, under a derived key of `derived_len`
    /// bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for parameters that Tink refuses as well; [`Error::LimitExceeded`] for
    /// segments above 16 MiB.
    pub fn new(hash: Hash, derived_len: usize, segment_len: usize) -> Result<Self, Error> {
        if !SEGMENTS.iter().any(|(len, _)| *len == derived_len) {
            return Err(Misuse::UnsuitableKey(
                "expected a derived key of 16 or 32 bytes for the segments of Tink",
            )
            .into());
        }
        let parameters = Self { hash, derived_len, segment_len };
        if segment_len <= parameters.header_len() + TAG_LEN {
            return Err(Misuse::UnsuitableKey(
                "expected a Tink segment that is longer than the header and a tag",
            )
            .into());
        }
        if segment_len > MAX_SEGMENT_LEN {
            return Err(Error::LimitExceeded("Tink segments are limited to 16 MiB"));
        }
        Ok(parameters)
    }

    /// Returns the hash function of HKDF, which derives the key of a file.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Returns the length in bytes of the derived key, which seals the segments.
    pub fn derived_len(&self) -> usize {
        self.derived_len
    }

    /// Returns the length in bytes of a full sealed segment.
    pub fn segment_len(&self) -> usize {
        self.segment_len
    }

    pub(crate) fn header_len(&self) -> usize {
        1 + self.derived_len + PREFIX_LEN
    }

    pub(super) fn layout(&self) -> Layout {
        Layout {
            header: self.header_len() as u64,
            lead: self.header_len() as u64,
            chunk: (self.segment_len - TAG_LEN) as u64,
            overhead: TAG_LEN as u64,
            end: End::Marked,
            max_chunks: 1 << 32,
        }
    }

    /// Checks that Tink accepts a key of this length.
    pub(super) fn check(&self, key: &Key) -> Result<(), Misuse> {
        match key.as_bytes().len() {
            len if len >= self.derived_len => Ok(()),
            got if self.derived_len == 16 => Err(Misuse::KeyLength { got, want: &[16, 32] }),
            got => Err(Misuse::KeyLength { got, want: &[32] }),
        }
    }
}

/// Parameters that have a name in Tink, which other implementations know too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Name of the template in Tink, for example "AES256_GCM_HKDF_1MB".
    pub name: &'static str,
    /// Length of a key for this template, in bytes.
    pub key_len: usize,
    /// The parameters of a key that is created from this template.
    pub parameters: Parameters,
}

/// All templates of Tink for AES-GCM-HKDF streaming, with their names and parameters.
pub static TEMPLATES: [Template; 4] = [
    template("AES128_GCM_HKDF_4KB", 16, Segment::Kb4),
    template("AES256_GCM_HKDF_4KB", 32, Segment::Kb4),
    template("AES128_GCM_HKDF_1MB", 16, Segment::Mb1),
    template("AES256_GCM_HKDF_1MB", 32, Segment::Mb1),
];

const fn template(name: &'static str, key_len: usize, segment: Segment) -> Template {
    Template {
        name,
        key_len,
        parameters: Parameters { hash: Hash::Sha256, derived_len: key_len, segment_len: segment.len() },
    }
}

/// The lengths of a ciphertext segment in the templates of Tink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Segments of 4096 bytes, which suit random access to small ranges.
    Kb4,
    /// Segments of 1,048,576 bytes.
    Mb1,
}

impl Segment {
    const fn len(self) -> usize {
        match self {
            Self::Kb4 => 1 << 12,
            Self::Mb1 => 1 << 20,
        }
    }
}

impl Template {
    /// Returns the template for a key of this length.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] unless the key has 16 or 32 bytes.
    pub fn for_key(segment: Segment, key: &Key) -> Result<&'static Self, Error> {
        let (got, segment_len) = (key.as_bytes().len(), segment.len());
        TEMPLATES
            .iter()
            .find(|template| template.key_len == got && template.parameters.segment_len == segment_len)
            .ok_or(Misuse::KeyLength { got, want: &[16, 32] }.into())
    }
}

/// Describes a file of `len` bytes by the length of its header.
///
/// # Errors
/// Returns [`Error::Format`] if the first byte is not a header length of the format.
pub(in crate::file) fn describe(
    segment: Segment,
    source: &dyn ReadAt,
    len: u64,
) -> Result<Description, Error> {
    let segment_len = segment.len();
    let mut first = [0];
    source.read_exact_at(0, &mut first)?;
    let header_len = usize::from(first[0]);
    let all =
        SEGMENTS.iter().map(|(len, _)| Parameters { hash: Hash::Sha256, derived_len: *len, segment_len });
    all.into_iter()
        .find(|parameters| parameters.header_len() == header_len)
        .map(|parameters| Description::binary(parameters.layout(), len))
        .ok_or(Error::Format("expected a Tink AES-GCM-HKDF streaming file, found another header length"))
}

impl Parameters {
    /// Returns salt and nonce prefix of a header; `None` if its length does not fit these parameters.
    pub(super) fn split<'a>(&self, header: &'a [u8]) -> Option<(&'a [u8], [u8; PREFIX_LEN])> {
        let (len, rest) = header.split_first()?;
        let (salt, prefix) = rest.split_last_chunk()?;
        let fits = usize::from(*len) == header.len() && header.len() == self.header_len();
        fits.then_some((salt, *prefix))
    }
}
