//! Throughput of records: a server sends 64 MiB to a client in the same thread, with each provider in turn.
//!
//! `cargo bench -p sealane-rustls --features aws-lc-rs`. The provider of sealane uses the key exchange, signatures and hashes of ring.

use rustls::crypto::cipher::{AeadKey, Iv, OutboundChunks, OutboundPlainMessage};
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};
use rustls::{ContentType, ProtocolVersion, SupportedCipherSuite};
use sealane_rustls::with_sealane;
use std::hint::black_box;
use std::time::{Duration, Instant};

const LENS: [usize; 4] = [64, 1024, 4096, 16_384];
const ROUNDS: usize = 15;

/// Returns the nanoseconds of one record: the median of rounds of about 10 ms.
fn time(suite: &SupportedCipherSuite, len: usize) -> f64 {
    let suite = suite.tls13().expect("a suite of TLS 1.3");
    let key = vec![7; suite.aead_alg.key_len()];
    let data = vec![5; len];
    let mut encrypter = suite
        .aead_alg
        .encrypter(AeadKey::from(<[u8; 32]>::try_from(padded(&key)).unwrap()), Iv::new([3; 12]));
    let mut sequence = 0;
    let mut once = || {
        let payload = OutboundChunks::Single(black_box(&data));
        let message = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload,
        };
        sequence += 1;
        black_box(encrypter.encrypt(message, sequence).unwrap());
    };
    let began = Instant::now();
    let mut count = 0_u32;
    while began.elapsed() < Duration::from_millis(10) {
        once();
        count += 1;
    }
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            for _ in 0..count {
                once();
            }
            began.elapsed().as_secs_f64() * 1e9 / f64::from(count)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn padded(key: &[u8]) -> Vec<u8> {
    key.iter().copied().chain(std::iter::repeat(0)).take(32).collect()
}

fn main() {
    let providers: [(&str, CryptoProvider); 3] = [
        ("sealane", with_sealane(ring::default_provider()).expect("a provider")),
        ("aws-lc-rs", aws_lc_rs::default_provider()),
        ("ring", ring::default_provider()),
    ];
    println!(
        "| suite | bytes | sealane | aws-lc-rs | ring | sealane over the faster |\n|---|---|---|---|---|---|"
    );
    for name in ["TLS13_AES_256_GCM_SHA384", "TLS13_CHACHA20_POLY1305_SHA256"] {
        for len in LENS {
            let of = |provider: &CryptoProvider| {
                let found = provider.cipher_suites.iter().find(|suite| suite.suite().as_str() == Some(name));
                time(found.expect("every provider has the suite"), len)
            };
            let [ours, aws, ring] = providers.each_ref().map(|(_, provider)| of(provider));
            println!(
                "| {name} | {len} | {ours:.0} ns | {aws:.0} ns | {ring:.0} ns | {:.2} |",
                aws.min(ring) / ours
            );
        }
    }
}
