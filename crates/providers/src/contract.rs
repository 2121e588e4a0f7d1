//! What every row must satisfy, as checks that any test can call with any row.
//!
//! They panic and name the row. Published vectors are checked elsewhere; this is about behaviour: buffers, refusals,
//! threads, and that no choice changes a byte.

use crate::{AeadKey, Algorithm, Forged, InOut, Row};
use std::thread;

/// Bytes that differ from those of another seed, without two equal blocks next to each other.
///
/// 251 is prime and below 256, so no power of two is a period and a swapped block cannot hide.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + 31 * seed) % 251) as u8).collect()
}

/// Everything short, and what lies around a buffer of 16 KiB: the size of chunks, and where rows change their path.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=300).chain([1023, 4096, 16383, 16384, 16385, 16400])
}

struct Case {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
}

/// A sealed [`Case`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sealed {
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

impl Case {
    fn new(algorithm: Algorithm, len: usize) -> Self {
        // The aad passes every length modulo a block, and none.
        Self {
            nonce: bytes(len, algorithm.nonce_len()),
            aad: bytes(2, len * 7 % 41),
            plaintext: bytes(3, len),
        }
    }

    fn seal_in_place(&self, key: &dyn AeadKey) -> Sealed {
        let (mut data, mut tag) = (self.plaintext.clone(), vec![0; 16]);
        key.seal(&self.nonce, &self.aad, InOut::in_place(&mut data), &mut tag).expect("seals in place");
        Sealed { ciphertext: data, tag }
    }

    fn seal_apart(&self, key: &dyn AeadKey) -> Sealed {
        let plaintext = self.plaintext.clone();
        let (mut ciphertext, mut tag) = (vec![0xee; plaintext.len()], vec![0; 16]);
        key.seal(&self.nonce, &self.aad, InOut::apart(&plaintext, &mut ciphertext), &mut tag)
            .expect("seals apart");
        assert!(plaintext == self.plaintext, "sealing apart changed its source");
        Sealed { ciphertext, tag }
    }

    fn open_in_place(&self, key: &dyn AeadKey, sealed: &Sealed) -> (Result<(), Forged>, Vec<u8>) {
        let mut data = sealed.ciphertext.clone();
        (key.open(&self.nonce, &self.aad, InOut::in_place(&mut data), &sealed.tag), data)
    }

    fn open_apart(&self, key: &dyn AeadKey, sealed: &Sealed) -> (Result<(), Forged>, Vec<u8>) {
        let source = sealed.ciphertext.clone();
        let mut data = vec![0xee; source.len()];
        let result = key.open(&self.nonce, &self.aad, InOut::apart(&source, &mut data), &sealed.tag);
        assert!(source == sealed.ciphertext, "opening apart changed its source");
        (result, data)
    }

    /// Both ways to open refuse, and leave zeros.
    fn refused(&self, key: &dyn AeadKey, sealed: &Sealed, what: &str) {
        let len = sealed.ciphertext.len();
        for (way, (result, data)) in
            [("in place", self.open_in_place(key, sealed)), ("apart", self.open_apart(key, sealed))]
        {
            assert_eq!(result, Err(Forged), "{what}, {len} bytes {way}: opened");
            assert!(data.iter().all(|&byte| byte == 0), "{what}, {len} bytes {way}: not zero");
        }
    }
}

fn key(row: &Row) -> Box<dyn AeadKey> {
    let made = row.key(&bytes(1, row.algorithm.key_len()));
    made.unwrap_or_else(|_| panic!("{}: refuses a key of its own length", name(row)))
}

fn name(row: &Row) -> String {
    format!("{} from {}", row.algorithm.name(), row.provider.name())
}

/// What is sealed is opened, in place and apart, at every length.
///
/// # Panics
/// Where the row does not.
pub fn round_trip(row: &Row) {
    let (key, name) = (key(row), name(row));
    for len in lengths() {
        let case = Case::new(row.algorithm, len);
        let sealed = case.seal_in_place(&*key);
        assert!(sealed == case.seal_apart(&*key), "{name}, {len} bytes: in place and apart differ");
        for (way, (result, data)) in
            [("in place", case.open_in_place(&*key, &sealed)), ("apart", case.open_apart(&*key, &sealed))]
        {
            assert_eq!(result, Ok(()), "{name}, {len} bytes {way}: not opened");
            assert!(data == case.plaintext, "{name}, {len} bytes {way}: another plaintext");
        }
    }
}

