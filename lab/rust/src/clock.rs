//! Measuring time: the best of many runs, medians of interleaved rounds, and the length of a clock
//! cycle.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Returns the nanoseconds of one clock cycle, by a chain of rotations and additions, each of which
/// takes one cycle.
pub fn nanoseconds_per_cycle() -> f64 {
    const STEPS: u32 = 10_000;
    let chain = || {
        let mut x = black_box(1u64);
        for _ in 0..STEPS {
            x = x.rotate_left(7).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        black_box(x);
    };
    // Each figure is already the best of many. Several of them are needed because another process
    // can keep the processor busy for longer than one figure takes.
    (0..5).map(|_| best_time(chain)).fold(f64::MAX, f64::min) / f64::from(2 * STEPS)
}

/// Returns the best time of one call of `f` in nanoseconds. Other load on the machine can only make
/// a call slower.
pub fn best_time(mut f: impl FnMut()) -> f64 {
    let mut calls = 1u32;
    let mut best = f64::MAX;
    for _ in 0..32 {
        let ns = time(calls, &mut f).as_nanos() as f64;
        best = best.min(ns / f64::from(calls));
        if ns < 100_000.0 {
            calls *= 2;
        }
    }
    best
}

/// Returns the median nanoseconds of one call of each contender.
///
/// The contenders are interleaved: every round times each of them once, so that a slow moment of
/// the machine hits all. `measure(contender, calls, round)` makes that many calls and returns their
/// time. A sample takes at least `sample`, which has to be long against the clock's resolution and
/// short against a time slice of the scheduler.
pub fn medians(
    contenders: usize,
    rounds: usize,
    sample: Duration,
    mut measure: impl FnMut(usize, u32, usize) -> Duration,
) -> Vec<f64> {
    let mut samples = vec![Vec::with_capacity(rounds); contenders];
    let calls: Vec<u32> = (0..contenders)
        .map(|contender| {
            let mut calls = 1;
            while measure(contender, calls, 0) < sample {
                calls *= 2;
            }
            calls
        })
        .collect();
    for round in 0..rounds {
        for contender in 0..contenders {
            let time = measure(contender, calls[contender], round);
            samples[contender].push(time.as_nanos() as f64 / f64::from(calls[contender]));
        }
    }
    samples
        .into_iter()
        .map(|mut samples| {
            samples.sort_by(f64::total_cmp);
            samples[rounds / 2]
        })
        .collect()
}

/// Returns the time of that many calls.
pub fn time(calls: u32, mut call: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..calls).for_each(|_| call());
    start.elapsed()
}
