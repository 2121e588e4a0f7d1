//! Tink's AES-GCM-HKDF streaming AEAD.
//!
//! ```text
//! file        = header || segment 0 || … || segment n
//! header      = its length[1] || salt[D] || nonce prefix[7]        D: bytes of the segments' key, 16 or 32
//! segment key = HKDF(hash, key, salt, info = associated data)[D]
//! segment i   = AES-GCM(segment key, nonce prefix || i[4, big-endian] || 1 on the last, else 0; no associated data)
//! sizes       : a full segment ends at a multiple of S, so segment 0 is shorter by the header;
//!               the last one is empty only where the whole plaintext is
//! ```
//!
//! S, D and the hash belong to the key; nothing in a file says them, or that it is one. There is no commitment: a
//! wrong key or context is noticed at the first segment. Nothing may be appended or written over in place.

mod keyset;
#[cfg(test)]
mod test;

pub use keyset::Keyset;
pub(in crate::file) use keyset::TinkFile;

use crate::engine::io::ReadAt;
use crate::engine::pipeline::ChunkCipher;
use crate::engine::plan::{ChunkPosition, End, Layout};
use crate::file::file_cipher::Description;
use crate::{Aead, Algorithm, Error, Key, Misuse};
use aws_lc_rs::hkdf;
use providers::InOut;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroizing;

const TAG_LEN: usize = 16;
const PREFIX_LEN: usize = 7;
const NONCE_LEN: usize = 12;

/// The longest segment that is read or written here, in bytes; Tink's go to 2^31, which every thread would allocate.
const LONGEST_SEGMENT: usize = 1 << 24;

/// The hash of HKDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Hash {
    Sha1,
    Sha256,
    Sha512,
}

/// Each with its number in Tink's `HashType`, and who computes it.
static HASHES: [(Hash, u64, &hkdf::Algorithm); 3] = [
    (Hash::Sha1, 1, &hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY),
    (Hash::Sha256, 3, &hkdf::HKDF_SHA256),
    (Hash::Sha512, 4, &hkdf::HKDF_SHA512),
];

/// The algorithms of segments: the length of the derived key decides.
const SEGMENTS: [(usize, Algorithm); 2] = [(16, Algorithm::Aes128Gcm), (32, Algorithm::Aes256Gcm)];

/// What belongs to a key, and cannot be told from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    hash: Hash,
    derived_len: usize,
    segment_len: usize,
}

impl Parameters {
    /// `derived_len` bytes of key for segments of `segment_len` bytes, the tag included.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] for parameters that Tink refuses too; [`Error::LimitExceeded`] for segments above 16 MiB.
    pub fn new(hash: Hash, derived_len: usize, segment_len: usize) -> Result<Self, Error> {
        if !SEGMENTS.iter().any(|(len, _)| *len == derived_len) {
            return Err(Misuse::UnsuitableKey("the derived key of Tink's segments has 16 or 32 bytes").into());
        }
        let parameters = Self { hash, derived_len, segment_len };
        if segment_len <= parameters.header_len() + TAG_LEN {
            return Err(
                Misuse::UnsuitableKey("a segment of Tink's is longer than the header and a tag").into()
            );
        }
        if segment_len > LONGEST_SEGMENT {
            return Err(Error::LimitExceeded("segments of Tink's are handled up to 16 MiB"));
        }
        Ok(parameters)
    }

    /// The hash of HKDF.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Bytes of the key that segments are sealed with.
    pub fn derived_len(&self) -> usize {
        self.derived_len
    }

    /// Bytes of a full sealed segment.
    pub fn segment_len(&self) -> usize {
        self.segment_len
    }

    pub(crate) fn header_len(&self) -> usize {
        1 + self.derived_len + PREFIX_LEN
    }

    fn layout(&self) -> Layout {
        Layout {
            header: self.header_len() as u64,
            lead: self.header_len() as u64,
            chunk: (self.segment_len - TAG_LEN) as u64,
            overhead: TAG_LEN as u64,
            end: End::Marked,
            max_chunks: 1 << 32,
        }
    }

    /// Whether Tink would take a key of this length.
    fn check(&self, key: &Key) -> Result<(), Misuse> {
        match key.as_bytes().len() {
            len if len >= self.derived_len => Ok(()),
            got if self.derived_len == 16 => Err(Misuse::KeyLength { got, want: &[16, 32] }),
            got => Err(Misuse::KeyLength { got, want: &[32] }),
        }
    }
}

/// Parameters that have a name in Tink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Tink's name.
    pub name: &'static str,
    /// Bytes of a key.
    pub key_len: usize,
    /// The rest.
    pub parameters: Parameters,
}

/// All four.
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