/// Two rows of one algorithm seal to the same bytes.
///
/// # Panics
/// Where they do not.
pub fn agreement(row: &Row, other: &Row) {
    let (mine, theirs) = (key(row), key(other));
    for len in lengths() {
        let case = Case::new(row.algorithm, len);
        let equal = case.seal_in_place(&*mine) == case.seal_in_place(&*theirs);
        assert!(equal, "{} and {} differ at {len} bytes", name(row), name(other));
    }
}

/// No changed bit is opened, and a refused message leaves zeros.
///
/// # Panics
/// Where the row opens or leaves something.
pub fn refusal(row: &Row) {
    let (key, name) = (key(row), name(row));
    let what = |field: &str| format!("{name}: changed {field}");
    // Short enough for every bit; the longest has two blocks of the widest cipher and a rest.
    for len in [0, 1, 16, 33, 257] {
        let mut case = Case::new(row.algorithm, len);
        let mut sealed = case.seal_in_place(&*key);
        each_bit(
            &mut sealed,
            |sealed| &mut sealed.ciphertext,
            |s| case.refused(&*key, s, &what("ciphertext")),
        );
        each_bit(&mut sealed, |sealed| &mut sealed.tag, |s| case.refused(&*key, s, &what("tag")));
        each_bit(&mut case, |case| &mut case.nonce, |c| c.refused(&*key, &sealed, &what("nonce")));
        each_bit(&mut case, |case| &mut case.aad, |c| c.refused(&*key, &sealed, &what("aad")));
    }
    // The path of long messages.
    let case = Case::new(row.algorithm, 40_000);
    let mut sealed = case.seal_in_place(&*key);
    for at in [0, 16_384, 39_999] {
        sealed.ciphertext[at] ^= 1;
        case.refused(&*key, &sealed, &what("ciphertext"));
        sealed.ciphertext[at] ^= 1;
    }
}

fn each_bit<T>(value: &mut T, field: impl Fn(&mut T) -> &mut Vec<u8>, check: impl Fn(&T)) {
    for bit in 0..field(value).len() * 8 {
        field(value)[bit / 8] ^= 1 << (bit % 8);
        check(value);
        field(value)[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Keys, nonces and tags of another length are refused, never computed with, and nothing panics.
///
/// # Panics
/// Where the row takes them.
pub fn lengths_refused(row: &Row) {
    let name = name(row);
    for len in (0..=64).filter(|&len| len != row.algorithm.key_len()) {
        assert!(row.key(&bytes(1, len)).is_err(), "{name}: took a key of {len} bytes");
    }
    let (key, case) = (key(row), Case::new(row.algorithm, 20));
    let sealed = case.seal_in_place(&*key);
    for len in (0..=40).filter(|&len| len != row.algorithm.nonce_len()) {
        let case = Case { nonce: bytes(4, len), ..Case::new(row.algorithm, 20) };
        let mut data = case.plaintext.clone();
        let result = key.seal(&case.nonce, &case.aad, InOut::in_place(&mut data), &mut [0; 16]);
        assert!(result.is_err(), "{name}: took a nonce of {len} bytes");
        case.refused(&*key, &sealed, &format!("{name}: nonce of {len} bytes"));
    }
    for len in (0..=40).filter(|&len| len != 16) {
        let mut tag = sealed.tag.clone();
        tag.resize(len, 0);
        case.refused(&*key, &Sealed { tag, ..sealed.clone() }, &format!("{name}: tag of {len} bytes"));
    }
}

/// Eight threads share one key, with messages of different lengths at the same time.
///
/// # Panics
/// Where a thread sees another result than one alone.
pub fn sharing(row: &Row) {
    let (key, name) = (key(row), name(row));
    let cases: Vec<Case> = (0..200).map(|len| Case::new(row.algorithm, len * 5)).collect();
    let alone: Vec<Sealed> = cases.iter().map(|case| case.seal_in_place(&*key)).collect();
    thread::scope(|scope| {
        for thread in 0..8 {
            let (key, cases, alone, name) = (&*key, &cases, &alone, &name);
            scope.spawn(move || {
                for i in 0..cases.len() {
                    let i = (i + thread * 25) % cases.len();
                    assert!(cases[i].seal_apart(key) == alone[i], "{name}: threads disturb each other");
                    assert_eq!(cases[i].open_apart(key, &alone[i]).0, Ok(()), "{name}: not opened");
                }
            });
        }
    });
}
