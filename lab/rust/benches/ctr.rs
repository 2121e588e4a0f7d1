//! Native AES-CTR in place against aws-lc's, in one process, in turns: medians and their ratio.
//!
//! The bound that AES instructions on registers set is measured by `cargo run --release -p sealane-kernels --example
//! ctr_bound`.

use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use providers::InOut;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 101;

fn main() {
    println!("AES-CTR in place, medians of {ROUNDS} rounds in turns\n");
    println!(
        "{:8} {:>9} {:>8} {:>12} {:>12} {:>7}",
        "", "bytes", "native", "native GB/s", "aws-lc GB/s", "ratio"
    );
    for (name, key_len, algorithm) in [("AES-128", 16, &AES_128), ("AES-256", 32, &AES_256)] {
        let native = providers::raw::aes(&[7; 32][..key_len]).expect("a good length");
        let foreign = UnboundCipherKey::new(algorithm, &[7; 32][..key_len]).and_then(EncryptingKey::ctr);
        let foreign = foreign.expect("a good length");
        for len in [64, 1 << 10, 16 << 10, 1 << 20] {
            let turns = ((1 << 20) / len).max(1);
            let (mut ours, mut theirs) = (vec![1; len], vec![1; len]);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                a.push(seconds(turns, || {
                    native
                        .xor_at(&[3; 16], 0, InOut::in_place(black_box(&mut ours)))
                        .expect("not at the end");
                }));
                b.push(seconds(turns, || {
                    let iv = EncryptionContext::Iv128(FixedLength::from([3; 16]));
                    foreign.less_safe_encrypt(black_box(&mut theirs), iv).expect("encrypts");
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

/// Seconds of one call, over some.
fn seconds(turns: usize, mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..turns).for_each(|_| call());
    began.elapsed().as_secs_f64() / turns as f64
}

fn median(of: &mut [f64]) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
