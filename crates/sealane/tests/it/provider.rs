//! Tests of a provider that an application registers beside those of the crate.
//!
//! The registry belongs to the process, so each test runs this program again as a child process.

use sealane::provider::{
    self, AeadKey, AuthenticationError, Entry, InOut, KeyError, Provider, Reason, RegisterError, SealError,
};
use sealane::{Aead, Algorithm, Error, Key, set_default};
use std::process::Command;
use std::{env, thread};

/// A provider that computes with another one and has a name of its own.
const EXAMPLE: Provider = Provider::new("example-2");

struct ExampleKey(Box<dyn AeadKey>);

impl AeadKey for ExampleKey {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        self.0.seal(nonce, aad, data, tag)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.0.open(nonce, aad, data, tag)
    }
}

fn expand(algorithm: Algorithm, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
    let inner = provider::choose(algorithm, Some(Provider::RustCrypto)).expect("is built in").key(key)?;
    Ok(Box::new(ExampleKey(inner)))
}

static ENTRIES: [Entry; 3] = [
    Entry::new(Algorithm::Aes256Gcm, EXAMPLE, 0, |key| expand(Algorithm::Aes256Gcm, key)),
    Entry::new(Algorithm::Aes192Gcm, EXAMPLE, 200, |key| expand(Algorithm::Aes192Gcm, key)),
    Entry::new(Algorithm::Xaes256Gcm, EXAMPLE, 0, |_| Err(KeyError::Unspecified))
        .available_if(|| Err(Reason::Other("the token is not plugged in"))),
];

/// Runs `inner` in a child process that has these environment variables.
fn child(test: &str, variables: &[(&str, &str)], inner: fn()) {
    const MARK: &str = "SEALANE_TEST_CHILD";
    if env::var_os(MARK).is_some_and(|mark| mark == test) {
        return inner();
    }
    let output = Command::new(env::current_exe().unwrap())
        .args([&format!("provider::{test}"), "--exact"])
        .env_remove("SEALANE_PROVIDER")
        .env(MARK, test)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    // A name that matches no test runs nothing and succeeds.
    assert!(output.status.success() && printed.contains("1 passed"), "{test}:\n{printed}");
}

fn aead(algorithm: Algorithm, provider: Option<Provider>) -> Result<Aead, Error> {
    Aead::with_provider(algorithm, &Key::from_bytes(&vec![7; algorithm.key_len()]), provider)
}

#[test]
fn a_registered_provider_takes_part_in_selection_and_listing() {
    child("a_registered_provider_takes_part_in_selection_and_listing", &[], || {
        let before = aead(Algorithm::Aes256Gcm, None).unwrap();
        assert_eq!(Provider::from_name("example-2"), None);
        let unknown = aead(Algorithm::Aes256Gcm, Some(EXAMPLE)).unwrap_err();
        assert!(unknown.to_string().contains("example-2 has no aes-256-gcm"), "{unknown}");

        provider::register(&ENTRIES).unwrap();
        assert_eq!(Provider::from_name("example-2"), Some(EXAMPLE));
        assert_eq!(Provider::all().last(), Some(&EXAMPLE));
        let after = aead(Algorithm::Aes256Gcm, None).unwrap();
        assert_eq!((before.provider(), after.provider()), (Provider::Native, EXAMPLE));
        assert_eq!(before.open(&after.seal(b"hello", b"header").unwrap(), b"header").unwrap(), b"hello");
        // The rank of the other entry comes after the built-in ones.
        assert_eq!(aead(Algorithm::Aes192Gcm, None).unwrap().provider(), Provider::Native);
        assert_eq!(aead(Algorithm::Aes192Gcm, Some(EXAMPLE)).unwrap().provider(), EXAMPLE);

        let unavailable = aead(Algorithm::Xaes256Gcm, Some(EXAMPLE)).unwrap_err();
        assert!(unavailable.to_string().contains("the token is not plugged in"), "{unavailable}");
        assert_eq!(aead(Algorithm::Xaes256Gcm, None).unwrap().provider(), Provider::Native);

        let listing = sealane::listing();
        let line = |algorithm| {
            listing.iter().find(|line| (line.algorithm, line.provider) == (algorithm, "example-2")).unwrap()
        };
        assert!(line("aes-256-gcm").available && line("aes-256-gcm").chosen);
        assert!(line("aes-192-gcm").available && !line("aes-192-gcm").chosen);
        assert_eq!(line("xaes-256-gcm").reason, "the token is not plugged in");
        assert_eq!(line("aegis-256").reason, "example-2 has no aegis-256");
    });
}

