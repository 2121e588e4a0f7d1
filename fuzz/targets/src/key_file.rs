//! The key file parser neither panics nor runs without a limit, and a parsed key round-trips.
// claim: key-file, input-no-crash

use sealane::keys::{PublicKey, SecretKey};

pub(crate) fn run(text: &str) {
    // A file with an age passphrase would take a second per input.
    let passphrase = (!text.contains("age-encryption") && !text.contains("AGE ENCRYPTED")).then_some("x");
    // An OpenSSH key has no kind and no other text form.
    if let Some(key) = SecretKey::from_text(text, None).ok().filter(|key| key.kind().is_some()) {
        let again =
            SecretKey::from_text(&key.to_text(None).expect("it was text"), None).expect("our own text");
        assert_eq!(again.public(), key.public());
    }
    let _ = SecretKey::from_text(text, passphrase);
    if let Ok(key) = PublicKey::from_text(text) {
        assert_eq!(PublicKey::from_text(&key.to_text().expect("it was text")).expect("our own text"), key);
    }
}
