//! The time of one Poly1305 message including its one-time key, for every variant.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench poly1305_speed -- [variant]
//! ```
//!
//! Each figure is the best of many short runs, because other load on the machine only makes a run
//! slower. Short messages are timed back to back, so that they overlap as far as the processor
//! allows.

use kernels::cpu::Features;
use kernels::poly1305::{self, Poly1305};
use lab_bench::clock::{best_time, nanoseconds_per_cycle};
use std::hint::black_box;

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    let cycle = nanoseconds_per_cycle();
    println!("core clock {:.2} GHz, {}", 1.0 / cycle, Features::detect());
    let data = vec![0x5a; 1 << 20];
    for variant in poly1305::variants().filter(|variant| variant.name.contains(&only)) {
        if let Err(missing) = variant.check(Features::detect()) {
            println!("{:10} not available: no {missing}", variant.name);
            continue;
        }
        let features = Features::detect().intersection(variant.needs);
        print!("{:10}", variant.name);
        for n in [64, 256, 1 << 10, 4 << 10, 16 << 10, 256 << 10] {
            let ns = best_time(|| {
                let mut poly = Poly1305::new(black_box(&[7; 32]), features).expect("a variant");
                poly.update(black_box(&data[..n]));
                black_box(poly.finalize());
            });
            match n {
                ..=1024 => print!("  {n} B {ns:.1} ns ({:.2} B/c)", cycle * n as f64 / ns),
                _ => print!("  {} KiB {:.2} B/c {:.1} GB/s", n >> 10, cycle * n as f64 / ns, n as f64 / ns),
            }
        }
        println!();
    }
}
