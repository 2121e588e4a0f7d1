//! `decrypt --salvage`: the parts of damaged files that verify.

use crate::common::{Sandbox, data};
use serde_json::{Value, json};

/// Encrypts a file, and changes a bit at each of these positions.
fn damaged(sandbox: &Sandbox, len: usize, positions: &[usize]) {
    sandbox.write("plain", &data(len));
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    let mut sealed = sandbox.read("sealed");
    positions.iter().for_each(|&at| sealed[at] ^= 1);
    sandbox.write("sealed", &sealed);
}

#[test]
fn holes_are_listed_in_json() {
    let sandbox = Sandbox::new();
    damaged(&sandbox, 100_000, &[56 + 16_400 + 5, 56 + 2 * 16_400, 56 + 5 * 16_400]);
    let outcome = sandbox.run("decrypt --salvage --json -k k -o out sealed");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("49152 of 100000 bytes") && outcome.err.contains("2 holes"), "{outcome:?}");
    let found: Value = serde_json::from_slice(&outcome.out).unwrap();
    let hole = |start: u64, chunks: u64, first: u64| {
        json!({
            "start": start, "end": start + chunks * 16_384, "first_chunk": first, "chunks": chunks,
            "file_start": 56 + first * 16_400, "file_end": 56 + (first + chunks) * 16_400,
        })
    };
    let expected = json!({
        "source": "sealed", "target": "out", "bytes": 100_000, "verified": 100_000 - 3 * 16_384,
        "complete": false, "header": "verified", "end": "verified",
        "holes": [hole(16_384, 2, 1), hole(5 * 16_384, 1, 5)],
    });
    assert_eq!(found, expected);
    let mut plain = data(100_000);
    plain[16_384..3 * 16_384].fill(0);
    plain[5 * 16_384..6 * 16_384].fill(0);
    assert!(sandbox.read("out") == plain);

    // Without damage it is an ordinary decryption.
    damaged(&sandbox, 100_000, &[]);
    let text = sandbox.run("decrypt --salvage -k k -o out sealed").text();
    assert_eq!(text, "out: 100000 of 100000 bytes verified\n");
    assert!(sandbox.read("out") == data(100_000));
}

#[test]
fn each_kind_of_damage_is_named() {
    let sandbox = Sandbox::new();
    damaged(&sandbox, 50_000, &[56 + 3 * 16_400 + 10]);
    let outcome = sandbox.run("decrypt --salvage -k k -o out sealed");
    outcome.failed(1, "the last chunk is damaged, or the file was cut within it");
    assert!(String::from_utf8_lossy(&outcome.out).contains("holes at bytes 49152..50000"));
    damaged(&sandbox, 50_000, &[40]);
    let outcome = sandbox.run("decrypt --salvage -k k -o out sealed");
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.err.contains("warning: sealed: the header is damaged"), "{outcome:?}");
    assert!(sandbox.read("out") == data(50_000));

    damaged(&sandbox, 50_000, &[]);
    let sealed = sandbox.read("sealed");
    sandbox.write("sealed", &sealed[..56 + 2 * 16_400]);
    let outcome = sandbox.run("decrypt --salvage --json -k k -o out sealed");
    outcome_is(&outcome.err, "truncated", "the file was cut, so its end is missing");
    assert!(sandbox.read("out") == data(2 * 16_384));

    damaged(&sandbox, 50_000, &[3]);
    sandbox.refuses("decrypt --salvage -k k -o none sealed", 1, "no chunk verifies, so nothing was written");
    damaged(&sandbox, 50_000, &[100]);
    sandbox.refuses("decrypt --salvage -k k sealed", 2, "--output");
    sandbox.refuses("decrypt --salvage -k k -o - sealed", 2, "name it with -o");
    sandbox.refuses("decrypt --salvage --recursive -k k -o x sealed", 2, "--recursive");
    sandbox.refuses("decrypt --salvage -k k -o sealed sealed", 2, "same file");
    sandbox.refuses("decrypt --salvage -k k -o k sealed", 2, "which this command reads");
}

/// Checks the failure that `--json` prints.
#[track_caller]
fn outcome_is(err: &str, kind: &str, words: &str) {
    let failure: Value = serde_json::from_str(err).unwrap();
    assert_eq!(failure["kind"], kind);
    assert!(failure["error"].as_str().unwrap().contains(words), "{failure}");
}
