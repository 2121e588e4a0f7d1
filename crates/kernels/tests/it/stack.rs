//! Tests that calls leave no secrets on the stack, for example round keys, powers of H or derived
//! keys, except for [`KNOWN`].
//!
//! The stack is filled with a pattern, a call is made, and the stack below the call is searched for
//! the secrets that the reference implementations compute. Registers, plaintext and keystream are
//! not searched.
//!
//! The optimiser determines which vectors are in registers, so this runs in the release profile
//! only (`make -C tests ct`). Rust does not define the result of reading dead memory, so Miri does
//! not run it.
#![cfg(not(miri))]

use kernels::InOut;
use kernels::aegis;
use kernels::aes::{self, Aes};
use kernels::chacha20::{self, ChaCha20, XChaCha20};
use kernels::chacha20_poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::eme::Eme;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::poly1305::{self, Poly1305};
use kernels::speck::{self, ByteOrder, Size, Speck};
use kernels::variant::Variant;
use kernels::xsalsa20_poly1305::{self, XSalsa20Poly1305};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hint::black_box;

#[path = "../../examples/sealing/mod.rs"]
mod sealing;

use self::sealing::{InSegments, OneAegis, OneThread, Sealing, nonce_with};
use crate::variants::available;

/// Number of bytes of the stack that are searched.
const DEPTH: usize = 1 << 17;
const LENGTHS: [usize; 5] = [0, 64, 300, 2000, 5000];
/// A length of data for which AES-CTR computes two rounds once for all counters.
const TWO_ROUNDS: usize = 70_000;
/// The first counter of AES-CTR.
const COUNTER: u128 = 0x0909_0909_0909_0909_0909_0909_0909_0909;
/// The nonce, of which as many bytes are used as the algorithm needs.
const NONCE: [u8; 32] = [0x5a; 32];
/// The byte that the data consist of.
const PLAIN: u8 = 0x77;
/// The byte that the associated data consist of.
const AAD: u8 = 0x3c;
/// Lengths of the associated data in bytes. With the longer one, a short message of GCM or Poly1305
/// needs more powers too.
const AAD_LENGTHS: [usize; 2] = [40, 900];

/// Secrets that are known to remain.
struct Known {
    table: &'static str,
    variant: &'static str,
    /// Minimum length of messages that leave them, or `None` for the key set-up.
    from: Option<usize>,
    /// Maximum number of different ones.
    max: usize,
    what: &'static str,
}

/// The secrets that may remain. All others fail the test, and so do these for shorter messages or
/// in larger numbers.
///
/// The portable variants leave secrets because their functions are not inlined and pass arrays to
/// each other.
#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { table: "AES", variant: "portable", from: None, max: 15, what: "round key" },
    Known { table: "AES", variant: "portable", from: Some(0), max: 15, what: "sliced round key" },
    Known { table: "GCM", variant: "portable", from: None, max: 15, what: "round key" },
    Known { table: "GCM", variant: "portable", from: None, max: 1, what: "H" },
    Known { table: "GCM", variant: "portable", from: None, max: 40, what: "power" },
    Known { table: "GCM", variant: "portable", from: None, max: 40, what: "halves of power" },
    Known { table: "GCM", variant: "portable", from: None, max: 15, what: "sliced round key" },
    Known { table: "GCM", variant: "portable", from: Some(0), max: 1, what: "E(K, J0)" },
    Known { table: "GCM", variant: "portable", from: Some(0), max: 1, what: "expected tag" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 1, what: "expected tag" },
    Known { table: "GCM_SIV", variant: "portable", from: None, max: 15, what: "round key" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(5000), max: 15, what: "sliced round key" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 40, what: "power" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 40, what: "halves of power" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 2, what: "derived round key" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 15, what: "sliced derived round key" },
];

