//! RSA-OAEP opens no arbitrary message and does not panic; a sealed message opens, and not after a
//! change.
// claim: input-no-crash

use sealane::asymmetric::rsa::{Oaep, PrivateKey};
use sealane::hybrid::rsa::{Parts, open_parts};
use sealane::hybrid::{Opener, Sealer};
use sealane::keys::{KeyFile, LoadOptions, SecretKey};
use std::sync::LazyLock;

/// A test key of 2048 bits, as in `crates/sealane/tests/it/keys/fixtures.rs`.
static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    let der = include_bytes!("../rsa_2048.der");
    match KeyFile::parse(der, LoadOptions::default()).and_then(KeyFile::into_secret) {
        Ok(SecretKey::Rsa(key)) => key,
        other => panic!("{other:?}"),
    }
});

pub(crate) fn run(input: (u8, &[u8], &[u8], (u16, u8))) {
    let (choice, message, aad, (at, mask)) = input;
    assert!(KEY.open(message, aad).is_err(), "an arbitrary message");
    let (wrapped_key, rest) = message.split_at(message.len().min(KEY.modulus_len()));
    let (nonce, rest) = rest.split_at(rest.len().min(usize::from(choice)));
    let (tag, ciphertext) = rest.split_at(rest.len().min(16));
    let oaep = if choice & 1 == 0 { Oaep::Sha1 } else { Oaep::Sha256 };
    let parts = Parts { wrapped_key, nonce, ciphertext, tag };
    assert!(open_parts(&KEY, oaep, parts, aad).is_err(), "arbitrary parts");

    let mut sealed = KEY.public().seal(message, aad).expect("a short message");
    assert_eq!(KEY.open(&sealed, aad).expect("our own message"), message);
    let at = usize::from(at) % sealed.len();
    sealed[at] ^= mask;
    assert_eq!(KEY.open(&sealed, aad).is_ok(), mask == 0, "byte {at}");
}
