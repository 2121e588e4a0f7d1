//! The JWK parser does not panic on any text, and a parsed key round-trips.
#![no_main]

use sealane::keys::Jwk;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(jwk) = Jwk::from_json(text) {
        let again = Jwk::from_json(&jwk.to_json()).expect("our own text");
        assert_eq!(again.key.as_bytes(), jwk.key.as_bytes());
        assert_eq!((again.kid, again.alg, again.usage), (jwk.kid, jwk.alg, jwk.usage));
    }
});
