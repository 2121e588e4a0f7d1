//! The fuzz targets, each in the module with its name. `fuzz/fuzz_targets` runs them with
//! libFuzzer, and a test runs them on the inputs in `fuzz/seeds` with the compiler of the project.
#![forbid(unsafe_code)]
#![allow(clippy::type_complexity, reason = "an input is a tuple of its parts")]

use arbitrary::{Arbitrary, Unstructured};
use kernels::cpu::Features;
use kernels::variant::Variant;
use providers::InOut;
use sealane::file::{self, DecryptWith, Decryptor, Reader};

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// The name of each target and its function of an input.
        pub const TARGETS: &[(&str, fn(&[u8]))] =
            &[$((stringify!($name), |bytes| structured(bytes, $name::run))),*];
    };
}
targets! {
    aead, aes_ctr, age, age_file, armor, chacha20, chunked, ecies, hpke, inspect, inventory, jwk, jwk_set, key_file, manifest,
    parquet, pieces, pkcs8, plugin, poly1305, ranges, reference_text, rsa_message, speck, speck_poly1305, ssh_key, tink_file, tink_keyset,
}

/// Runs the target with this name.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|target| target.0 == name).expect("a target");
    target(bytes);
}

/// Calls `target` with the structure that `bytes` encode, as `libfuzzer_sys::fuzz_target` does.
fn structured<'a, T: Arbitrary<'a>>(bytes: &'a [u8], target: impl Fn(T)) {
    if bytes.len() >= T::size_hint(0).0
        && let Ok(input) = T::arbitrary_take_rest(Unstructured::new(bytes))
    {
        target(input);
    }
}

/// Returns each variant that this machine can run, with the features that select it.
pub(crate) fn rows(table: impl Iterator<Item = Variant>) -> impl Iterator<Item = (&'static str, Features)> {
    let here = Features::detect();
    table.filter(move |row| row.check(here).is_ok()).map(move |row| (row.name, here.intersection(row.needs)))
}

/// Repeats `bytes`, because the fuzzer starts with short inputs and extends them slowly.
pub(crate) fn repeated(bytes: Vec<u8>, times: u8, most: usize) -> Vec<u8> {
    let mut bytes = bytes.repeat(1 + usize::from(times));
    bytes.truncate(most);
    bytes
}

/// Checks that `compute` turns `data` into `want`, in place and apart. Without `want`, it must fail
/// and write nothing.
pub(crate) fn check<E>(
    name: &str,
    data: &[u8],
    want: Option<&[u8]>,
    mut compute: impl FnMut(InOut<'_>) -> Result<(), E>,
) {
    let (mut here, mut there) = (data.to_vec(), vec![0xee; data.len()]);
    let in_place = compute(InOut::in_place(&mut here)).is_ok();
    let apart = compute(InOut::apart(data, &mut there)).is_ok();
    assert_eq!([in_place, apart], [want.is_some(); 2], "{name}: fails at another end");
    if let Some(want) = want {
        assert!(here == want, "{name}: other bytes in place");
        assert!(there == want, "{name}: other bytes apart");
    } else {
        assert!(here == data && there.iter().all(|byte| *byte == 0xee), "{name}: written although rejected");
    }
}

/// Splits `all` into pieces with lengths from `cuts`; the last piece has the remaining bytes. Some
/// pieces are empty.
pub(crate) fn pieces<'a>(mut all: &'a [u8], cuts: &[u16]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut cuts = cuts.iter().cycle().take(1000);
    while let Some(cut) = cuts.next().filter(|_| !all.is_empty()) {
        // Half of the pieces are short.
        let cut = usize::from(cut >> (cut % 16));
        let (piece, rest) = all.split_at(all.len().min(cut));
        pieces.push(piece);
        all = rest;
    }
    pieces.push(all);
    pieces
}

/// Encodes a DER structure with this tag.
pub(crate) fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    // DER has the shortest form of a length.
    let len = match content.len() {
        len @ ..128 => vec![len as u8],
        len @ 128..256 => vec![0x81, len as u8],
        len @ 256..65536 => vec![0x82, (len >> 8) as u8, len as u8],
        len => vec![0x83, (len >> 16) as u8, (len >> 8) as u8, len as u8],
    };
    [&[tag][..], &len, &content].concat()
}

/// Encodes bytes as PEM, in one line.
pub(crate) fn pem(label: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {label}-----\n");
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at)) as usize & 63] as char;
            text.push(if at <= group.len() { digit } else { '=' });
        }
    }
    text.push_str(&format!("\n-----END {label}-----\n"));
    text
}

/// Changes bytes of a file, cuts `cut` bytes from its end, and appends `tail`.
pub(crate) fn damaged<N: Copy + Into<u64>>(
    file: &[u8],
    changes: &[(N, u8)],
    cut: usize,
    tail: &[u8],
) -> Vec<u8> {
    let mut damaged = file.to_vec();
    for (at, mask) in changes {
        damaged[((*at).into() % file.len() as u64) as usize] ^= mask;
    }
    damaged.truncate(file.len() - cut % file.len());
    damaged.extend_from_slice(tail);
    damaged
}

/// Checks that a call, a stream and a reader decrypt `damaged` to `plain` if it is `sealed`, and
/// refuse it otherwise.
pub(crate) fn readers(sealed: &[u8], damaged: &[u8], plain: &[u8], with: &DecryptWith) {
    let whole = file::decrypt(damaged, with);
    let mut decryptor = Decryptor::new(Vec::new(), with);
    let streamed = decryptor.push(damaged).and_then(|()| decryptor.finish());
    let read = Reader::new(damaged, with).and_then(|reader| {
        let mut all = vec![0; reader.size() as usize];
        reader.read_at(0, &mut all).map(|_| all)
    });
    if damaged == sealed {
        assert_eq!(whole.expect("undamaged"), plain);
        assert_eq!(streamed.expect("undamaged"), plain);
        assert_eq!(read.expect("undamaged"), plain);
    } else {
        assert!(whole.is_err() && streamed.is_err() && read.is_err());
    }
}
