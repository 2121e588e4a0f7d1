//! The keyset parser does not panic on any text, and a parsed keyset round-trips.

use sealane::file::tink::Keyset;

pub(crate) fn run(text: &str) {
    if let Ok(keyset) = Keyset::from_json(text) {
        let again = Keyset::from_json(&keyset.to_json()).expect("our own text");
        assert_eq!(again.len(), keyset.len());
        let ((parameters, key), (again_parameters, again_key)) = (keyset.primary(), again.primary());
        assert_eq!(again_parameters, parameters);
        assert_eq!(again_key.as_bytes(), key.as_bytes());
    }
}
