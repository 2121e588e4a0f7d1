//! Native raw ciphers against RustCrypto, in interleaved rounds of one process: medians, ratios and
//! their targets.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench raw -- [part of a name]
//! ```
//!
//! `lab/bench/raw.py` compares the same ciphers with OpenSSL, called from Python.

use chacha20::ChaCha20 as TheirChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use kernels::InOut;
use kernels::poly1305::Poly1305;
use kernels::speck::{ByteOrder, Size, Speck};
use lab_bench::buffer::PageBuffer;
use lab_bench::clock::{medians, nanoseconds_per_cycle, time};
use providers::Features;
use std::hint::black_box;
use std::time::Duration;

const ROUNDS: usize = 201;
const SAMPLE: Duration = Duration::from_micros(60);
const SIZES: [(&str, usize); 5] =
    [("64 B", 64), ("256 B", 256), ("1 KiB", 1 << 10), ("16 KiB", 16 << 10), ("1 MiB", 1 << 20)];
const KEY: [u8; 32] = [7; 32];

/// A call on a buffer.
type Call = Box<dyn FnMut(&mut [u8])>;

/// The same operation by sealane and by RustCrypto.
struct Contest {
    name: &'static str,
    variant: &'static str,
    ours: Call,
    theirs: Call,
    /// The least factor by which ours should be faster, at each of [`SIZES`].
    targets: [Option<f64>; 5],
}

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    println!(
        "Core clock {:.2} GHz; medians of {ROUNDS} interleaved rounds, in place.\n",
        1.0 / nanoseconds_per_cycle()
    );
    println!("| | variant | bytes | native | B/cycle | RustCrypto | times as fast | target | |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|---|");
    for mut contest in contests().into_iter().filter(|contest| contest.name.contains(&only)) {
        for (size, (label, len)) in SIZES.into_iter().enumerate() {
            contest.print(label, len, contest.targets[size]);
        }
    }
}

fn contests() -> Vec<Contest> {
    vec![
        chacha20(),
        poly1305(),
        speck::<ctr::Ctr128BE<speck_cipher::Speck128_256>>(Size::Speck128_256, Some(10.0)),
        speck::<ctr::Ctr128BE<speck_cipher::Speck128_128>>(Size::Speck128_128, None),
        speck::<ctr::Ctr64BE<speck_cipher::Speck64_128>>(Size::Speck64_128, Some(25.0)),
        speck::<ctr::Ctr32BE<speck_cipher::Speck32_64>>(Size::Speck32_64, None),
    ]
}

/// The processor's features without those in `SEALANE_CPU`, as in the product.
fn features() -> Features {
    providers::features().expect("SEALANE_CPU is valid")
}

fn chacha20() -> Contest {
    let ours = providers::raw::chacha20(&KEY).expect("a variant");
    Contest {
        name: "ChaCha20",
        variant: ours.variant(),
        ours: Box::new(move |data| {
            ours.xor_at(black_box(&[5; 12]), 0, 0, InOut::in_place(data)).expect("not at the end");
        }),
        theirs: Box::new(|data| {
            TheirChaCha20::new(black_box(&KEY).into(), &[5; 12].into()).apply_keystream(data);
        }),
        targets: [None, Some(1.25), None, Some(1.35), Some(1.35)],
    }
}

fn poly1305() -> Contest {
    let features = features();
    let variant = Poly1305::new(&KEY, features).expect("a variant").variant();
    Contest {
        name: "Poly1305",
        variant,
        // The tag is written into the data, so that the two results can be compared.
        ours: Box::new(move |data| {
            let mut mac = Poly1305::new(black_box(&KEY), features).expect("a variant");
            mac.update(data);
            data[..16].copy_from_slice(&mac.finalize());
        }),
        theirs: Box::new(|data| {
            let mac = <poly1305::Poly1305 as poly1305::universal_hash::KeyInit>::new(black_box(&KEY).into());
            let tag = mac.compute_unpadded(data);
            data[..16].copy_from_slice(&tag);
        }),
        targets: [None; 5],
    }
}

fn speck<Theirs>(size: Size, target: Option<f64>) -> Contest
where
    Theirs: KeyIvInit + StreamCipher,
{
    let key = &KEY[..size.key_len()];
    let iv = &[5; 16][..size.block_len()];
    let ours = Speck::new(size, key, ByteOrder::Big, features()).expect("its length");
    Contest {
        name: size.name(),
        variant: ours.variant(),
        ours: Box::new(move |data| {
            ours.xor_at(black_box(iv), 0, InOut::in_place(data)).expect("not at the end");
        }),
        theirs: Box::new(move |data| {
            Theirs::new_from_slices(black_box(key), iv).expect("their lengths").apply_keystream(data);
        }),
        targets: [None, None, None, target, target],
    }
}

impl Contest {
    fn print(&mut self, label: &str, len: usize, target: Option<f64>) {
        let (mut a, mut b) = (PageBuffer::new(len, 0), PageBuffer::new(len, 0));
        (self.ours)(a.bytes_mut());
        (self.theirs)(b.bytes_mut());
        assert!(a.bytes() == b.bytes(), "{}: they disagree", self.name);
        let buffer = a.bytes_mut();
        let contenders = [&mut self.ours, &mut self.theirs];
        let medians = medians(2, ROUNDS, SAMPLE, |contender, calls, _| {
            time(calls, || contenders[contender](black_box(&mut *buffer)))
        });
        let [ours, theirs] = medians[..] else { unreachable!("of two") };
        let figure = |ns: f64| match len {
            ..=1024 => format!("{ns:.1} ns"),
            _ => format!("{:.2} GB/s", len as f64 / ns),
        };
        let ratio = theirs / ours;
        let verdict = match target {
            Some(least) => format!("{least} | {}", if ratio >= least { "OK" } else { "SHORT" }),
            None => "|".to_owned(),
        };
        println!(
            "| {} | {} | {label} | {} | {:.2} | {} | {ratio:.2} | {verdict} |",
            self.name,
            self.variant,
            figure(ours),
            len as f64 * nanoseconds_per_cycle() / ours,
            figure(theirs),
        );
    }
}
