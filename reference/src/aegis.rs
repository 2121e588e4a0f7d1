//! AEGIS (RFC 10032) one block at a time, with tags of 128 bits.
//!
//! All six algorithms are implemented as the two of section 5. With degree one they equal
//! AEGIS-128L and AEGIS-256; the RFC says so and the published vectors confirm it.

use crate::aes::round_vartime;

type Block = u128;
/// A word V\[i\] of the D states: one block per state.
type Word = Vec<Block>;

/// The first 16 Fibonacci numbers modulo 256; C1 continues them.
const C0: Block = Block::from_le_bytes([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 121, 98]);
const C1: Block =
    Block::from_le_bytes([219, 61, 24, 85, 109, 194, 47, 241, 32, 17, 49, 66, 115, 181, 40, 221]);

/// One of the six AEGIS algorithms, with a key.
pub struct Aegis {
    key: Vec<u8>,
    degree: usize,
}

/// The state: 8 words for keys of 16 bytes, 6 words for keys of 32 bytes.
struct State(Vec<Word>);

impl Aegis {
    /// Takes a key of 16 bytes (AEGIS-128L) or 32 bytes (AEGIS-256), and degree 1, or 2 or 4 for
    /// the X2 and X4 variants.
    ///
    /// # Panics
    /// Panics if the key does not have 16 or 32 bytes, or the degree is not 1, 2 or 4.
    pub fn new(key: &[u8], degree: usize) -> Self {
        assert!(
            matches!(key.len(), 16 | 32) && matches!(degree, 1 | 2 | 4),
            "expected a key of 16 or 32 bytes and degree 1, 2 or 4, found {} bytes and degree {degree}",
            key.len()
        );
        Self { key: key.to_vec(), degree }
    }

    /// Computes Encrypt; returns ciphertext and tag.
    pub fn seal_vartime(&self, nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let (ciphertext, tag, _) = self.run_vartime(nonce, aad, plaintext);
        (ciphertext, tag)
    }

    /// Computes Decrypt; returns the plaintext, or `None` if the tag is wrong.
    pub fn open_vartime(
        &self,
        nonce: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8; 16],
    ) -> Option<Vec<u8>> {
        let mut seen = Vec::new();
        let mut state = self.init_vartime(nonce, &mut seen);
        for part in aad.chunks(self.rate()) {
            state.update_vartime(&self.words(part), &mut seen);
        }
        let mut plaintext = Vec::with_capacity(ciphertext.len());
        for part in ciphertext.chunks(self.rate()) {
            let opened: Vec<u8> = part.iter().zip(state.keystream()).map(|(c, z)| c ^ z).collect();
            state.update_vartime(&self.words(&opened), &mut seen);
            plaintext.extend(opened);
        }
        let expected_tag = self.finalize_vartime(state, aad.len(), ciphertext.len(), &mut seen);
        (expected_tag == *tag).then_some(plaintext)
    }

    /// Returns the state after every Update of a message, as blocks.
    pub fn states_vartime(&self, nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> Vec<Vec<[u8; 16]>> {
        self.run_vartime(nonce, aad, plaintext).2
    }

    fn run_vartime(
        &self,
        nonce: &[u8],
        aad: &[u8],
        plaintext: &[u8],
    ) -> (Vec<u8>, [u8; 16], Vec<Vec<[u8; 16]>>) {
        let mut seen = Vec::new();
        let mut state = self.init_vartime(nonce, &mut seen);
        let rate = self.rate();
        for part in aad.chunks(rate) {
            state.update_vartime(&self.words(part), &mut seen);
        }
        let mut ciphertext = Vec::with_capacity(plaintext.len());
        for part in plaintext.chunks(rate) {
            let stream = state.keystream();
            ciphertext.extend(part.iter().zip(stream).map(|(p, z)| p ^ z));
            state.update_vartime(&self.words(part), &mut seen);
        }
        let tag = self.finalize_vartime(state, aad.len(), plaintext.len(), &mut seen);
        (ciphertext, tag, seen)
    }

    /// Returns the number of bytes that an Update absorbs: R / 8.
    fn rate(&self) -> usize {
        16 * self.degree * if self.key.len() == 16 { 2 } else { 1 }
    }

    /// Pads the bytes with ZeroPad and splits them into words.
    fn words(&self, part: &[u8]) -> Vec<Word> {
        let mut padded = part.to_vec();
        padded.resize(self.rate(), 0);
        let blocks: Vec<Block> = blocks(&padded);
        blocks.chunks(self.degree).map(<[_]>::to_vec).collect()
    }

    /// Returns the state after Init (sections 5.4.2 and 5.5.2).
    fn init_vartime(&self, nonce: &[u8], seen: &mut Vec<Vec<[u8; 16]>>) -> State {
        assert_eq!(nonce.len(), self.key.len(), "a nonce has as many bytes as a key");
        let all = |block: Block| vec![block; self.degree];
        let ctx: Word = (0..self.degree).map(|i| i as Block | (self.degree as Block - 1) << 8).collect();
        let (k, n) = (blocks(&self.key), blocks(nonce));
        if let ([k], [n]) = (&k[..], &n[..]) {
            let words = [k ^ n, C1, C0, C1, k ^ n, k ^ C0, k ^ C1, k ^ C0];
            let mut state = State(words.map(all).to_vec());
            for _ in 0..10 {
                state.0[3] = xor(&state.0[3], &ctx);
                state.0[7] = xor(&state.0[7], &ctx);
                state.update_vartime(&[all(*n), all(*k)], seen);
            }
            return state;
        }
        let words = [k[0] ^ n[0], k[1] ^ n[1], C1, C0, k[0] ^ C0, k[1] ^ C1];
        let mut state = State(words.map(all).to_vec());
        for _ in 0..4 {
            for m in [k[0], k[1], k[0] ^ n[0], k[1] ^ n[1]] {
                state.0[3] = xor(&state.0[3], &ctx);
                state.0[5] = xor(&state.0[5], &ctx);
                state.update_vartime(&[all(m)], seen);
            }
        }
        state
    }

    /// Computes Finalize (sections 5.4.7 and 5.5.7); returns the 128-bit tag.
    fn finalize_vartime(
        &self,
        mut state: State,
        aad_len: usize,
        len: usize,
        seen: &mut Vec<Vec<[u8; 16]>>,
    ) -> [u8; 16] {
        let lengths = (8 * aad_len as Block) | (8 * len as Block) << 64;
        let large = self.key.len() == 16;
        let t = xor(&state.0[if large { 2 } else { 3 }], &vec![lengths; self.degree]);
        for _ in 0..7 {
            state.update_vartime(&vec![t.clone(); if large { 2 } else { 1 }], seen);
        }
        let words = &state.0[..if large { 7 } else { 6 }];
        words.iter().flatten().fold(0, |tag, block| tag ^ block).to_le_bytes()
    }
}

