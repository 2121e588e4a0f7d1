//! The time of Speck on long data, on one block and for a new key, for every size and variant.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench speck_speed -- [variant or size]
//! ```
//!
//! Each figure is the best of many short runs, because other load on the machine only makes a run
//! slower.

use kernels::InOut;
use kernels::cpu::Features;
use kernels::speck::{self, ByteOrder, Size, Speck};
use lab_bench::buffer::PageBuffer;
use lab_bench::clock::{best_time, nanoseconds_per_cycle};
use std::hint::black_box;

const ORDER: ByteOrder = ByteOrder::Big;

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    let (cycle, here) = (nanoseconds_per_cycle(), Features::detect());
    println!("core clock {:.2} GHz, {here}", 1.0 / cycle);
    for variant in speck::variants() {
        if let Err(missing) = variant.check(here) {
            println!("{:8} not available: no {missing}", variant.name);
            continue;
        }
        let features = here.intersection(variant.needs);
        for size in Size::ALL.into_iter().filter(|size| variant.name == only || size.name().contains(&only)) {
            let key = &[7; 32][..size.key_len()];
            let speck = Speck::new(size, key, ORDER, features).expect("a good length");
            let iv = black_box(vec![1; size.block_len()]);
            print!("{:8} {:13}", variant.name, size.name());
            for len in [256, 1 << 10, 16 << 10, 1 << 20] {
                let mut data = PageBuffer::new(len, 0);
                let ns = best_time(|| {
                    let data = black_box(InOut::in_place(data.bytes_mut()));
                    speck.xor_at(&iv, 0, data).expect("not at the end");
                });
                per_byte(len, ns, cycle);
            }
            // A multiple of every block size.
            let len = 48 * 341;
            let (from, mut to) = (PageBuffer::new(len, 0), PageBuffer::new(len, 1088));
            let mut both = |blocks: fn(&Speck, InOut<'_>)| {
                best_time(|| blocks(&speck, black_box(InOut::apart(from.bytes(), to.bytes_mut()))))
            };
            print!("  encrypt");
            per_byte(len, both(|speck, data| speck.encrypt_blocks(data).expect("whole")), cycle);
            print!("  decrypt");
            per_byte(len, both(|speck, data| speck.decrypt_blocks(data).expect("whole")), cycle);
            small(&speck, key, features);
        }
    }
}

fn per_byte(len: usize, ns: f64, cycle: f64) {
    print!(" {len:>5}: {:5.3} B/c {:5.2} GB/s", cycle * len as f64 / ns, len as f64 / ns);
}

/// Prints the times of a new key, of a new key and a block, and of a block.
fn small(speck: &Speck, key: &[u8], features: Features) {
    let new = || Speck::new(speck.size(), black_box(key), ORDER, features).expect("a good length");
    let mut block = vec![3; speck.size().block_len()];
    let init = best_time(|| drop(black_box(new())));
    let init_and_block = best_time(|| new().encrypt_blocks(InOut::in_place(&mut block)).expect("whole"));
    let one = best_time(|| speck.encrypt_blocks(InOut::in_place(&mut block)).expect("whole"));
    println!("  new {init:.0} ns, new and a block {init_and_block:.0} ns, a block {one:.1} ns");
}
