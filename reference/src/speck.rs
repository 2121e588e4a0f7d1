//! Speck ("The Simon and Speck Families of Lightweight Block Ciphers", ePrint 2013/404, section 4),
//! one block at a time, and a counter mode with a counter as wide as a block.

/// Byte order of blocks and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The paper's order of test vectors: x before y, `k[0]` last, every word big-endian.
    Big,
    /// All bytes of key and block reversed, as in the implementation guide of 2019 and in Linux.
    Little,
}

/// An expanded Speck key and its block size.
pub struct Speck {
    /// Bits per word of the block: 16, 24, 32, 48 or 64.
    n: u32,
    order: Order,
    round_keys: Vec<u64>,
}

impl Speck {
    /// Computes the key schedule (section 4.2) for blocks of `block_bits` bits.
    ///
    /// # Panics
    /// Panics if the sizes of block and key are not in table 4.1 of the paper.
    pub fn new_vartime(block_bits: u32, key: &[u8], order: Order) -> Self {
        let n = block_bits / 2;
        let key_bits = 8 * key.len();
        let rounds = match (block_bits, key_bits) {
            (32, 64) => 22,
            (48, 72) => 22,
            (48, 96) => 23,
            (64, 96) => 26,
            (64, 128) => 27,
            (96, 96) => 28,
            (96, 144) => 29,
            (128, 128) => 32,
            (128, 192) => 33,
            (128, 256) => 34,
            _ => panic!("expected a size of Speck, found Speck{block_bits}/{key_bits}"),
        };
        // The order of the words is l[m-2], …, l[0], k[0].
        let mut words = words(n, order, key);
        words.reverse();
        let mut speck = Self { n, order, round_keys: vec![words[0]] };
        let mut l = words[1..].to_vec();
        let m = words.len();
        for i in 0..rounds - 1 {
            let k = speck.round_keys[i];
            let (new_l, new_k) = speck.round(l[i], k, i as u64);
            l.push(new_l);
            assert_eq!(l.len(), i + m);
            speck.round_keys.push(new_k);
        }
        speck
    }

    /// Returns the number of bytes in a block: two words.
    pub fn block_len(&self) -> usize {
        self.n as usize / 4
    }

    /// Returns the round keys in order of encryption.
    pub fn round_keys(&self) -> &[u64] {
        &self.round_keys
    }

    /// Computes the round function R_k (section 4.1).
    fn round(&self, x: u64, y: u64, k: u64) -> (u64, u64) {
        let (alpha, beta) = self.rotations();
        let x = self.modulo(self.rotate_right(x, alpha).wrapping_add(y)) ^ k;
        (x, self.rotate_right(y, self.n - beta) ^ x)
    }

    /// Computes the inverse of [`Speck::round`], for decryption (section 4.1).
    fn inverse_round(&self, x: u64, y: u64, k: u64) -> (u64, u64) {
        let (alpha, beta) = self.rotations();
        let y = self.rotate_right(x ^ y, beta);
        (self.rotate_right(self.modulo((x ^ k).wrapping_sub(y)), self.n - alpha), y)
    }

    /// Returns alpha and beta: 7 and 2 if n is 16, otherwise 8 and 3.
    fn rotations(&self) -> (u32, u32) {
        if self.n == 16 { (7, 2) } else { (8, 3) }
    }

    fn modulo(&self, x: u64) -> u64 {
        x & (u64::MAX >> (64 - self.n))
    }

    fn rotate_right(&self, x: u64, by: u32) -> u64 {
        self.modulo(x >> by | x << (self.n - by))
    }

    /// Encrypts one block with all rounds.
    ///
    /// # Panics
    /// Panics unless `block` has a block's length.
    pub fn encrypt_block_vartime(&self, block: &[u8]) -> Vec<u8> {
        let (mut x, mut y) = self.split(block);
        for &k in &self.round_keys {
            (x, y) = self.round(x, y, k);
        }
        self.join(x, y)
    }

    /// Decrypts one block with all rounds in reverse.
    ///
    /// # Panics
    /// Panics unless `block` has a block's length.
    pub fn decrypt_block_vartime(&self, block: &[u8]) -> Vec<u8> {
        let (mut x, mut y) = self.split(block);
        for &k in self.round_keys.iter().rev() {
            (x, y) = self.inverse_round(x, y, k);
        }
        self.join(x, y)
    }

