//! Checks that every entry must pass, also one from another crate.
//!
//! They test behavior: buffers, refusals, threads, and equal bytes from every provider. They do not test published
//! vectors. Each check panics with the name of the entry.
//!
//! ```
//! use providers::{Algorithm, choose, contract};
//!
//! contract::round_trip(choose(Algorithm::ChaCha20Poly1305, None)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{AeadKey, Algorithm, AuthenticationError, Entry, InOut};
use std::thread;

/// Returns bytes that depend on the seed, without two equal blocks next to each other.
///
/// The period is 251, a prime, so a swap of two blocks is detected.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + 31 * seed) % 251) as u8).collect()
}

/// Returns all lengths up to 300 bytes, and some around 16 KiB, the size of chunks, where variants change their code.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=300).chain([1023, 4096, 16383, 16384, 16385, 16400])
}

struct Case {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Sealed {
    ciphertext: Vec<u8>,
    tag: [u8; 16],
}

impl Case {
    fn new(algorithm: Algorithm, len: usize) -> Self {
        // The length of the associated data takes every value modulo a block, and zero.
        Self {
            nonce: bytes(len, algorithm.nonce_len()),
            aad: bytes(2, len * 7 % 41),
            plaintext: bytes(3, len),
        }
    }

    fn seal_in_place(&self, key: &dyn AeadKey) -> Sealed {
        let (mut data, mut tag) = (self.plaintext.clone(), [0; 16]);
        key.seal(&self.nonce, &self.aad, InOut::in_place(&mut data), &mut tag).expect("seals in place");
        Sealed { ciphertext: data, tag }
    }

    fn seal_apart(&self, key: &dyn AeadKey) -> Sealed {
        let plaintext = self.plaintext.clone();
        let (mut ciphertext, mut tag) = (vec![0xee; plaintext.len()], [0; 16]);
        key.seal(&self.nonce, &self.aad, InOut::apart(&plaintext, &mut ciphertext), &mut tag)
            .expect("seals apart");
        assert!(plaintext == self.plaintext, "sealing apart changed its source");
        Sealed { ciphertext, tag }
    }

    fn open_in_place(
        &self,
        key: &dyn AeadKey,
        sealed: &Sealed,
    ) -> (Result<(), AuthenticationError>, Vec<u8>) {
        let mut data = sealed.ciphertext.clone();
        (key.open(&self.nonce, &self.aad, InOut::in_place(&mut data), &sealed.tag), data)
    }

    fn open_apart(&self, key: &dyn AeadKey, sealed: &Sealed) -> (Result<(), AuthenticationError>, Vec<u8>) {
        let source = sealed.ciphertext.clone();
        let mut data = vec![0xee; source.len()];
        let result = key.open(&self.nonce, &self.aad, InOut::apart(&source, &mut data), &sealed.tag);
        assert!(source == sealed.ciphertext, "opening apart changed its source");
        (result, data)
    }