#[test]
fn a_registered_provider_passes_the_contract() {
    for entry in &ENTRIES[..2] {
        provider::contract::round_trip(entry);
        provider::contract::rejects_changes(entry);
        provider::contract::rejects_lengths(entry);
        provider::contract::division(entry);
        provider::contract::sharing(entry);
        let native = provider::choose(entry.algorithm, Some(Provider::Native)).unwrap();
        provider::contract::agreement(entry, native);
    }
}

#[test]
fn the_environment_variable_names_a_registered_provider() {
    child(
        "the_environment_variable_names_a_registered_provider",
        &[("SEALANE_PROVIDER", "example-2")],
        || {
            let unknown = aead(Algorithm::Aes192Gcm, None).unwrap_err();
            assert!(
                unknown.to_string().contains(r#"no provider is named "example-2"; known: native"#),
                "{unknown}"
            );
            provider::register(&ENTRIES).unwrap();
            assert_eq!(aead(Algorithm::Aes192Gcm, None).unwrap().provider(), EXAMPLE);
        },
    );
}

#[test]
fn the_process_default_can_be_a_registered_provider() {
    child("the_process_default_can_be_a_registered_provider", &[], || {
        provider::register(&ENTRIES).unwrap();
        set_default(Some(EXAMPLE)).unwrap();
        assert_eq!(aead(Algorithm::Aes192Gcm, None).unwrap().provider(), EXAMPLE);
    });
}

#[test]
fn a_refused_registration_changes_nothing() {
    child("a_refused_registration_changes_nothing", &[], || {
        const fn entry(name: &'static str, algorithm: Algorithm) -> Entry {
            Entry::new(algorithm, Provider::new(name), 0, |_| Err(KeyError::Unspecified))
        }
        static FREE_THEN_NATIVE: [Entry; 2] =
            [entry("free", Algorithm::Aes256Gcm), entry("native", Algorithm::Aes256Gcm)];
        static TWICE: [Entry; 2] = [entry("free", Algorithm::Aes256Gcm), entry("free", Algorithm::Aes256Gcm)];
        static NAMES: [Entry; 3] = [
            entry("", Algorithm::Aes256Gcm),
            entry("My-Provider", Algorithm::Aes256Gcm),
            entry("a,b", Algorithm::Aes256Gcm),
        ];
        let count = provider::entries().count();
        assert_eq!(provider::register(&FREE_THEN_NATIVE), Err(RegisterError::BuiltIn(Provider::Native)));
        let twice = RegisterError::AlreadyRegistered(Provider::new("free"), Algorithm::Aes256Gcm);
        assert_eq!(provider::register(&TWICE), Err(twice));
        for entry in &NAMES {
            let refused = provider::register(std::slice::from_ref(entry));
            assert_eq!(refused, Err(RegisterError::InvalidName(entry.provider)));
        }
        assert_eq!(provider::entries().count(), count);
        provider::register(&ENTRIES).unwrap();
        let again = RegisterError::AlreadyRegistered(EXAMPLE, Algorithm::Aes256Gcm);
        assert_eq!(provider::register(&ENTRIES), Err(again));
        assert_eq!(provider::entries().count(), count + 3);
    });
}

#[test]
fn threads_register_each_entry_once() {
    child("threads_register_each_entry_once", &[], || {
        let count = provider::entries().count();
        let done: usize = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| usize::from(provider::register(&ENTRIES).is_ok()))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((done, provider::entries().count()), (1, count + 3));
    });
}
