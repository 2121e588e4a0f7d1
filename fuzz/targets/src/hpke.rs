//! HPKE opens no arbitrary message and does not panic, for each KEM and AEAD; a sealed message
//! opens, and not after a change.
// claim: public-key-changed, input-no-crash

use sealane::Error;
use sealane::asymmetric::hpke::Aead;
use sealane::asymmetric::{p256, x25519, xwing};
use sealane::hybrid::{Options, opener, sealer};
use sealane::keys::SecretKey;

pub(crate) fn run(input: (u8, &[u8], &[u8], &[u8], (u16, u8))) {
    let (choice, message, aad, info, (at, mask)) = input;
    let secret = match choice % 3 {
        0 => SecretKey::X25519(x25519::PrivateKey::from_bytes(&[7; 32]).expect("any 32 bytes")),
        1 => SecretKey::P256(p256::PrivateKey::from_bytes(&[7; 32]).expect("below the order")),
        _ => SecretKey::XWing(xwing::PrivateKey::from_seed(&[7; 32]).expect("any 32 bytes")),
    };
    let suites = [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305];
    let options = Options { info, suite: Some(suites[usize::from(choice / 3) % 3]) };
    let opener = opener(&secret, options).expect("a key of HPKE");
    let refused = opener.open(message, aad).expect_err("an arbitrary message");
    assert!(matches!(refused, Error::Authentication | Error::Truncated), "{refused:?}");

    let public = secret.public().expect("a key pair");
    let mut sealed =
        sealer(&public, options).expect("a key of HPKE").seal(message, aad).expect("a short message");
    assert_eq!(opener.open(&sealed, aad).expect("our own message"), message);
    let at = usize::from(at) % sealed.len();
    sealed[at] ^= mask;
    // X25519 ignores the top bit of a public key, but the encapsulated key is authenticated as it
    // was sent.
    assert_eq!(opener.open(&sealed, aad).is_ok(), mask == 0, "byte {at}");
}
