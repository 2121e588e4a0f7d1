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

/// Kind and names of each variant; programs in other languages depend on them.
#[test]
fn errors_have_kinds_with_names() {
    use FolderError as F;
    let (path, text) = (|| PathBuf::from("p"), || String::from("t"));
    let why = |reason| providers::Unavailable {
        algorithm: providers::Algorithm::Aes256Gcm,
        request: providers::Request::Any,
        reason,
        available: vec![],
    };
    let variable = || providers::VariableError {
        variable: "SEALANE_CPU",
        problem: providers::VariableProblem::NotUnicode,
    };
    let in_keyring = |error: Error| error.in_keyring(1);
    let in_batch = |source| Error::InBatch { index: 1, source: Box::new(source) };
    let in_vault = |source| Error::InVault { path: path(), source: Box::new(source) };
    let plugin = PluginError { plugin: text(), problem: PluginProblem::NotFound };
    let key = ("io", 1, -5, Some("no_matching_key"));
    let misuse = ("misuse", 2, -8, None);
    let internal = ("io", 1, -11, Some("internal"));
    for ((json, status, code, atom), class, errors) in [
        (
            ("authentication", 1, -1, Some("authentication_failed")),
            "AuthenticationError",
            vec![
                Error::Authentication,
                Error::Foreign("expected an encrypted file, found gzip"),
                Error::DamagedChunk { index: 1, offset: 2 },
                Error::KeyMismatch { manifest: path(), target: path() },
                F::SignatureMissing(path()).into(),
                F::InventoryRetired(path()).into(),
                F::OtherSigner(path()).into(),
                F::SignatureInvalid { path: path(), signature: path() }.into(),
                F::OldInventory { path: path(), found: 1, expected: 2 }.into(),
                F::OtherFolder { path: path(), found: None, expected: text() }.into(),
                F::DescriptionGone { folder: path(), known: path(), line: 1 }.into(),
                F::NameNotAuthentic.into(),
                Rejection::OtherSigner.into(),
                Rejection::Invalid.into(),
                Rejection::Revoked.into(),
                Rejection::OtherNamespace.into(),
                Rejection::NamespaceNotAllowed.into(),
                Rejection::Expired.into(),
                Rejection::NotYetValid.into(),
                in_batch(Error::Authentication),
                in_vault(Error::Authentication),
            ],
        ),
        (
            ("format", 1, -2, Some("format")),
            "FormatError",
            vec![
                Error::Format("t"),
                Error::UnexpectedLength { got: 1, want: 2 },
                Error::Header("t"),
                Error::Armor("t"),
                Error::Line { number: 1, source: Box::new(Misuse::LargeBlock.into()) },
                Error::HeaderParameter { name: "t", found: text(), why: "t" },
                Error::UnknownKeyType(text()),
                in_keyring(Error::UnknownKeyType(text())),
                F::InventoryName(path()).into(),
                F::NameInvalid.into(),
                F::SuffixMissing(text().into()).into(),
                Rejection::Malformed.into(),
                F::DuplicateName { other: path() }.into(),
                in_vault(F::NameInvalid.into()),
            ],
        ),
        (("truncated", 1, -3, Some("truncated")), "TruncatedError", vec![Error::Truncated]),
        (
            ("format", 1, -4, Some("unsupported_version")),
            "UnsupportedVersionError",
            vec![Error::UnsupportedVersion("t"), Rejection::NotPrehashed.into()],
        ),
        (
            ("format", 1, -2, Some("format")),
            "ValueError",
            vec![in_keyring(Misuse::UnsuitableKey("t").into())],
        ),
        (
            ("no-match", 1, -5, Some("no_matching_key")),
            "NoMatchingKeyError",
            vec![
                Error::NoMatchingKey,
                Error::PassphraseRequired,
                Error::IdentityRequired,
                Error::WrongPassphrase,
            ],
        ),
        (key, "KeyNotFoundError", vec![Error::KeyNotFound(text())]),
        (key, "KeyServiceError", vec![Error::KeyService(text())]),
        (key, "KeyRefusedError", vec![Error::KeyRefused(text())]),
        (("plugin", 1, -11, Some("internal")), "PluginError", vec![plugin.into()]),
        (
            ("provider", 1, -6, Some("provider_unavailable")),
            "ProviderUnavailableError",
            vec![
                why(providers::Reason::NoImplementation).into(),
                Error::ProviderRefused("t"),
                Error::SelfTest("t"),
                Error::NotApproved("t"),
            ],
        ),
        (
            ("limit", 1, -7, Some("limit_exceeded")),
            "LimitExceededError",
            vec![
                Error::WorkFactor { requested: 30, max: 20 },
                Error::MessageLength { part: MessagePart::Data, found: 2, limit: 1 },
                Error::LimitExceeded("t"),
                F::NameTooLong { found: 2, max: 1 }.into(),
                F::LinkTooLong { found: 2, max: 1 }.into(),
            ],
        ),
        (("limit", 1, -12, Some("out_of_memory")), "MemoryError", vec![Error::OutOfMemory { bytes: 1 }]),
        (
            misuse,
            "ValueError",
            vec![
                Misuse::AlreadyFinalized.into(),
                Error::Environment(variable()),
                why(providers::Reason::Environment(variable())).into(),
                F::InventoryInside(path()).into(),
                F::InvalidIdentifier(text()).into(),
                F::NamesInPlace.into(),
                F::ManifestReveals(path()).into(),
            ],
        ),
        (misuse, "ForkedError", vec![Misuse::Forked.into()]),
        (
            internal,
            "ValueError",
            vec![
                F::InvalidPattern(text()).into(),
                F::IncompleteListing { problems: 1 }.into(),
                F::LinkLeadsOut(path()).into(),
                F::EmptySource.into(),
                F::MostRemoved { removed: 1, held: 1 }.into(),
                F::FolderHasTarget { other: path() }.into(),
                F::InPlace.into(),
            ],
        ),
        (
            ("io", 1, -9, Some("io")),
            "OSError",
            vec![
                Error::Io { path: None, source: io::ErrorKind::NotFound.into() },
                Error::SourceChanged { path: path(), expected: 1, found: 2 },
            ],
        ),
        (("interrupted", 130, -10, Some("cancelled")), "SealaneError", vec![Error::Cancelled]),
    ] {
        for error in errors {
            assert_eq!(error.kind().names(), Names { json, status, code, atom, class }, "{error:?}");
        }
    }
}

