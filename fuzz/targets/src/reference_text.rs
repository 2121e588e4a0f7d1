//! Text of the command line and of settings: a key reference, a format or a kind of key does not
//! panic, and is written as it was parsed.
// claim: input-no-crash

use sealane::file::Format;
use sealane::keys::{Kind, Reference, is_secret, parse_identity_file};
use std::ffi::OsStr;

pub(crate) fn run(text: &str) {
    match Reference::parse(OsStr::new(text)) {
        Ok(Reference::File(path)) => assert!(text.ends_with(&*path.to_string_lossy()) || text.contains('~')),
        // The value of an attribute that may be a PIN is not written.
        Ok(other @ Reference::Token { .. }) if other.to_string().contains("=***") => {}
        Ok(other) => assert_eq!(other.to_string(), text),
        Err(error) => assert!(text.contains(':'), "{error}"),
    }
    if let Ok(kind) = text.parse::<Kind>() {
        assert_eq!(kind.name(), text);
    }
    if let Ok(format) = text.parse::<Format>() {
        assert_eq!(format.name(), text);
    }
    // Every identity is a secret that must not be printed.
    if parse_identity_file(text.as_bytes(), None).is_ok() {
        assert!(is_secret(text), "an identity that could be printed");
    }
}
