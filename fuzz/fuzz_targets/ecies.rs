//! ECIES opens no arbitrary message and does not panic, in any configuration.
#![no_main]

use sealane::hybrid::Opener;
use sealane::hybrid::ecies::{Config, Curve, EciesOpener, Encoding, PrivateKey, PublicKey, Symmetric};

libfuzzer_sys::fuzz_target!(|input: (u8, usize, &[u8])| {
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
    assert!(EciesOpener::new(config, private).map_or(true, |opener| opener.open(message, b"").is_err()));
    if let Ok(text) = std::str::from_utf8(message) {
        let _ = PublicKey::from_hex(config.curve, text);
        let _ = PrivateKey::from_hex(config.curve, text);
    }
});
