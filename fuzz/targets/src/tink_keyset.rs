//! The parsers of keyrings do not panic on any input, and a parsed keyring round-trips in both
//! formats.
// claim: service-errors, input-no-crash

use sealane::keys::{EncryptedKeyring, Keyring};

pub(crate) fn run(input: &[u8]) {
    let text = std::str::from_utf8(input).ok().and_then(|text| Keyring::from_json(text).ok());
    for ring in [text, Keyring::from_bytes(input).ok()].into_iter().flatten() {
        let json = ring.to_json();
        let again = Keyring::from_json(&json).expect("our own text");
        let binary = Keyring::from_bytes(&ring.to_bytes()).expect("our own bytes");
        assert!(again.keys().eq(ring.keys()) && binary.keys().eq(ring.keys()));
        assert_eq!(*again.to_json(), *json);
        assert_eq!(*binary.to_json(), *json);
    }
    if let Ok(found) = EncryptedKeyring::parse(input) {
        assert_eq!(EncryptedKeyring::parse(found.to_json().as_bytes()).expect("our own text"), found);
        assert_eq!(EncryptedKeyring::parse(&found.to_bytes()).expect("our own bytes"), found);
    }
}
