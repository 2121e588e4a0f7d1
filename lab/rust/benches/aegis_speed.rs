//! The time of one AEGIS message, for every variant and algorithm.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench aegis_speed -- [variant [algorithm]]
//! ```
//!
//! Each figure is the best of many short runs, because other load on the machine only makes a run
//! slower. Short messages are timed back to back, so that they overlap as far as the processor
//! allows. One line has the cycles of a state update with associated data only, which is the ring
//! of AES rounds alone.

use kernels::InOut;
use kernels::aegis::{self, Aegis, Kind};
use kernels::cpu::Features;
use lab_bench::buffer::PageBuffer;
use lab_bench::clock::{best_time, nanoseconds_per_cycle};
use std::hint::black_box;

fn main() {
    let mut words = lab_bench::words();
    let (only, algorithm) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let cycle = nanoseconds_per_cycle();
    println!("core clock {:.2} GHz, {}", 1.0 / cycle, Features::detect());
    for kind in Kind::ALL.into_iter().filter(|kind| format!("{kind:?}").contains(&algorithm)) {
        println!();
        for variant in aegis::variants().filter(|variant| variant.name.contains(&only)) {
            let name = format!("{kind:?}");
            if let Err(missing) = variant.check(Features::detect()) {
                println!("{name:10} {:9} not available: no {missing}", variant.name);
                continue;
            }
            let features = Features::detect().intersection(variant.needs);
            let key = Aegis::new(kind, &[7; 32][..kind.key_len()], features).expect("a good length");
            for what in ["seal in place", "seal apart", "open apart"] {
                print!("{name:10} {:9} {what:13}", variant.name);
                for n in [0, 64, 256, 1 << 10, 16 << 10, 1 << 20] {
                    let ns = message(&key, what, n);
                    match n {
                        ..=1024 => print!(" {ns:>8.1} ns"),
                        _ => print!("  {:5.2} B/c {:5.2} GB/s", cycle * n as f64 / ns, n as f64 / ns),
                    }
                }
                println!();
            }
            println!(
                "{name:10} {:9} {:.2} cycles a state update with associated data",
                variant.name,
                step(&key) / cycle
            );
        }
    }
}

/// Returns the nanoseconds of a message of `n` bytes.
fn message(key: &Aegis, what: &str, n: usize) -> f64 {
    // Different offsets in a page, as `PageBuffer` explains.
    let (mut data, mut other) = (PageBuffer::new(n, 0), PageBuffer::new(n, 1088));
    let (nonce, mut tag) = ([0x42; 32], [0; 16]);
    let nonce = black_box(&nonce[..key.kind().nonce_len()]);
    let fits = "not too long";
    key.seal(nonce, &[], InOut::in_place(data.bytes_mut()), &mut tag).expect(fits);
    match what {
        "open apart" => best_time(|| {
            let both = black_box(InOut::apart(data.bytes(), other.bytes_mut()));
            key.open(nonce, &[], both, &tag).expect("the right tag");
        }),
        "seal apart" => best_time(|| {
            let both = black_box(InOut::apart(data.bytes(), other.bytes_mut()));
            key.seal(nonce, &[], both, &mut tag).expect(fits);
            black_box(&tag);
        }),
        _ => best_time(|| {
            let here = black_box(InOut::in_place(data.bytes_mut()));
            key.seal(nonce, &[], here, &mut tag).expect(fits);
            black_box(&tag);
        }),
    }
}

/// Returns the nanoseconds of a state update, without the start and the end of a message.
fn step(key: &Aegis) -> f64 {
    let rate = 16 * key.kind().degree() * if key.kind().key_len() == 16 { 2 } else { 1 };
    let nonce = &[0x42; 32][..key.kind().nonce_len()];
    let (aad, mut tag) = (PageBuffer::new(300 * rate, 0), [0; 16]);
    let mut time = |steps: usize| {
        best_time(|| {
            let aad = black_box(&aad.bytes()[..steps * rate]);
            key.seal(nonce, aad, InOut::in_place(&mut []), &mut tag).expect("not too long");
            black_box(&tag);
        })
    };
    (time(300) - time(100)) / 200.0
}
