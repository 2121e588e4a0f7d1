//! The JWK parser does not panic on any text, and a parsed key round-trips.
// claim: input-no-crash

use sealane::keys::Jwk;

pub(crate) fn run(text: &str) {
    if let Ok(jwk) = Jwk::from_json(text) {
        let again = Jwk::from_json(&jwk.to_json()).expect("our own text");
        assert_eq!(again.key.as_bytes(), jwk.key.as_bytes());
        assert_eq!((again.kid, again.alg, again.usage), (jwk.kid, jwk.alg, jwk.usage));
    }
}
