//! Measures whether time depends on secrets (dudect: Reparaz, Balasch, Verbauwhede, 2017).
//!
//! ```text
//! taskset -c 1 cargo run --release -p sealane-kernels --example leak_timing [variant]
//! ```
//!
//! Each sample has one of two classes of secrets, chosen at random. Welch's t is the difference of
//! the mean times in units of the difference expected by chance. Below 4.5 there is no evidence of
//! a leak, and above 10 there is a leak. Slow samples are mostly interruptions, so t is also
//! computed without the slowest samples, and the largest |t| is reported. The result is a report
//! and not a test: one run in some hundreds exceeds 4.5 by chance, and noise of the machine can
//! hide a leak. The controls do leak, and show the size of leaks that this machine can detect.
//!
//! Everything that depends on the class is done before the clock starts, with the same instructions
//! on the same memory for both classes.

mod sealing;

use kernels::InOut;
use kernels::aes::{self, Aes};
use kernels::cpu::Features;
use kernels::ct;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::variant::Variant;
use sealing::Sealing;
use std::hint::black_box;

/// Number of samples in a batch. The secrets of both classes in a batch are in one buffer.
const BATCH: usize = 500;
const BATCHES: usize = 1000;
/// Number of batches for slow operations.
const FEW_BATCHES: usize = 100;
const SHORT: usize = 64;
const LONG: usize = 4096;

/// The two classes of secrets.
#[derive(Clone, Copy)]
enum Classes {
    /// The same bytes in every sample, or new random ones.
    FixedOrRandom,
    /// Zeros, or random bytes.
    ZeroOrRandom,
    /// These bytes with the first of them changed, or the last.
    FirstOrLast([u8; 16]),
}

impl Classes {
    fn fill(self, class: u8, secret: &mut [u8], random: &mut Random) {
        let (first, last) = (0, secret.len() - 1);
        for (i, byte) in secret.iter_mut().enumerate() {
            let drawn = random.next() as u8;
            // Both values are computed, and one is selected without a branch.
            let (zero, one) = match self {
                Self::FixedOrRandom => ((i * 37 % 251) as u8, drawn),
                Self::ZeroOrRandom => (0, drawn),
                Self::FirstOrLast(tag) => (tag[i] ^ u8::from(i == first), tag[i] ^ u8::from(i == last)),
            };
            *byte = zero ^ (zero ^ one) & 0u8.wrapping_sub(class);
        }
    }
}

/// Returns the largest |t| of `run` over all crops. `prepare` makes the input of `run` from a
/// secret of `len` bytes.
fn measure<T>(
    batches: usize,
    len: usize,
    classes: Classes,
    mut prepare: impl FnMut(&[u8]) -> T,
    mut run: impl FnMut(&mut T),
) -> f64 {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut samples: Vec<(u8, u64)> = Vec::with_capacity(batches * BATCH);
    let mut order = vec![0; BATCH];
    let mut secrets = vec![0; BATCH * len];
    for _ in 0..batches {
        for (class, secret) in order.iter_mut().zip(secrets.chunks_mut(len)) {
            *class = (random.next() & 1) as u8;
            classes.fill(*class, secret, &mut random);
        }
        for (class, secret) in order.iter().zip(secrets.chunks(len)) {
            let mut input = prepare(secret);
            let start = ticks();
            run(black_box(&mut input));
            let time = ticks() - start;
            samples.push((*class, time));
        }
    }
    // The first batch is the warm-up.
    samples.drain(..BATCH);
    let mut times: Vec<u64> = samples.iter().map(|(_, time)| *time).collect();
    times.sort_unstable();
    let crop = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let t = |percent| welch(&samples, crop(percent)).abs();
    [50, 75, 90, 95, 99, 100].map(t).into_iter().fold(0.0, f64::max)
}

