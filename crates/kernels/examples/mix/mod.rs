//! What bounds AES-GCM: rounds, carry-less products and plain operations on registers, with nothing in their way.
//!
//! Whole loops are assembly, because the order of instructions is what a compiler would change.

use super::clock::{best_time, nanoseconds_per_cycle};
use core::arch::asm;
use kernels::cpu::Features;
use kernels::gcm;

/// Vectors in flight.
const FLIGHT: usize = 8;
/// Turns of a loop in one run.
const TURNS: u64 = 100;

/// What each vector takes: so many AES rounds, carry-less products and other operations.
pub(crate) struct Mix {
    /// The row of AES-GCM that computes at this width.
    pub(crate) row: &'static str,
    pub(crate) rounds: u32,
    pub(crate) products: u32,
    pub(crate) others: u32,
    /// Bytes of a vector.
    width: usize,
    run: fn(u64),
}

/// Bytes per cycle of each.
pub(crate) fn bytes_per_cycle(mixes: &[Mix]) -> Vec<f64> {
    let cycles = cycles(&mixes.iter().map(|mix| mix.run).collect::<Vec<_>>(), TURNS);
    mixes.iter().zip(cycles).map(|(mix, cycles)| (FLIGHT * mix.width) as f64 / cycles).collect()
}

/// Cycles that one turn of each loop takes.
///
/// The best of some passes over all of them, since a neighbour's busy moment outlasts one figure, and of the clock no
/// less: a cycle that was measured too long would beat the processor.
pub(crate) fn cycles(loops: &[fn(u64)], turns: u64) -> Vec<f64> {
    let (mut best, mut cycle) = (vec![f64::MAX; loops.len()], f64::MAX);
    for _ in 0..5 {
        for (best, run) in best.iter_mut().zip(loops) {
            *best = best.min(best_time(|| run(turns)) / turns as f64);
            cycle = cycle.min(nanoseconds_per_cycle());
        }
    }
    best.into_iter().map(|ns| ns / cycle).collect()
}

/// The loops of one width: the rounds of eight vectors in turn, and everything else spread evenly between them.
macro_rules! loops {
    ($name:ident: $v:literal, $xor:literal) => {
        fn $name<const ROUNDS: u32, const PRODUCTS: u32, const OTHERS: u32>(turns: u64) {
            // SAFETY: works on registers that it declares; `mixes` has asked for the features.
            unsafe {
                asm!(
                    "2:",
                    ".set n, 0",
                    ".rept {rounds}",
                    ".irp s, 0, 1, 2, 3, 4, 5, 6, 7",
                    concat!("vaesenc ", $v, "\\s, ", $v, "\\s, ", $v, "8"),
                    ".set n, n + 1",
                    ".if n * {products} / {rounds} > (n - 1) * {products} / {rounds}",
                    concat!("vpclmulqdq ", $v, "10, ", $v, "9, ", $v, "8, 0"),
                    ".endif",
                    ".if n * {others} / {rounds} > (n - 1) * {others} / {rounds}",
                    concat!($xor, " ", $v, "11, ", $v, "9, ", $v, "8"),
                    ".endif",
                    ".endr",
                    ".endr",
                    "dec {turns}",
                    "jnz 2b",
                    rounds = const ROUNDS, products = const PRODUCTS, others = const OTHERS,
                    turns = inout(reg) turns => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm10") _, out("xmm11") _,
                    options(nomem, nostack),
                );
            }
        }
    };
}
loops!(zmm: "zmm", "vpxord");
loops!(ymm: "ymm", "vpxor");
loops!(xmm: "xmm", "vpxor");

/// Those that this machine can run, widest first.
pub(crate) fn mixes() -> Vec<Mix> {
    let mut all = Vec::new();
    macro_rules! add {
        ($($row:literal $name:ident $width:literal: $(($rounds:literal $products:literal))*;)*) => {
            $($( add!(@others $row $name $width $rounds $products: 0 4 6 8 10); )*)*
        };
        (@others $row:literal $name:ident $width:literal $rounds:literal $products:literal: $($others:literal)*) => {
            $( all.push(Mix {
                row: $row,
                rounds: $rounds,
                products: $products,
                others: $others,
                width: $width,
                run: $name::<$rounds, $products, $others>,
            }); )*
        };
    }
    add! {
        "vaes512" zmm 64: (14 0) (14 3) (14 4) (10 0) (10 3) (10 4);
        "vaes256" ymm 32: (14 0) (14 3) (14 4) (10 0) (10 3) (10 4);
        "aesni" xmm 16: (14 0) (14 3) (14 4) (10 0) (10 3) (10 4);
    }
    all.retain(|mix| runs(mix.row));
    all
}

/// Whether this machine can run a row of AES-GCM.
pub(crate) fn runs(name: &str) -> bool {
    gcm::variants().any(|row| row.name == name && row.check(Features::detect()).is_ok())
}
