//! THE CHOICE: who computes an algorithm on this machine.
//!
//! *Algorithm* (what), *provider* (who) and *variant* (which build) are three words for three things. The one table is
//! in `registry.rs`; selection, [`listing`], the [`contract`] and the tests read it. Ciphers live one floor down
//! (`kernels`) or in foreign crates; what a sealed message looks like is decided one floor up (`sealane`).
//!
//! ```
//! use providers::{Algorithm, InOut, choose};
//!
//! let key = choose(Algorithm::Aes256Gcm, None)?.key(&[7; 32])?;
//! let (mut data, mut tag) = (*b"hello", [0; 16]);
//! key.seal(&[0; 12], b"header", InOut::in_place(&mut data), &mut tag)?;
//! key.open(&[0; 12], b"header", InOut::in_place(&mut data), &tag)?;
//! assert_eq!(&data, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod algorithm;
pub mod contract;
mod environment;
mod error;
mod key;
mod listing;
mod provider;
pub mod raw;
mod registry;
mod select;

mod aegis;
mod aws_lc;
mod extended;
mod native;
mod ring;
mod rustcrypto;

pub use algorithm::Algorithm;
pub use environment::features;
pub use error::{
    Asked, BadVariable, DefaultAlreadySet, Failed, Forged, Malformed, NoAes, Reason, Unavailable,
};
pub use kernels::{InOut, Parts, aes::Aes, zero::fork_mark};
pub use key::AeadKey;
pub use listing::{Listed, listing};
pub use native::aes;
pub use provider::Provider;
pub use registry::{ROWS, Row};
pub use select::{choose, set_default};
