//! AES-GCM-SIV (RFC 8452), multiplying one bit at a time.

use crate::aes::Aes;

/// An element of POLYVAL's field (section 3): bit i is the coefficient of x^i, the first bit of its
/// block.
pub type Element = u128;

/// A key-generating key. Two keys are derived from it for each nonce.
pub struct GcmSiv {
    key_generating_key: Aes,
    /// Bytes in the key-generating key and in the encryption key.
    len: usize,
}

/// Authentication and encryption key for one nonce (section 4).
struct Keys {
    authentication: Element,
    encryption: Aes,
}

impl GcmSiv {
    /// Expands the key-generating key.
    ///
    /// # Panics
    /// Panics if the key does not have 16 or 32 bytes.
    pub fn new_vartime(key: &[u8]) -> Self {
        assert!(
            matches!(key.len(), 16 | 32),
            "expected an AES-GCM-SIV key of 16 or 32 bytes, found {} bytes",
            key.len()
        );
        Self { key_generating_key: Aes::new_vartime(key), len: key.len() }
    }

    /// Encrypts and authenticates a message (section 4); returns ciphertext and tag.
    pub fn seal_vartime(&self, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let keys = self.derive_keys_vartime(nonce);
        let tag = keys.tag_vartime(nonce, aad, plaintext);
        (keys.aes_ctr_vartime(&tag, plaintext), tag)
    }

    /// Decrypts a message (section 5); returns the plaintext, or `None` if the tag is wrong.
    pub fn open_vartime(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8; 16],
    ) -> Option<Vec<u8>> {
        let keys = self.derive_keys_vartime(nonce);
        let plaintext = keys.aes_ctr_vartime(tag, ciphertext);
        (keys.tag_vartime(nonce, aad, &plaintext) == *tag).then_some(plaintext)
    }

    /// Returns the plaintext with its 16-byte block `changed` replaced so that the tag begins with
    /// `counter`. Inverts the encryption from the tag to the result of POLYVAL, and solves POLYVAL
    /// for the block.
    ///
    /// The rest of the tag is all ones where possible, so that a carry out of the counter would
    /// change many bits.
    ///
    /// # Panics
    /// Panics unless the plaintext has the whole block.
    pub fn plaintext_for_vartime(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        plaintext: &[u8],
        changed: usize,
        counter: u32,
    ) -> Vec<u8> {
        let keys = self.derive_keys_vartime(nonce);
        // Half of all tags come from a block with the top bit clear.
        let masked = (0..u128::from(u64::MAX))
            .map(|less| (u128::MAX - (less << 64)) >> 32 << 32 | u128::from(counter))
            .map(|tag| u128::from_le_bytes(keys.encryption.decrypt_block_vartime(&tag.to_le_bytes())))
            .find(|masked| masked >> 127 == 0)
            .expect("every other one will do");
        let wanted = masked ^ element(nonce);
        let difference = wanted ^ polyval_vartime(keys.authentication, &blocks(aad, plaintext));

        // A change of this block takes this many steps to the end, and each multiplies it by H *
        // x^-128.
        let steps = plaintext.len().div_ceil(16) - changed + 1;
        let step = times_vartime(keys.authentication, X_TO_THE_MINUS_128);
        let back = inverse_vartime(step);
        let change = (0..steps).fold(difference, |change, _| times_vartime(change, back));

        let mut made = plaintext.to_vec();
        let block: &mut [u8; 16] = (&mut made[16 * changed..16 * changed + 16]).try_into().unwrap();
        *block = (u128::from_le_bytes(*block) ^ change).to_le_bytes();
        made
    }

    /// Derives the keys for a nonce: derive_keys (section 4).
    fn derive_keys_vartime(&self, nonce: &[u8; 12]) -> Keys {
        let half = |counter: u32| {
            let mut block = [0; 16];
            block[..4].copy_from_slice(&counter.to_le_bytes());
            block[4..].copy_from_slice(nonce);
            let block = self.key_generating_key.encrypt_block_vartime(&block);
            *block.first_chunk::<8>().unwrap()
        };
        let authentication = [half(0), half(1)];
        let encryption: Vec<[u8; 8]> = (2..2 + self.len as u32 / 8).map(half).collect();
        Keys {
            authentication: element(authentication.as_flattened()),
            encryption: Aes::new_vartime(encryption.as_flattened()),
        }
    }
}

