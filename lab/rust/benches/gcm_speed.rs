//! The time of one AES-GCM message and of a new key, for every variant.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench gcm_speed -- [variant]
//! ```
//!
//! Each figure is the best of many short runs, because other load on the machine only makes a run
//! slower. Short messages are timed back to back, so that they overlap as far as the processor
//! allows.

use kernels::InOut;
use kernels::cpu::Features;
use kernels::gcm::{self, Gcm, Stream};
use lab_bench::clock::{best_time, nanoseconds_per_cycle};
use std::hint::black_box;

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    let cycle = nanoseconds_per_cycle();
    println!("core clock {:.2} GHz, {}", 1.0 / cycle, Features::detect());
    for bits in [256, 192, 128] {
        println!();
        for variant in gcm::variants().filter(|variant| variant.name.contains(&only)) {
            if let Err(missing) = variant.check(Features::detect()) {
                println!("AES-{bits}-GCM {:9} not available: no {missing}", variant.name);
                continue;
            }
            let features = Features::detect().intersection(variant.needs);
            let key = &[7; 32][..bits / 8];
            let gcm = Gcm::new(key, features).expect("a good length");
            let (aad, mut tag) = ([3; 13], [0; 16]);
            for (what, aad) in
                [("in place", &[][..]), ("apart", &[]), ("aad 13", &aad), ("open", &[]), ("stream", &[])]
            {
                print!("AES-{bits}-GCM {:9} {what:8}", variant.name);
                for n in [64, 256, 1 << 10, 16 << 10, 64 << 10, 1 << 20] {
                    let mut data = vec![0x5a; n + 4096];
                    let start = data.as_ptr().align_offset(4096);
                    let data = &mut data[start..][..n];
                    let nonce = black_box([0x42; 12]);
                    // A second buffer for calls that cannot be repeated in place: opening, and
                    // sealing that does not wait for the message before. It has another offset in
                    // its page, as `PageBuffer` explains.
                    let mut other = vec![0; n + 4096 + 1088];
                    let start = other.as_ptr().align_offset(4096) + 1088;
                    let other = &mut other[start..][..n];
                    gcm.seal(&nonce, aad, InOut::in_place(data), &mut tag).expect("not too long");
                    let ns = match what {
                        "open" => best_time(|| {
                            let both = black_box(InOut::apart(data, other));
                            gcm.open(&nonce, aad, both, &tag).expect("the right tag");
                        }),
                        "stream" => best_time(|| {
                            let mut stream = Stream::begin(&gcm, &nonce).expect("not too long");
                            stream.encrypt(black_box(InOut::apart(data, other))).expect("not too long");
                            black_box(stream.finish());
                        }),
                        "in place" => best_time(|| {
                            let here = black_box(InOut::in_place(data));
                            gcm.seal(&nonce, aad, here, &mut tag).expect("not too long");
                            black_box(&tag);
                        }),
                        _ => best_time(|| {
                            let both = black_box(InOut::apart(data, other));
                            gcm.seal(&nonce, aad, both, &mut tag).expect("not too long");
                            black_box(&tag);
                        }),
                    };
                    match n {
                        ..=1024 => print!(" {:>9.1} ns", ns),
                        _ => print!("  {:5.2} B/c {:5.2} GB/s", cycle * n as f64 / ns, n as f64 / ns),
                    }
                }
                println!();
            }
            let mut data = [1; 64];
            let new = best_time(|| {
                let gcm = Gcm::new(black_box(key), features).expect("a good length");
                gcm.seal(&[1; 12], &[], InOut::in_place(&mut data), &mut tag).expect("not too long");
            });
            let mut nonce = [0; 12];
            let chained = best_time(|| {
                gcm.seal(&nonce, &[], InOut::in_place(&mut data), &mut tag).expect("not too long");
                nonce.copy_from_slice(&tag[..12]);
            });
            println!(
                "AES-{bits}-GCM {:9} new key and 64 B {new:.0} ns; 64 B, each waiting for the last tag {chained:.1} ns",
                variant.name
            );
        }
    }
}
