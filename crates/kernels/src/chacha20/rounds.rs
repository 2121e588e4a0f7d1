//! The rounds of ChaCha20 on as many quarters of a state as there are vectors for, see [`super::body`].
#![forbid(unsafe_code)]

use crate::vector::quads::Quads;
use crate::vector::unroll;

/// `N` quarters of every row.
pub(super) struct State<Q: Quads, const N: usize> {
    pub(super) a: [Q::V; N],
    pub(super) b: [Q::V; N],
    pub(super) c: [Q::V; N],
    pub(super) d: [Q::V; N],
}

/// What a quarter round does four times, to one quarter.
#[derive(Clone, Copy)]
enum Step {
    Add(usize),
    Xor(usize),
    Rotate(usize),
}

/// The order of steps for eight quarters, two states, found by trying: it keeps every unit busy (Zen 4: 96 cycles for a
/// double round of two states of 512-bit vectors, which is as fast as two instructions per cycle can be). Step by step
/// for all quarters it takes 110, because rotations have half of the units.
const ORDER: [[Step; 8]; 3] = {
    use Step::{Add, Rotate, Xor};
    [
        [Add(1), Add(6), Add(2), Xor(1), Add(3), Xor(3), Add(0), Xor(0)],
        [Xor(2), Rotate(2), Add(5), Rotate(0), Xor(6), Rotate(3), Add(4), Rotate(1)],
        [Add(7), Xor(5), Xor(4), Xor(7), Rotate(6), Rotate(5), Rotate(7), Rotate(4)],
    ]
};

/// `x += y; z ^= x; z <<<= BITS`, for every quarter.
#[inline(always)]
fn quarter_quarters<Q: Quads, const N: usize, const BITS: i32>(
    q: Q,
    x: &mut [Q::V; N],
    y: &[Q::V; N],
    z: &mut [Q::V; N],
) {
    if N > 4 {
        unroll!(k < 8 => { step::<Q, N, BITS>(q, const { ORDER[0][k % 8] }, x, y, z); });
        unroll!(k < 8 => { step::<Q, N, BITS>(q, const { ORDER[1][k % 8] }, x, y, z); });
        unroll!(k < 8 => { step::<Q, N, BITS>(q, const { ORDER[2][k % 8] }, x, y, z); });
    } else {
        unroll!(i < 4 => { if i < N { step::<Q, N, BITS>(q, Step::Add(i), x, y, z); } });
        unroll!(i < 4 => { if i < N { step::<Q, N, BITS>(q, Step::Xor(i), x, y, z); } });
        unroll!(i < 4 => { if i < N { step::<Q, N, BITS>(q, Step::Rotate(i), x, y, z); } });
    }
}

#[inline(always)]
fn step<Q: Quads, const N: usize, const BITS: i32>(
    q: Q,
    step: Step,
    x: &mut [Q::V; N],
    y: &[Q::V; N],
    z: &mut [Q::V; N],
) {
    match step {
        Step::Add(i) => x[i] = q.add(x[i], y[i]),
        Step::Xor(i) => z[i] = q.xor(z[i], x[i]),
        Step::Rotate(i) => z[i] = q.rotate::<BITS>(z[i]),
    }
}

impl<Q: Quads, const N: usize> State<Q, N> {
    /// Quarter rounds (RFC 8439, section 2.1), all side by side.
    #[inline(always)]
    pub(super) fn quarters(&mut self, q: Q) {
        let Self { a, b, c, d } = self;
        quarter_quarters::<Q, N, 16>(q, a, b, d);
        quarter_quarters::<Q, N, 12>(q, c, d, b);
        quarter_quarters::<Q, N, 8>(q, a, b, d);
        quarter_quarters::<Q, N, 7>(q, c, d, b);
    }

    /// All rounds of a state in rows.
    #[inline(always)]
    pub(super) fn rounds_in_rows(&mut self, q: Q) {
        let mut turn = 0;
        while turn < 10 {
            self.quarters(q);
            self.turn_rows(q);
            self.quarters(q);
            self.turn_rows_back(q);
            turn += 1;
        }
    }

    /// The rounds after the first of a state in words.
    #[inline(always)]
    pub(super) fn rounds_in_words(&mut self, q: Q) {
        self.diagonals_in_words(q);
        let mut turn = 1;
        while turn < 10 {
            self.quarters(q);
            self.diagonals_in_words(q);
            turn += 1;
        }
    }

    #[inline(always)]
    fn diagonals_in_words(&mut self, q: Q) {
        turn::<Q, N, 3>(&mut self.a);
        turn::<Q, N, 1>(&mut self.c);
        turn::<Q, N, 2>(&mut self.d);
        self.quarters(q);
        turn::<Q, N, 1>(&mut self.a);
        turn::<Q, N, 3>(&mut self.c);
        turn::<Q, N, 2>(&mut self.d);
    }

    /// From columns to diagonals. Not `b`, which is the last to be ready and the first to be wanted: so no step waits
    /// for its turn.
    #[inline(always)]
    fn turn_rows(&mut self, q: Q) {
        unroll!(i < 8 => {
            if i < N {
                self.a[i] = q.rotate_lanes::<3>(self.a[i]);
                self.c[i] = q.rotate_lanes::<1>(self.c[i]);
                self.d[i] = q.rotate_lanes::<2>(self.d[i]);
            }
        });
    }

    #[inline(always)]
    fn turn_rows_back(&mut self, q: Q) {
        unroll!(i < 8 => {
            if i < N {
                self.a[i] = q.rotate_lanes::<1>(self.a[i]);
                self.c[i] = q.rotate_lanes::<3>(self.c[i]);
                self.d[i] = q.rotate_lanes::<2>(self.d[i]);
            }
        });
    }

    /// Four quarters from `i` on.
    #[inline(always)]
    pub(super) fn four(&self, i: usize) -> State<Q, 4> {
        let Self { a, b, c, d } = self;
        State {
            a: [a[i], a[i + 1], a[i + 2], a[i + 3]],
            b: [b[i], b[i + 1], b[i + 2], b[i + 3]],
            c: [c[i], c[i + 1], c[i + 2], c[i + 3]],
            d: [d[i], d[i + 1], d[i + 2], d[i + 3]],
        }
    }

    /// The vectors of quarter `i` in the order of the keystream, from a state in rows.
    #[inline(always)]
    pub(super) fn group(&self, q: Q, i: usize) -> [Q::V; 4] {
        q.transpose_quads([self.a[i], self.b[i], self.c[i], self.d[i]])
    }
}

/// In every four vectors, `i` becomes what `i + BY` modulo 4 was.
#[inline(always)]
fn turn<Q: Quads, const N: usize, const BY: usize>(x: &mut [Q::V; N]) {
    let old = *x;
    unroll!(i < 8 => { if i < N { x[i] = old[i / 4 * 4 + (i + BY) % 4]; } });
}
