//! Headers and layout of a streaming key's files.

use crate::file_cipher::Description;
use crate::prelude::*;
use keys::keyring::{Hash, PREFIX_LEN, Parameters, SEGMENTS, Segment};

pub(super) const TAG_LEN: usize = 16;

/// Describes a file of `len` bytes by its header length.
///
/// # Errors
/// Returns [`Error::Format`] if the first byte is not a header length of the format.
pub(crate) fn describe(segment: Segment, source: &dyn ReadAt, len: u64) -> Result<Description> {
    let segment_len = segment.len();
    let mut first = [0];
    source.read_exact_at(0, &mut first)?;
    let header_len = usize::from(first[0]);
    let all = SEGMENTS.iter().filter_map(|(len, _)| Parameters::new(Hash::Sha256, *len, segment_len).ok());
    all.into_iter()
        .find(|parameters| parameters.header_len() == header_len)
        .map(|parameters| Description::binary(layout(&parameters), len))
        .ok_or(Error::Format("expected a Tink AES-GCM-HKDF streaming file, found another header length"))
}

pub(super) fn layout(parameters: &Parameters) -> Layout {
    Layout {
        header: parameters.header_len() as u64,
        lead: parameters.header_len() as u64,
        chunk: (parameters.segment_len() - TAG_LEN) as u64,
        overhead: TAG_LEN as u64,
        end: End::Marked,
        max_chunks: 1 << 32,
    }
}

/// Returns salt and nonce prefix of a header; `None` if its length does not fit the parameters.
pub(super) fn split<'a>(parameters: &Parameters, header: &'a [u8]) -> Option<(&'a [u8], [u8; PREFIX_LEN])> {
    let (len, rest) = header.split_first()?;
    let (salt, prefix) = rest.split_last_chunk()?;
    let fits = usize::from(*len) == header.len() && header.len() == parameters.header_len();
    fits.then_some((salt, *prefix))
}
