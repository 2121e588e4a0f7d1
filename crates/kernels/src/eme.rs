//! EME (Halevi and Rogaway, "A Parallelizable Enciphering Mode", 2003) over AES: a tweakable cipher
//! of 1 to 128 blocks at once, as gocryptfs and rclone use it for names.
//!
//! ```text
//! L   = 2·AES(0)                         L_j = 2^(j-1)·L
//! PPP = AES(P_j ^ L_j)                   for each block
//! MP  = T ^ the sum of all PPP_j
//! MC  = AES(MP)                          M = MP ^ MC
//! CCC_j = PPP_j ^ 2^(j-1)·M              for j > 1
//! CCC_1 = MC ^ T ^ the sum of the other CCC_j
//! C_j = AES(CCC_j) ^ L_j
//! ```
//!
//! Blocks are little-endian polynomials here, unlike in CMAC. Decryption is the same with the
//! inverse of AES, except in L.
#![forbid(unsafe_code)]

use crate::aes::Aes;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::variant::debug_key;
use crate::zero::{wipe, wipe_dead_stack};
use alloc::boxed::Box;

/// An expanded EME key. Wiped on drop.
pub struct Eme {
    aes: Aes,
    l: Box<Secret>,
}

/// Returns L, in a function of its own, so that its stack frame can be wiped.
#[inline(never)]
fn mask(aes: &Aes) -> u128 {
    double(u128::from_le_bytes(aes.encrypt_block(&[0; 16])))
}

/// A block that is wiped on drop.
struct Secret(u128);

impl Drop for Secret {
    fn drop(&mut self) {
        wipe(core::slice::from_mut(&mut self.0));
    }
}

/// Bytes in the longest message: each block has its own bit of M, which has 128.
const LONGEST: u128 = 128 * 16;

debug_key! { Eme { } }

impl Eme {
    /// Expands an AES key of 16, 24 or 32 bytes for the widest variant that `features` allow and
    /// that passes its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        let aes = Aes::new(key, features)?;
        let mut l = Box::new(Secret(0));
        l.0 = mask(&aes);
        // The portable AES leaves round keys deep below.
        wipe_dead_stack::<2048>();
        Ok(Self { aes, l })
    }

    /// Returns the name of the variant of AES that computes, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.aes.variant()
    }

    /// Encrypts 1 to 128 blocks in place.
    ///
    /// # Errors
    /// Returns [`MessageError::PartialBlock`] if there is no block or a part of one, and
    /// [`MessageError::TooLong`] for more than 128. Then nothing is written.
    pub fn encrypt(&self, tweak: &[u8; 16], data: &mut [u8]) -> Result<(), MessageError> {
        self.transform(tweak, data, |blocks| {
            for block in blocks.as_chunks_mut().0 {
                *block = self.aes.encrypt_block(block);
            }
        })
    }

    /// Decrypts 1 to 128 blocks in place, the inverse of [`Self::encrypt`].
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn decrypt(&self, tweak: &[u8; 16], data: &mut [u8]) -> Result<(), MessageError> {
        self.transform(tweak, data, |blocks| self.aes.decrypt_blocks(blocks))
    }

    /// Computes EME with `cipher` for AES or its inverse.
    fn transform(
        &self,
        tweak: &[u8; 16],
        data: &mut [u8],
        cipher: impl Fn(&mut [u8]),
    ) -> Result<(), MessageError> {
        if data.is_empty() || !data.len().is_multiple_of(16) {
            return Err(MessageError::PartialBlock { found: data.len(), block_len: 16 });
        }
        Part::Data.check_len(data.len() as u128, LONGEST)?;
        self.mask(data);
        cipher(data);
        let tweak = u128::from_le_bytes(*tweak);
        let sum = |data: &[u8]| blocks(data).fold(0, |sum, block| sum ^ u128::from_le_bytes(*block));
        let mp = tweak ^ sum(data);
        let mut block = mp.to_le_bytes();
        cipher(&mut block);
        let mc = u128::from_le_bytes(block);
        wipe(&mut block);
        let (first, others) = data.split_first_chunk_mut().expect("at least one block");
        xor_doubled(others, double(mp ^ mc));
        *first = (mc ^ tweak ^ sum(others)).to_le_bytes();
        cipher(data);
        self.mask(data);
        Ok(())
    }

    /// XORs L_j to block `j`.
    fn mask(&self, data: &mut [u8]) {
        xor_doubled(data, self.l.0);
    }
}

fn blocks(data: &[u8]) -> impl Iterator<Item = &[u8; 16]> {
    data.as_chunks().0.iter()
}

/// XORs `x` to the first block, 2·`x` to the second, and so on.
fn xor_doubled(data: &mut [u8], mut x: u128) {
    for block in data.as_chunks_mut().0 {
        *block = (u128::from_le_bytes(*block) ^ x).to_le_bytes();
        x = double(x);
    }
    wipe(core::slice::from_mut(&mut x));
}

/// Multiplies by x in GF(2^128), in constant time.
#[inline(always)]
fn double(x: u128) -> u128 {
    x << 1 ^ (x >> 127).wrapping_neg() & 0x87
}
