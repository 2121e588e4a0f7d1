//! Salsa20 (Bernstein, "The Salsa20 family of stream ciphers", 2007), HSalsa20 and XSalsa20
//! ("Extending the Salsa20 nonce", 2011), and NaCl's secretbox, XSalsa20-Poly1305.

use crate::poly1305;

/// The words on the diagonal of the state.
const CONSTANTS: [u32; 4] = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];

/// Computes the quarter round on words of a state.
fn quarter_round_vartime(x: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    x[b] ^= x[a].wrapping_add(x[d]).rotate_left(7);
    x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
    x[d] ^= x[c].wrapping_add(x[b]).rotate_left(13);
    x[a] ^= x[d].wrapping_add(x[c]).rotate_left(18);
}

/// Computes the 20 rounds, alternating columns and rows.
fn rounds_vartime(x: &mut [u32; 16]) {
    for _ in 0..10 {
        for operands in [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11]] {
            quarter_round_vartime(x, operands);
        }
        for operands in [[0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]] {
            quarter_round_vartime(x, operands);
        }
    }
}

/// Returns the state: constants, key, and the 16 bytes of words 6 to 9.
fn state(key: &[u8; 32], middle: &[u8; 16]) -> [u32; 16] {
    let word = |bytes: &[u8], i: usize| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap());
    let mut x = [0; 16];
    for i in 0..4 {
        x[5 * i] = CONSTANTS[i];
        x[1 + i] = word(key, i);
        x[11 + i] = word(key, 4 + i);
        x[6 + i] = word(middle, i);
    }
    x
}

/// Returns a block of the keystream.
pub fn block_vartime(key: &[u8; 32], nonce: &[u8; 8], number: u64) -> [u8; 64] {
    let middle = [*nonce, number.to_le_bytes()].concat();
    let initial = state(key, middle[..].try_into().unwrap());
    let mut x = initial;
    rounds_vartime(&mut x);
    let words = x.iter().zip(initial).map(|(x, initial)| x.wrapping_add(initial));
    words.flat_map(u32::to_le_bytes).collect::<Vec<_>>().try_into().unwrap()
}

/// Derives a key from a key and a nonce with HSalsa20.
pub fn subkey_vartime(key: &[u8; 32], nonce: &[u8; 16]) -> [u8; 32] {
    let mut x = state(key, nonce);
    rounds_vartime(&mut x);
    let words = [0, 5, 10, 15, 6, 7, 8, 9].into_iter().map(|i| x[i]);
    words.flat_map(u32::to_le_bytes).collect::<Vec<_>>().try_into().unwrap()
}

/// Returns `len` bytes of the keystream of XSalsa20, from a block on.
pub fn keystream_vartime(key: &[u8; 32], nonce: &[u8; 24], block: u64, len: usize) -> Vec<u8> {
    let (head, tail) = nonce.split_first_chunk().unwrap();
    let (key, tail) = (subkey_vartime(key, head), tail.try_into().unwrap());
    let mut stream: Vec<u8> =
        (block..).take(len.div_ceil(64)).flat_map(|i| block_vartime(&key, tail, i)).collect();
    stream.truncate(len);
    stream
}

/// Seals a message with XSalsa20-Poly1305; returns ciphertext and tag.
pub fn seal_vartime(key: &[u8; 32], nonce: &[u8; 24], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let stream = keystream_vartime(key, nonce, 0, 32 + plaintext.len());
    let (one_time, stream) = stream.split_first_chunk::<32>().unwrap();
    let ciphertext: Vec<u8> = plaintext.iter().zip(stream).map(|(x, y)| x ^ y).collect();
    let tag = poly1305::tag_vartime(one_time, &ciphertext);
    (ciphertext, tag)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn published_vectors() {
        for vectors::SecretboxCase { file, id, key, nonce, plaintext, sealed } in vectors::secretbox() {
            let (ciphertext, tag) = seal_vartime(&key, &nonce, &plaintext);
            assert_eq!([&tag[..], &ciphertext].concat(), sealed, "{file} {id}");
        }
    }
}
