//! The tables of variants of all ciphers.

pub(crate) mod aegis;
pub(crate) mod aes;
pub(crate) mod chacha20;
pub(crate) mod gcm;
pub(crate) mod gcm_siv;
pub(crate) mod poly1305;
pub(crate) mod salsa20;
pub(crate) mod speck;
