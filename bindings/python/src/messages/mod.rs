//! Classes that encrypt messages with one key or the keys of a keyring.

mod aead;
pub(crate) mod batch;
mod deterministic;
pub(crate) mod sealer;

pub(crate) use aead::{Aead, Buffer, generate_key};
pub(crate) use deterministic::DeterministicAead;
