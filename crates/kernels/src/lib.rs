//! THE MACHINE: one algorithm, many instruction sets.
//!
//! This floor knows bytes, blocks and processors. It has no dependencies, reads no environment and starts no
//! threads; what it may use of the processor is *given* to it as [`cpu::Features`].
//!
//! An algorithm is written once, safely, over the vocabulary in [`vector`]; [`variant`] holds one row of it per
//! instruction set; a key picks its row once, when it is made, and keeps it.
#![deny(unsafe_code)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "only rows of other processors use all of a vocabulary"
    )
)]

pub mod aegis;
pub mod aes;
pub mod chacha20;
pub mod chacha20_poly1305;
pub mod cpu;
pub mod ct;
pub mod error;
mod first_round;
pub mod gcm;
pub mod gcm_siv;
mod ghash;
pub mod poly1305;
pub mod speck;
mod stitch;
#[allow(unsafe_code)]
pub mod variant;
#[allow(unsafe_code)]
pub mod vector;
#[allow(unsafe_code)]
pub mod zero;

pub use vector::inout::{InOut, Parts};
