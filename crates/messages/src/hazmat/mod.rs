//! Raw ciphers and authenticators.
//!
//! These parts are dangerous: a keystream without a tag does not detect changes, and a keystream
//! used twice reveals the plaintexts. Use [`crate::Aead`] or `sealane::file` unless a protocol
//! requires one of these parts.
//!
//! | to | use |
//! |---|---|
//! | XOR a keystream at any offset | [`AesCtr`], [`ChaCha20`], [`XChaCha20`], [`SpeckCtr`] |
//! | authenticate one message with a one-time key | [`Poly1305`] |
//! | encrypt single blocks | [`Speck`] |
//! | seal one message in pieces | [`AeadEncryptor`], [`AeadDecryptor`] |
//! | read messages of the library SpeckEx | [`Aead`] |

use base::Misuse;

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

/// Tag length in bytes, for every algorithm in this module.
pub const TAG_LEN: usize = 16;

/// Bytes to encrypt before authenticating them, or the reverse, so that they stay in the L1 cache.
const PIECE: usize = 8192;

fn key_array(key: &[u8]) -> Result<&[u8; 32], Misuse> {
    // The conversion fails only if the length is wrong.
    key.try_into().map_err(|_| Misuse::KeyLength { got: key.len(), want: &[32] })
}

fn nonce_array<const N: usize>(nonce: &[u8]) -> Result<[u8; N], Misuse> {
    // The conversion fails only if the length is wrong.
    nonce.try_into().map_err(|_| Misuse::NonceLength { got: nonce.len(), want: N })
}

fn tag_array(tag: &[u8]) -> Result<&[u8; TAG_LEN], Misuse> {
    // The conversion fails only if the length is wrong.
    tag.try_into().map_err(|_| Misuse::TagLength { got: tag.len(), want: TAG_LEN })
}
