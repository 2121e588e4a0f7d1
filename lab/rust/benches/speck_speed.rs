//! Speck of every size and row: what long data takes, and what a block and a new key take.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench speck_speed -- [row or size]
//! ```
//!
//! Each figure is the best of many short runs, since whatever else runs here only makes it worse.

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
    for row in speck::variants() {
        if let Err(missing) = row.check(here) {
            println!("{:8} not here: no {missing}", row.name);
            continue;
        }
        let features = here.only(row.needs);
        for size in Size::ALL.into_iter().filter(|size| row.name == only || size.name().contains(&only)) {
            let key = &[7; 32][..size.key_len()];
            let speck = Speck::new(size, key, ORDER, features).expect("a good length");
            let iv = black_box(vec![1; size.block_len()]);
            print!("{:8} {:13}", row.name, size.name());
            for len in [256, 1 << 10, 16 << 10, 1 << 20] {
                let mut data = PageBuffer::new(len, 0);
                let ns = best_time(|| {
                    let data = black_box(InOut::in_place(data.bytes_mut()));
                    speck.xor_at(&iv, 0, data).expect("not at the end");
                });
                per_byte(len, ns, cycle);
            }
            // Whole blocks of every size.
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

/// A new key, a new key and a block, and one block after the other.
fn small(speck: &Speck, key: &[u8], features: Features) {
    let new = || Speck::new(speck.size(), black_box(key), ORDER, features).expect("a good length");
    let mut block = vec![3; speck.size().block_len()];
    let init = best_time(|| drop(black_box(new())));
    let init_and_block = best_time(|| new().encrypt_blocks(InOut::in_place(&mut block)).expect("whole"));
    let one = best_time(|| speck.encrypt_blocks(InOut::in_place(&mut block)).expect("whole"));
    println!("  new {init:.0} ns, new and a block {init_and_block:.0} ns, a block {one:.1} ns");
}
