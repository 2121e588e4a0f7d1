//! Conversions of errors, and what they say.

use super::*;
use std::error::Error as _;

/// N blocks of 128 r = 1024 bytes (RFC 7914, section 2).
#[test]
fn memory_of_scrypt() {
    for (log_n, expected) in [
        (0, "1 KiB"),
        (9, "512 KiB"),
        (10, "1 MiB"),
        (18, "256 MiB"),
        (19, "512 MiB"),
        (20, "1 GiB"),
        (63, "8796093022208 GiB"),
        (64, "more than 2^44 GiB"),
        (255, "more than 2^44 GiB"),
    ] {
        assert_eq!(scrypt_memory(log_n), expected);
    }
}

#[test]
fn errors_have_the_cause_as_their_source() {
    let full = || io::Error::from(io::ErrorKind::StorageFull);
    let error = Error::io("file".as_ref(), full());
    assert_eq!(error.source().unwrap().to_string(), full().to_string());
    let line = Error::Line { number: 7, source: Box::new(error) };
    assert!(line.source().unwrap().to_string().starts_with("file: "));
    assert!(Error::Cancelled.source().is_none());
}

/// The reasons of a provider keep their content.
#[test]
fn errors_of_providers() {
    use providers::{KeyError, MessageError, SealError, VariableError, VariableProblem};
    let invalid = || VariableError { variable: "SEALANE_CPU", problem: VariableProblem::NotUnicode };
    type Expected = fn(&Error) -> bool;
    let of_key: [(KeyError, Expected); 4] = [
        (KeyError::InvalidLength { found: 5, expected: &[16, 32] }, |error| {
            matches!(error, Error::Misuse(Misuse::KeyLength { got: 5, want: [16, 32] }))
        }),
        (KeyError::SelfTestFailed("aes"), |error| matches!(error, Error::SelfTest("aes"))),
        (
            KeyError::Environment(invalid()),
            |error| matches!(error, Error::Environment(found) if found.variable == "SEALANE_CPU"),
        ),
        (KeyError::Unspecified, |error| matches!(error, Error::ProviderRefused(why) if why.contains("key"))),
    ];
    for (error, expected) in of_key {
        assert!(expected(&error.clone().into()), "{error:?}");
        assert!(expected(&SealError::Key(error).into()));
    }
    let nonce = SealError::Message(MessageError::InvalidNonceLength { found: 7, expected: 12 });
    assert!(matches!(nonce.into(), Error::Misuse(Misuse::NonceLength { got: 7, want: 12 })));
    assert!(matches!(SealError::Unspecified.into(), Error::ProviderRefused(why) if why.contains("message")));
}
