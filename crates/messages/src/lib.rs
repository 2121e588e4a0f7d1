//! Authenticated messages under symmetric keys, and the raw ciphers.
#![forbid(unsafe_code)]

pub mod aead;
pub mod hazmat;
mod key;
#[doc(hidden)]
pub mod named;
pub mod nonce;
mod prelude;
#[cfg(feature = "aead-traits")]
pub mod rustcrypto;

pub use aead::deterministic::{DeterministicAead, DeterministicAlgorithm};
pub use aead::packed::Offset;
pub use aead::{Aead, Buffer, MessageKey, MessageKeys};
pub use key::Key;