/// The two sizes of segments that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// 4096 bytes: for random access.
    Kb4,
    /// 1048576 bytes.
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
    /// The one for a key of this length.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`].
    pub fn of(segment: Segment, key: &Key) -> Result<&'static Self, Error> {
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
/// [`Error::Format`] if the first byte is not a header length of the format.
pub(super) fn describe(segment: Segment, source: &dyn ReadAt, len: u64) -> Result<Description, Error> {
    let segment_len = segment.len();
    let mut first = [0];
    source.read_exact_at(0, &mut first)?;
    let header_len = usize::from(first[0]);
    let all =
        SEGMENTS.iter().map(|(len, _)| Parameters { hash: Hash::Sha256, derived_len: *len, segment_len });
    all.into_iter()
        .find(|parameters| parameters.header_len() == header_len)
        .map(|parameters| Description::binary(parameters.layout(), len))
        .ok_or(Error::Format(
            "not a file in Tink's AES-GCM-HKDF streaming format: its header has another length",
        ))
}

/// The keys of one file.
pub(crate) struct Tink {
    aead: Aead,
    prefix: [u8; PREFIX_LEN],
    layout: Layout,
    /// Set by the first segment that opens: the header does not commit to the key.
    key_is_verified: AtomicBool,
}

impl Tink {
    /// Keys for a new file, and its header.
    pub(crate) fn create(parameters: &Parameters, key: &Key, aad: &[u8]) -> Result<(Self, Vec<u8>), Error> {
        let mut header = vec![0; parameters.header_len()];
        crate::random::fill(&mut header[1..])?;
        header[0] = header.len() as u8;
        Ok((Self::open(parameters, key, aad, &header)?, header))
    }

    /// The keys of the file that begins with `header`. They need not be the right ones: the first segment tells.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`]; [`Error::Format`] for a header of another length.
    pub(crate) fn open(parameters: &Parameters, key: &Key, aad: &[u8], header: &[u8]) -> Result<Self, Error> {
        parameters.check(key)?;
        let (salt, prefix) = parameters.split(header).ok_or(Error::Format(
            "not a file in Tink's AES-GCM-HKDF streaming format under a key of this size: its header has another length",
        ))?;
        let (_, algorithm) =
            SEGMENTS.into_iter().find(|(len, _)| *len == salt.len()).expect("new checks the derived length");
        let mut derived = Zeroizing::new([0; 32]);
        let derived = &mut derived[..salt.len()];
        derive(parameters.hash, key, salt, aad, derived)?;
        Ok(Self {
            aead: Aead::new(algorithm, &Key::from_bytes(derived))?,
            prefix,
            layout: parameters.layout(),
            key_is_verified: AtomicBool::new(false),
        })
    }

    fn nonce(&self, position: ChunkPosition) -> Result<[u8; NONCE_LEN], Error> {
        let index =
            u32::try_from(position.index).map_err(|_| Error::LimitExceeded("a file has 2^32 segments"))?;
        let mut nonce = [0; NONCE_LEN];
        nonce[..PREFIX_LEN].copy_from_slice(&self.prefix);
        nonce[PREFIX_LEN..NONCE_LEN - 1].copy_from_slice(&index.to_be_bytes());
        nonce[NONCE_LEN - 1] = position.last.into();
        Ok(nonce)
    }
}

impl Parameters {
    /// Salt and nonce prefix of a header, if it is one.
    fn split<'a>(&self, header: &'a [u8]) -> Option<(&'a [u8], [u8; PREFIX_LEN])> {
        let (len, rest) = header.split_first()?;
        let (salt, prefix) = rest.split_last_chunk()?;
        let whole = usize::from(*len) == header.len() && header.len() == self.header_len();
        whole.then_some((salt, *prefix))
    }
}

impl ChunkCipher for Tink {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn seal(&self, position: ChunkPosition, plain: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        let (data, tag) = sealed.split_at_mut(plain.len());
        self.aead.encrypt_parts(&self.nonce(position)?, &[], InOut::apart(plain, data), tag)
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<(), Error> {
        let (data, tag) = sealed.split_at(plain.len());
        self.aead.decrypt_parts(&self.nonce(position)?, &[], InOut::apart(data, plain), tag)?;
        self.key_is_verified.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn key_is_verified(&self) -> bool {
        self.key_is_verified.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Tink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tink").field("aead", &self.aead).finish_non_exhaustive()
    }
}

/// HKDF (RFC 5869) by AWS-LC, which has SHA-1 too and wipes what it made.
fn derive(hash: Hash, key: &Key, salt: &[u8], info: &[u8], out: &mut [u8]) -> Result<(), Error> {
    struct Len(usize);

    impl hkdf::KeyType for Len {
        fn len(&self) -> usize {
            self.0
        }
    }

    let (_, _, algorithm) =
        HASHES.iter().find(|(known, _, _)| *known == hash).expect("the table has a row for each");
    let prk = hkdf::Salt::new(**algorithm, salt).extract(key.as_bytes());
    let filled = prk.expand(&[info], Len(out.len())).and_then(|okm| okm.fill(out));
    filled.map_err(|_| Error::LimitExceeded("HKDF could not be computed: there is no memory left"))
}
