//! A damaged file of Tink is an error, for each hash and length of the derived key. All three
//! readers agree.
// claim: file-changed, input-no-crash

use sealane::Key;
use sealane::file::tink::{Hash, Parameters};
use sealane::file::{self, DecryptWith, EncryptWith};
use sealane::keys::{KeyType, Keyring, Prefix};

pub(crate) fn run(input: (u8, u8, u16, Vec<(u16, u8)>, u16, Vec<u8>)) {
    let (choice, segment, len, changes, keep, tail) = input;
    let hash = [Hash::Sha1, Hash::Sha256, Hash::Sha512][usize::from(choice) % 3];
    let derived_len = [16, 32][usize::from(choice / 3) % 2];
    let key = Key::from_bytes(&[7; 32]);
    // Segments are short, so that a file has many.
    let Ok(parameters) = Parameters::new(hash, derived_len, 50 + usize::from(segment) * 4) else { return };
    let keyring =
        Keyring::from_key(KeyType::Streaming(parameters), Prefix::Raw, &key).expect("32 bytes");
    let plain: Vec<u8> = (0..len % 5000).map(|i| (i % 251) as u8).collect();
    let sealed = file::encrypt(&plain, &EncryptWith::keyring(&keyring, b"").expect("streaming keys")).expect("a good key");
    let damaged = crate::damaged(&sealed, &changes, keep.into(), &tail);
    crate::readers(&sealed, &damaged, &plain, &DecryptWith::keyring(&keyring, b"").expect("streaming keys"));
}