/// The kind of a secret, and its number.
type Name = (&'static str, usize);

/// Parts of secrets, with their first bytes as keys.
#[derive(Default)]
struct Secrets(HashMap<[u8; 8], Vec<(Vec<u8>, Name)>>);

impl Secrets {
    /// Adds both halves of a block, because general registers hold halves.
    fn block(&mut self, name: Name, block: [u8; 16]) {
        for half in block.chunks(8) {
            self.part(name, half);
        }
    }

    fn part(&mut self, name: Name, part: &[u8]) {
        let start = *part.first_chunk().unwrap();
        self.0.entry(start).or_default().push((part.to_vec(), name));
    }

    /// Adds round keys, also bit-sliced as in the portable variants: in every plane of bits, a word
    /// for every row.
    fn schedule(&mut self, [name, sliced]: [&'static str; 2], key: &[u8]) {
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
    fn powers(&mut self, h: u128) {
        let mut power = h;
        for n in 1..=40 {
            self.block(("power", n), power.to_le_bytes());
            let halves = (power as u64 ^ (power >> 64) as u64).to_le_bytes();
            self.part(("halves of power", n), &halves);
            power = reference::gcm_siv::dot_vartime(power, h);
        }
    }

    fn of_aes(key: &[u8]) -> Self {
        let mut secrets = Self::default();
        secrets.schedule(["round key", "sliced round key"], key);
        secrets
    }

    fn of_aes_ctr(key: &[u8]) -> Self {
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

    fn of_gcm(key: &[u8]) -> Self {
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

    fn of_gcm_siv(key: &[u8]) -> Self {
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
    fn of_aegis<const DEGREE: usize>(key: &[u8]) -> Self {
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
    fn of_speck(size: Size, key: &[u8]) -> Self {
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
    fn of_poly1305(key: &[u8; 32]) -> Self {
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
    fn of_chacha20(key: &[u8]) -> Self {
        let mut secrets = Self::default();
        for (name, key) in [("key", key), ("derived key", &derived(key))] {
            for (i, half) in key.as_chunks().0.iter().enumerate() {
                secrets.block((name, i), *half);
            }
        }
        secrets
    }

    /// Returns the secrets of ChaCha20, and the Poly1305 keys of all messages.
    fn of_chacha20_poly1305(key: &[u8]) -> Self {
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
    fn of_xsalsa20_poly1305(key: &[u8]) -> Self {
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
    fn find(&self, bytes: &[u8]) -> BTreeMap<&'static str, (usize, BTreeSet<usize>)> {
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

/// Copies the stack below this frame to `seen` after a call.
#[inline(never)]
fn left_by(call: &mut dyn FnMut(), seen: &mut [u8]) {
    paint();
    call();
    let mut here = 0u8;
    // Hides from the compiler what this points to.
    let below = black_box(&raw mut here).wrapping_sub(seen.len());
    for (i, seen) in seen.iter_mut().enumerate() {
        // SAFETY: this memory belongs to the stack of the thread, since `paint` has just written to
        // it. Other threads do not write to it.
        *seen = unsafe { below.wrapping_add(i).read_volatile() };
    }
}

#[inline(never)]
fn paint() {
    black_box(&mut [0xc3u8; DEPTH + 4096]);
}

/// The secrets that one variant of a table left.
struct Report {
    table: &'static str,
    variant: &'static str,
    seen: Vec<u8>,
    found: Vec<bool>,
    unexpected: usize,
}

impl Report {
    /// Searches the stack after a call, with a message of `len` bytes if there is one.
    fn look(&mut self, secrets: &Secrets, what: &str, len: Option<usize>, mut call: impl FnMut()) {
        // The stack is also painted here. Otherwise gaps in the frame of `left_by` would still have
        // secrets of the reference implementations.
        paint();
        left_by(&mut call, &mut self.seen);
        self.search(secrets, what, len);
    }

    fn search(&mut self, secrets: &Secrets, what: &str, len: Option<usize>) {
        for (kind, (copies, which)) in secrets.find(&self.seen) {
            let known = KNOWN.iter().position(|known| {
                (known.table, known.variant, known.what) == (self.table, self.variant, kind)
                    && known.from <= len
                    && which.len() <= known.max
            });
            if let Some(known) = known {
                self.found[known] = true;
            } else {
                self.unexpected += 1;
            }
            let (new, len) = (
                if known.is_some() { "" } else { "NEW: " },
                len.map_or(String::new(), |len| len.to_string()),
            );
            let (table, variant, n) = (self.table, self.variant, which.len());
            println!("{new}{table} {variant} {what} {len}: {n} of {kind} {which:?}, {copies} parts");
        }
    }

    fn stream(&mut self, features: Features) {
        for key in [16, 24, 32].map(key) {
            let secrets = Secrets::of_aes_ctr(&key);
            let what = |verb| format!("{} {verb}", 8 * key.len());
            let mut aes = None;
            self.look(&secrets, &what("new"), None, || aes = Some(Aes::new(&key, features).unwrap()));
            let aes = aes.unwrap();
            assert_eq!(aes.variant(), self.variant);
            for len in LENGTHS.into_iter().chain([TWO_ROUNDS]) {
                let mut data = vec![0x77; len];
                self.look(&secrets, &what("decrypt"), Some(len), || {
                    aes.decrypt_blocks(&mut data[..len.min(300)]);
                });
                self.look(&secrets, &what("xor"), Some(len), || {
                    aes.xor_at(&COUNTER.to_be_bytes(), 3, InOut::in_place(&mut data)).unwrap();
                });
            }
        }
    }

    fn names(&mut self, features: Features) {
        let key = key(32);
        let mut secrets = Secrets::of_aes_ctr(&key);
        let l = reference::aes::Aes::new_vartime(&key).encrypt_block_vartime(&[0; 16]);
        let l = u128::from_le_bytes(l);
        secrets.block(("L", 0), ((l << 1) ^ ((l >> 127) * 0x87)).to_le_bytes());
        let mut eme = None;
        self.look(&secrets, "new", None, || eme = Some(Eme::new(&key, features).unwrap()));
        let eme = eme.unwrap();
        for len in [16, 64, 304, 2000] {
            let mut data = vec![0x77; len];
            self.look(&secrets, "encrypt", Some(len), || eme.encrypt(&[9; 16], &mut data).unwrap());
            self.look(&secrets, "decrypt", Some(len), || eme.decrypt(&[9; 16], &mut data).unwrap());
        }
    }

    fn macs(&mut self, features: Features) {
        let key: [u8; 32] = key(32)[..].try_into().unwrap();
        let secrets = Secrets::of_poly1305(&key);
        // All powers are computed for the last length.
        for len in LENGTHS.into_iter().chain([9000]) {
            // The tag of an empty message is s.
            let message = vec![0x77; len.max(1)];
            let mut mac = None;
            self.look(&secrets, "new", Some(len), || mac = Some(Poly1305::new(&key, features).unwrap()));
            let mut mac = mac.unwrap();
            assert_eq!(mac.variant(), self.variant);
            // The first long message also computes powers.
            for what in ["update", "update again"] {
                self.look(&secrets, what, Some(len), || mac.update(&message));
            }
            let segments = vec![0x77; 3 * 4096 + len];
            self.look(&secrets, "update in segments", Some(len), || mac.update_on(&OneThread, &segments));
            let mut mac = Some(mac);
            self.look(&secrets, "finalize", Some(len), || _ = mac.take().unwrap().finalize());
        }
    }

    fn chacha20(&mut self, features: Features) {
        let key: [u8; 32] = *key(32).first_chunk().unwrap();
        let secrets = Secrets::of_chacha20(&key);
        let (mut short, mut long) = (None, None);
        self.look(&secrets, "new", None, || short = Some(ChaCha20::new(&key, features).unwrap()));
        self.look(&secrets, "new", None, || long = Some(XChaCha20::new(&key, features).unwrap()));
        let (short, long) = (short.unwrap(), long.unwrap());
        assert_eq!(short.variant(), self.variant);
        let nonce: &[u8; 24] = NONCE.first_chunk().unwrap();
        for len in LENGTHS {
            for offset in [0, 3] {
                let mut data = vec![0x77; len];
                self.look(&secrets, "xor", Some(len), || {
                    short
                        .xor_at(NONCE.first_chunk().unwrap(), 1, offset, InOut::in_place(&mut data))
                        .unwrap();
                });
                self.look(&secrets, "xor, long nonce", Some(len), || {
                    long.xor_at(nonce, 1, offset, InOut::in_place(&mut data)).unwrap();
                });
            }
        }
        self.look(&secrets, "subkey", None, || drop(long.subkey(nonce.first_chunk().unwrap())));
    }

    fn speck(&mut self, features: Features) {
        for size in Size::ALL {
            let key = key(size.key_len());
            let secrets = Secrets::of_speck(size, &key);
            let what = |verb| format!("{} {verb}", size.name());
            let mut speck = None;
            self.look(&secrets, &what("new"), None, || {
                speck = Some(Speck::new(size, &key, ByteOrder::Big, features).unwrap());
            });
            let speck = speck.unwrap();
            assert_eq!(speck.variant(), self.variant);
            let iv = vec![9; size.block_len()];
            for len in LENGTHS {
                let mut data = vec![0x77; len.next_multiple_of(48)];
                self.look(&secrets, &what("xor"), Some(len), || {
                    speck.xor_at(&iv, 3, InOut::in_place(&mut data[..len])).unwrap();
                });
                self.look(&secrets, &what("encrypt"), Some(len), || {
                    speck.encrypt_blocks(InOut::in_place(&mut data)).unwrap();
                });
                self.look(&secrets, &what("decrypt"), Some(len), || {
                    speck.decrypt_blocks(InOut::in_place(&mut data)).unwrap();
                });
            }
        }
    }

    fn messages<A: Sealing>(&mut self, secrets: fn(&[u8]) -> Secrets, features: Features) {
        for key in A::KEY_LENGTHS.iter().map(|len| key(*len)) {
            let secrets = secrets(&key);
            let what = |verb| format!("{} {verb}", 8 * key.len());
            let mut a = None;
            self.look(&secrets, &what("new"), None, || a = Some(A::new(&key, features)));
            let a = a.unwrap();
            assert_eq!(a.variant(), self.variant);
            for (len, aad) in LENGTHS.into_iter().flat_map(|len| AAD_LENGTHS.map(|aad| (len, aad))) {
                let (plain, mut sealed, mut opened, mut tag) =
                    (vec![PLAIN; len], vec![0; len], vec![0; len], [0; 16]);
                let (aad, other) = (vec![AAD; aad], vec![!AAD; aad]);
                let nonce = &NONCE[..A::NONCE_LENGTHS[0]];
                // The first long message also computes powers.
                self.look(&secrets, &what("seal"), Some(len), || {
                    a.seal(nonce, &aad, InOut::apart(&plain, &mut sealed), &mut tag);
                });
                let (mut cut, mut pieces_tag) = (plain.clone(), [0; 16]);
                self.look(&secrets, &what("seal in pieces"), Some(len), || {
                    a.seal_in_pieces(nonce, &aad, &mut cut, &mut pieces_tag);
                });
                let mut batch = [(); 3].map(|()| vec![0; nonce.len() + len + 16]);
                self.look(&secrets, &what("seal a batch"), Some(len), || {
                    a.seal_batch(nonce, &aad, &plain, &mut batch);
                });
                let mut opened_batch = [(); 3].map(|()| vec![0; len]);
                self.look(&secrets, &what("open a batch"), Some(len), || {
                    assert_ne!(a.open_batch(&aad, &batch, &mut opened_batch), Some(false));
                });
                self.look(&secrets, &what("open"), Some(len), || {
                    assert!(a.open(nonce, &aad, InOut::apart(&sealed, &mut opened), &tag));
                });
                assert_eq!(opened, plain);
                // The associated data are different, so that the expected tag is one of the same
                // plaintext.
                let mut expected_tag = [0; 16];
                a.seal(nonce, &other, InOut::apart(&plain, &mut opened), &mut expected_tag);
                self.look(&secrets, &what("open forged"), Some(len), || {
                    assert!(!a.open(nonce, &other, InOut::apart(&sealed, &mut opened), &tag));
                });
                let mut wanted = Secrets::default();
                wanted.block(("expected tag", 0), expected_tag);
                self.search(&wanted, &what("open forged"), Some(len));
                self.look(&secrets, &what("open a forged batch"), Some(len), || {
                    assert_ne!(a.open_batch(&other, &batch, &mut opened_batch), Some(true));
                });
                self.search(&wanted, &what("open a forged batch"), Some(len));
            }
        }
    }
}

fn every_aegis(report: &mut Report, here: Features) {
    report.messages::<OneAegis<16, 1>>(Secrets::of_aegis::<1>, here);
    report.messages::<OneAegis<16, 2>>(Secrets::of_aegis::<2>, here);
    report.messages::<OneAegis<16, 4>>(Secrets::of_aegis::<4>, here);
    report.messages::<OneAegis<32, 1>>(Secrets::of_aegis::<1>, here);
    report.messages::<OneAegis<32, 2>>(Secrets::of_aegis::<2>, here);
    report.messages::<OneAegis<32, 4>>(Secrets::of_aegis::<4>, here);
}

/// Runs the keystream, and messages with nonces of both lengths.
fn every_chacha20(report: &mut Report, here: Features) {
    report.chacha20(here);
    report.messages::<ChaCha20Poly1305>(Secrets::of_chacha20_poly1305, here);
    report.messages::<XChaCha20Poly1305>(Secrets::of_chacha20_poly1305, here);
    report.messages::<InSegments<ChaCha20Poly1305>>(Secrets::of_chacha20_poly1305, here);
    report.messages::<InSegments<XChaCha20Poly1305>>(Secrets::of_chacha20_poly1305, here);
}

/// Returns the key that XChaCha20 derives.
fn derived(key: &[u8]) -> [u8; 32] {
    reference::chacha20::subkey_vartime(key.try_into().unwrap(), NONCE.first_chunk().unwrap())
}

fn key(len: usize) -> Vec<u8> {
    (0..len as u8).map(|i| i.wrapping_mul(37) ^ 11).collect()
}

// claim: memory-kernels, tested-secrets
#[test]
fn no_secrets_remain_on_the_stack() {
    if cfg!(debug_assertions) {
        eprintln!("NOT RUN: secrets on the stack (only the release profile keeps vectors in registers)");
        return;
    }
    type Run = fn(&mut Report, Features);
    let tables: [(&str, Vec<Variant>, Run); 8] = [
        ("AEGIS", aegis::variants().collect(), every_aegis),
        ("AES", aes::variants().collect(), |report, here| {
            report.stream(here);
            report.names(here);
        }),
        ("CHACHA20", chacha20::variants().collect(), every_chacha20),
        ("GCM", gcm::variants().collect(), |report, here| {
            report.messages::<Gcm>(Secrets::of_gcm, here);
            report.messages::<InSegments<Gcm>>(Secrets::of_gcm, here);
        }),
        ("GCM_SIV", gcm_siv::variants().collect(), |report, here| {
            report.messages::<GcmSiv>(Secrets::of_gcm_siv, here);
            report.messages::<InSegments<GcmSiv>>(Secrets::of_gcm_siv, here);
        }),
        ("POLY1305", poly1305::variants().collect(), Report::macs),
        ("SALSA20", xsalsa20_poly1305::variants().collect(), |report, here| {
            report.messages::<XSalsa20Poly1305>(Secrets::of_xsalsa20_poly1305, here);
        }),
        ("SPECK", speck::variants().collect(), Report::speck),
    ];
    let mut found = vec![false; KNOWN.len()];
    let mut unexpected = 0;
    for (table, variants_of_table, run) in tables {
        for (variant, features) in available(variants_of_table.into_iter()) {
            let mut report = Report { table, variant, seen: vec![0; DEPTH], found, unexpected };
            run(&mut report, features);
            Report { found, unexpected, .. } = report;
        }
    }
    for (known, found) in KNOWN.iter().zip(found) {
        if !found {
            println!(
                "no {} found for variant {} of {}, so KNOWN could be shorter",
                known.what, known.variant, known.table
            );
        }
    }
    assert_eq!(unexpected, 0, "secrets on the stack that are not in KNOWN");
}

/// Checks that the search finds round keys that a call leaves on the stack.
// claim: memory-kernels
#[test]
fn search_finds_round_keys() {
    let key = key(32);
    let secrets = Secrets::of_gcm_siv(&key);
    let mut seen = vec![0; DEPTH];
    // As in `look`: gaps in the frame of `left_by` may have round keys of the line above.
    paint();
    left_by(&mut || _ = black_box([0u8; 64]), &mut seen);
    assert!(secrets.find(&seen).is_empty());
    left_by(
        &mut || {
            let keys = reference::aes::Aes::new_vartime(black_box(&key)).round_keys();
            black_box(&mut <[[u8; 16]; 15]>::try_from(keys).unwrap());
        },
        &mut seen,
    );
    let found = secrets.find(&seen);
    assert_eq!(found.get("round key").map(|(_, which)| which.len()), Some(15), "{found:?}");
}
