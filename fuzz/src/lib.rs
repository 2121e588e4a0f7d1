//! Helpers of several targets.

use kernels::cpu::Features;
use kernels::variant::Variant;
use providers::InOut;

/// Returns each variant that this machine can run, with the features that select it.
pub fn rows(table: impl Iterator<Item = Variant>) -> impl Iterator<Item = (&'static str, Features)> {
    let here = Features::detect();
    table.filter(move |row| row.check(here).is_ok()).map(move |row| (row.name, here.intersection(row.needs)))
}

/// Repeats `bytes`, because the fuzzer starts with short inputs and extends them slowly.
pub fn repeated(bytes: Vec<u8>, times: u8, most: usize) -> Vec<u8> {
    let mut bytes = bytes.repeat(1 + usize::from(times));
    bytes.truncate(most);
    bytes
}

/// Checks that `compute` turns `data` into `want`, in place and apart. Without `want`, it must fail and write nothing.
pub fn check<E>(
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

/// Splits `all` into pieces with lengths from `cuts`; the last piece has the remaining bytes. Some pieces are empty.
pub fn pieces<'a>(mut all: &'a [u8], cuts: &[u16]) -> Vec<&'a [u8]> {
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
pub fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
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
pub fn pem(label: &str, bytes: &[u8]) -> String {
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
