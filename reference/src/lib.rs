//! Slow, plain, spec-shaped twins of the kernels; used by tests only.
//!
//! They follow the text of their standard and nothing else. All of them take time that depends on their secrets, which
//! their names say.
#![forbid(unsafe_code)]

pub mod aegis;
pub mod aes;
pub mod chacha20;
pub mod chacha20_poly1305;
pub mod gcm;
pub mod gcm_siv;
pub mod poly1305;
pub mod speck;
