//! A damaged file is an error, or the damage is outside the file. All three readers agree.
#![no_main]

use sealane::Key;
use sealane::file::{self, DecryptWith, Decryptor, EncryptWith, Reader};

libfuzzer_sys::fuzz_target!(|input: (u16, Vec<(u16, u8)>, u16, Vec<u8>)| {
    let (len, changes, keep, tail) = input;
    let key = Key::from_bytes(&[7; 16]);
    let plain: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).expect("a good key");
    let mut damaged = sealed.clone();
    for (at, mask) in changes {
        let at = usize::from(at) % damaged.len();
        damaged[at] ^= mask;
    }
    damaged.truncate(damaged.len() - usize::from(keep) % damaged.len());
    damaged.extend_from_slice(&tail);

    let whole = file::decrypt(&damaged, &DecryptWith::key(&key, b""));
    let mut decryptor = Decryptor::new(Vec::new(), &DecryptWith::key(&key, b""));
    let streamed = decryptor.push(&damaged).and_then(|()| decryptor.finish());
    let read = Reader::new(&damaged[..], &DecryptWith::key(&key, b"")).and_then(|reader| {
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
});
