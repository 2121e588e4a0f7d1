//! The time of one ChaCha20 and XChaCha20 call, for every variant.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench chacha20_speed -- [variant]
//! ```
//!
//! Each figure is the best of many short runs, because other load on the machine only makes a run
//! slower. Short calls are timed back to back, so that they overlap as far as the processor allows.

use kernels::InOut;
use kernels::chacha20::{self, ChaCha20, XChaCha20};
use kernels::cpu::Features;
use lab_bench::clock::{best_time, nanoseconds_per_cycle};
use std::hint::black_box;

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    let cycle = nanoseconds_per_cycle();
    println!("core clock {:.2} GHz, {}", 1.0 / cycle, Features::detect());
    println!("{:.2} B/c are possible with two instructions on 512 bits per cycle (Zen 4)\n", bound());
    for variant in chacha20::variants().filter(|variant| variant.name.contains(&only)) {
        if let Err(missing) = variant.check(Features::detect()) {
            println!("{:9} not available: no {missing}", variant.name);
            continue;
        }
        let features = Features::detect().intersection(variant.needs);
        let short = ChaCha20::new(&[7; 32], features).expect("a variant");
        let long = XChaCha20::new(&[7; 32], features).expect("a variant");
        for what in ["in place", "apart", "offset 3", "24 bytes"] {
            print!("{:9} {what:8}", variant.name);
            for n in [64, 256, 512, 1 << 10, 4 << 10, 16 << 10, 1 << 20] {
                let mut data = vec![0x5a; n + 4096];
                let start = data.as_ptr().align_offset(4096);
                let data = &mut data[start..][..n];
                // Different offsets in a page, as `PageBuffer` explains.
                let mut other = vec![0; n + 4096 + 1088];
                let start = other.as_ptr().align_offset(4096) + 1088;
                let other = &mut other[start..][..n];
                let (nonce, long_nonce) = (black_box([0x42; 12]), black_box([0x42; 24]));
                let ns = best_time(|| {
                    let done = match what {
                        "apart" => short.xor_at(&nonce, 1, 0, black_box(InOut::apart(data, other))),
                        "offset 3" => short.xor_at(&nonce, 1, 3, black_box(InOut::in_place(data))),
                        "24 bytes" => long.xor_at(&long_nonce, 1, 0, black_box(InOut::in_place(data))),
                        _ => short.xor_at(&nonce, 1, 0, black_box(InOut::in_place(data))),
                    };
                    done.expect("not at the end");
                });
                match n {
                    ..=1024 => print!(" {:>8.1} ns", ns),
                    _ => print!("  {:5.3} B/c {:5.2} GB/s", cycle * n as f64 / ns, n as f64 / ns),
                }
            }
            println!();
        }
    }
}

/// Returns the bytes per cycle if every cycle executes two instructions on 512 bits.
///
/// 16 blocks take 80 quarter rounds of 12 steps, without the steps of the first round that are
/// equal for all blocks, and then additions, transpositions and XORs.
fn bound() -> f64 {
    let rounds = 80 * 12 - 3 * 12;
    let after = 16 + 32 + 32 + 16;
    1024.0 * 2.0 / f64::from(rounds + after)
}
