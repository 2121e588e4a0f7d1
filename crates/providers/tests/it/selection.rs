//! Who is chosen, who says so, and what is shown of it.
//!
//! The environment is read once per process, so each setting runs this test program again as a child.

use providers::{
    Algorithm, Asked, BadVariable, DefaultAlreadySet, Malformed, NoAes, Provider, ROWS, Reason, choose,
    listing, set_default,
};
use std::env;
use std::process::Command;

/// Runs `inner` in a child of its own with these variables.
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
    let said = String::from_utf8_lossy(&output.stdout);
    // A name that no test has runs nothing, and succeeds.
    assert!(output.status.success() && said.contains("1 passed"), "{test} with {variables:?}:\n{said}");
}

fn chosen(algorithm: Algorithm) -> Provider {
    choose(algorithm, None).unwrap_or_else(|why| panic!("{why}")).provider
}

fn best(algorithm: Algorithm) -> Provider {
    ROWS.iter().filter(|row| row.algorithm == algorithm).min_by_key(|row| row.rank).unwrap().provider
}

#[test]
fn rank_decides_where_nobody_asks() {
    child("rank_decides_where_nobody_asks", &[], || {
        for &algorithm in Algorithm::ALL {
            assert_eq!(chosen(algorithm), best(algorithm), "{}", algorithm.name());
        }
    });
}

#[test]
fn ranks_are_an_order() {
    for &algorithm in Algorithm::ALL {
        let mut ranks: Vec<u8> =
            ROWS.iter().filter(|row| row.algorithm == algorithm).map(|row| row.rank).collect();
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(1..=ranks.len() as u8), "{}: {ranks:?}", algorithm.name());
    }
}

#[test]
fn the_variable_decides() {
    child("the_variable_decides", &[("SEALANE_PROVIDER", "rustcrypto")], || {
        assert_eq!(chosen(Algorithm::Aes256Gcm), Provider::RustCrypto);
        let call = choose(Algorithm::Aes256Gcm, Some(Provider::Ring)).map(|row| row.provider);
        assert_eq!(call.ok(), Some(Provider::Ring), "the call is heard first");
    });
}

#[test]
fn the_default_is_heard_before_the_variable() {
    child("the_default_is_heard_before_the_variable", &[("SEALANE_PROVIDER", "rustcrypto")], || {
        assert_eq!(set_default(Some(Provider::Ring)), Ok(()));
        assert_eq!(chosen(Algorithm::Aes256Gcm), Provider::Ring);
        assert_eq!(set_default(Some(Provider::Ring)), Ok(()));
        let again = set_default(Some(Provider::AwsLc));
        assert_eq!(again, Err(DefaultAlreadySet { now: Some(Provider::Ring) }));
        let why = choose(Algorithm::Aes192Gcm, None).err().unwrap();
        assert_eq!(why.asked, Asked::Default(Provider::Ring));
    });
}

#[test]
fn no_falling_back() {
    child("no_falling_back", &[("SEALANE_PROVIDER", "ring")], || {
        let why = choose(Algorithm::Aes192Gcm, None).err().unwrap();
        assert_eq!(why.asked, Asked::Variable(Provider::Ring));
        assert_eq!(why.reason, Reason::Lacks(Provider::Ring, Algorithm::Aes192Gcm));
        assert_eq!(why.have, [Provider::Native, Provider::AwsLc, Provider::RustCrypto]);
        assert_eq!(
            why.to_string(),
            "aes-192-gcm from ring (SEALANE_PROVIDER): ring has no aes-192-gcm; available from: native, aws-lc, rustcrypto"
        );
        let listing = listing();
        assert!(listing.iter().filter(|line| line.algorithm == "aes-192-gcm").all(|line| !line.chosen));
    });
}

#[test]
fn an_unknown_provider() {
    child("an_unknown_provider", &[("SEALANE_PROVIDER", "openssl")], || {
        let why = choose(Algorithm::Aes256Gcm, None).err().unwrap();
        let Reason::Variable(bad) = &why.reason else { panic!("{why}") };
        assert_eq!(bad.malformed, Malformed::UnknownProvider("openssl".into()));
        assert!(why.to_string().contains("native, aws-lc, ring, rustcrypto, aegis"), "{why}");
    });
}

#[test]
fn the_processor_is_only_reduced() {
    child("the_processor_is_only_reduced", &[("SEALANE_CPU", "-aes,-avx2")], || {
        assert_eq!(providers::aes(&[0; 32]).map(|aes| aes.variant()), Ok("portable"));
        let streams = listing().into_iter().filter(|line| line.algorithm == "aes-ctr");
        for line in streams {
            let portable = line.variant == "portable";
            assert_eq!((line.available, line.chosen), (portable, portable), "{line:?}");
            assert_eq!(line.reason.is_empty(), portable, "{line:?}");
        }
    });
}

/// Where our own row is the portable one, somebody else computes, unless it is asked for.
#[test]
fn plain_integers_come_last() {
    child("plain_integers_come_last", &[("SEALANE_CPU", "-aes")], || {
        for algorithm in [Algorithm::Aes256Gcm, Algorithm::Aes256GcmSiv, Algorithm::Xaes256Gcm] {
            assert_eq!(chosen(algorithm), Provider::AwsLc);
        }
        let ours = choose(Algorithm::Aes256Gcm, Some(Provider::Native)).unwrap();
        assert_eq!((ours.provider, ours.variant()), (Provider::Native, "portable"));
        let lines = listing().into_iter().filter(|line| line.algorithm == "aes-256-gcm" && line.chosen);
        assert_eq!(lines.map(|line| line.provider).collect::<Vec<_>>(), ["aws-lc"]);
    });
}

#[test]
fn a_malformed_processor() {
    child("a_malformed_processor", &[("SEALANE_CPU", "-aes,avx2")], || {
        let bad = BadVariable { variable: "SEALANE_CPU", malformed: Malformed::OnlySubtracts("avx2".into()) };
        assert_eq!(providers::features(), Err(bad.clone()));
        assert_eq!(providers::aes(&[0; 32]).err(), Some(NoAes::Variable(bad.clone())));
        for row in ROWS {
            let why = choose(row.algorithm, Some(row.provider)).err().unwrap();
            assert_eq!(why.reason, Reason::Variable(bad.clone()));
            assert!(why.to_string().contains("SEALANE_CPU"), "{why}");
        }
    });
}

#[test]
fn an_unknown_feature() {
    child("an_unknown_feature", &[("SEALANE_CPU", "-avx1024")], || {
        let malformed = providers::features().err().map(|bad| bad.malformed);
        assert_eq!(malformed, Some(Malformed::UnknownFeature("avx1024".into())));
    });
}

#[test]
fn the_listing_has_every_pair() {
    child("the_listing_has_every_pair", &[], || {
        let lines = listing();
        for algorithm in Algorithm::ALL {
            for provider in Provider::ALL {
                let pair = (algorithm.name(), provider.name());
                let found: Vec<_> =
                    lines.iter().filter(|line| (line.algorithm, line.provider) == pair).collect();
                // Of our own kernels every variant is named, of others one line says it.
                let wanted = match (provider, algorithm) {
                    (Provider::Native, Algorithm::Xaes256Gcm) => 1,
                    (Provider::Native, Algorithm::ChaCha20Poly1305 | Algorithm::XChaCha20Poly1305) => 4,
                    (Provider::Native, _) => 5,
                    _ => 1,
                };
                assert_eq!(found.len(), wanted, "{pair:?}");
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