impl Keys {
    /// Returns a message's tag (section 4).
    fn tag_vartime(&self, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8]) -> [u8; 16] {
        let mut s_s = polyval_vartime(self.authentication, &blocks(aad, plaintext)).to_le_bytes();
        s_s.iter_mut().zip(nonce).for_each(|(s, nonce)| *s ^= nonce);
        s_s[15] &= 0x7f;
        self.encryption.encrypt_block_vartime(&s_s)
    }

    /// Computes AES_CTR (section 4). The counter starts at the tag with its top bit set.
    fn aes_ctr_vartime(&self, tag: &[u8; 16], data: &[u8]) -> Vec<u8> {
        let mut block = *tag;
        block[15] |= 0x80;
        let mut output = Vec::with_capacity(data.len());
        for part in data.chunks(16) {
            let keystream = self.encryption.encrypt_block_vartime(&block);
            output.extend(part.iter().zip(keystream).map(|(data, key)| data ^ key));
            increment(&mut block);
        }
        output
    }
}

/// Increments the counter: the first 32 bits, little-endian, wrapping.
fn increment(block: &mut [u8; 16]) {
    let counter: &mut [u8; 4] = block.first_chunk_mut().unwrap();
    *counter = u32::from_le_bytes(*counter).wrapping_add(1).to_le_bytes();
}

/// Returns POLYVAL's input (section 4): padded associated data, padded plaintext and the length
/// block.
fn blocks(aad: &[u8], plaintext: &[u8]) -> Vec<Element> {
    let bits = |bytes: &[u8]| 8 * bytes.len() as u128;
    let mut blocks: Vec<Element> = aad.chunks(16).chain(plaintext.chunks(16)).map(element).collect();
    blocks.push(bits(plaintext) << 64 | bits(aad));
    blocks
}

/// Returns up to 16 bytes, padded with zeros, as an element.
fn element(bytes: &[u8]) -> Element {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(block)
}

/// Computes POLYVAL (section 3): S_j = dot(S_{j-1} + X_j, H).
fn polyval_vartime(h: Element, blocks: &[Element]) -> Element {
    blocks.iter().fold(0, |s, x| dot_vartime(s ^ x, h))
}

/// Returns dot(a, b) = a * b * x^-128 (section 3).
pub fn dot_vartime(a: Element, b: Element) -> Element {
    times_vartime(times_vartime(a, b), X_TO_THE_MINUS_128)
}

/// The element x^-128 = x^127 + x^124 + x^121 + x^114 + 1 (section 3).
const X_TO_THE_MINUS_128: Element = 1 << 127 | 1 << 124 | 1 << 121 | 1 << 114 | 1;

/// Multiplies modulo x^128 + x^127 + x^126 + x^121 + 1 (section 3).
fn times_vartime(mut a: Element, b: Element) -> Element {
    const REDUCED: Element = 1 << 127 | 1 << 126 | 1 << 121 | 1;
    let mut product = 0;
    for i in 0..128 {
        if b >> i & 1 == 1 {
            product ^= a;
        }
        a = a << 1 ^ if a >> 127 == 0 { 0 } else { REDUCED };
    }
    product
}

/// Returns the multiplicative inverse a^(2^128 - 2); 0 for 0.
fn inverse_vartime(a: Element) -> Element {
    let mut inverse = 1;
    for _ in 1..128 {
        inverse = times_vartime(inverse, a);
        inverse = times_vartime(inverse, inverse);
    }
    inverse
}

#[cfg(test)]
mod test {
    use super::*;
    use vectors::AeadCase;

    /// Returns a block from the form that the RFC prints.
    fn printed(block: u128) -> Element {
        block.swap_bytes()
    }

