//! AES-GCM (NIST SP 800-38D), multiplying one bit at a time.

use crate::aes::Aes;

/// A block in the bit order of the standard: the leftmost bit is the coefficient of x^0.
type Block = u128;

/// An expanded AES-GCM key with its hash subkey.
pub struct Gcm {
    aes: Aes,
    /// The hash subkey H: the encrypted zero block.
    h: Block,
}

impl Gcm {
    /// Expands the key and computes the hash subkey H = CIPH_K(0^128): step 1 of section 7.1.
    pub fn new_vartime(key: &[u8]) -> Self {
        let aes = Aes::new_vartime(key);
        let h = u128::from_be_bytes(aes.encrypt_block_vartime(&[0; 16]));
        Self { aes, h }
    }

    /// Derives the pre-counter block J0 from the IV: step 2 of section 7.1.
    pub fn pre_counter_vartime(&self, iv: &[u8]) -> [u8; 16] {
        if iv.len() == 12 {
            let mut j0 = [0; 16];
            j0[..12].copy_from_slice(iv);
            j0[15] = 1;
            return j0;
        }
        let mut blocks = pad(iv);
        blocks.push(8 * iv.len() as u128);
        self.ghash_vartime(&blocks).to_be_bytes()
    }

    /// Returns a 16-byte nonce with this pre-counter block: the inverse of step 2 of section 7.1.
    pub fn nonce_for_vartime(&self, j0: u128) -> [u8; 16] {
        // H^(2^128 - 2) is the inverse of H.
        let mut inverse = ONE;
        for _ in 1..128 {
            inverse = times_vartime(inverse, self.h);
            inverse = times_vartime(inverse, inverse);
        }
        let nonce = times_vartime(times_vartime(j0, inverse) ^ 128, inverse);
        nonce.to_be_bytes()
    }

    /// Computes GCM-AE (section 7.1); returns ciphertext and tag.
    pub fn seal_vartime(&self, iv: &[u8], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let mut j0 = self.pre_counter_vartime(iv);
        let ciphertext = self.gctr_vartime(inc_32(j0), plaintext);
        let mut blocks = pad(aad);
        blocks.extend(pad(&ciphertext));
        let bits = |bytes: &[u8]| 8 * bytes.len() as u128;
        blocks.push(bits(aad) << 64 | bits(&ciphertext));
        let s = self.ghash_vartime(&blocks).to_be_bytes();
        j0 = self.aes.encrypt_block_vartime(&j0);
        (ciphertext, core::array::from_fn(|i| j0[i] ^ s[i]))
    }

    /// Returns GHASH of the blocks under the subkey H (section 6.4).
    fn ghash_vartime(&self, blocks: &[Block]) -> Block {
        blocks.iter().fold(0, |y, x| times_vartime(y ^ x, self.h))
    }

    /// Computes GCTR of `x` (section 6.5); `icb` is the initial counter block.
    fn gctr_vartime(&self, icb: [u8; 16], x: &[u8]) -> Vec<u8> {
        let mut counter = icb;
        let mut y = Vec::with_capacity(x.len());
        for part in x.chunks(16) {
            let keystream = self.aes.encrypt_block_vartime(&counter);
            y.extend(part.iter().zip(keystream).map(|(x, k)| x ^ k));
            counter = inc_32(counter);
        }
        y
    }
}

/// Increments the last 32 bits of a block: inc_32 (section 6.2).
fn inc_32(mut block: [u8; 16]) -> [u8; 16] {
    let counter: &mut [u8; 4] = block.last_chunk_mut().unwrap();
    *counter = u32::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
    block
}

/// Splits bytes into blocks, the last one padded with zeros.
fn pad(bytes: &[u8]) -> Vec<Block> {
    bytes
        .chunks(16)
        .map(|part| {
            let mut block = [0; 16];
            block[..part.len()].copy_from_slice(part);
            u128::from_be_bytes(block)
        })
        .collect()
}

/// The element x^0.
const ONE: Block = 1 << 127;

/// Returns the product X • Y of two field elements (section 6.3).
fn times_vartime(x: Block, y: Block) -> Block {
    const R: Block = 0b1110_0001 << 120;
    let (mut z, mut v) = (0, y);
    for i in 0..128 {
        if x >> (127 - i) & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 0 { v >> 1 } else { v >> 1 ^ R };
    }
    z
}

#[cfg(test)]
mod test {
    use super::*;

    /// Checks the test cases 1 and 2 of McGrew and Viega, and H of case 2.
    #[test]
    fn first_test_cases() {
        let gcm = Gcm::new_vartime(&[0; 16]);
        assert_eq!(gcm.h, 0x66e94bd4ef8a2c3b884cfa59ca342b2e);
        assert_eq!(
            u128::from_be_bytes(gcm.seal_vartime(&[0; 12], &[], &[]).1),
            0x58e2fccefa7e3061367f1d57a4e7455a
        );
        let (ciphertext, tag) = gcm.seal_vartime(&[0; 12], &[], &[0; 16]);
        assert_eq!(ciphertext, 0x0388dace60b6a392f328c2b971b2fe78_u128.to_be_bytes());
        assert_eq!(u128::from_be_bytes(tag), 0xab6e47d42cec13bdf53a67b21257bddf);
    }

    #[test]
    fn nonce_for_inverts_pre_counter() {
        let gcm = Gcm::new_vartime(&[3; 24]);
        for j0 in [0, u128::MAX, 0x0123_4567_89ab_cdef_0011_2233_ffff_fffe] {
            assert_eq!(gcm.pre_counter_vartime(&gcm.nonce_for_vartime(j0)), j0.to_be_bytes());
        }
    }

    #[test]
    fn counters_wrap_in_their_word() {
        let mut block = [0xff; 16];
        block[0] = 7;
        assert_eq!(inc_32(block)[..12], block[..12]);
        assert_eq!(inc_32(block)[12..], [0; 4]);
    }
}
