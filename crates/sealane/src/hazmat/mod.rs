//! Raw parts. They hide nothing from whoever can change the data, and nothing at all when a keystream is used
//! twice. If you are not sure that you need them, you want [`crate::Aead`] or [`crate::file`].

use crate::Misuse;

#[macro_use]
mod keystream;

mod aes_ctr;
mod chacha20;
mod pieces;
mod poly1305;
mod speck;
mod speck_poly1305;

pub use aes_ctr::AesCtr;
pub use chacha20::{ChaCha20, XChaCha20};
pub use pieces::{AeadDecryptor, AeadEncryptor};
pub use poly1305::Poly1305;
pub use providers::raw::{ByteOrder, SpeckSize};
pub use speck::{Speck, SpeckCtr};
pub use speck_poly1305::Aead;

/// Bytes of a tag, of every algorithm here.
pub const TAG_LEN: usize = 16;

/// Bytes that are encrypted before they are authenticated, or the other way round: they stay in the first
/// cache.
const PIECE: usize = 8192;

/// A key of 32 bytes.
fn key_of_32(key: &[u8]) -> Result<&[u8; 32], Misuse> {
    key.try_into().map_err(|_| Misuse::KeyLength { got: key.len(), want: &[32] })
}

/// A nonce of `N` bytes.
fn nonce_of<const N: usize>(nonce: &[u8]) -> Result<[u8; N], Misuse> {
    nonce.try_into().map_err(|_| Misuse::NonceLength { got: nonce.len(), want: N })
}

/// A tag of 16 bytes.
fn tag_of(tag: &[u8]) -> Result<&[u8; TAG_LEN], Misuse> {
    tag.try_into().map_err(|_| Misuse::TagLength { got: tag.len(), want: TAG_LEN })
}
