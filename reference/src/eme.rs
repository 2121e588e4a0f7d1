//! EME (Halevi and Rogaway, "A Parallelizable Enciphering Mode", 2003) over AES.

use crate::aes::Aes;

type Block = [u8; 16];

/// Encrypts 1 to 128 blocks (figure 2).
///
/// # Panics
/// Panics for a part of a block.
pub fn encrypt_vartime(key: &[u8], tweak: &Block, plaintext: &[u8]) -> Vec<u8> {
    let aes = Aes::new_vartime(key);
    transform_vartime(&aes, |block| aes.encrypt_block_vartime(block), tweak, plaintext)
}

/// Decrypts 1 to 128 blocks: the same with the inverse cipher, except in L.
///
/// # Panics
/// Panics for a part of a block.
pub fn decrypt_vartime(key: &[u8], tweak: &Block, ciphertext: &[u8]) -> Vec<u8> {
    let aes = Aes::new_vartime(key);
    transform_vartime(&aes, |block| aes.decrypt_block_vartime(block), tweak, ciphertext)
}

fn transform_vartime(aes: &Aes, e: impl Fn(&Block) -> Block, t: &Block, p: &[u8]) -> Vec<u8> {
    let (p, rest) = p.as_chunks::<16>();
    assert!(rest.is_empty(), "a part of a block");
    let l0 = aes.encrypt_block_vartime(&[0; 16]);
    let l: Vec<Block> = (1..=p.len()).map(|j| multiply_by_power(l0, j)).collect();
    let ppp: Vec<Block> = p.iter().zip(&l).map(|(p, l)| e(&xor(p, l))).collect();
    let mp = ppp.iter().fold(*t, |sum, ppp| xor(&sum, ppp));
    let mc = e(&mp);
    let m = xor(&mp, &mc);
    let mut ccc: Vec<Block> =
        ppp.iter().enumerate().map(|(j, ppp)| xor(ppp, &multiply_by_power(m, j))).collect();
    ccc[0] = ccc[1..].iter().fold(xor(&mc, t), |sum, ccc| xor(&sum, ccc));
    ccc.iter().zip(&l).flat_map(|(ccc, l)| xor(&e(ccc), l)).collect()
}

fn xor(a: &Block, b: &Block) -> Block {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// Multiplies by 2^n in GF(2^128), where byte 0 has the lowest powers.
fn multiply_by_power(mut block: Block, n: usize) -> Block {
    for _ in 0..n {
        let carry = block[15] >> 7;
        for i in (1..16).rev() {
            block[i] = block[i] << 1 | block[i - 1] >> 7;
        }
        block[0] = (block[0] << 1) ^ (0x87 * carry);
    }
    block
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn published_vectors() {
        for vectors::EmeCase { file, id, repeat, key, tweak, plaintext, ciphertext } in vectors::eme() {
            let mut data = plaintext.clone();
            (0..repeat).for_each(|_| data = encrypt_vartime(&key, &tweak, &data));
            assert!(data == ciphertext, "{file} {id}");
            (0..repeat).for_each(|_| data = decrypt_vartime(&key, &tweak, &data));
            assert!(data == plaintext, "{file} {id}");
        }
    }
}
