//! A damaged file is an error, or the damage is outside the file. All three readers agree.
// claim: file-changed, input-no-crash

use sealane::Key;
use sealane::file::{self, DecryptWith, EncryptWith};

pub(crate) fn run(input: (u16, Vec<(u16, u8)>, u16, Vec<u8>)) {
    let (len, changes, keep, tail) = input;
    let key = Key::from_bytes(&[7; 16]);
    let plain: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).expect("a good key");
    let damaged = crate::damaged(&sealed, &changes, keep.into(), &tail);
    crate::readers(&sealed, &damaged, &plain, &DecryptWith::key(&key, b""));
}
