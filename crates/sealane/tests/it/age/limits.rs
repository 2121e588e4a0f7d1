//! The work of an age header is limited before it begins, and a check can cancel it.

use sealane::age::{self, Armor, Identity, Kind, Recipient};
use sealane::interrupt::with_check;
use sealane::keys::{self, Cost, SecretKey, derive};
use sealane::{Error, Misuse};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const ED25519: &str = include_str!("ed25519");
const RSA2048: &str = include_str!("rsa2048");

/// Returns a file for `identity` whose header has its stanza `count` times, after `before`.
fn repeated(identity: &Identity, before: &str, count: usize) -> Vec<u8> {
    let file = age::seal(b"x", &[identity.recipient()], Armor::Binary).unwrap();
    let end = file.windows(5).position(|part| part == b"\n--- ").unwrap() + 1;
    let first = file.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    [&file[..first], before.as_bytes(), &file[first..end].repeat(count), &file[end..]].concat()
}

// claim: age-limits
#[test]
fn recipients_that_one_identity_tries() {
    for (identity, max) in [
        (Identity::generate(Kind::X25519).unwrap(), 4096),
        (Identity::generate(Kind::Hybrid).unwrap(), 4096),
        (ED25519.parse().unwrap(), 16),
        (RSA2048.parse().unwrap(), 16),
    ] {
        // The MAC is wrong, because the header was changed. The first stanza is unwrapped.
        let allowed = age::open(&repeated(&identity, "", max), std::slice::from_ref(&identity));
        assert!(
            matches!(allowed, Err(Error::Header(text)) if text.contains("MAC")),
            "{identity:?}: {allowed:?}"
        );
        let began = Instant::now();
        let refused = age::open(&repeated(&identity, "", max + 1), std::slice::from_ref(&identity));
        assert!(
            matches!(refused, Err(Error::LimitExceeded(text)) if text.contains("4096")),
            "{identity:?}: {refused:?}"
        );
        assert!(began.elapsed() < Duration::from_secs(10), "refused before the work");
        // Stanzas that the identity does not try do not count.
        let others = "-> grease 1\n\n".repeat(5000);
        let allowed = age::open(&repeated(&identity, &others, 1), std::slice::from_ref(&identity));
        assert!(matches!(allowed, Err(Error::Header(text)) if text.contains("MAC")), "{allowed:?}");
    }
    // The stanzas of another SSH key do not count either.
    let others = repeated(&ED25519.parse().unwrap(), "", 5000);
    let identity: Identity = RSA2048.parse().unwrap();
    assert!(matches!(age::open(&others, &[identity]), Err(Error::NoMatchingKey)));
}

#[test]
fn no_file_is_made_that_has_too_many_recipients() {
    let recipient = Identity::generate(Kind::X25519).unwrap().recipient();
    let recipients = vec![recipient; 4097];
    let refused = age::seal(b"", &recipients, Armor::Binary);
    assert!(matches!(refused, Err(Error::Misuse(Misuse::InvalidRecipients(text))) if text.contains("4096")));
    assert!(age::seal(b"", &recipients[..100], Armor::Binary).is_ok());
}

// claim: input-signals
#[test]
fn a_check_cancels_the_generation_of_an_rsa_key() {
    // Each takes longer than the 50 ms before the first check, but for one key in about a hundred.
    let generate = || with_check(|| ControlFlow::Break(()), || SecretKey::generate(keys::Kind::Rsa4096));
    assert!((0..4).any(|_| matches!(generate(), Err(Error::Cancelled))));
}

fn third_time() -> ControlFlow<()> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    match CALLS.fetch_add(1, Ordering::Relaxed) % 3 {
        2 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

// claim: input-signals
#[test]
fn a_check_cancels_long_work() {
    let identity = Identity::generate(Kind::X25519).unwrap();
    let other = Identity::generate(Kind::X25519).unwrap();
    let file = repeated(&other, "", 4096);
    let cancelled = |work: &dyn Fn() -> Result<(), Error>| {
        let began = Instant::now();
        let result = with_check(third_time, work);
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
        assert!(began.elapsed() < Duration::from_secs(10));
    };
    cancelled(&|| age::open(&file, std::slice::from_ref(&identity)).map(drop));
    // 4 MiB in 2000 passes take much longer than two checks.
    cancelled(&|| derive(b"x", &[7; 16], 32, Cost { memory_kib: 4096, passes: 2000, lanes: 1 }).map(drop));
    let recipient = Recipient::passphrase_with_work_factor("x", 19).unwrap();
    cancelled(&|| age::seal(b"", std::slice::from_ref(&recipient), Armor::Binary).map(drop));
    // Without a check, or with one that continues, the work ends.
    let short = Recipient::passphrase_with_work_factor("x", 4).unwrap();
    let sealed =
        with_check(|| ControlFlow::Continue(()), || age::seal(b"abc", &[short], Armor::Binary)).unwrap();
    assert_eq!(*age::open(&sealed, &[Identity::passphrase("x")]).unwrap(), b"abc");
}
