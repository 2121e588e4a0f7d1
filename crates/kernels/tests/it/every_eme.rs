//! Every variant of EME against the reference implementation.

use crate::layout::pattern;
use crate::variants::available;
use kernels::aes;
use kernels::cpu::Features;
use kernels::eme::Eme;
use kernels::error::{MessageError, Part};
use reference::eme::{decrypt_vartime, encrypt_vartime};

fn each_variant(key: &[u8], check: impl Fn(&str, &Eme)) {
    for (name, features) in available(aes::variants()) {
        let eme = Eme::new(key, features).unwrap();
        assert_eq!(eme.variant(), name);
        check(name, &eme);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_number_of_blocks() {
    for (bits, tweak) in [(128, [0x81; 16]), (192, [0; 16]), (256, *b"the tweak of all")] {
        let key = pattern(bits / 8, 0x51);
        for blocks in 1..=128 {
            let plain = pattern(16 * blocks, blocks as u8);
            let sealed = encrypt_vartime(&key, &tweak, &plain);
            let opened = decrypt_vartime(&key, &tweak, &plain);
            each_variant(&key, |name, eme| {
                let mut data = plain.clone();
                eme.encrypt(&tweak, &mut data).unwrap();
                assert!(data == sealed, "{name} {bits} {blocks} blocks");
                eme.decrypt(&tweak, &mut data).unwrap();
                assert!(data == plain, "{name} {bits} {blocks} blocks");
                eme.decrypt(&tweak, &mut data).unwrap();
                assert!(data == opened, "{name} {bits} {blocks} blocks");
            });
        }
    }
}

#[test]
fn published_vectors() {
    for case in vectors::eme() {
        each_variant(&case.key, |name, eme| {
            let mut data = case.plaintext.clone();
            (0..case.repeat).for_each(|_| eme.encrypt(&case.tweak, &mut data).unwrap());
            assert!(data == case.ciphertext, "{name} {} {}", case.file, case.id);
            (0..case.repeat).for_each(|_| eme.decrypt(&case.tweak, &mut data).unwrap());
            assert!(data == case.plaintext, "{name} {} {}", case.file, case.id);
        });
    }
}

#[test]
fn refused_lengths_write_nothing() {
    let eme = Eme::new(&[7; 32], Features::detect()).unwrap();
    for len in [0, 1, 15, 17, 2047, 2049, 2064, 4096] {
        let expected = match len {
            2064 | 4096 => MessageError::TooLong { part: Part::Data, found: len as u128, limit: 2048 },
            _ => MessageError::PartialBlock { found: len, block_len: 16 },
        };
        let mut data = pattern(len, 1);
        assert_eq!(eme.encrypt(&[0; 16], &mut data), Err(expected), "{len}");
        assert_eq!(eme.decrypt(&[0; 16], &mut data), Err(expected), "{len}");
        assert_eq!(data, pattern(len, 1), "{len}");
    }
}

#[test]
fn accepts_only_keys_of_aes() {
    for len in 0..70 {
        let made = Eme::new(&vec![1; len], Features::detect());
        assert_eq!(made.is_ok(), matches!(len, 16 | 24 | 32), "{len} bytes");
    }
}