    /// Checks the examples of RFC 8452 in section 7 and in appendix A.
    #[test]
    fn field_and_polyval() {
        let a = printed(0x66e94bd4ef8a2c3b884cfa59ca342b2e);
        let b = printed(0xff000000000000000000000000000000);
        assert_eq!(a ^ b, printed(0x99e94bd4ef8a2c3b884cfa59ca342b2e));
        assert_eq!(times_vartime(a, b), printed(0x37856175e9dc9df26ebc6d6171aa0ae9));
        assert_eq!(dot_vartime(a, b), printed(0xebe563401e7e91ea3ad6426b8140c394));
        assert_eq!(times_vartime(a, inverse_vartime(a)), 1);
        let x = printed(0x9c98c04df9387ded828175a92ba652d8);
        assert_eq!(times_vartime(x, 2), printed(0x3931819bf271fada0503eb52574ca572));
        let h = printed(0x25629347589242761d31f826ba4b757b);
        let blocks = [0x4f4f95668c83dfb6401762bb2d01a262, 0xd1a24ddd2721d006bbe45f20d3c9f362].map(printed);
        assert_eq!(polyval_vartime(h, &blocks), printed(0xf7a3b47b846119fae5b7866cf5e5b77e));
    }

    /// Checks the derived keys printed in the first cases of RFC 8452, appendix C.2.
    #[test]
    fn derived_keys() {
        let mut key = [0; 32];
        key[0] = 1;
        let mut nonce = [0; 12];
        nonce[0] = 3;
        let keys = GcmSiv::new_vartime(&key).derive_keys_vartime(&nonce);
        assert_eq!(keys.authentication, printed(0xb5d3c529dfafac43136d2d11be284d7f));
        let encryption = [0xb914f4742be9e1d7a2f84addbf96dec3_u128, 0x456e3c6c05ecc157cdbf0700fedad222];
        let encryption = Aes::new_vartime(encryption.map(u128::to_be_bytes).as_flattened());
        assert_eq!(
            keys.encryption.encrypt_block_vartime(&[0; 16]),
            encryption.encrypt_block_vartime(&[0; 16])
        );
    }

    /// Checks the vectors of RFC 8452, appendix C, in both directions.
    #[test]
    fn published_vectors() {
        let siv = |case: &AeadCase| case.algorithm.ends_with("-gcm-siv");
        let cases: Vec<_> = vectors::aead().into_iter().filter(siv).collect();
        let wraps = cases.iter().filter(|case| case.tag.starts_with(&[0xff; 4]));
        assert!(cases.len() >= 50 && wraps.count() >= 2);
        for AeadCase { file, id, key, nonce, aad, plaintext, ciphertext, tag, result, .. } in &cases {
            assert_eq!(*result, vectors::Outcome::Valid, "{file} #{id}");
            let nonce: &[u8; 12] = nonce[..].try_into().unwrap();
            let tag: &[u8; 16] = tag[..].try_into().unwrap();
            let reference = GcmSiv::new_vartime(key);
            assert_eq!(
                reference.seal_vartime(nonce, aad, plaintext),
                (ciphertext.clone(), *tag),
                "{file} #{id}"
            );
            assert_eq!(reference.open_vartime(nonce, aad, ciphertext, tag).as_ref(), Some(plaintext));
            let mut changed_tag = *tag;
            changed_tag[15] ^= 0x80;
            assert_eq!(reference.open_vartime(nonce, aad, ciphertext, &changed_tag), None, "{file} #{id}");
        }
    }

    #[test]
    fn plaintext_for_determines_the_start_of_the_tag() {
        for key in [&[3; 16][..], &[4; 32]] {
            let reference = GcmSiv::new_vartime(key);
            for (len, changed, counter) in
                [(16, 0, 0), (17, 0, u32::MAX), (40, 1, u32::MAX - 1), (320, 0, 0x0123_4567), (320, 19, 7)]
            {
                let plaintext =
                    reference.plaintext_for_vartime(&[5; 12], &[6; 21], &[7; 320][..len], changed, counter);
                assert_eq!(plaintext.len(), len);
                let others = plaintext.iter().enumerate().filter(|(i, _)| i / 16 != changed);
                assert!(others.into_iter().all(|(_, byte)| *byte == 7));
                let (_, tag) = reference.seal_vartime(&[5; 12], &[6; 21], &plaintext);
                assert_eq!(tag[..4], counter.to_le_bytes());
                assert_eq!(tag[4..8], [0xff; 4]);
            }
        }
    }

    #[test]
    fn counters_wrap_in_their_word() {
        let mut block = [0xff; 16];
        block[15] = 7;
        increment(&mut block);
        assert_eq!(block[..4], [0; 4]);
        assert_eq!(block[4..15], [0xff; 11]);
        assert_eq!(block[15], 7);
    }
}
