//! One long message on several threads has the bytes of one thread.

use sealane::hazmat::{AesCtr, ByteOrder, ChaCha20, Poly1305, SpeckCtr, SpeckSize, XChaCha20};
use sealane::{Aead, Algorithm, Error, InOut, Key, Provider};
use std::num::NonZeroUsize;

/// Longer than the shortest message that is divided, with a partial block at its end.
const LEN: usize = (2 << 20) + 13;

fn aead(algorithm: Algorithm, threads: usize) -> Aead {
    let key = Key::from_bytes(&[7; 64][..algorithm.key_len()]);
    Aead::new(algorithm, &key).unwrap().with_threads(NonZeroUsize::new(threads).unwrap())
}

fn plaintext() -> Vec<u8> {
    (0..LEN).map(|i| (i % 251) as u8).collect()
}

#[test]
fn messages_on_threads_are_those_on_one() {
    let plaintext = plaintext();
    for algorithm in Algorithm::ALL.iter().copied() {
        let [one, many] = [1, 5].map(|threads| aead(algorithm, threads));
        let nonce = vec![9; one.nonce_len()];
        let expected = one.encrypt(&nonce, &plaintext, b"header").unwrap();
        // The pool may have no free thread at the first time.
        for _ in 0..3 {
            let mut sealed = many.encrypt(&nonce, &plaintext, b"header").unwrap();
            assert!(sealed == expected, "{}", algorithm.name());
            assert!(many.decrypt(&nonce, &sealed, b"header").unwrap() == plaintext);
            for at in [0, LEN / 2, LEN + 3] {
                sealed[at] ^= 1;
                let mut out = vec![0xee; LEN];
                let result = many.decrypt_into(&nonce, &sealed, b"header", &mut out);
                assert!(matches!(result, Err(Error::Authentication)), "{}", algorithm.name());
                assert!(out.iter().all(|&byte| byte == 0), "{}, byte {at}", algorithm.name());
                sealed[at] ^= 1;
            }
        }
        assert!(one.open(&many.seal(&plaintext, b"").unwrap(), b"").unwrap() == plaintext);
    }
}

#[test]
fn keys_say_which_messages_are_divided() {
    use Algorithm::{
        Aegis256, Aes128Gcm, Aes256Gcm, Aes256GcmSiv, ChaCha20Poly1305, XChaCha20Poly1305, Xaes256Gcm,
    };
    for algorithm in [Aes128Gcm, Aes256Gcm, Aes256GcmSiv, ChaCha20Poly1305, XChaCha20Poly1305, Xaes256Gcm] {
        let native = Key::from_bytes(&[7; 32][..algorithm.key_len()]);
        let native = Aead::with_provider(algorithm, &native, Some(Provider::Native)).unwrap();
        assert!(native.divides(LEN) || std::thread::available_parallelism().unwrap().get() == 1);
        let [one, two] = [1, 2].map(|threads| NonZeroUsize::new(threads).unwrap());
        let native = native.with_threads(two);
        assert!(native.divides(LEN) && native.divides(512 << 10), "{}", algorithm.name());
        assert!(!native.divides((512 << 10) - 1), "{}", algorithm.name());
        assert!(!native.with_threads(one).divides(LEN), "{}", algorithm.name());
    }
    assert!(!aead(Aegis256, 2).divides(LEN));
}

#[test]
fn several_threads_divide_messages_at_once() {
    let plaintext = plaintext();
    let aead = aead(Algorithm::Aes256Gcm, 4);
    let expected = aead.encrypt(&[1; 12], &plaintext, b"").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert!(aead.encrypt(&[1; 12], &plaintext, b"").unwrap() == expected);
                    assert!(aead.decrypt(&[1; 12], &expected, b"").unwrap() == plaintext);
                }
            });
        }
    });
}