#[test]
fn errors_have_the_path_as_their_subject() {
    let path = Path::new("list");
    let error = Error::io(path, io::ErrorKind::NotFound.into());
    assert_eq!(Error::Line { number: 1, source: Box::new(error) }.subject(), Some(path));
    assert_eq!(Error::from(FolderError::OtherSigner(path.into())).subject(), Some(path));
    assert_eq!(Error::from(Misuse::SameFile(path.into())).subject(), Some(path));
    assert_eq!(Error::Truncated.subject(), None);
}

/// Also of C1 and of characters above U+FFFF.
/// An attacker with write access chooses the names in a vault.
#[test]
fn names_in_a_vault_are_escaped() {
    let path = PathBuf::from("a\u{1b}[2J\n");
    let error = Error::InVault { path: path.clone(), source: Box::new(Error::Truncated) };
    assert_eq!(error.to_string(), "a\\u001b[2J\\n: truncated: the data ends too early");
    assert_eq!(error.subject(), Some(&*path));
}

#[test]
fn texts_of_others_are_escaped() {
    let text = "a\n\t\u{1b}[31m\u{9b}\u{202e}\u{2066}\u{200f}\u{feff}\u{e0041}\u{2028}é 🔑 \\ ü\u{301}";
    let shown =
        "a\\n\\u0009\\u001b[31m\\u009b\\u202e\\u2066\\u200f\\ufeff\\udb40\\udc41\\u2028é 🔑 \\ ü\u{301}";
    assert_eq!(escaped(text), shown);
    assert_eq!(escaped(shown), shown);
}