    /// Checks that opening fails in place and apart, and leaves zeros.
    fn rejected(&self, key: &dyn AeadKey, sealed: &Sealed, what: &str) {
        let len = sealed.ciphertext.len();
        for (way, (result, data)) in
            [("in place", self.open_in_place(key, sealed)), ("apart", self.open_apart(key, sealed))]
        {
            assert_eq!(result, Err(AuthenticationError), "{what}, {len} bytes {way}: opened");
            assert!(data.iter().all(|&byte| byte == 0), "{what}, {len} bytes {way}: not zero");
        }
    }
}

fn key(entry: &Entry) -> Box<dyn AeadKey> {
    let made = entry.key(&bytes(1, entry.algorithm.key_len()));
    made.unwrap_or_else(|error| panic!("{}: {error}", name(entry)))
}

fn name(entry: &Entry) -> String {
    format!("{} from {}", entry.algorithm.name(), entry.provider.name())
}

/// Checks that a sealed message is opened again, in place and apart, at many lengths.
///
/// # Panics
/// Panics if the entry returns an error or other bytes.
pub fn round_trip(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    for len in lengths() {
        let case = Case::new(entry.algorithm, len);
        let sealed = case.seal_in_place(&*key);
        assert!(sealed == case.seal_apart(&*key), "{name}, {len} bytes: in place and apart differ");
        for (way, (result, data)) in
            [("in place", case.open_in_place(&*key, &sealed)), ("apart", case.open_apart(&*key, &sealed))]
        {
            assert_eq!(result, Ok(()), "{name}, {len} bytes {way}: not opened");
            assert!(data == case.plaintext, "{name}, {len} bytes {way}: wrong plaintext");
        }
    }
}

/// Checks that two entries of one algorithm seal to the same bytes.
///
/// # Panics
/// Panics if the bytes differ.
pub fn agreement(entry: &Entry, other: &Entry) {
    let (mine, theirs) = (key(entry), key(other));
    for len in lengths() {
        let case = Case::new(entry.algorithm, len);
        let equal = case.seal_in_place(&*mine) == case.seal_in_place(&*theirs);
        assert!(equal, "{} and {} differ at {len} bytes", name(entry), name(other));
    }
}

/// Checks that a message with a changed bit is rejected, and that the destination is zero then.
///
/// # Panics
/// Panics if the entry opens a changed message or leaves other bytes.
pub fn rejects_changes(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    let what = |field: &str| format!("{name}: changed {field}");
    // Short enough to change every bit. The longest has two blocks of the widest cipher and a partial block.
    for len in [0, 1, 16, 33, 257] {
        let mut case = Case::new(entry.algorithm, len);
        let mut sealed = case.seal_in_place(&*key);
        each_bit(
            &mut sealed,
            |sealed| &mut sealed.ciphertext[..],
            |s| case.rejected(&*key, s, &what("ciphertext")),
        );
        each_bit(&mut sealed, |sealed| &mut sealed.tag[..], |s| case.rejected(&*key, s, &what("tag")));
        each_bit(&mut case, |case| &mut case.nonce[..], |c| c.rejected(&*key, &sealed, &what("nonce")));
        each_bit(&mut case, |case| &mut case.aad[..], |c| c.rejected(&*key, &sealed, &what("aad")));
    }
    // Also on the code path of long messages.
    let case = Case::new(entry.algorithm, 40_000);
    let mut sealed = case.seal_in_place(&*key);
    for at in [0, 16_384, 39_999] {
        sealed.ciphertext[at] ^= 1;
        case.rejected(&*key, &sealed, &what("ciphertext"));
        sealed.ciphertext[at] ^= 1;
    }
}

fn each_bit<T>(value: &mut T, field: impl Fn(&mut T) -> &mut [u8], check: impl Fn(&T)) {
    for bit in 0..field(value).len() * 8 {
        field(value)[bit / 8] ^= 1 << (bit % 8);
        check(value);
        field(value)[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Checks that keys of every other length up to 64 bytes and nonces up to 40 bytes are rejected without a panic.
///
/// # Panics
/// Panics if the entry accepts one of them.
pub fn rejects_lengths(entry: &Entry) {
    let name = name(entry);
    for len in (0..=64).filter(|&len| len != entry.algorithm.key_len()) {
        assert!(entry.key(&bytes(1, len)).is_err(), "{name}: accepted a key of {len} bytes");
    }
    let (key, case) = (key(entry), Case::new(entry.algorithm, 20));
    let sealed = case.seal_in_place(&*key);
    for len in (0..=40).filter(|&len| len != entry.algorithm.nonce_len()) {
        let case = Case { nonce: bytes(4, len), ..Case::new(entry.algorithm, 20) };
        let mut data = case.plaintext.clone();
        let result = key.seal(&case.nonce, &case.aad, InOut::in_place(&mut data), &mut [0; 16]);
        assert!(result.is_err(), "{name}: accepted a nonce of {len} bytes");
        assert!(data == case.plaintext, "{name}: wrote before it rejected a nonce of {len} bytes");
        case.rejected(&*key, &sealed, &format!("{name}: nonce of {len} bytes"));
    }
}

/// Checks that eight threads can share one key, with messages of different lengths at the same time.
///
/// # Panics
/// Panics if a thread gets another result than a single thread.
pub fn sharing(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    let cases: Vec<Case> = (0..200).map(|len| Case::new(entry.algorithm, len * 5)).collect();
    let alone: Vec<Sealed> = cases.iter().map(|case| case.seal_in_place(&*key)).collect();
    thread::scope(|scope| {
        for thread in 0..8 {
            let (key, cases, alone, name) = (&*key, &cases, &alone, &name);
            scope.spawn(move || {
                for i in 0..cases.len() {
                    let i = (i + thread * 25) % cases.len();
                    assert!(
                        cases[i].seal_apart(key) == alone[i],
                        "{name}: another result with eight threads"
                    );
                    assert_eq!(cases[i].open_apart(key, &alone[i]).0, Ok(()), "{name}: not opened");
                }
            });
        }
    });
}
