//! How the examples measure time.

use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds per cycle: a chain of rotations and additions, each of which takes one.
pub(crate) fn nanoseconds_per_cycle() -> f64 {
    const STEPS: u32 = 10_000;
    best_time(&mut || {
        let mut x = black_box(1u64);
        for _ in 0..STEPS {
            x = x.rotate_left(7).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        black_box(x);
    }) / f64::from(2 * STEPS)
}

/// Best nanoseconds of `f`: whatever else runs here only makes it worse.
pub(crate) fn best_time(mut f: impl FnMut()) -> f64 {
    let mut turns = 1u32;
    let mut best = f64::MAX;
    for _ in 0..32 {
        let start = Instant::now();
        (0..turns).for_each(|_| f());
        let ns = start.elapsed().as_nanos() as f64;
        best = best.min(ns / f64::from(turns));
        if ns < 100_000.0 {
            turns *= 2;
        }
    }
    best
}
