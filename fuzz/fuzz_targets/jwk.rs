//! No text makes the key parser panic, and what it takes comes back the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(key) = sealane::keys::from_jwk(text) {
        let again = sealane::keys::from_jwk(&sealane::keys::to_jwk(&key)).expect("our own text");
        assert_eq!(again.as_bytes(), key.as_bytes());
    }
});
