//! AES-CTR of every row, beside the bound that AES instructions on registers alone set on this machine.
//!
//! ```text
//! cargo run --release -p sealane-kernels --example ctr_bound [row]
//! ```
//!
//! Bytes per cycle depend on a clock that moves; the fraction of the bound does not, because the two are measured in
//! turns. Each figure is the best of many short runs, since whatever else runs here only makes it worse.

mod clock;
mod lines;

use clock::{best_time, nanoseconds_per_cycle};
use kernels::cpu::Features;
use kernels::{InOut, aes, aes::Aes};
use lines::Lines;
use std::hint::black_box;

const SIZES: [usize; 5] = [64, 256, 1 << 10, 16 << 10, 1 << 20];

/// Registers only: the row that it bounds, how, bytes per call, and the call.
type Bound = (&'static str, &'static str, usize, Box<dyn Fn()>);

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    let cycle = nanoseconds_per_cycle();
    println!("core clock {:.2} GHz, {}", 1.0 / cycle, Features::detect());
    for (bits, rounds) in [(256, 14), (128, 10)] {
        println!("\nAES-{bits}: registers only");
        let bounds = bounds(rounds);
        for (row, what, bytes, run) in &bounds {
            let ns = best_time(run) / *bytes as f64;
            println!("  {row:9} {what:6} {:6.2} B/cycle {:7.2} GB/s", cycle / ns, 1.0 / ns);
        }
        println!("{:28}{}", "", SIZES.map(|n| format!("{n:>10} B                       ")).concat());
        for row in aes::variants().filter(|row| row.name.contains(&only)) {
            if let Err(missing) = row.check(Features::detect()) {
                println!("AES-{bits} {:9} not here: no {missing}", row.name);
                continue;
            }
            let aes =
                Aes::new(&[7; 32][..bits / 8], Features::detect().only(row.needs)).expect("a good length");
            let mut block = [0; 16];
            let chained = best_time(|| block = aes.encrypt_block(&block));
            let new = best_time(|| {
                drop(black_box(Aes::new(&[7; 32][..bits / 8], Features::detect().only(row.needs))))
            });
            println!(
                "AES-{bits} {:9} one block after another {chained:.1} ns, a new key {new:.0} ns",
                row.name
            );
            for apart in [false, true] {
                print!("AES-{bits} {:9} {:8}", row.name, if apart { "apart" } else { "in place" });
                for n in SIZES {
                    let (from, mut to) = (Lines::new(n, 0), Lines::new(n, 1088));
                    let run = |data: InOut<'_>| aes.xor_at(&[0x42; 16], 0, data).expect("not at the end");
                    let (mut ns, mut bound) = (f64::MAX, f64::MAX);
                    for _ in 0..5 {
                        ns = ns.min(best_time(&mut || match apart {
                            true => run(black_box(InOut::apart(from.bytes(), to.bytes_mut()))),
                            false => run(black_box(InOut::in_place(to.bytes_mut()))),
                        }));
                        for (_, _, bytes, run) in bounds.iter().filter(|bound| bound.0 == row.name) {
                            bound = bound.min(best_time(run) / *bytes as f64);
                        }
                    }
                    let per_byte = ns / n as f64;
                    print!("{:>9.1} ns {:5.2} B/c {:5.1} GB/s", ns, cycle / per_byte, 1.0 / per_byte);
                    print!(
                        " {:>4}",
                        if bound < f64::MAX {
                            format!("{:.0}%", 100.0 * bound / per_byte)
                        } else {
                            String::new()
                        }
                    );
                }
                println!();
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn bounds(rounds: usize) -> Vec<Bound> {
    use core::arch::x86_64::*;

    const TURNS: usize = 64;
    /// A function that takes `$n` vectors through `TURNS` times `rounds` rounds.
    macro_rules! bound {
        ($name:ident, $n:literal, $features:literal, $round:ident, $set:ident) => {
            #[target_feature(enable = $features)]
            fn $name(rounds: usize) {
                let key = $set(black_box(0x1234));
                let mut s = [key; $n];
                for (i, s) in s.iter_mut().enumerate() {
                    *s = $round(*s, $set(i as i32 as _));
                }
                for _ in 0..TURNS * rounds / 2 {
                    for s in &mut s {
                        *s = $round(*s, key);
                    }
                    for s in &mut s {
                        *s = $round(*s, key);
                    }
                }
                black_box(s);
            }
        };
    }
    bound!(zmm8, 8, "vaes,avx512f", _mm512_aesenc_epi128, _mm512_set1_epi64);
    bound!(zmm12, 12, "vaes,avx512f", _mm512_aesenc_epi128, _mm512_set1_epi64);
    bound!(ymm8, 8, "vaes,aes,avx2", _mm256_aesenc_epi128, _mm256_set1_epi64x);
    bound!(ymm12, 12, "vaes,aes,avx2", _mm256_aesenc_epi128, _mm256_set1_epi64x);
    bound!(xmm8, 8, "aes,avx", _mm_aesenc_si128, _mm_set1_epi32);
    bound!(xmm12, 12, "aes,avx", _mm_aesenc_si128, _mm_set1_epi32);

    let mut all: Vec<Bound> = Vec::new();
    macro_rules! add {
        ($row:literal $width:literal: $($name:ident $n:literal),* if $($feature:tt)*) => {
            if true $(&& std::arch::is_x86_feature_detected!($feature))* {
                // SAFETY: the features that these functions enable were just detected.
                $( all.push(($row, stringify!($name), $n * $width * TURNS, Box::new(move || unsafe { $name(rounds) }))); )*
            }
        };
    }
    add!("vaes512" 64: zmm8 8, zmm12 12 if "vaes" "avx512f");
    add!("vaes256" 32: ymm8 8, ymm12 12 if "vaes" "aes" "avx2");
    add!("aesni" 16: xmm8 8, xmm12 12 if "aes" "avx");
    all
}

#[cfg(not(target_arch = "x86_64"))]
fn bounds(_rounds: usize) -> Vec<Bound> {
    Vec::new()
}
