//! A damaged age file is an error, for a recipient with X25519 or ML-KEM and with armor or without.
//! All three readers agree.
// claim: file-changed, input-no-crash

use sealane::age::{Armor, Identity, parse_identities};
use sealane::file::{self, DecryptWith, EncryptWith};
use std::sync::LazyLock;

/// The identities of `tests/golden/age`.
static IDENTITIES: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let x25519 = include_str!("../../../tests/golden/age/x25519.key");
    let hybrid = include_str!("../../../tests/golden/age/mlkem768x25519.key");
    parse_identities(&format!("{x25519}\n{hybrid}")).expect("the identities of the golden files")
});

pub(crate) fn run(input: (u8, u32, Vec<(u32, u8)>, u16, Vec<u8>)) {
    let (choice, len, changes, keep, tail) = input;
    let identity = &IDENTITIES[usize::from(choice & 1)];
    let armor = if choice & 2 == 0 { Armor::Binary } else { Armor::Ascii };
    let plain: Vec<u8> = (0..len % 150_000).map(|i| (i % 251) as u8).collect();
    let recipients = [identity.recipient()];
    let sealed = file::encrypt(&plain, &EncryptWith::age(&recipients, armor)).expect("good recipients");
    let damaged = crate::damaged(&sealed, &changes, keep.into(), &tail);
    let with = DecryptWith::age(std::slice::from_ref(identity));
    match armor {
        Armor::Binary => crate::readers(&sealed, &damaged, &plain, &with),
        // Line ends and white space at the end of the armor are free.
        _ => {
            if let Ok(found) = file::decrypt(&damaged, &with) {
                assert_eq!(found, plain);
            }
        }
    }
}
