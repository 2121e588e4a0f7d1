//! AES (FIPS 197) and its counter mode (NIST SP 800-38A, section 6.5), one block at a time.

/// The state as `[column][row]`, in the byte order of the block (FIPS 197, section 3.4).
type State = [[u8; 4]; 4];

/// An expanded AES key of 128, 192 or 256 bits.
pub struct Aes {
    /// The Nr + 1 round keys.
    round_keys: Vec<State>,
}

impl Aes {
    /// Expands a key of 16, 24 or 32 bytes with KeyExpansion (FIPS 197, section 5.2).
    ///
    /// # Panics
    /// Panics if the key does not have 16, 24 or 32 bytes.
    pub fn new_vartime(key: &[u8]) -> Self {
        let nk = match key.len() {
            16 | 24 | 32 => key.len() / 4,
            n => panic!("expected an AES key of 16, 24 or 32 bytes, found {n} bytes"),
        };
        let nr = nk + 6;
        let mut w: Vec<[u8; 4]> = key.chunks_exact(4).map(|word| word.try_into().unwrap()).collect();
        let mut rcon = 1;
        for i in nk..4 * (nr + 1) {
            let mut temp = w[i - 1];
            if i % nk == 0 {
                temp.rotate_left(1);
                temp = temp.map(sub_byte_vartime);
                temp[0] ^= rcon;
                rcon = times(rcon, 2);
            } else if nk > 6 && i % nk == 4 {
                temp = temp.map(sub_byte_vartime);
            }
            w.push(core::array::from_fn(|k| w[i - nk][k] ^ temp[k]));
        }
        Self { round_keys: w.chunks_exact(4).map(|key| key.try_into().unwrap()).collect() }
    }

    /// Returns the round keys as blocks, in order of encryption.
    pub fn round_keys(&self) -> Vec<[u8; 16]> {
        self.round_keys.iter().map(|key| *key.as_flattened().first_chunk().unwrap()).collect()
    }

    /// Encrypts one block: Cipher (FIPS 197, section 5.1).
    pub fn encrypt_block_vartime(&self, block: &[u8; 16]) -> [u8; 16] {
        let [first, middle @ .., last] = &self.round_keys[..] else { unreachable!("at least eleven keys") };
        let mut state: State = core::array::from_fn(|c| core::array::from_fn(|r| block[4 * c + r]));
        add_round_key(&mut state, first);
        for key in middle {
            state = shift_rows(&state.map(|column| column.map(sub_byte_vartime)));
            state = state.map(mix_column);
            add_round_key(&mut state, key);
        }
        state = shift_rows(&state.map(|column| column.map(sub_byte_vartime)));
        add_round_key(&mut state, last);
        *state.as_flattened().first_chunk().unwrap()
    }

    /// Decrypts one block: InvCipher (FIPS 197, section 5.3).
    pub fn decrypt_block_vartime(&self, block: &[u8; 16]) -> [u8; 16] {
        let [first, middle @ .., last] = &self.round_keys[..] else { unreachable!("at least eleven keys") };
        let mut state: State = core::array::from_fn(|c| core::array::from_fn(|r| block[4 * c + r]));
        add_round_key(&mut state, last);
        for key in middle.iter().rev() {
            state = inv_shift_rows(&state).map(|column| column.map(inv_sub_byte_vartime));
            add_round_key(&mut state, key);
            state = state.map(inv_mix_column);
        }
        state = inv_shift_rows(&state).map(|column| column.map(inv_sub_byte_vartime));
        add_round_key(&mut state, first);
        *state.as_flattened().first_chunk().unwrap()
    }

    /// XORs a keystream to `data`, from byte `offset` on. The 128-bit big-endian counter starts at
    /// `iv`.
    pub fn xor_at_vartime(&self, iv: &[u8; 16], offset: u64, data: &mut [u8]) {
        let mut at = u128::from(offset);
        let mut rest = data;
        while !rest.is_empty() {
            let counter = u128::from_be_bytes(*iv).wrapping_add(at / 16);
            let keystream = &self.encrypt_block_vartime(&counter.to_be_bytes())[(at % 16) as usize..];
            let (now, later) = rest.split_at_mut(rest.len().min(keystream.len()));
            now.iter_mut().zip(keystream).for_each(|(data, key)| *data ^= key);
            at += now.len() as u128;
            rest = later;
        }
    }
}

/// Computes one round other than the last (section 5.1): SubBytes, ShiftRows, MixColumns,
/// AddRoundKey.
pub fn round_vartime(block: &[u8; 16], key: &[u8; 16]) -> [u8; 16] {
    let state = |block: &[u8; 16]| core::array::from_fn(|c| core::array::from_fn(|r| block[4 * c + r]));
    let state: State = state(block).map(|column: [u8; 4]| column.map(sub_byte_vartime));
    let state = shift_rows(&state).map(mix_column);
    core::array::from_fn(|i| state[i / 4][i % 4] ^ key[i])
}

