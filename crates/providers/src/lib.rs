//! Providers implement algorithms; this crate selects one of them.
//!
//! An *algorithm* is computed by a *provider* in a *variant* for this machine. Each provider
//! exports its entries (`adapters/`); a provider from another crate adds its own with [`register`].
//! Selection ([`choose`]), [`listing`](listing()), the checks in [`contract`] and the tests read
//! these [`entries`]. The ciphers themselves are in the crate `kernels` or in foreign crates; the
//! crate `sealane` defines the layout of sealed messages.
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
//! # Features
//!
//! All but `fips` are on by default. Without them, a build has only the native kernels and
//! RustCrypto, and compiles only Rust.
//!
//! | feature | provider | needs |
//! |---|---|---|
//! | `aws-lc` | aws-lc | a C compiler |
//! | `ring` | ring | a C compiler |
//! | `aegis` | aegis | a C compiler |
//! | `fips` | aws-lc, by its FIPS module; every other algorithm is refused | a C compiler, CMake, Go, Perl |
#![forbid(unsafe_code)]

mod adapters;
mod algorithm;
mod batch;
pub mod contract;
mod entry;
mod environment;
mod error;
mod extended;
mod fips;
mod kernel;
mod key;
mod listing;
mod provider;
pub mod raw;
mod registry;
mod select;

pub use algorithm::Algorithm;
pub use batch::{BatchAad, BatchError};
pub use entry::{Entry, Expand};
pub use environment::features;
pub use error::{
    AuthenticationError, DefaultAlreadySet, KeyError, OpenResult, Reason, RegisterError, Request, SealError,
    SealResult, Unavailable, VariableError, VariableProblem, alternatives,
};
pub use extended::short_salt;
pub use fips::{FIPS, NOT_APPROVED, fips_module};
pub use kernels::cpu::Features;
pub use kernels::error::{MessageError, Part as MessagePart};
pub use kernels::segments::{self, Threads};
pub use kernels::zero::{try_zeroed, wipe, wipe_dead_stack, wipe_registers};
pub use kernels::{InOut, Parts, SourceCopy, fork::fork_mark};
pub use key::AeadKey;
pub use listing::{ListedVariant, listing};
pub use provider::Provider;
pub use registry::{entries, register};
pub use select::{choose, set_default};
