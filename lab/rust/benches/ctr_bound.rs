//! AES-CTR of every variant, as a fraction of the limit that AES instructions on registers set on
//! this machine.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench ctr_bound -- [variant]
//! ```
//!
//! Bytes per cycle depend on the clock frequency, which changes. The fraction of the limit does
//! not, because both are measured in alternation. Each figure is the best of many short runs,
//! because other load on the machine only makes a run slower.

use kernels::cpu::Features;
use kernels::{InOut, aes, aes::Aes};
use lab_bench::aes_limit::AesLimit;
use lab_bench::buffer::PageBuffer;
use lab_bench::clock::{best_time, nanoseconds_per_cycle};
use std::hint::black_box;

const SIZES: [usize; 5] = [64, 256, 1 << 10, 16 << 10, 1 << 20];

/// Bytes of keystream for one measurement of the limit, which takes microseconds.
const LIMIT_BYTES: u64 = 1 << 16;

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    let cycle = nanoseconds_per_cycle();
    println!("core clock {:.2} GHz, {}", 1.0 / cycle, Features::detect());
    for bits in [256, 128] {
        println!("\nAES-{bits}: registers only");
        let limits = AesLimit::all();
        for bound in &limits {
            let ns = per_byte(bound, bits / 8);
            println!("  {:9} {:6.2} B/cycle {:7.2} GB/s", bound.variant, cycle / ns, 1.0 / ns);
        }
        println!("{:28}{}", "", SIZES.map(|n| format!("{n:>10} B                       ")).concat());
        for variant in aes::variants().filter(|variant| variant.name.contains(&only)) {
            if let Err(missing) = variant.check(Features::detect()) {
                println!("AES-{bits} {:9} not available: no {missing}", variant.name);
                continue;
            }
            let aes = Aes::new(&[7; 32][..bits / 8], Features::detect().intersection(variant.needs))
                .expect("a good length");
            let mut block = [0; 16];
            let chained = best_time(|| block = aes.encrypt_block(&block));
            let new = best_time(|| {
                drop(black_box(Aes::new(
                    &[7; 32][..bits / 8],
                    Features::detect().intersection(variant.needs),
                )))
            });
            println!(
                "AES-{bits} {:9} one block after another {chained:.1} ns, a new key {new:.0} ns",
                variant.name
            );
            for apart in [false, true] {
                print!("AES-{bits} {:9} {:8}", variant.name, if apart { "apart" } else { "in place" });
                for n in SIZES {
                    let (from, mut to) = (PageBuffer::new(n, 0), PageBuffer::new(n, 1088));
                    let run = |data: InOut<'_>| aes.xor_at(&[0x42; 16], 0, data).expect("not at the end");
                    let (mut ns, mut bound) = (f64::MAX, f64::MAX);
                    for _ in 0..5 {
                        ns = ns.min(best_time(&mut || match apart {
                            true => run(black_box(InOut::apart(from.bytes(), to.bytes_mut()))),
                            false => run(black_box(InOut::in_place(to.bytes_mut()))),
                        }));
                        for limit in limits.iter().filter(|limit| limit.variant == variant.name) {
                            bound = bound.min(per_byte(limit, bits / 8));
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

/// Returns the nanoseconds per byte at the limit.
fn per_byte(bound: &AesLimit, key_len: usize) -> f64 {
    best_time(|| bound.run(key_len, LIMIT_BYTES)) / LIMIT_BYTES as f64
}