impl State {
    /// Computes Update (sections 5.4.1 and 5.5.1) on one or two words of data.
    fn update_vartime(&mut self, m: &[Word], seen: &mut Vec<Vec<[u8; 16]>>) {
        let s = &self.0;
        let n = s.len();
        let mut next: Vec<Word> = (0..n).map(|i| round(&s[(i + n - 1) % n], &s[i])).collect();
        // M0 is added to S0, and M1 (if there is one) to S4.
        for (m, i) in m.iter().zip([0, 4]) {
            next[i] = xor(&next[i], m);
        }
        self.0 = next;
        seen.push(self.0.iter().flatten().map(|block| block.to_le_bytes()).collect());
    }

    /// Returns the keystream z0 and z1 (section 5.4.4), or z (section 5.5.4).
    fn keystream(&self) -> Vec<u8> {
        let s = &self.0;
        let words = if s.len() == 8 {
            vec![xor(&xor(&s[6], &s[1]), &and(&s[2], &s[3])), xor(&xor(&s[2], &s[5]), &and(&s[6], &s[7]))]
        } else {
            vec![xor(&xor(&s[1], &s[4]), &xor(&s[5], &and(&s[2], &s[3])))]
        };
        words.iter().flatten().flat_map(|block| block.to_le_bytes()).collect()
    }
}

/// Applies AESRound to each state's block.
fn round(a: &Word, key: &Word) -> Word {
    let one = |(a, key): (&Block, &Block)| round_vartime(&a.to_le_bytes(), &key.to_le_bytes());
    a.iter().zip(key).map(|pair| Block::from_le_bytes(one(pair))).collect()
}

fn xor(a: &Word, b: &Word) -> Word {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

fn and(a: &Word, b: &Word) -> Word {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.as_chunks().0.iter().map(|block| Block::from_le_bytes(*block)).collect()
}

#[cfg(test)]
mod test {
    use super::*;
    use vectors::{AeadCase, Outcome};

    /// Checks the vector of AESRound in RFC 10032, appendix A.1.
    #[test]
    fn one_round() {
        let hex = |digits: u128| digits.to_be_bytes();
        let (a, key) = (0x000102030405060708090a0b0c0d0e0f, 0x101112131415161718191a1b1c1d1e1f);
        assert_eq!(round_vartime(&hex(a), &hex(key)), hex(0x7a7b4e5638782546a8c0477a3b813f43));
    }

    /// Checks the vectors of RFC 10032, appendices A.2 to A.7.
    #[test]
    fn published_vectors() {
        let mut checked = [0; 2];
        let all = vectors::aead().into_iter().filter(|case| case.algorithm.starts_with("aegis-"));
        for AeadCase { file, id, algorithm, key, nonce, aad, plaintext, ciphertext, tag, result } in all {
            let degree = match algorithm.split_once('x') {
                Some((_, degree)) => degree.parse().unwrap(),
                None => 1,
            };
            assert_eq!(key.len(), if algorithm.contains("128") { 16 } else { 32 }, "{file} #{id}");
            let reference = Aegis::new(&key, degree);
            match result {
                Outcome::Valid => {
                    let sealed = reference.seal_vartime(&nonce, &aad, &plaintext);
                    assert_eq!((&sealed.0, &sealed.1[..]), (&ciphertext, &tag[..]), "{file} #{id}");
                    assert_eq!(reference.open_vartime(&nonce, &aad, &ciphertext, &sealed.1), Some(plaintext));
                }
                Outcome::Invalid => {
                    let tag = tag[..].try_into().unwrap();
                    assert_eq!(reference.open_vartime(&nonce, &aad, &ciphertext, &tag), None, "{file} #{id}");
                }
            }
            checked[usize::from(result == Outcome::Valid)] += 1;
        }
        println!("{checked:?} invalid and valid");
        assert!(checked[0] >= 8 && checked[1] >= 18, "{checked:?}");
    }
}