/// Returns Welch's t between the classes for all samples that took at most `longest`.
fn welch(samples: &[(u8, u64)], longest: u64) -> f64 {
    let [a, b] = [0, 1].map(|wanted| {
        let of = || samples.iter().filter(move |(class, time)| *class == wanted && *time <= longest);
        let n = of().count() as f64;
        let mean = of().map(|(_, time)| *time as f64).sum::<f64>() / n;
        let variance = of().map(|(_, time)| (*time as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    });
    // If all times are equal, both the variance and the difference are zero.
    (a.0 - b.0) / (a.1 + b.1).sqrt().max(f64::MIN_POSITIVE)
}

/// A generator of pseudorandom numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}

/// Reads the clock. The fences prevent earlier and later instructions from being reordered with it.
#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every x86-64 processor has these instructions, and they do not access memory.
    unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

fn report(table: &str, variant: &str, what: &str, t: f64) {
    let verdict = match t {
        ..4.5 => "",
        4.5..10.0 => "  look again",
        _ => "  LEAKS",
    };
    println!("{table:4} {variant:9} {what:40} {t:8.1}{verdict}");
}

/// A message with everything that a call reads or writes.
struct Message<A> {
    a: A,
    from: Vec<u8>,
    to: Vec<u8>,
    tag: [u8; 16],
}

const NONCE: [u8; 12] = [0x42; 12];

fn messages<A: Sealing>(table: &str, variant: Variant) {
    let features = Features::detect().intersection(variant.needs);
    let batches = if variant.name == "portable" { FEW_BATCHES } else { BATCHES };
    let key: Vec<u8> = (0..32).collect();
    let new = |key: &[u8]| A::new(key, features);
    assert_eq!(new(&key).variant(), variant.name);
    let say = |what: &str, t| report(table, variant.name, what, t);

    for (name, classes) in [("fixed", Classes::FixedOrRandom), ("zero", Classes::ZeroOrRandom)] {
        let t =
            measure(batches, 32, classes, |key| (key.to_vec(), None), |(key, made)| *made = Some(new(key)));
        say(&format!("key set-up: key {name} or random"), t);
    }
    for len in [SHORT, LONG] {
        let batches = if len == LONG { FEW_BATCHES } else { batches };
        let message = |key: &[u8], from: &[u8], tag| {
            let a = new(key);
            // The powers for long messages are computed here, since they are not part of the
            // measurement.
            a.seal(&NONCE, &[], InOut::in_place(&mut vec![0; len]), &mut [0; 16]);
            Message { a, from: from.to_vec(), to: vec![0; len], tag }
        };
        let seal = |m: &mut Message<A>| {
            m.a.seal(&NONCE, &[], InOut::apart(&m.from, &mut m.to), &mut m.tag);
        };
        let open = |m: &mut Message<A>| {
            black_box(m.a.open(&NONCE, &[], InOut::apart(&m.from, &mut m.to), &m.tag));
        };
        let plain = vec![0x5a; len];
        let t = measure(batches, 32, Classes::FixedOrRandom, |key| message(key, &plain, [0; 16]), seal);
        say(&format!("seal {len} B: key fixed or random"), t);
        let t = measure(batches, len, Classes::FixedOrRandom, |plain| message(&key, plain, [0; 16]), seal);
        say(&format!("seal {len} B: plaintext fixed or random"), t);
        let t = measure(batches, len, Classes::ZeroOrRandom, |plain| message(&key, plain, [0; 16]), seal);
        say(&format!("seal {len} B: plaintext zero or random"), t);
        let prepare = |plain: &[u8]| {
            let mut m = message(&key, plain, [0; 16]);
            seal(&mut m);
            m.from.copy_from_slice(&m.to);
            m
        };
        let t = measure(batches, len, Classes::FixedOrRandom, prepare, open);
        say(&format!("open {len} B: plaintext fixed or random"), t);
        let (sealed, tag) = {
            let m = prepare(&plain);
            (m.from, m.tag)
        };
        let changed = |tag: &[u8]| message(&key, &sealed, *tag.first_chunk().expect("16 bytes"));
        let t = measure(batches, 16, Classes::FirstOrLast(tag), changed, open);
        say(&format!("open {len} B: tag wrong first or last"), t);
    }
}

fn stream(table: &str, variant: Variant) {
    let features = Features::detect().intersection(variant.needs);
    let batches = if variant.name == "portable" { FEW_BATCHES } else { BATCHES };
    let new = |key: &[u8]| Aes::new(key, features).expect("a good length");
    let key: Vec<u8> = (0..32).collect();
    let t = measure(
        batches,
        32,
        Classes::FixedOrRandom,
        |key| (key.to_vec(), None),
        |(key, made)| *made = Some(new(key)),
    );
    report(table, variant.name, "key set-up: key fixed or random", t);
    for len in [SHORT, LONG] {
        let batches = if len == LONG { FEW_BATCHES } else { batches };
        let xor = |(aes, data): &mut (Aes, Vec<u8>)| {
            aes.xor_at(&[7; 16], 0, InOut::in_place(data)).expect("not at the end");
        };
        let t = measure(batches, 32, Classes::FixedOrRandom, |key| (new(key), vec![0; len]), xor);
        report(table, variant.name, &format!("xor {len} B: key fixed or random"), t);
        let t = measure(batches, len, Classes::FixedOrRandom, |plain| (new(&key), plain.to_vec()), xor);
        report(table, variant.name, &format!("xor {len} B: data fixed or random"), t);
    }
}

/// Comparisons, which have no variants, and the controls, which leak on purpose.
fn comparisons() {
    const TURNS: usize = 64;
    let tag: [u8; 16] = core::array::from_fn(|i| 11 * i as u8);
    let classes = Classes::FirstOrLast(tag);
    let prepare = |other: &[u8]| <[u8; 16]>::try_from(other).expect("16 bytes");
    let t = measure(BATCHES, 16, classes, prepare, |other| {
        (0..TURNS).for_each(|_| _ = black_box(ct::equal(black_box(&tag), black_box(other))));
    });
    report("", "", "ct::equal: wrong first or last", t);
    let t = measure(BATCHES, 16, classes, prepare, |other| {
        let same = || black_box(&tag).iter().zip(black_box(&*other)).all(|(a, b)| a == b);
        (0..TURNS).for_each(|_| _ = black_box(same()));
    });
    report("", "", "control: == byte by byte, many times", t);
    let t = measure(BATCHES, 16, classes, prepare, |other| {
        black_box(black_box(&tag).iter().zip(black_box(&*other)).all(|(a, b)| a == b));
    });
    report("", "", "control: == byte by byte, once", t);
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    println!("{}\n{:4} {:9} {:40} {:>8}", Features::detect(), "", "variant", "what", "|t|");
    comparisons();
    type Run = fn(&str, Variant);
    let tables: [(&str, Vec<Variant>, Run); 3] = [
        ("AES", aes::variants().collect(), stream),
        ("GCM", gcm::variants().collect(), messages::<Gcm>),
        ("SIV", gcm_siv::variants().collect(), messages::<GcmSiv>),
    ];
    for (table, variants, run) in tables {
        for variant in variants.into_iter().filter(|variant| variant.name.contains(&only)) {
            match variant.check(Features::detect()) {
                Ok(()) => run(table, variant),
                Err(missing) => println!("{table:4} {:9} not here: no {missing}", variant.name),
            }
        }
    }
}
