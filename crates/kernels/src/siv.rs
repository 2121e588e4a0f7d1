//! AES-SIV (RFC 5297): deterministic authenticated encryption.
//!
//! ```text
//! D = CMAC(K1, 0^128)
//! D = dbl(D) XOR CMAC(K1, header)                            for each header
//! T = plaintext with D XORed to its last 16 bytes            or, if it is shorter than a block,
//!     dbl(D) XOR pad(plaintext)
//! V = CMAC(K1, T)                                            (S2V, section 2.4)
//! ciphertext = plaintext XOR AES-CTR(K2, V with bits 31 and 63 cleared)
//! ```
//!
//! V is the synthetic IV: the tag of the message and its initial counter. The blocks of CMAC depend
//! on each other, so the speed of long messages is limited by the latency of one block.
#![forbid(unsafe_code)]

use crate::aes::Aes;
use crate::cpu::Features;
use crate::error::{KeyError, OpenError};
use crate::variant::debug_key;
use crate::vector::inout::copy_once;
use crate::zero::wipe;
use crate::{InOut, Parts, ct};
use alloc::boxed::Box;

/// An expanded AES-SIV key: two AES keys. Wiped on drop.
pub struct Siv {
    /// K1, the key of S2V.
    k1: Aes,
    /// K2, the key of the counter mode.
    k2: Aes,
    constants: Box<Constants>,
}

/// Values that depend on K1 only, as big-endian integers.
struct Constants {
    /// The first value of D in S2V: the CMAC of a block of zeros.
    d: u128,
    /// The CMAC subkey for messages of whole blocks (RFC 4493, section 2.3).
    whole: u128,
    /// The CMAC subkey for messages with a partial or empty last block.
    padded: u128,
}

impl Drop for Constants {
    fn drop(&mut self) {
        for constant in [&mut self.d, &mut self.whole, &mut self.padded] {
            wipe(core::slice::from_mut(constant));
        }
    }
}

debug_key! { Siv { } }

