//! Native AEADs against all other providers, in interleaved rounds of one process: medians, ratios
//! and their targets.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench aead -- [part of the name of an algorithm]
//! ```
//!
//! Each cell compares the native provider with the fastest of the others. The output is Markdown.

use lab_bench::buffer::PageBuffer;
use lab_bench::clock::{medians, nanoseconds_per_cycle, time};
use providers::Algorithm::{self, *};
use providers::{AeadKey, Entry, InOut, Provider, entries};
use std::hint::black_box;
use std::time::Duration;

const ROUNDS: usize = 401;
const SAMPLE: Duration = Duration::from_micros(60);
const SIZES: [(&str, usize); 4] =
    [("64 B", 64), ("1 KiB", 1 << 10), ("16 KiB", 16 << 10), ("1 MiB", 1 << 20)];

#[derive(Clone, Copy, PartialEq)]
enum Operation {
    SealInPlace,
    SealApart,
    OpenApart,
    NewKeyAndSeal,
}
use Operation::*;

/// The least factor by which the native provider should be faster than the best of the others.
struct Target {
    algorithm: Algorithm,
    /// The factors of sealing 64 B, 16 KiB and 1 MiB.
    seal: Option<[f64; 3]>,
    open: Option<[f64; 3]>,
    /// The factor of a new key and a message of 64 bytes.
    new: Option<f64>,
}

const fn target(algorithm: Algorithm, seal: Option<[f64; 3]>, open: Option<[f64; 3]>) -> Target {
    Target { algorithm, seal, open, new: None }
}

/// The target of AEGIS X2 and X4: no slower than the others.
const NOT_SLOWER: Option<[f64; 3]> = Some([1.0; 3]);

#[rustfmt::skip]
const TARGETS: [Target; 13] = [
    Target { new: Some(1.5), ..target(Aes256Gcm, Some([2.5, 1.25, 1.25]), Some([2.5, 1.25, 1.25])) },
    target(Aes128Gcm,         Some([2.5, 1.2, 1.2]), Some([2.5, 1.2, 1.2])),
    target(Aes256GcmSiv,      Some([1.2, 3.5, 3.5]), Some([1.2, 5.0, 5.0])),
    target(Aes128GcmSiv,      None,                  None),
    target(Xaes256Gcm,        None,                  None),
    target(ChaCha20Poly1305,  Some([1.0, 2.8, 2.8]), Some([1.0, 2.8, 2.8])),
    target(XChaCha20Poly1305, None,                  None),
    target(Aegis128L,         Some([1.0, 1.2, 1.2]), Some([1.0, 1.2, 1.2])),
    target(Aegis128X2,        NOT_SLOWER,            NOT_SLOWER),
    target(Aegis128X4,        NOT_SLOWER,            NOT_SLOWER),
    target(Aegis256,          Some([1.0, 1.2, 1.2]), Some([1.0, 1.2, 1.2])),
    target(Aegis256X2,        NOT_SLOWER,            NOT_SLOWER),
    target(Aegis256X4,        NOT_SLOWER,            NOT_SLOWER),
];

impl Target {
    fn of(&self, operation: Operation, size: usize) -> Option<f64> {
        match operation {
            SealInPlace | SealApart => Some(self.seal?[column(size)?]),
            OpenApart => Some(self.open?[column(size)?]),
            NewKeyAndSeal => self.new,
        }
    }
}

/// Returns the column of [`Target`] for a place in [`SIZES`]. 1 KiB has none.
fn column(size: usize) -> Option<usize> {
    [Some(0), None, Some(1), Some(2)][size]
}

fn main() {
    let only = lab_bench::words().next().unwrap_or_default();
    println!("Core clock {:.2} GHz; medians of {ROUNDS} interleaved rounds.", 1.0 / nanoseconds_per_cycle());
    print_bounds();
    for target in TARGETS.iter().filter(|target| target.algorithm.name().contains(&only)) {
        print_algorithm(target);
    }
}

