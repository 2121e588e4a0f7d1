//! Native AES-CTR in place against aws-lc, in interleaved rounds of one process: medians and their
//! ratio.
//!
//! `cargo bench -p sealane-lab-bench --bench ctr_bound` compares it with the limit of the AES
//! instructions.

use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use providers::InOut;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 101;

fn main() {
    println!("AES-CTR in place, medians of {ROUNDS} interleaved rounds\n");
    println!(
        "{:8} {:>9} {:>8} {:>12} {:>12} {:>7}",
        "", "bytes", "native", "native GB/s", "aws-lc GB/s", "ratio"
    );
    for (name, key_len, algorithm) in [("AES-128", 16, &AES_128), ("AES-256", 32, &AES_256)] {
        let native = providers::raw::aes(&[7; 32][..key_len]).expect("a good length");
        let theirs_key = UnboundCipherKey::new(algorithm, &[7; 32][..key_len]).and_then(EncryptingKey::ctr);
        let theirs_key = theirs_key.expect("a good length");
        for len in [64, 1 << 10, 16 << 10, 1 << 20] {
            let calls = ((1 << 20) / len).max(1);
            let (mut ours, mut theirs) = (vec![1; len], vec![1; len]);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                a.push(seconds(calls, || {
                    native
                        .xor_at(&[3; 16], 0, InOut::in_place(black_box(&mut ours)))
                        .expect("not at the end");
                }));
                b.push(seconds(calls, || {
                    let iv = EncryptionContext::Iv128(FixedLength::from([3; 16]));
                    theirs_key.less_safe_encrypt(black_box(&mut theirs), iv).expect("encrypts");
                }));
            }
            let mut ratios: Vec<_> = a.iter().zip(&b).map(|(a, b)| b / a).collect();
            let per_second = |seconds: &mut [f64]| len as f64 / median(seconds) / 1e9;
            println!(
                "{name:8} {len:9} {:>8} {:12.1} {:12.1} {:7.2}",
                native.variant(),
                per_second(&mut a),
                per_second(&mut b),
                median(&mut ratios),
            );
            assert!(ours == theirs, "they disagree");
        }
    }
}

/// Returns the seconds of one call, averaged over consecutive calls.
fn seconds(calls: usize, mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..calls).for_each(|_| call());
    began.elapsed().as_secs_f64() / calls as f64
}

fn median(of: &mut [f64]) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
