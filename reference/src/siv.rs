//! AES-SIV (RFC 5297), with AES-CMAC (RFC 4493).

use crate::aes::Aes;

/// The two AES keys of AES-SIV (section 2.2).
pub struct Siv {
    /// K1, S2V's key.
    k1: Aes,
    /// K2, the counter mode's key.
    k2: Aes,
}

impl Siv {
    /// Splits and expands a key of 32, 48 or 64 bytes (section 2.6).
    ///
    /// # Panics
    /// Panics for any other length.
    pub fn new_vartime(key: &[u8]) -> Self {
        let (k1, k2) = key.split_at(key.len() / 2);
        Self { k1: Aes::new_vartime(k1), k2: Aes::new_vartime(k2) }
    }

    /// Encrypts a plaintext with its headers (section 2.6); returns ciphertext and synthetic IV.
    pub fn seal_vartime(&self, headers: &[&[u8]], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let v = self.s2v_vartime(headers, plaintext);
        let mut ciphertext = plaintext.to_vec();
        self.k2.xor_at_vartime(&counter(&v), 0, &mut ciphertext);
        (ciphertext, v)
    }

    /// Decrypts a ciphertext (section 2.7); returns the plaintext, or `None` if the synthetic IV
    /// does not match.
    pub fn open_vartime(&self, headers: &[&[u8]], ciphertext: &[u8], v: &[u8; 16]) -> Option<Vec<u8>> {
        let mut plaintext = ciphertext.to_vec();
        self.k2.xor_at_vartime(&counter(v), 0, &mut plaintext);
        (self.s2v_vartime(headers, &plaintext) == *v).then_some(plaintext)
    }

    /// Computes S2V of the headers and the plaintext (section 2.4).
    fn s2v_vartime(&self, headers: &[&[u8]], plaintext: &[u8]) -> [u8; 16] {
        let mut d = cmac_vartime(&self.k1, &[0; 16]);
        for header in headers {
            d = xor(dbl(d), cmac_vartime(&self.k1, header));
        }
        let t = match plaintext.len().checked_sub(16) {
            Some(at) => {
                // xorend
                let mut t = plaintext.to_vec();
                let end = xor(d, t[at..].try_into().unwrap());
                t[at..].copy_from_slice(&end);
                t
            }
            None => xor(dbl(d), pad(plaintext)).to_vec(),
        };
        cmac_vartime(&self.k1, &t)
    }
}

/// Computes AES-CMAC (RFC 4493, section 2.4).
pub fn cmac_vartime(aes: &Aes, message: &[u8]) -> [u8; 16] {
    let k1 = dbl(aes.encrypt_block_vartime(&[0; 16]));
    let k2 = dbl(k1);
    let mut blocks: Vec<&[u8]> = message.chunks(16).collect();
    let last = match blocks.pop() {
        Some(block) if block.len() == 16 => xor(k1, block.try_into().unwrap()),
        other => xor(k2, pad(other.unwrap_or(&[]))),
    };
    let x = blocks
        .into_iter()
        .fold([0; 16], |x, block| aes.encrypt_block_vartime(&xor(x, block.try_into().unwrap())));
    aes.encrypt_block_vartime(&xor(x, last))
}

/// Multiplies by x in GF(2^128) (RFC 5297, section 2.3).
fn dbl(block: [u8; 16]) -> [u8; 16] {
    let x = u128::from_be_bytes(block);
    (x << 1 ^ if x >> 127 == 1 { 0x87 } else { 0 }).to_be_bytes()
}

/// Appends a one bit, and zeros up to a block (section 2.4).
fn pad(part: &[u8]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..part.len()].copy_from_slice(part);
    block[part.len()] = 0x80;
    block
}

/// Returns the initial counter block: the synthetic IV with bits 31 and 63 cleared (section 2.5).
fn counter(v: &[u8; 16]) -> [u8; 16] {
    (u128::from_be_bytes(*v) & !(1 << 31) & !(1 << 63)).to_be_bytes()
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| a[i] ^ b[i])
}

#[cfg(test)]
mod test {
    use super::*;

    fn bytes<const N: usize>(digits: &str) -> [u8; N] {
        core::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
    }

    /// RFC 4493, section 4: examples 1 to 4.
    #[test]
    fn rfc_4493_section_4() {
        let aes = Aes::new_vartime(&bytes::<16>("2b7e151628aed2a6abf7158809cf4f3c"));
        let m: [u8; 64] = bytes(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
             30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
        );
        for (len, mac) in [
            (0, "bb1d6929e95937287fa37d129b756746"),
            (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"),
            (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ] {
            assert_eq!(cmac_vartime(&aes, &m[..len]), bytes(mac), "{len}");
        }
    }

    /// RFC 5297, appendix A.2: three headers; the last is the nonce.
    #[test]
    fn rfc_5297_appendix_a_2() {
        let key: [u8; 32] = bytes("7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f");
        let headers: [&[u8]; 3] = [
            &bytes::<40>("00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100"),
            &bytes::<10>("102030405060708090a0"),
            &bytes::<16>("09f911029d74e35bd84156c5635688c0"),
        ];
        let siv = Siv::new_vartime(&key);
        let plain = b"this is some plaintext to encrypt using SIV-AES";
        let (ciphertext, v) = siv.seal_vartime(&headers, plain);
        assert_eq!(v, bytes("7bdb6e3b432667eb06f4d14bff2fbd0f"));
        assert_eq!(ciphertext[..16], bytes::<16>("cb900f2fddbe404326601965c889bf17"));
        assert_eq!(siv.open_vartime(&headers, &ciphertext, &v).as_deref(), Some(&plain[..]));
        assert_eq!(siv.open_vartime(&headers[1..], &ciphertext, &v), None);
    }
}
