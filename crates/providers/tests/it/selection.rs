//! Selection of a provider by argument, process default, environment and rank, and the listing.
//!
//! The environment is read once per process, so each setting runs this test program again in a
//! child.

use providers::{
    Algorithm, DefaultAlreadySet, KeyError, Provider, Reason, Request, VariableError, VariableProblem,
    choose, entries, listing, raw, set_default,
};
use std::env;
use std::process::Command;

/// Runs `inner` in a child process with these variables.
fn child(test: &str, variables: &[(&str, &str)], inner: fn()) {
    const MARK: &str = "SEALANE_TEST_CHILD";
    if env::var_os(MARK).is_some_and(|mark| mark == test) {
        return inner();
    }
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let output = Command::new(env::current_exe().unwrap())
        .args([&name, "--exact"])
        .env_remove("SEALANE_PROVIDER")
        .env_remove("SEALANE_CPU")
        .env(MARK, test)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    // A name that matches no test would run nothing and succeed.
    assert!(
        output.status.success() && output_text.contains("1 passed"),
        "{test} with {variables:?}:\n{output_text}"
    );
}

fn chosen(algorithm: Algorithm) -> Provider {
    choose(algorithm, None).unwrap_or_else(|why| panic!("{why}")).provider
}

fn best(algorithm: Algorithm) -> Provider {
    entries().filter(|entry| entry.algorithm == algorithm).min_by_key(|entry| entry.rank).unwrap().provider
}

#[test]
fn rank_decides_without_a_request() {
    child("rank_decides_without_a_request", &[], || {
        for &algorithm in Algorithm::ALL {
            assert_eq!(chosen(algorithm), best(algorithm), "{}", algorithm.name());
        }
    });
}

#[test]
fn empty_variables_count_as_unset() {
    child("empty_variables_count_as_unset", &[("SEALANE_PROVIDER", ""), ("SEALANE_CPU", "")], || {
        for &algorithm in Algorithm::ALL {
            assert_eq!(chosen(algorithm), best(algorithm), "{}", algorithm.name());
        }
    });
}

#[test]
fn ranks_are_an_order() {
    for &algorithm in Algorithm::ALL {
        let mut ranks: Vec<u8> =
            entries().filter(|entry| entry.algorithm == algorithm).map(|entry| entry.rank).collect();
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(1..=ranks.len() as u8), "{}: {ranks:?}", algorithm.name());
    }
}

#[test]
fn the_environment_variable_decides() {
    child("the_environment_variable_decides", &[("SEALANE_PROVIDER", "rustcrypto")], || {
        assert_eq!(chosen(Algorithm::Aes256Gcm), Provider::RustCrypto);
        let call = choose(Algorithm::Aes256Gcm, Some(Provider::Ring)).map(|entry| entry.provider);
        assert_eq!(call.ok(), Some(Provider::Ring), "the argument precedes the variable");
    });
}

#[test]
fn the_process_default_precedes_the_variable() {
    child("the_process_default_precedes_the_variable", &[("SEALANE_PROVIDER", "rustcrypto")], || {
        assert_eq!(set_default(Some(Provider::Ring)), Ok(()));
        assert_eq!(chosen(Algorithm::Aes256Gcm), Provider::Ring);
        assert_eq!(set_default(Some(Provider::Ring)), Ok(()));
        let again = set_default(Some(Provider::AwsLc));
        assert_eq!(again, Err(DefaultAlreadySet { current: Some(Provider::Ring) }));
        let why = choose(Algorithm::Aes192Gcm, None).err().unwrap();
        assert_eq!(why.request, Request::ProcessDefault(Provider::Ring));
    });
}

#[test]
fn an_unsupported_request_has_no_fallback() {
    child("an_unsupported_request_has_no_fallback", &[("SEALANE_PROVIDER", "ring")], || {
        let why = choose(Algorithm::Aes192Gcm, None).err().unwrap();
        assert_eq!(why.request, Request::Environment(Provider::Ring));
        assert_eq!(why.reason, Reason::Unsupported(Provider::Ring, Algorithm::Aes192Gcm));
        assert_eq!(why.available, [Provider::Native, Provider::AwsLc, Provider::RustCrypto]);
        assert_eq!(
            why.to_string(),
            "aes-192-gcm from ring (SEALANE_PROVIDER): ring has no aes-192-gcm; available from: native, aws-lc, rustcrypto"
        );
        let listing = listing();
        assert!(listing.iter().filter(|line| line.algorithm == "aes-192-gcm").all(|line| !line.chosen));
    });
}

