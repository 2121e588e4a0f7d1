//! AES: the key schedule, and counter mode at any offset.
#![forbid(unsafe_code)]
use crate::{InOut, cpu::Features};

/// An AES key, expanded, and the row that computes with it.
pub struct Aes {
    _x: (),
}
/// A key of another length than 16, 24 or 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLength(pub usize);
/// Offset + length passes 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastEnd;

impl Aes {
    /// Expands a key of 16, 24 or 32 bytes for the widest row that `features` allows.
    pub fn new(_key: &[u8], _features: Features) -> Result<Self, KeyLength> {
        todo!()
    }
    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"`, `"neon-aes"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        todo!()
    }
    /// One block.
    pub fn encrypt_block(&self, _block: &[u8; 16]) -> [u8; 16] {
        todo!()
    }
    /// XORs the keystream of the 128-bit big-endian counter that starts at `iv`, from byte `offset` on.
    pub fn xor_at(&self, _iv: &[u8; 16], _offset: u64, _data: InOut<'_>) -> Result<(), PastEnd> {
        todo!()
    }
}