/// Prints the limit of AES rounds and carry-less products on registers, in bytes per cycle.
#[cfg(target_arch = "x86_64")]
fn print_bounds() {
    let mut bare = lab_bench::mix::mixes();
    bare.retain(|mix| mix.others == 0);
    let mut figures = lab_bench::mix::bytes_per_cycle(&bare).into_iter();
    println!("\nRegisters only, bytes per cycle by AES rounds + carry-less products of each vector:\n");
    for (i, line) in bare.chunk_by(|a, b| a.variant == b.variant).enumerate() {
        if i == 0 {
            let heads = line.iter().map(|mix| format!(" {} + {} |", mix.rounds, mix.products));
            println!("| variant |{}\n|---|{}", heads.collect::<String>(), "--:|".repeat(line.len()));
        }
        let figures = figures.by_ref().take(line.len()).map(|figure| format!(" {figure:.2} |"));
        println!("| {} |{}", line[0].variant, figures.collect::<String>());
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn print_bounds() {}

fn print_algorithm(target: &Target) {
    let entries = entries().filter(|entry| entry.algorithm == target.algorithm && entry.available().is_ok());
    let (native, others): (Vec<&Entry>, Vec<&Entry>) =
        entries.partition(|entry| entry.provider == Provider::Native);
    let name = target.algorithm.name();
    let [native] = native[..] else { return println!("\n{name}: no native provider") };
    println!("\n{name}, native ({}) and the best of {}:\n", native.variant(), names(&others));
    println!("| | bytes | native | B/cycle | best other | | times as fast | target | |");
    println!("|---|--:|--:|--:|---|--:|--:|--:|---|");
    let entries: Vec<&Entry> = [native].into_iter().chain(others).collect();
    for (size, (label, len)) in SIZES.into_iter().enumerate() {
        let mut cell = Cell::new(&entries, len);
        for operation in [SealInPlace, SealApart, OpenApart, NewKeyAndSeal] {
            if operation == NewKeyAndSeal && len > 64 {
                continue;
            }
            let cycle = nanoseconds_per_cycle();
            let times = cell.medians(operation);
            let best = (1..entries.len()).min_by(|a, b| times[*a].total_cmp(&times[*b])).expect("others");
            let ratio = times[best] / times[0];
            let figure = |ns: f64| match len {
                64 => format!("{ns:.1} ns"),
                _ => format!("{:.2} GB/s", len as f64 / ns),
            };
            let verdict = match target.of(operation, size) {
                Some(least) => format!("{least} | {}", if ratio >= least { "OK" } else { "SHORT" }),
                None => "|".to_owned(),
            };
            println!(
                "| {} | {label} | {} | {:.2} | {} | {} | {ratio:.2} | {verdict} |",
                operation.name(),
                figure(times[0]),
                len as f64 * cycle / times[0],
                entries[best].provider.name(),
                figure(times[best]),
            );
        }
    }
}

fn names(entries: &[&Entry]) -> String {
    entries.iter().map(|entry| entry.provider.name()).collect::<Vec<_>>().join(", ")
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            SealInPlace => "seal in place",
            SealApart => "seal apart",
            OpenApart => "open apart",
            NewKeyAndSeal => "new key and seal",
        }
    }
}

/// All providers with messages of one length. They share their buffers, so that the caches are
/// equally warm for each.
struct Cell<'a> {
    entries: Vec<(&'a Entry, Box<dyn AeadKey>)>,
    nonce: Vec<u8>,
    plaintext: PageBuffer,
    sealed: PageBuffer,
    tag: [u8; 16],
    target: PageBuffer,
}

const KEY: [u8; 32] = [7; 32];

impl<'a> Cell<'a> {
    fn new(entries: &[&'a Entry], len: usize) -> Self {
        let key = |entry: &Entry| entry.key(&KEY[..entry.algorithm.key_len()]).expect("a key of its length");
        let mut cell = Self {
            entries: entries.iter().map(|entry| (*entry, key(entry))).collect(),
            nonce: vec![5; entries[0].algorithm.nonce_len()],
            plaintext: PageBuffer::new(len, 0),
            sealed: PageBuffer::new(len, 0),
            tag: [0; 16],
            target: PageBuffer::new(len, 1088),
        };
        for (i, (entry, key)) in cell.entries.iter().enumerate() {
            let mut tag = [0; 16];
            let data = InOut::apart(cell.plaintext.bytes(), cell.target.bytes_mut());
            key.seal(&cell.nonce, b"", data, &mut tag).expect("seals");
            if i == 0 {
                cell.sealed.bytes_mut().copy_from_slice(cell.target.bytes());
                cell.tag = tag;
            }
            let agree = cell.target.bytes() == cell.sealed.bytes() && tag == cell.tag;
            assert!(agree, "{} and {} disagree", entries[0].provider.name(), entry.provider.name());
        }
        cell
    }

    /// Returns the median nanoseconds of one call of each provider.
    fn medians(&mut self, operation: Operation) -> Vec<f64> {
        medians(self.entries.len(), ROUNDS, SAMPLE, |entry, calls, round| {
            deeper(round % 16, &mut || self.time(entry, operation, calls))
        })
    }

    /// Times that many calls. `black_box` hides the arguments from the compiler and uses the
    /// results.
    fn time(&mut self, entry: usize, operation: Operation, calls: u32) -> Duration {
        let (entry, key) = &self.entries[entry];
        let (nonce, target, mut tag) = (&self.nonce[..], &mut self.target, self.tag);
        match operation {
            SealInPlace => time(calls, || {
                let data = InOut::in_place(black_box(target.bytes_mut()));
                key.seal(black_box(nonce), b"", data, &mut tag).expect("seals");
                black_box(&tag);
            }),
            SealApart => time(calls, || {
                let data = InOut::apart(black_box(self.plaintext.bytes()), black_box(target.bytes_mut()));
                key.seal(black_box(nonce), b"", data, &mut tag).expect("seals");
                black_box(&tag);
            }),
            OpenApart => time(calls, || {
                let data = InOut::apart(black_box(self.sealed.bytes()), black_box(target.bytes_mut()));
                key.open(black_box(nonce), b"", data, black_box(&tag)).expect("the right tag");
            }),
            NewKeyAndSeal => time(calls, || {
                let key =
                    entry.key(black_box(&KEY[..entry.algorithm.key_len()])).expect("a key of its length");
                let data = InOut::in_place(black_box(target.bytes_mut()));
                key.seal(black_box(nonce), b"", data, &mut tag).expect("seals");
                black_box(&tag);
            }),
        }
    }
}

/// Calls `call` with a stack that starts `frames` times 256 bytes further down.
///
/// The position of the stack in its page decides whether its stores seem to alias the loads of a
/// call, for example of a key. That makes two calls of 20 ns wait for each other and take 35 ns in
/// some processes, so the position varies.
fn deeper(frames: usize, call: &mut dyn FnMut() -> Duration) -> Duration {
    let frame = black_box([0u8; 256]);
    let time = if frames == 0 { call() } else { deeper(frames - 1, call) };
    black_box(&frame);
    time
}
