//! Tink's AES-GCM-HKDF streaming AEAD.
//!
//! ```text
//! file        = header || segment 0 || … || segment n
//! header      = header length[1] || salt[D] || nonce prefix[7]
//!               D: bytes in the segment key, 16 or 32
//! segment key = HKDF(hash, key, salt, info = associated data)[D]
//! segment i   = AES-GCM(segment key, nonce, no associated data)
//! nonce       = nonce prefix || i[4, big-endian] || 1 on the last segment, else 0
//! lengths     : a full segment ends at a multiple of S, so segment 0 is shorter by the header;
//!               the last segment is empty only if the whole plaintext is
//! ```
//!
//! S, D and the hash are parameters of the key. A file contains none of them, and no mark of the
//! format. The header does not commit to the key, so a wrong key or context is detected at the
//! first segment. Never extend or modify a file in place: either would reuse a nonce.

mod cipher;
mod file;
mod parameters;
#[cfg(test)]
mod test;

pub(super) use file::TinkFile;
pub use keys::keyring::{Hash, Parameters, Segment, TEMPLATES, Template};
pub(super) use parameters::describe;