/// Short pieces of the keystream, which are not divided, give the same bytes.
fn check(xor: impl Fn(u64, InOut<'_>) -> Result<(), Error>, offset: u64) {
    let (mut long, mut short) = (plaintext(), plaintext());
    xor(offset, InOut::in_place(&mut long)).unwrap();
    for (piece, at) in short.chunks_mut(100_003).zip((offset..).step_by(100_003)) {
        xor(at, InOut::in_place(piece)).unwrap();
    }
    assert!(long == short, "from {offset} on");
}

#[test]
fn long_keystreams_are_those_of_short_pieces() {
    for offset in [0, 1, 16, 1_000_003] {
        let aes = AesCtr::new(&[3; 16], &[0xff; 16]).unwrap();
        check(|offset, data| aes.xor(offset, data), offset);
        check(|offset, data| aes.xor_under(&[5; 16], offset, data), offset);
        let chacha = ChaCha20::new(&[3; 32], &[4; 12], 7).unwrap();
        check(|offset, data| chacha.xor(offset, data), offset);
        let xchacha = XChaCha20::new(&[3; 32], &[4; 24], 7).unwrap();
        check(|offset, data| xchacha.xor(offset, data), offset);
        for size in SpeckSize::ALL {
            let (key, iv) = (vec![3; size.key_len()], vec![0xff; size.block_len()]);
            let speck = SpeckCtr::new(size, &key, &iv, ByteOrder::Little).unwrap();
            check(|offset, data| speck.xor(offset, data), offset);
        }
    }
}

#[test]
fn tags_of_long_data_are_those_of_short_pieces() {
    let data = plaintext();
    for before in [0, 1, 16, 5000] {
        let [mut long, mut short] = [(); 2].map(|()| Poly1305::new(&[0xfe; 32]).unwrap());
        for mac in [&mut long, &mut short] {
            mac.update(&data[..before]);
        }
        data.chunks(100_003).for_each(|piece| _ = short.update(piece));
        long.update(&data);
        assert_eq!(long.finalize().unwrap(), short.finalize().unwrap(), "after {before} bytes");
    }
}

#[test]
fn long_data_that_end_after_the_keystream_are_not_written() {
    let mut data = vec![0xee; LEN];
    let chacha = ChaCha20::new(&[3; 32], &[4; 12], 0).unwrap();
    let aes = AesCtr::new(&[3; 16], &[0; 16]).unwrap();
    for offset in [1, LEN as u64 - 1, LEN as u64] {
        let result = chacha.xor_in_place((1 << 38) - LEN as u64 + offset, &mut data);
        assert!(matches!(result, Err(Error::MessageLength { .. })));
        let result = aes.xor_in_place((u64::MAX - LEN as u64 + 1).saturating_add(offset), &mut data);
        assert!(matches!(result, Err(Error::MessageLength { .. })));
    }
    assert!(data.iter().all(|&byte| byte == 0xee));
    chacha.xor_in_place((1 << 38) - LEN as u64, &mut data).unwrap();
}

// claim: signals-threads
/// A signal handler would run on a thread that the program's runtime does not know.
#[cfg(target_os = "linux")]
#[test]
fn threads_of_the_library_have_no_signals() {
    // SIGUSR1 and SIGTERM are bits 9 and 14. SIGSEGV, bit 10, stays.
    let blocked = |path: std::path::PathBuf| {
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let value = |field| status.lines().find_map(|line: &str| line.strip_prefix(field));
        let mask = u64::from_str_radix(value("SigBlk:")?.trim(), 16).ok()?;
        value("Name:")?.trim().starts_with("sealane").then_some(mask)
    };
    let message = vec![0; LEN];
    let mut seen = 0;
    for _ in 0..100 {
        aead(Algorithm::Aes256Gcm, 4).seal(&message, b"").unwrap();
        let masks =
            std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| blocked(task.ok()?.path()));
        for mask in masks {
            seen += 1;
            assert_eq!(mask & (1 << 9 | 1 << 14 | 1 << 10), 1 << 9 | 1 << 14);
        }
    }
    let one_core = std::thread::available_parallelism().unwrap().get() == 1;
    assert!(seen > 0 || one_core);
}
