//! Every variant of ChaCha20 and XChaCha20 against the reference implementation, at any counter and
//! offset, also after the end of the keystream.

use kernels::chacha20::{self, ChaCha20, XChaCha20};
use reference::chacha20 as expected;
use crate::{check, repeated, rows};

/// Length of the keystream in bytes.
const END: u64 = 64 << 32;

pub(crate) fn run(input: ([u8; 32], [u8; 24], u32, u64, u8, u8, Vec<u8>)) {
    let (key, long, counter, offset, place, times, data) = input;
    let data = repeated(data, times, 20_000);
    let left = END - 64 * u64::from(counter);
    let offset = match place % 4 {
        0 => offset % 4096,
        1 => left.saturating_sub(offset % 40_000),
        2 => offset % END,
        _ => offset,
    };
    let fits = data.is_empty() || left.checked_sub(offset).is_some_and(|room| data.len() as u64 <= room);
    let short: [u8; 12] = *long.first_chunk().unwrap();
    let [mut plain, mut extended] = [data.clone(), data.clone()];
    if fits {
        expected::xor_at_vartime(&key, &short, counter, offset, &mut plain);
        expected::xor_extended_at_vartime(&key, &long, counter, offset, &mut extended);
    }
    let [plain, extended] = [&plain, &extended].map(|want| fits.then_some(&want[..]));
    for (name, features) in rows(chacha20::variants()) {
        let stream = ChaCha20::new(&key, features).unwrap();
        assert_eq!(stream.variant(), name);
        check(name, &data, plain, |data| stream.xor_at(&short, counter, offset, data));
        let stream = XChaCha20::new(&key, features).unwrap();
        assert_eq!(stream.variant(), name);
        check(name, &data, extended, |data| stream.xor_at(&long, counter, offset, data));
        let (head, tail) = long.split_first_chunk().unwrap();
        let (subkey, mut rest) = (stream.subkey(head), [0; 12]);
        rest[4..].copy_from_slice(tail);
        check(name, &data, extended, |data| subkey.xor_at(&rest, counter, offset, data));
    }
}
