//! The speed limits of AES-GCM: AES rounds, carry-less products and plain operations on registers
//! alone.
//!
//! GCM computes per block 10, 12 or 14 AES rounds (CTR mode) and one multiplication in GF(2^128)
//! (GHASH), which takes three or four carry-less products and some XORs. A [`Mix`] executes such a
//! mix without loads, stores and dependencies between vectors. The loops are assembly, because a
//! compiler would change the order of instructions.

use crate::aes_limit::AesLimit;
use crate::clock::{best_time, nanoseconds_per_cycle};
use core::arch::asm;

/// Vectors in flight.
const VECTORS: usize = 8;
/// Iterations of a loop in one run.
const ITERATIONS: u64 = 100;

/// The instructions per vector, at one vector width.
pub struct Mix {
    /// Name of the AES-GCM variant of this width, for example `"vaes512"`.
    pub variant: &'static str,
    /// AES rounds per vector.
    pub rounds: u32,
    /// Carry-less products per vector.
    pub products: u32,
    /// Other operations, all XORs, per vector.
    pub others: u32,
    /// Bytes of a vector.
    width: usize,
    run: fn(u64),
}

/// Returns the bytes per cycle of each mix.
pub fn bytes_per_cycle(mixes: &[Mix]) -> Vec<f64> {
    let cycles = cycles(&mixes.iter().map(|mix| mix.run).collect::<Vec<_>>(), ITERATIONS);
    mixes.iter().zip(cycles).map(|(mix, cycles)| (VECTORS * mix.width) as f64 / cycles).collect()
}

/// Returns the cycles that one iteration of each loop takes.
///
/// The figure is the best of several passes over all loops, because another process can keep the
/// processor busy for longer than one pass takes. The same holds for the clock: a cycle that was
/// measured too long would make a loop look faster than the processor is.
pub fn cycles(loops: &[fn(u64)], iterations: u64) -> Vec<f64> {
    let (mut best, mut cycle) = (vec![f64::MAX; loops.len()], f64::MAX);
    for _ in 0..5 {
        for (best, run) in best.iter_mut().zip(loops) {
            *best = best.min(best_time(|| run(iterations)) / iterations as f64);
        }
        cycle = cycle.min(nanoseconds_per_cycle());
    }
    best.into_iter().map(|ns| ns / cycle).collect()
}

/// Defines the loop of one width: the rounds of eight vectors, and all other instructions spread
/// evenly among them.
macro_rules! loops {
    ($name:ident: $v:literal, $xor:literal) => {
        fn $name<const ROUNDS: u32, const PRODUCTS: u32, const OTHERS: u32>(iterations: u64) {
            // SAFETY: works on registers that it declares; `mixes` has detected the features.
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
                    "dec {iterations}",
                    "jnz 2b",
                    rounds = const ROUNDS, products = const PRODUCTS, others = const OTHERS,
                    iterations = inout(reg) iterations => _,
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

/// Lists the mixes that this processor can run, widest first.
pub fn mixes() -> Vec<Mix> {
    let mut all = Vec::new();
    macro_rules! add {
        ($($variant:literal $name:ident $width:literal: $(($rounds:literal $products:literal))*;)*) => {
            $($( add!(@others $variant $name $width $rounds $products: 0 4 6 8 10); )*)*
        };
        (@others $variant:literal $name:ident $width:literal $rounds:literal $products:literal: $($others:literal)*) => {
            $( all.push(Mix {
                variant: $variant,
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
    all.retain(|mix| available(mix.variant));
    all
}

/// Returns whether this processor has the AES rounds and carry-less products of that AES-GCM
/// variant.
pub fn available(variant: &str) -> bool {
    let products = match variant {
        "aesni" => is_x86_feature_detected!("pclmulqdq"),
        _ => is_x86_feature_detected!("vpclmulqdq"),
    };
    products && AesLimit::all().iter().any(|limit| limit.variant == variant)
}
