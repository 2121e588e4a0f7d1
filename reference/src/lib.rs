//! Reference implementations of the algorithms of the kernels, for tests only.
//!
//! They follow the text of their standards step by step, with the same names, and are slow. Their time depends on
//! secrets, so the names of their functions end in `_vartime`.
#![forbid(unsafe_code)]

pub mod aegis;
pub mod aes;
pub mod chacha20;
pub mod chacha20_poly1305;
pub mod gcm;
pub mod gcm_siv;
pub mod poly1305;
pub mod siv;
pub mod speck;