impl Siv {
    /// Expands a key of 32, 48 or 64 bytes for the widest variant of AES that `features` allow and
    /// that passes its self-test. The first half is the key of S2V, and the second the key
    /// of the counter mode.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        if !matches!(key.len(), 32 | 48 | 64) {
            return Err(KeyError::InvalidLength(key.len()));
        }
        let (k1, k2) = key.split_at(key.len() / 2);
        let (k1, k2) = (Aes::new(k1, features)?, Aes::new(k2, features)?);
        let mut constants = Box::new(Constants { d: 0, whole: 0, padded: 0 });
        constants.whole = dbl(encrypt(&k1, 0));
        constants.padded = dbl(constants.whole);
        constants.d = encrypt(&k1, constants.whole);
        Ok(Self { k1, k2, constants })
    }

    /// Returns the name of the variant of AES that computes, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.k1.variant()
    }

    /// Encrypts `data`, and writes the synthetic IV, which authenticates `data` and `headers`, to
    /// `v`.
    ///
    /// The headers are a list: other headers with the same concatenation are another list. RFC 5297
    /// allows 126.
    pub fn seal(&self, headers: &[&[u8]], data: InOut<'_>, v: &mut [u8; 16]) {
        // The plaintext is used twice. If it changed in between, the keystream of one plaintext
        // would encrypt another.
        let target = match data.into_parts() {
            Parts::InPlace(target) => {
                *v = self.s2v(headers, target);
                target
            }
            Parts::Apart(source, target) => {
                *v = self.s2v(headers, copy_once(source, target));
                target
            }
        };
        self.apply_keystream(v, InOut::in_place(target));
    }

    /// Decrypts `data` and verifies the synthetic IV.
    ///
    /// # Errors
    /// Returns [`OpenError::AuthenticationFailed`] if the IV does not match the headers and the
    /// plaintext; the destination is then zero.
    pub fn open(&self, headers: &[&[u8]], mut data: InOut<'_>, v: &[u8; 16]) -> Result<(), OpenError> {
        let len = data.len();
        self.apply_keystream(v, data.part(0, len));
        let mut expected = self.s2v(headers, data.target());
        ct::verified(&mut expected, v, data)
    }

    /// XORs the keystream whose initial counter block is `v` without bits 31 and 63 (section 2.5).
    /// The counter of no message carries into these bits, so adders of 32 and of 64 bits
    /// compute the same.
    #[inline]
    fn apply_keystream(&self, v: &[u8; 16], data: InOut<'_>) {
        let counter = u128::from_be_bytes(*v) & !(1 << 31) & !(1 << 63);
        let iv = counter.to_be_bytes();
        self.k2.xor_at(&iv, 0, data).expect("a message in memory is shorter than the keystream");
    }

    /// Computes S2V of the headers and the plaintext (section 2.4).
    #[inline]
    fn s2v(&self, headers: &[&[u8]], plaintext: &[u8]) -> [u8; 16] {
        let mut d = self.constants.d;
        for header in headers {
            d = dbl(d) ^ u128::from_be_bytes(self.cmac(header));
        }
        // T is the plaintext up to the last block boundary that is at least a block before its end,
        // and `end`, which has 16 to 31 bytes.
        let Some(at) = plaintext.len().checked_sub(16) else {
            return self.cmac(&(dbl(d) ^ u128::from_be_bytes(pad(plaintext))).to_be_bytes());
        };
        let (start, rest) = plaintext.split_at(at - at % 16);
        let mut end = [0; 32];
        end[..rest.len()].copy_from_slice(rest);
        let (last, _) = end[rest.len() - 16..].split_first_chunk_mut().expect("16 bytes");
        *last = (u128::from_be_bytes(*last) ^ d).to_be_bytes();
        let mut state = [0; 16];
        self.k1.cbc_mac(&mut state, start);
        let mac = self.finish(state, &mut end, rest.len());
        wipe(&mut end);
        mac
    }

    /// Computes the CMAC of a message (RFC 4493, section 2.4).
    #[inline]
    fn cmac(&self, message: &[u8]) -> [u8; 16] {
        let (start, rest) = message.split_at(message.len().saturating_sub(1) / 16 * 16);
        let mut end = [0; 32];
        end[..rest.len()].copy_from_slice(rest);
        let mut state = [0; 16];
        self.k1.cbc_mac(&mut state, start);
        self.finish(state, &mut end, rest.len())
    }

    /// Processes the last `len` bytes of a message, at most 31, after which `end` is zero. `state`
    /// is the CBC-MAC of the blocks before them.
    #[inline]
    fn finish(&self, mut state: [u8; 16], end: &mut [u8; 32], len: usize) -> [u8; 16] {
        // The last block is the second one if there are more than 16 bytes.
        let at = if len > 16 { 16 } else { 0 };
        let whole = len == at + 16;
        if !whole {
            end[len] = 0x80;
        }
        let subkey = if whole { self.constants.whole } else { self.constants.padded };
        let last: &mut [u8; 16] = end[at..].first_chunk_mut().expect("16 bytes");
        *last = (u128::from_be_bytes(*last) ^ subkey).to_be_bytes();
        self.k1.cbc_mac(&mut state, &end[..at + 16]);
        state
    }
}

/// Encrypts a block that is a big-endian integer.
fn encrypt(aes: &Aes, block: u128) -> u128 {
    u128::from_be_bytes(aes.encrypt_block(&block.to_be_bytes()))
}

/// Multiplies by x in GF(2^128), in constant time (RFC 5297, section 2.3).
#[inline(always)]
fn dbl(x: u128) -> u128 {
    x << 1 ^ (x >> 127).wrapping_neg() & 0x87
}

/// Appends one bit and zeros up to a block (section 2.4).
#[inline]
fn pad(part: &[u8]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..part.len()].copy_from_slice(part);
    block[part.len()] = 0x80;
    block
}
