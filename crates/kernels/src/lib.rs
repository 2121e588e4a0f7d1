//! Cryptographic kernels: each algorithm written once, compiled for many instruction sets.
//!
//! This crate works on bytes and blocks. It has no dependencies, does not read the environment and
//! starts no threads. The processor features that it may use are passed to it as [`cpu::Features`].
//!
//! An algorithm is safe code, generic over the operations in [`vector`]. Its table in [`variant`]
//! contains one variant for each instruction set. A key selects its variant when it is made. For
//! example:
//!
//! ```
//! use kernels::{InOut, cpu::Features, gcm::Gcm};
//!
//! let key = Gcm::new(&[7; 32], Features::detect())?;
//! let (mut data, mut tag) = (*b"hello", [0; 16]);
//! key.seal(&[1; 12], b"header", InOut::in_place(&mut data), &mut tag).unwrap();
//! key.open(&[1; 12], b"header", InOut::in_place(&mut data), &tag).unwrap();
//! assert_eq!(&data, b"hello");
//! # Ok::<(), kernels::error::KeyError>(())
//! ```
//!
//! # Without the standard library
//!
//! With `default-features = false`, the crate needs only `core`, `alloc` and atomic bytes. The
//! results are the same, and each variant still runs its self-test once. These things are
//! different:
//!
//! - [`cpu::Features::detect`] returns the features that the compiler was told the processor has.
//!   For example, `-C target-feature=+aes` selects the variants with AES instructions on Arm.
//! - One thread processes all segments of a message (see [`segments`]).
//! - A key of AES-GCM computes its table of powers when it is made, and no table of the first
//!   round.
//! - There is no module `fork`, so a copy of a process is not detected.
#![deny(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "some operations are used by variants of other processors only"
    )
)]

extern crate alloc;

pub mod aegis;
pub mod aes;
mod batch;
pub mod chacha20;
pub mod chacha20_poly1305;
pub mod cpu;
pub mod ct;
pub mod eme;
pub mod error;
mod first_round;
#[cfg(feature = "std")]
#[allow(unsafe_code)]
pub mod fork;
pub mod gcm;
pub mod gcm_siv;
mod ghash;
mod once;
pub mod poly1305;
mod salsa20;
pub mod segments;
mod self_test;
pub mod siv;
pub mod speck;
mod stitch;
#[macro_use]
#[allow(unsafe_code)]
pub mod variant;
#[allow(unsafe_code)]
mod tables;
#[allow(unsafe_code)]
pub mod vector;
pub mod xsalsa20_poly1305;
#[allow(unsafe_code)]
pub mod zero;

pub use vector::inout::{InOut, Parts, SourceCopy};