    /// XORs the keystream to `data`, from byte `offset` on. The counter is a big-endian block that
    /// starts at `iv`.
    ///
    /// # Panics
    /// Panics unless `iv` has a block's length.
    pub fn xor_at_vartime(&self, iv: &[u8], offset: u64, data: &mut [u8]) {
        let len = self.block_len();
        assert_eq!(iv.len(), len);
        let iv = iv.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        let mut keystream = (0, Vec::new());
        for (i, byte) in data.iter_mut().enumerate() {
            let at = u128::from(offset) + i as u128;
            let (number, within) = (at / len as u128, (at % len as u128) as usize);
            if keystream.1.is_empty() || keystream.0 != number {
                let counter = iv.wrapping_add(number).to_be_bytes();
                keystream = (number, self.encrypt_block_vartime(&counter[16 - len..]));
            }
            *byte ^= keystream.1[within];
        }
    }

    /// Returns the words x and y of a block.
    fn split(&self, block: &[u8]) -> (u64, u64) {
        match words(self.n, self.order, block)[..] {
            [x, y] => (x, y),
            _ => panic!("expected a block of {} bytes, found {}", self.block_len(), block.len()),
        }
    }

    fn join(&self, x: u64, y: u64) -> Vec<u8> {
        let bytes = self.n as usize / 8;
        let mut block: Vec<u8> =
            [x, y].iter().flat_map(|word| word.to_be_bytes()[8 - bytes..].to_vec()).collect();
        if self.order == Order::Little {
            block.reverse();
        }
        block
    }
}

/// Returns the words in the paper's order.
fn words(n: u32, order: Order, bytes: &[u8]) -> Vec<u64> {
    let mut bytes = bytes.to_vec();
    if order == Order::Little {
        bytes.reverse();
    }
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(n as usize / 8).map(word).collect()
}

#[cfg(test)]
mod test {
    use super::*;
    use vectors::{SpeckCase, SpeckMode, SpeckOrder};

    fn key(case: &SpeckCase) -> Speck {
        let bits = case.algorithm.strip_prefix("speck").unwrap().split('-').next().unwrap().parse().unwrap();
        let order = match case.order {
            SpeckOrder::Big => Order::Big,
            SpeckOrder::Little => Order::Little,
        };
        Speck::new_vartime(bits, &case.key, order)
    }

    #[test]
    fn published_vectors() {
        let cases = vectors::speck();
        assert_eq!(cases.len(), 87);
        for case in &cases {
            let (speck, name) = (key(case), format!("{} #{} {}", case.file, case.id, case.algorithm));
            if case.mode == SpeckMode::Ctr {
                let mut data = case.plaintext.clone();
                speck.xor_at_vartime(&case.iv, 0, &mut data);
                assert_eq!(data, case.ciphertext, "{name}");
                continue;
            }
            let mut before = case.iv.clone();
            for (plain, sealed) in
                case.plaintext.chunks(speck.block_len()).zip(case.ciphertext.chunks(speck.block_len()))
            {
                let block = match case.mode {
                    SpeckMode::Cbc => plain.iter().zip(&before).map(|(a, b)| a ^ b).collect(),
                    _ => plain.to_vec(),
                };
                assert_eq!(speck.encrypt_block_vartime(&block), sealed, "{name}");
                assert_eq!(speck.decrypt_block_vartime(sealed), block, "{name}");
                before = sealed.to_vec();
            }
        }
        let count = |algorithm: &str| cases.iter().filter(|case| case.algorithm == algorithm).count();
        for all in
            ["32-64", "48-72", "48-96", "64-96", "64-128", "96-96", "96-144", "128-128", "128-192", "128-256"]
        {
            assert!(count(&format!("speck{all}")) >= 2, "{all}");
        }
    }

    /// Checks ciphertexts of Speck-Poly1305: they begin at byte 32 of the keystream.
    #[test]
    fn ciphertexts_of_speck_poly1305() {
        for case in vectors::speck_poly1305() {
            let bits = 8 * case.nonce.len() as u32;
            let speck = Speck::new_vartime(bits, &case.key, Order::Big);
            let mut data = case.plaintext.clone();
            speck.xor_at_vartime(&case.nonce, 32, &mut data);
            assert_eq!(data, case.ciphertext, "{}", case.algorithm);
        }
    }

    #[test]
    fn xor_at_agrees_at_every_offset_and_wraps() {
        for (bits, key) in [(32, 8), (48, 9), (96, 18), (128, 32)] {
            let speck = Speck::new_vartime(bits, &vec![7; key], Order::Little);
            let mut whole = [0; 100];
            speck.xor_at_vartime(&vec![0xff; bits as usize / 8], 0, &mut whole);
            // The counter after the last one is zero.
            let zero = speck.encrypt_block_vartime(&vec![0; bits as usize / 8]);
            assert_eq!(whole[speck.block_len()..][..speck.block_len()], zero);
            for offset in 0..100 {
                let mut rest = [0; 100];
                speck.xor_at_vartime(&vec![0xff; bits as usize / 8], offset as u64, &mut rest[offset..]);
                assert_eq!(rest[offset..], whole[offset..]);
            }
        }
    }
}
