//! Reference implementations of the kernels' algorithms, for tests only.
//!
//! They follow their standards step by step, with the standards' names, and are slow. Their time
//! depends on secrets, so their names end in `_vartime`.
#![forbid(unsafe_code)]

pub mod aegis;
pub mod aes;
pub mod chacha20;
pub mod chacha20_poly1305;
pub mod eme;
pub mod gcm;
pub mod gcm_siv;
pub mod poly1305;
pub mod salsa20;
pub mod siv;
pub mod speck;
