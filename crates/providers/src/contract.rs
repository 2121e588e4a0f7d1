//! Checks that every entry must pass, including those of other crates.
//!
//! They test buffers, refusals, threads, and equal bytes from every provider, but not published
//! vectors. A failed check panics with the name of the entry.
//!
//! ```
//! use providers::{Algorithm, choose, contract};
//!
//! contract::round_trip(choose(Algorithm::ChaCha20Poly1305, None)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{AeadKey, Algorithm, AuthenticationError, BatchAad, BatchError, Entry, InOut, Threads};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Returns bytes that depend on the seed; adjacent blocks differ.
///
/// The period is 251, a prime, so swapped blocks are detected.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..251).cycle().skip(seed).take(len).collect()
}

/// Returns all lengths up to 300 bytes and some around 16 KiB, a chunk, where variants change their
/// code.
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
        // Associated data of every length modulo a block, and none.
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

    /// Opens in place and apart. Returns the way, the result and the destination of each.
    fn open(
        &self,
        key: &dyn AeadKey,
        sealed: &Sealed,
    ) -> [(&'static str, Result<(), AuthenticationError>, Vec<u8>); 2] {
        let (mut data, source) = (sealed.ciphertext.clone(), sealed.ciphertext.clone());
        let mut copy = vec![0xee; source.len()];
        let [in_place, apart] = [InOut::in_place(&mut data), InOut::apart(&source, &mut copy)]
            .map(|data| key.open(&self.nonce, &self.aad, data, &sealed.tag));
        assert!(source == sealed.ciphertext, "opening apart changed its source");
        [("in place", in_place, data), ("apart", apart, copy)]
    }

    /// Checks that opening fails in place and apart and leaves zeros.
    fn rejected(&self, key: &dyn AeadKey, sealed: &Sealed, what: &str) {
        let len = sealed.ciphertext.len();
        for (way, result, data) in self.open(key, sealed) {
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

/// Checks that sealed messages open, in place and apart, at many lengths.
///
/// # Panics
/// Panics if the entry returns an error or other bytes.
pub fn round_trip(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    for len in lengths() {
        let case = Case::new(entry.algorithm, len);
        let sealed = case.seal_in_place(&*key);
        assert!(sealed == case.seal_apart(&*key), "{name}, {len} bytes: in place and apart differ");
        for (way, result, data) in case.open(&*key, &sealed) {
            assert_eq!(result, Ok(()), "{name}, {len} bytes {way}: not opened");
            assert!(data == case.plaintext, "{name}, {len} bytes {way}: wrong plaintext");
        }
    }
}

/// Checks that two entries of an algorithm seal to the same bytes.
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

/// Checks that a message with a changed bit is rejected and leaves a zero destination.
///
/// # Panics
/// Panics if the entry opens a changed message or leaves other bytes.
pub fn rejects_changes(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    let what = |field: &str| format!("{name}: changed {field}");
    // Short enough to change every bit. The longest has two blocks of the widest cipher and a
    // partial one.
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
    // The code path of long messages too.
    let case = Case::new(entry.algorithm, 40_000);
    let mut sealed = case.seal_in_place(&*key);
    for at in [0, 16_384, 39_999] {
        each_bit(
            &mut sealed,
            |sealed| &mut sealed.ciphertext[at..=at],
            |s| case.rejected(&*key, s, &what("ciphertext")),
        );
    }
}

fn each_bit<T>(value: &mut T, field: impl Fn(&mut T) -> &mut [u8], mut check: impl FnMut(&T)) {
    for bit in 0..field(value).len() * 8 {
        field(value)[bit / 8] ^= 1 << (bit % 8);
        check(value);
        field(value)[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Checks that keys of every other length up to 64 bytes and nonces up to 40 bytes are rejected
/// without a panic.
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

/// Checks that batches give the same bytes as single messages, and report the first changed one.
///
/// # Panics
/// Panics if the entry returns other bytes or another error.
pub fn batches(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    // Equal lengths, lengths around those where variants change their code, and short messages
    // among long ones.
    let equal = [0, 1, 16, 63, 64, 65, 300].map(|len| vec![len; 11]);
    let mixed =
        [(0..140).collect(), vec![64, 64, 64, 64, 200, 64, 3, 64, 64], vec![16384, 5, 5, 5, 5], vec![]];
    for lens in equal.into_iter().chain(mixed) {
        let cases: Vec<_> = lens.iter().map(|&len| Case::new(entry.algorithm, len)).collect();
        let nonces: Vec<u8> = cases.iter().flat_map(|case| case.nonce.clone()).collect();
        let plaintexts: Vec<&[u8]> = cases.iter().map(|case| &case.plaintext[..]).collect();
        let aads: Vec<&[u8]> = cases.iter().map(|case| &case.aad[..]).collect();
        for aad in [BatchAad::Each(&aads), BatchAad::Shared(b""), BatchAad::Shared(b"shared by all messages")]
        {
            let single: Vec<Vec<u8>> = (0..cases.len())
                .map(|index| {
                    let case = &cases[index];
                    let case = Case {
                        aad: aad.of(index).to_vec(),
                        ..Case::new(entry.algorithm, case.plaintext.len())
                    };
                    let sealed = case.seal_apart(&*key);
                    [&case.nonce[..], &sealed.ciphertext, &sealed.tag].concat()
                })
                .collect();
            let mut sealed: Vec<Vec<u8>> = single.iter().map(|sealed| vec![0xee; sealed.len()]).collect();
            let result = key.seal_batch(&nonces, aad, &plaintexts, &mut slices(&mut sealed));
            assert_eq!(result, Ok(()), "{name}, {lens:?}: not sealed");
            assert!(sealed == single, "{name}, {lens:?}: a batch and single messages differ");
            batch_opens(&*key, &name, aad, &cases, sealed);
        }
    }
}

fn slices(vecs: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    vecs.iter_mut().map(|vec| &mut vec[..]).collect()
}

/// Checks that a batch opens, but not with a changed message or changed associated data.
fn batch_opens(key: &dyn AeadKey, name: &str, aad: BatchAad<'_>, cases: &[Case], mut sealed: Vec<Vec<u8>>) {
    let nonce_len = cases.first().map_or(12, |case| case.nonce.len());
    let open = |sealed: &[Vec<u8>]| {
        let mut plaintexts: Vec<Vec<u8>> =
            cases.iter().map(|case| vec![0xee; case.plaintext.len()]).collect();
        let sealed: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
        let result = key.open_batch(nonce_len, aad, &sealed, &mut slices(&mut plaintexts));
        (result, plaintexts)
    };
    let (result, plaintexts) = open(&sealed);
    assert_eq!(result, Ok(()), "{name}: a batch was not opened");
    assert!(
        plaintexts.iter().zip(cases).all(|(plain, case)| *plain == case.plaintext),
        "{name}: wrong plaintext"
    );
    for index in 0..sealed.len() {
        for at in [0, sealed[index].len() - 17, sealed[index].len() - 1] {
            let authentic = sealed[index][at];
            sealed[index][at] = !authentic;
            let (result, plaintexts) = open(&sealed);
            assert_eq!(result, Err(BatchError { index, error: AuthenticationError }), "{name}: opened");
            assert!(plaintexts[index].iter().all(|&byte| byte == 0), "{name}: not zero");
            for (plain, case) in plaintexts.iter().zip(cases).take(index) {
                assert!(*plain == case.plaintext, "{name}: an earlier message is wrong");
            }
            for plain in &plaintexts[index..] {
                assert!(
                    plain.iter().all(|byte| [0, 0xee].contains(byte)),
                    "{name}: a later message was released"
                );
            }
            sealed[index][at] = authentic;
        }
    }
}

/// Checks that a message on several threads has the same bytes as on one, that a changed message is
/// rejected as a whole, and that the key says truly whether it uses threads.
///
/// # Panics
/// Panics if the bytes differ, if a part of a changed message is left, or if the key does not do
/// what it says.
pub fn division(entry: &Entry) {
    struct TwoThreads(AtomicBool);
    impl Threads for TwoThreads {
        fn segment_len(&self, _: usize) -> usize {
            4096
        }
        fn run(&self, segments: usize, work: &(dyn Fn(usize) + Sync)) {
            self.0.store(true, Ordering::Relaxed);
            let (first, second): (Vec<_>, Vec<_>) =
                (0..segments).partition(|number| number.is_multiple_of(2));
            thread::scope(|scope| {
                scope.spawn(|| first.into_iter().for_each(work));
                second.into_iter().for_each(work);
            });
        }
    }
    let (key, name) = (key(entry), name(entry));
    for len in [0, 4096, 4097, 8192, 12_301] {
        let case = Case::new(entry.algorithm, len);
        let alone = case.seal_apart(&*key);
        let threads = TwoThreads(AtomicBool::new(false));
        let (mut data, mut tag) = (case.plaintext.clone(), [0; 16]);
        let sealed = key.seal_on(&threads, &case.nonce, &case.aad, InOut::in_place(&mut data), &mut tag);
        assert_eq!(sealed, Ok(()), "{name}, {len} bytes: not sealed on threads");
        assert!(Sealed { ciphertext: data.clone(), tag } == alone, "{name}, {len} bytes: threads change it");
        let open = |data: &mut [u8], tag: &[u8; 16]| {
            key.open_on(&threads, &case.nonce, &case.aad, InOut::in_place(data), tag)
        };
        let divided = threads.0.load(Ordering::Relaxed);
        assert_eq!(divided, len > 4096 && key.divides_messages(), "{name}, {len} bytes: threads");
        let mut changed = data.clone();
        let refused = open(&mut changed, &tag.map(|byte| !byte));
        assert_eq!(refused, Err(AuthenticationError), "{name}, {len} bytes: opened");
        assert!(changed.iter().all(|&byte| byte == 0), "{name}, {len} bytes: not zero");
        assert_eq!(open(&mut data, &tag), Ok(()), "{name}, {len} bytes: not opened on threads");
        assert!(data == case.plaintext, "{name}, {len} bytes: wrong plaintext");
    }
}

/// Checks that eight threads can share a key, with messages of different lengths at the same time.
///
/// # Panics
/// Panics if a thread gets another result than a single one.
pub fn sharing(entry: &Entry) {
    let (key, name) = (key(entry), name(entry));
    let sealed_alone = |len| {
        let case = Case::new(entry.algorithm, len);
        let sealed = case.seal_in_place(&*key);
        (case, sealed)
    };
    let alone: Vec<(Case, Sealed)> = (0..1000).step_by(5).map(sealed_alone).collect();
    thread::scope(|scope| {
        // Each thread starts at another message.
        for first in (0..200).step_by(25) {
            let (key, name, (later, sooner)) = (&*key, &name, alone.split_at(first));
            scope.spawn(move || {
                for (case, sealed) in sooner.iter().chain(later) {
                    assert!(case.seal_apart(key) == *sealed, "{name}: another result with eight threads");
                    let opened = case.open(key, sealed).map(|(_, result, _)| result);
                    assert_eq!(opened, [Ok(()); 2], "{name}: not opened");
                }
            });
        }
    });
}
