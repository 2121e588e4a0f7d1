//! The native part of `sealane.hazmat`: cryptographic primitives that are easy to misuse.

mod keystreams;
mod poly1305;
mod speck;
mod speck_aead;
mod streams;

pub(crate) use keystreams::{AesCtr, ChaCha20, SpeckCtr, XChaCha20};
pub(crate) use poly1305::Poly1305;
pub(crate) use speck::Speck;
pub(crate) use speck_aead::SpeckAead;
pub(crate) use streams::{AeadDecryptor, AeadEncryptor};