#[test]
fn rejects_an_unknown_provider() {
    child("rejects_an_unknown_provider", &[("SEALANE_PROVIDER", "openssl")], || {
        let why = choose(Algorithm::Aes256Gcm, None).err().unwrap();
        let Reason::Environment(error) = &why.reason else { panic!("{why}") };
        let problem = VariableProblem::UnknownProvider { name: "openssl".into(), known: Provider::all() };
        assert_eq!(error.problem, problem);
        assert!(why.to_string().contains("native, aws-lc, ring, rustcrypto, aegis"), "{why}");
    });
}

#[test]
fn sealane_cpu_removes_features() {
    child("sealane_cpu_removes_features", &[("SEALANE_CPU", "-aes,-avx2")], || {
        assert_eq!(raw::aes(&[0; 32]).map(|aes| aes.variant()), Ok("portable"));
        let streams = listing().into_iter().filter(|line| line.algorithm == "aes-ctr");
        for line in streams {
            let portable = line.variant == "portable";
            assert_eq!((line.available, line.chosen), (portable, portable), "{line:?}");
            assert_eq!(line.reason.is_empty(), portable, "{line:?}");
        }
    });
}

/// If only its portable variant works, native gives way to another provider unless requested.
#[test]
fn portable_variants_come_last() {
    child("portable_variants_come_last", &[("SEALANE_CPU", "-aes")], || {
        for algorithm in [Algorithm::Aes256Gcm, Algorithm::Aes256GcmSiv, Algorithm::Xaes256Gcm] {
            assert_eq!(chosen(algorithm), Provider::AwsLc);
        }
        let native = choose(Algorithm::Aes256Gcm, Some(Provider::Native)).unwrap();
        assert_eq!((native.provider, native.variant()), (Provider::Native, "portable"));
        let lines = listing().into_iter().filter(|line| line.algorithm == "aes-256-gcm" && line.chosen);
        assert_eq!(lines.map(|line| line.provider).collect::<Vec<_>>(), ["aws-lc"]);
    });
}

#[test]
fn rejects_a_malformed_sealane_cpu() {
    child("rejects_a_malformed_sealane_cpu", &[("SEALANE_CPU", "-aes,avx2")], || {
        let error =
            VariableError { variable: "SEALANE_CPU", problem: VariableProblem::MissingMinus("avx2".into()) };
        assert_eq!(providers::features(), Err(error.clone()));
        assert_eq!(raw::aes(&[0; 32]).err(), Some(KeyError::Environment(error.clone())));
        for entry in entries() {
            let why = choose(entry.algorithm, Some(entry.provider)).err().unwrap();
            assert_eq!(why.reason, Reason::Environment(error.clone()));
            assert!(why.to_string().contains("SEALANE_CPU"), "{why}");
        }
    });
}

#[test]
fn rejects_an_unknown_feature() {
    child("rejects_an_unknown_feature", &[("SEALANE_CPU", "-avx1024")], || {
        let problem = providers::features().err().map(|error| error.problem);
        assert_eq!(problem, Some(VariableProblem::UnknownFeature("avx1024".into())));
    });
}

#[test]
fn the_listing_has_every_pair() {
    child("the_listing_has_every_pair", &[], || {
        let lines = listing();
        for algorithm in Algorithm::ALL {
            for provider in Provider::all() {
                let pair = (algorithm.name(), provider.name());
                let found: Vec<_> =
                    lines.iter().filter(|line| (line.algorithm, line.provider) == pair).collect();
                // Native kernels have a line per variant, other providers one line.
                let expected = match (provider, algorithm) {
                    (Provider::Native, Algorithm::Xaes256Gcm) => 1,
                    (Provider::Native, Algorithm::ChaCha20Poly1305 | Algorithm::XChaCha20Poly1305) => 4,
                    (
                        Provider::Native,
                        Algorithm::Aegis128L
                        | Algorithm::Aegis128X2
                        | Algorithm::Aegis128X4
                        | Algorithm::Aegis256
                        | Algorithm::Aegis256X2
                        | Algorithm::Aegis256X4,
                    ) => 5,
                    // AES-GCM and AES-GCM-SIV have two variants for Arm.
                    (Provider::Native, _) => 6,
                    _ => 1,
                };
                assert_eq!(found.len(), expected, "{pair:?}");
                assert!(found.iter().all(|line| line.available == line.reason.is_empty()), "{pair:?}");
            }
            let chosen = lines.iter().filter(|line| line.algorithm == algorithm.name() && line.chosen);
            assert_eq!(chosen.count(), 1, "{}", algorithm.name());
        }
        for (raw, variants) in [("aes-ctr", 5), ("chacha20", 4), ("poly1305", 4), ("speck", 4)] {
            let found: Vec<_> = lines.iter().filter(|line| line.algorithm == raw).collect();
            assert_eq!(found.len(), variants, "{raw}");
            assert_eq!(found.iter().filter(|line| line.chosen).count(), 1, "{raw}");
        }
    });
}
