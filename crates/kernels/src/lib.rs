//! THE MACHINE: one algorithm, many instruction sets.
//!
//! This floor knows bytes, blocks and processors. It has no dependencies, reads no environment and starts no
//! threads; what it may use of the processor is *given* to it as [`cpu::Features`].
#![deny(unsafe_code)]

pub mod aes;
pub mod cpu;
pub mod vector;

pub use vector::inout::{InOut, Parts};
