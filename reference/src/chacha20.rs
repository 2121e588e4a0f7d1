//! ChaCha20 (RFC 8439, sections 2.1 to 2.4), HChaCha20 and XChaCha20 (draft-irtf-cfrg-xchacha-03,
//! section 2).

/// The first row of the state (RFC 8439, section 2.3).
const CONSTANTS: [u32; 4] = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];

/// Computes the quarter round on words of a state (section 2.2).
fn quarter_round_vartime(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    for (rotate_d, rotate_b) in [(16, 12), (8, 7)] {
        state[a] = state[a].wrapping_add(state[b]);
        state[d] = (state[d] ^ state[a]).rotate_left(rotate_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_left(rotate_b);
    }
}

/// Computes the 20 rounds, alternating columns and diagonals (section 2.3.1).
fn rounds_vartime(state: &mut [u32; 16]) {
    for _ in 0..10 {
        quarter_round_vartime(state, 0, 4, 8, 12);
        quarter_round_vartime(state, 1, 5, 9, 13);
        quarter_round_vartime(state, 2, 6, 10, 14);
        quarter_round_vartime(state, 3, 7, 11, 15);
        quarter_round_vartime(state, 0, 5, 10, 15);
        quarter_round_vartime(state, 1, 6, 11, 12);
        quarter_round_vartime(state, 2, 7, 8, 13);
        quarter_round_vartime(state, 3, 4, 9, 14);
    }
}

/// Returns the state: the constants, the key and the 16 bytes of the last row.
fn state(key: &[u8; 32], last_row: &[u8]) -> [u32; 16] {
    let mut state = [0; 16];
    state[..4].copy_from_slice(&CONSTANTS);
    for (word, bytes) in state[4..].iter_mut().zip(key.chunks(4).chain(last_row.chunks(4))) {
        *word = u32::from_le_bytes(bytes.try_into().unwrap());
    }
    state
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns a block of the keystream (section 2.3).
pub fn block_vartime(key: &[u8; 32], counter: u32, nonce: &[u8; 12]) -> [u8; 64] {
    let initial = state(key, &[&counter.to_le_bytes()[..], nonce].concat());
    let mut state = initial;
    rounds_vartime(&mut state);
    for (word, initial) in state.iter_mut().zip(initial) {
        *word = word.wrapping_add(initial);
    }
    bytes(&state).try_into().unwrap()
}

/// XORs the keystream to `data`, from byte `offset` on, counted from the start of block `counter`
/// (section 2.4).
///
/// # Panics
/// Panics if the data need block 2^32: it does not exist.
pub fn xor_at_vartime(key: &[u8; 32], nonce: &[u8; 12], counter: u32, offset: u64, data: &mut [u8]) {
    let mut block = ([0; 64], None);
    for (byte, at) in data.iter_mut().zip(offset..) {
        let number = u64::from(counter) + at / 64;
        if block.1 != Some(number) {
            block = (block_vartime(key, number.try_into().unwrap(), nonce), Some(number));
        }
        *byte ^= block.0[(at % 64) as usize];
    }
}

/// Derives a key from a key and a nonce with HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2).
pub fn subkey_vartime(key: &[u8; 32], nonce: &[u8; 16]) -> [u8; 32] {
    let mut state = state(key, nonce);
    rounds_vartime(&mut state);
    bytes(&[&state[..4], &state[12..]].concat()).try_into().unwrap()
}

/// XORs the XChaCha20 keystream (draft-irtf-cfrg-xchacha-03, section 2.3) to `data`, from byte
/// `offset` on, counted from the start of block `counter`.
///
/// # Panics
/// Panics if the data need block 2^32: it does not exist.
pub fn xor_extended_at_vartime(key: &[u8; 32], nonce: &[u8; 24], counter: u32, offset: u64, data: &mut [u8]) {
    let subkey = subkey_vartime(key, nonce[..16].try_into().unwrap());
    let mut rest = [0; 12];
    rest[4..].copy_from_slice(&nonce[16..]);
    xor_at_vartime(&subkey, &rest, counter, offset, data);
}

#[cfg(test)]
mod test {
    use super::*;

    /// Checks the vector of the quarter round in RFC 8439, section 2.2.1.
    #[test]
    fn quarter_round() {
        let mut state = [
            0x879531e0, 0xc5ecf37d, 0x516461b1, 0xc9a62f8a, 0x44c20ef3, 0x3390af7f, 0xd9fc690b, 0x2a5f714c,
            0x53372767, 0xb00a5631, 0x974c541a, 0x359e9963, 0x5c971061, 0x3d631689, 0x2098d9d6, 0x91dbd320,
        ];
        let before = state;
        quarter_round_vartime(&mut state, 2, 7, 8, 13);
        let changed = [2, 7, 8, 13].map(|i| state[i]);
        assert_eq!(changed, [0xbdb886dc, 0xcfacafd2, 0xe46bea80, 0xccc07c79]);
        for i in (0..16).filter(|i| ![2, 7, 8, 13].contains(i)) {
            assert_eq!(state[i], before[i]);
        }
    }

    #[test]
    fn published_vectors() {
        for case in vectors::chacha20() {
            let vectors::ChaCha20Case { file, id, key, part } = &case;
            match part {
                vectors::ChaCha20Part::Stream { nonce, counter, plaintext, ciphertext } => {
                    let mut data = plaintext.clone();
                    match (<[u8; 12]>::try_from(&nonce[..]), <[u8; 24]>::try_from(&nonce[..])) {
                        (Ok(nonce), _) => xor_at_vartime(key, &nonce, *counter, 0, &mut data),
                        (_, Ok(nonce)) => xor_extended_at_vartime(key, &nonce, *counter, 0, &mut data),
                        _ => panic!("{file} {id}: a nonce of {} bytes", nonce.len()),
                    }
                    assert_eq!(data, *ciphertext, "{file} {id}");
                }
                vectors::ChaCha20Part::Subkey { nonce, subkey } => {
                    assert_eq!(subkey_vartime(key, nonce), *subkey, "{file} {id}");
                }
            }
        }
    }

    #[test]
    fn pieces_equal_one_call() {
        let (key, nonce) = ([9; 32], [5; 12]);
        let mut whole = [0; 300];
        xor_at_vartime(&key, &nonce, 7, 0, &mut whole);
        for cut in 0..whole.len() {
            let mut data = [0; 300];
            let (a, b) = data.split_at_mut(cut);
            xor_at_vartime(&key, &nonce, 7, 0, a);
            xor_at_vartime(&key, &nonce, 7, cut as u64, b);
            assert_eq!(data, whole, "{cut}");
        }
    }
}
