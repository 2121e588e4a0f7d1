//! The native part of `sealane.hazmat`: cryptographic primitives that are easy to misuse.

mod keystreams;
mod poly1305;
mod speck;
mod speck_aead;
mod streams;

pub(crate) use {keystreams::*, poly1305::*, speck::*, speck_aead::*, streams::*};
