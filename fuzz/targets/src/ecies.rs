//! ECIES opens no arbitrary message and does not panic, in any configuration; a sealed message
//! opens, and a changed one at most to the same plaintext.
// claim: public-key-changed, input-no-crash

use sealane::hybrid::ecies::{
    Config, Curve, EciesOpener, EciesSealer, Encoding, PrivateKey, PublicKey, Symmetric,
};
use sealane::hybrid::{Opener, Sealer};

pub(crate) fn run(input: (u8, usize, &[u8])) {
    let (choice, nonce_len, message) = input;
    let encoding = |bit: u8| if choice & bit == 0 { Encoding::Uncompressed } else { Encoding::Compressed };
    let config = Config {
        curve: [Curve::Secp256k1, Curve::X25519, Curve::Ed25519][usize::from(choice >> 3) % 3],
        ephemeral_key: encoding(1),
        hkdf_key: encoding(2),
        symmetric: if choice & 4 == 0 { Symmetric::Aes256Gcm } else { Symmetric::XChaCha20 },
        nonce_len: nonce_len % 66,
    };
    let private = PrivateKey::from_bytes(config.curve, &[7; 32]).expect("a key on each curve");
    let public = private.public();
    if let (Ok(opener), Ok(sealer)) = (EciesOpener::new(config, private), EciesSealer::new(config, public)) {
        assert!(opener.open(message, b"").is_err(), "an arbitrary message");
        let mut sealed = sealer.seal(message, b"").expect("a short message");
        assert_eq!(opener.open(&sealed, b"").expect("our own message"), message);
        let at = nonce_len % sealed.len();
        sealed[at] ^= 1 << (choice >> 5);
        // A point can have another encoding.
        if let Ok(opened) = opener.open(&sealed, b"") {
            assert_eq!(opened, message, "byte {at}");
        }
    }
    if let Ok(text) = std::str::from_utf8(message) {
        let _ = PublicKey::from_hex(config.curve, text);
        let _ = PrivateKey::from_hex(config.curve, text);
    }
}