/// Computes AddRoundKey (section 5.1.4).
fn add_round_key(state: &mut State, key: &State) {
    for (state, key) in state.as_flattened_mut().iter_mut().zip(key.as_flattened()) {
        *state ^= key;
    }
}

/// Computes ShiftRows (section 5.1.2): s'[r, c] = s[r, (c + r) mod 4].
fn shift_rows(state: &State) -> State {
    core::array::from_fn(|c| core::array::from_fn(|r| state[(c + r) % 4][r]))
}

/// Computes InvShiftRows (section 5.3.1): s'[r, (c + r) mod 4] = s[r, c].
fn inv_shift_rows(state: &State) -> State {
    core::array::from_fn(|c| core::array::from_fn(|r| state[(c + 4 - r) % 4][r]))
}

/// Computes MixColumns (section 5.1.3) for one column of the state.
fn mix_column(s: [u8; 4]) -> [u8; 4] {
    core::array::from_fn(|r| times(s[r], 2) ^ times(s[(r + 1) % 4], 3) ^ s[(r + 2) % 4] ^ s[(r + 3) % 4])
}

/// Computes InvMixColumns (section 5.3.3) for one column of the state.
fn inv_mix_column(s: [u8; 4]) -> [u8; 4] {
    core::array::from_fn(|r| {
        times(s[r], 14) ^ times(s[(r + 1) % 4], 11) ^ times(s[(r + 2) % 4], 13) ^ times(s[(r + 3) % 4], 9)
    })
}

/// Computes SubBytes (section 5.1.1) for one byte of the state.
fn sub_byte_vartime(x: u8) -> u8 {
    S_BOX[x as usize]
}

/// Computes InvSubBytes (section 5.3.2) for one byte of the state.
fn inv_sub_byte_vartime(y: u8) -> u8 {
    INV_S_BOX[y as usize]
}

static S_BOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        let b = inverse(x as u8);
        table[x] = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        x += 1;
    }
    table
};

static INV_S_BOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        table[S_BOX[x] as usize] = x as u8;
        x += 1;
    }
    table
};

/// Returns the multiplicative inverse of x as x^254; 0 for 0.
const fn inverse(x: u8) -> u8 {
    let mut y = 1;
    let mut i = 0;
    while i < 254 {
        y = times(y, x);
        i += 1;
    }
    y
}

/// Multiplies modulo x^8 + x^4 + x^3 + x + 1 (section 4.2).
const fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b > 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x1b };
        b >>= 1;
    }
    product
}

#[cfg(test)]
mod test {
    use super::*;

    fn bytes<const N: usize>(from: u8, step: u8) -> [u8; N] {
        core::array::from_fn(|i| from.wrapping_add(step.wrapping_mul(i as u8)))
    }

    /// Checks the vectors of FIPS 197, appendix C, with the keys 00 01 02 … and the block 00 11 22
    /// ….
    #[test]
    fn fips_197_appendix_c() {
        for (len, want) in [
            (16, 0x69c4e0d86a7b0430d8cdb78070b4c55a_u128),
            (24, 0xdda97ca4864cdfe06eaf70a0ec0d7191),
            (32, 0x8ea2b7ca516745bfeafc49904b496089),
        ] {
            let aes = Aes::new_vartime(&bytes::<32>(0, 1)[..len]);
            assert_eq!(u128::from_be_bytes(aes.encrypt_block_vartime(&bytes(0, 0x11))), want);
            assert_eq!(aes.decrypt_block_vartime(&want.to_be_bytes()), bytes(0, 0x11));
        }
    }

    #[test]
    fn decryption_inverts_encryption() {
        for len in [16, 24, 32] {
            let aes = Aes::new_vartime(&bytes::<32>(9, 5)[..len]);
            let mut block = [0; 16];
            for _ in 0..300 {
                let next = aes.encrypt_block_vartime(&block);
                assert_eq!(aes.decrypt_block_vartime(&next), block);
                block = next;
            }
        }
    }

    #[test]
    fn xor_at_agrees_at_every_offset() {
        let aes = Aes::new_vartime(&bytes::<16>(7, 3));
        let mut whole = [0; 100];
        aes.xor_at_vartime(&[0xff; 16], 0, &mut whole);
        for offset in 0..100 {
            let mut rest = [0; 100];
            aes.xor_at_vartime(&[0xff; 16], offset as u64, &mut rest[offset..]);
            assert_eq!(rest[offset..], whole[offset..]);
        }
    }
}
