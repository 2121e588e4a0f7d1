//! Whatever a key file holds: no panic, no work without end; a key that is read is written and read again.
#![no_main]
use sealane::keys::{PublicKey, SecretKey};

libfuzzer_sys::fuzz_target!(|text: &str| {
    // Another kind of age's file would take a second for each.
    let passphrase = (!text.contains("age-encryption") && !text.contains("AGE ENCRYPTED")).then_some("x");
    // A key of OpenSSH has no kind, and no text but its own.
    if let Some(key) = SecretKey::from_text(text, None).ok().filter(|key| key.kind().is_some()) {
        let again = SecretKey::from_text(&key.to_text(None).expect("it was text"), None).expect("our own text");
        assert_eq!(again.public(), key.public());
    }
    let _ = SecretKey::from_text(text, passphrase);
    if let Ok(key) = PublicKey::from_text(text) {
        assert_eq!(PublicKey::from_text(&key.to_text().expect("it was text")).expect("our own text"), key);
    }
});
