//! The secrets that a call could leave, as the reference implementations compute them.

use super::sealing::nonce_with;
use super::{AAD, AAD_LENGTHS, COUNTER, LENGTHS, NONCE, PLAIN, TWO_ROUNDS};
use kernels::speck::Size;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The kind of a secret, and its number.
type Name = (&'static str, usize);

/// Parts of secrets that begin with the same bytes, with these bytes.
pub(super) type Part = ([u8; 8], Vec<(Vec<u8>, Name)>);

/// Parts of secrets, with their first bytes as keys.
#[derive(Default)]
pub(super) struct Secrets(pub(super) HashMap<[u8; 8], Vec<(Vec<u8>, Name)>>);

impl Secrets {
    /// Adds both halves of a block, because general registers hold halves.
    pub(super) fn block(&mut self, name: Name, block: [u8; 16]) {
        for half in block.chunks(8) {
            self.part(name, half);
        }
    }

    /// Removes and returns the parts that equal a half of a block.
    pub(super) fn remove(&mut self, block: [u8; 16]) -> Vec<Part> {
        let halves = block.as_chunks::<8>().0;
        halves.iter().filter_map(|half| self.0.remove_entry(half)).collect()
    }

    pub(super) fn part(&mut self, name: Name, part: &[u8]) {
        let start = *part.first_chunk().unwrap();
        self.0.entry(start).or_default().push((part.to_vec(), name));
    }

    /// Adds round keys, also bit-sliced as in the portable variants: in every plane of bits, a word
    /// for every row.
    pub(super) fn schedule(&mut self, [name, sliced]: [&'static str; 2], key: &[u8]) {
        for (r, key) in reference::aes::Aes::new_vartime(key).round_keys().into_iter().enumerate() {
            self.block((name, r), key);
            let word = |bit: usize, row: usize| {
                let bits = (0..4)
                    .map(|column| (u64::from(key[4 * column + row] >> bit & 1) * 0xffff) << (16 * column));
                bits.sum::<u64>().to_ne_bytes()
            };
            let planes: Vec<u8> = (0..32).flat_map(|i| word(i / 4, i % 4)).collect();
            for part in planes.chunks(64) {
                self.part((sliced, r), part);
            }
        }
    }

    /// Adds powers of H in the form of POLYVAL, and the sums of their halves.
    pub(super) fn powers(&mut self, h: u128) {
        let mut power = h;
        for n in 1..=40 {
            self.block(("power", n), power.to_le_bytes());
            let halves = (power as u64 ^ (power >> 64) as u64).to_le_bytes();
            self.part(("halves of power", n), &halves);
            power = reference::gcm_siv::dot_vartime(power, h);
        }
    }

    pub(super) fn of_aes(key: &[u8]) -> Self {
        let mut secrets = Self::default();
        secrets.schedule(["round key", "sliced round key"], key);
        secrets
    }

    pub(super) fn of_aes_ctr(key: &[u8]) -> Self {
        let mut secrets = Self::of_aes(key);
        let keys = reference::aes::Aes::new_vartime(key).round_keys();
        let xor = |a: [u8; 16], b: [u8; 16]| -> [u8; 16] { std::array::from_fn(|i| a[i] ^ b[i]) };
        let state = |counter: u128| {
            let first = xor(counter.to_be_bytes(), keys[0]);
            (1..3).fold(first, |state, r| reference::aes::round_vartime(&state, &keys[r]))
        };
        for n in 0..TWO_ROUNDS.div_ceil(16) {
            let counter = COUNTER + n as u128;
            secrets.block(("state after two rounds", n), state(counter));
            if !counter.is_multiple_of(256) {
                let first = state(counter - counter % 256);
                secrets.block(("difference after two rounds", n), xor(state(counter), first));
            }
        }
        secrets
    }

    pub(super) fn of_gcm(key: &[u8]) -> Self {
        let mut secrets = Self::of_aes(key);
        let aes = reference::aes::Aes::new_vartime(key);
        let h = aes.encrypt_block_vartime(&[0; 16]);
        secrets.block(("H", 0), h);
        let h = u128::from_be_bytes(h);
        secrets.powers(h << 1 ^ if h >> 127 == 0 { 0 } else { 0xc2 << 120 | 1 });
        let mut first = [0; 16];
        first[..12].copy_from_slice(&NONCE[..12]);
        first[15] = 1;
        secrets.block(("E(K, J0)", 0), aes.encrypt_block_vartime(&first));
        secrets
    }

    pub(super) fn of_gcm_siv(key: &[u8]) -> Self {
        let mut secrets = Self::of_aes(key);
        let aes = reference::aes::Aes::new_vartime(key);
        let half = |i: u8| {
            let mut block = [i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            block[4..].copy_from_slice(&NONCE[..12]);
            aes.encrypt_block_vartime(&block)
        };
        let blocks: Vec<[u8; 16]> = (0..2 + key.len() as u8 / 8).map(half).collect();
        let halves: Vec<u8> = blocks.iter().flat_map(|block| block[..8].to_vec()).collect();
        secrets.schedule(["derived round key", "sliced derived round key"], &halves[16..]);
        secrets.powers(u128::from_le_bytes(*halves.first_chunk().unwrap()));
        secrets
    }

    /// Returns the key, and every state of every message that the test seals.
    pub(super) fn of_aegis<const DEGREE: usize>(key: &[u8]) -> Self {
        let mut secrets = Self::default();
        for (i, block) in key.as_chunks().0.iter().enumerate() {
            secrets.block(("key", i), *block);
        }
        let reference = reference::aegis::Aegis::new(key, DEGREE);
        for (len, aad) in LENGTHS.into_iter().flat_map(|len| AAD_LENGTHS.map(|aad| (len, aad))) {
            let states = reference.states_vartime(&NONCE[..key.len()], &vec![AAD; aad], &vec![PLAIN; len]);
            for (step, words) in states.into_iter().enumerate() {
                words.into_iter().for_each(|word| secrets.block(("state", step), word));
            }
        }
        secrets
    }

    /// Returns round keys as words, and repeated as in vectors. Words of 16 bits must occur four
    /// times.
    pub(super) fn of_speck(size: Size, key: &[u8]) -> Self {
        let mut secrets = Self::default();
        let reference = reference::speck::Speck::new_vartime(
            8 * size.block_len() as u32,
            key,
            reference::speck::Order::Big,
        );
        for (r, key) in reference.round_keys().iter().enumerate() {
            let lane = (size.word_bits() / 8).next_power_of_two() as usize;
            let lanes: Vec<u8> = key.to_le_bytes()[..lane].iter().copied().cycle().take(8).collect();
            secrets.part(("round key", r), &lanes);
            // A copy of the schedule.
            if lane < 8 {
                let next = reference.round_keys().get(r + 1).copied().unwrap_or_default();
                secrets.part(("round key", r), &[key.to_le_bytes(), next.to_le_bytes()].concat());
            }
        }
        secrets
    }

    /// Returns the key of Poly1305, and powers of r in limbs of 44 and of 26 bits, as words.
    pub(super) fn of_poly1305(key: &[u8; 32]) -> Self {
        let mut secrets = Self::default();
        let powers = reference::poly1305::powers_vartime(key, 256);
        secrets.block(("r", 0), *powers[0].first_chunk().unwrap());
        secrets.block(("s", 0), *key.last_chunk().unwrap());
        for (n, power) in powers.iter().enumerate() {
            // Bit by bit, since a power has more than 128 bits.
            let limb = |at: usize, bits: usize| {
                let bit = |i: usize| power.get(i / 8).map_or(0, |byte| u64::from(byte >> (i % 8) & 1));
                (0..bits).map(|i| bit(at + i) << i).sum::<u64>()
            };
            for at in [0, 44, 88] {
                secrets.part(("limb of power", n + 1), &limb(at, 44).to_ne_bytes());
            }
            for at in [0, 26, 52, 78, 104] {
                secrets.part(("limb of power", n + 1), &limb(at, 26).to_ne_bytes());
            }
        }
        secrets
    }

    /// Returns the key, and the key that XChaCha20 derives from it.
    pub(super) fn of_chacha20(key: &[u8]) -> Self {
        let mut secrets = Self::default();
        for (name, key) in [("key", key), ("derived key", &derived(key))] {
            for (i, half) in key.as_chunks().0.iter().enumerate() {
                secrets.block((name, i), *half);
            }
        }
        secrets
    }

    /// Returns the secrets of ChaCha20, and the Poly1305 keys of all messages.
    pub(super) fn of_chacha20_poly1305(key: &[u8]) -> Self {
        let mut secrets = Self::of_chacha20(key);
        let mut rest = [0; 12];
        rest[4..].copy_from_slice(&NONCE[16..24]);
        for (key, nonce) in [(key, NONCE.first_chunk().unwrap()), (&derived(key), &rest)] {
            let first = reference::chacha20::block_vartime(key.try_into().unwrap(), 0, nonce);
            let one_time = first.first_chunk().unwrap();
            secrets.block(("half of block 0", 0), *one_time.first_chunk().unwrap());
            secrets.0.extend(Self::of_poly1305(one_time).0);
        }
        secrets
    }

    /// Returns the key, the keys that XSalsa20 derives, and the Poly1305 keys of all messages.
    pub(super) fn of_xsalsa20_poly1305(key: &[u8]) -> Self {
        let key: [u8; 32] = key.try_into().unwrap();
        let mut secrets = Self::default();
        let mut keys = vec![key];
        for aad in AAD_LENGTHS.into_iter().flat_map(|len| [vec![AAD; len], vec![!AAD; len]]) {
            let nonce = nonce_with(&NONCE[..24], &aad);
            keys.push(reference::salsa20::subkey_vartime(&key, nonce.first_chunk().unwrap()));
            let first = reference::salsa20::keystream_vartime(&key, &nonce, 0, 32);
            secrets.block(("half of block 0", 0), *first.first_chunk().unwrap());
            secrets.0.extend(Self::of_poly1305(first.first_chunk().unwrap()).0);
        }
        for (n, half) in keys.as_flattened().as_chunks().0.iter().enumerate() {
            secrets.block(("key", n), *half);
        }
        secrets
    }

    /// Searches `bytes`. Returns the number of parts that were found, and the numbers of the
    /// secrets, for each kind.
    pub(super) fn find(&self, bytes: &[u8]) -> BTreeMap<&'static str, (usize, BTreeSet<usize>)> {
        let mut found = BTreeMap::<_, (usize, BTreeSet<usize>)>::new();
        for at in 0..bytes.len() - 8 {
            for (part, (what, n)) in self.0.get(&bytes[at..at + 8]).into_iter().flatten() {
                if bytes[at..].starts_with(part) {
                    let (copies, which) = found.entry(*what).or_default();
                    *copies += 1;
                    which.insert(*n);
                }
            }
        }
        found
    }
}

/// Returns the key that XChaCha20 derives.
fn derived(key: &[u8]) -> [u8; 32] {
    reference::chacha20::subkey_vartime(key.try_into().unwrap(), NONCE.first_chunk().unwrap())
}
