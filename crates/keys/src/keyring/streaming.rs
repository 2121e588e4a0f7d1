//! Hash functions, parameters and templates of Tink's AES-GCM-HKDF streaming keys.

use crate::prelude::*;
use aws_lc_rs::hkdf;

const TAG_LEN: usize = 16;
/// Length in bytes of the nonce prefix in a file's header.
pub const PREFIX_LEN: usize = 7;

/// Maximum length of a segment in bytes. Tink allows 2^31, but every thread allocates a segment.
const MAX_SEGMENT_LEN: usize = 1 << 24;

/// The hash function of HKDF, for a file's key, with its number in Tink's `HashType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Hash {
    Sha1 = 1,
    Sha256 = 3,
    Sha512 = 4,
}

/// The hash functions, with their AWS-LC implementations.
pub static HASHES: [(Hash, &hkdf::Algorithm); 3] = [
    (Hash::Sha1, &hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY),
    (Hash::Sha256, &hkdf::HKDF_SHA256),
    (Hash::Sha512, &hkdf::HKDF_SHA512),
];

/// The segments' algorithms, by length of the derived key.
pub const SEGMENTS: [(usize, Algorithm); 2] = [(16, Algorithm::Aes128Gcm), (32, Algorithm::Aes256Gcm)];

/// The parameters of a key. Files do not contain them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    hash: Hash,
    derived_len: usize,
    segment_len: usize,
}

impl Parameters {
    /// Returns parameters for segments of `segment_len` bytes (with the tag) under a derived key of
    /// `derived_len` bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for parameters that Tink refuses too, and
    /// [`Error::LimitExceeded`] for segments above 16 MiB.
    pub fn new(hash: Hash, derived_len: usize, segment_len: usize) -> Result<Self> {
        if !SEGMENTS.iter().any(|(len, _)| *len == derived_len) {
            return Err(Error::unsuitable_key(
                "expected a derived key of 16 or 32 bytes for the segments of Tink",
            ));
        }
        let parameters = Self { hash, derived_len, segment_len };
        if segment_len <= parameters.header_len() + TAG_LEN {
            return Err(Error::unsuitable_key(
                "expected a Tink segment that is longer than the header and a tag",
            ));
        }
        if segment_len > MAX_SEGMENT_LEN {
            return Err(Error::LimitExceeded("Tink segments are limited to 16 MiB"));
        }
        Ok(parameters)
    }

    /// Returns the hash function of HKDF.
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

    /// Returns the segment length in Tink's templates; `None` if no template has these parameters.
    pub(crate) fn segment(&self) -> Option<Segment> {
        let found = TEMPLATES.iter().find(|template| template.parameters == *self)?;
        [Segment::Kb4, Segment::Mb1].into_iter().find(|segment| segment.len() == found.parameters.segment_len)
    }

    #[doc(hidden)]
    pub fn header_len(&self) -> usize {
        1 + self.derived_len + PREFIX_LEN
    }

    /// Checks that Tink accepts a key of this length.
    #[doc(hidden)]
    pub fn check(&self, key: &Key) -> Result<(), Misuse> {
        match key.as_bytes().len() {
            len if len >= self.derived_len => Ok(()),
            got if self.derived_len == 16 => Err(Misuse::KeyLength { got, want: &[16, 32] }),
            got => Err(Misuse::KeyLength { got, want: &[32] }),
        }
    }
}

/// Parameters with a name in Tink, known to other implementations too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Name in Tink, such as "AES256_GCM_HKDF_1MB".
    pub name: &'static str,
    /// Key length in bytes.
    pub key_len: usize,
    /// The parameters.
    pub parameters: Parameters,
}

/// Tink's templates for AES-GCM-HKDF streaming.
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

/// The lengths of a ciphertext segment in Tink's templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// 4096 bytes, for random access to small ranges.
    Kb4,
    /// 1,048,576 bytes.
    Mb1,
}

#[expect(clippy::len_without_is_empty, reason = "a segment is never empty")]
impl Segment {
    /// Returns the length of a full segment in bytes, with the tag.
    pub const fn len(self) -> usize {
        match self {
            Self::Kb4 => 1 << 12,
            Self::Mb1 => 1 << 20,
        }
    }
}

impl Template {
    /// Returns the template for keys of this length in bytes.
    pub(crate) fn find(segment: Segment, key_len: usize) -> Option<&'static Self> {
        let segment_len = segment.len();
        TEMPLATES.iter().find(|it| it.key_len == key_len && it.parameters.segment_len == segment_len)
    }

    /// Returns the template for a key of this length.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] unless the key has 16 or 32 bytes.
    pub fn for_key(segment: Segment, key: &Key) -> Result<&'static Self> {
        let got = key.as_bytes().len();
        Self::find(segment, got).ok_or(Misuse::KeyLength { got, want: &[16, 32] }.into())
    }
}
