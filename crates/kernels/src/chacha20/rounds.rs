//! The rounds of ChaCha20 (RFC 8439, sections 2.1 and 2.3) on vectors, in the two layouts of
//! [`super::body`].
//!
//! Each of the four lines of a quarter round is three operations:
//!
//! ```text
//! a += b; d ^= a; d <<<= 16
//! c += d; b ^= c; b <<<= 12
//! a += b; d ^= a; d <<<= 8
//! c += d; b ^= c; b <<<= 7
//! ```
//!
//! `N` quarter rounds are computed in parallel, on `N` vectors for each of `a`, `b`, `c` and `d`.
#![forbid(unsafe_code)]

use crate::vector::quads::Quads;
use crate::vector::{Steps, unroll};

/// The operands of `N` quarter rounds: for each row of the state, `N` vectors.
pub(super) struct State<Q: Quads, const N: usize> {
    pub(super) a: [Q::V; N],
    pub(super) b: [Q::V; N],
    pub(super) c: [Q::V; N],
    pub(super) d: [Q::V; N],
}

/// One of the three operations in a line of a quarter round, with the index of the quarter round.
#[derive(Clone, Copy)]
enum Step {
    Add(usize),
    Xor(usize),
    Rotate(usize),
}

/// The order of operations for eight quarter rounds, that is, for two states. It was found by
/// experiment.
///
/// With this order, a double round of two states in 512-bit vectors takes 96 cycles on Zen 4, which
/// is the minimum at two instructions per cycle. Computing all additions, then all xors and then
/// all rotations takes 110 cycles, because only half of the execution units can rotate.
const ORDER: [[Step; 8]; 3] = {
    use Step::{Add, Rotate, Xor};
    [
        [Add(1), Add(6), Add(2), Xor(1), Add(3), Xor(3), Add(0), Xor(0)],
        [Xor(2), Rotate(2), Add(5), Rotate(0), Xor(6), Rotate(3), Add(4), Rotate(1)],
        [Add(7), Xor(5), Xor(4), Xor(7), Rotate(6), Rotate(5), Rotate(7), Rotate(4)],
    ]
};

/// Computes `x += y; z ^= x; z <<<= BITS` for all quarter rounds.
#[inline(always)]
fn add_xor_rotate<Q: Quads, const N: usize, const BITS: i32>(
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

/// Computes two quarter rounds in the order of the code, the second one operation behind the first.
/// `$step` is other work that is computed between them.
macro_rules! pair {
    ($self:ident $q:ident: a $a0:literal $a1:literal, b $b0:literal $b1:literal, c $c0:literal $c1:literal,
        d $d0:literal $d1:literal; $step:block) => {
        let Self { a, b, c, d } = $self;
        a[$a0] = $q.add(a[$a0], b[$b0]);
        line!($q 16: a $a0 $a1, b $b0 $b1, d $d0 $d1; c $c0 d $d0);
        line!($q 12: c $c0 $c1, d $d0 $d1, b $b0 $b1; a $a0 b $b0);
        $step
        line!($q 8: a $a0 $a1, b $b0 $b1, d $d0 $d1; c $c0 d $d0);
        line!($q 7: c $c0 $c1, d $d0 $d1, b $b0 $b1;);
    };
}

/// Computes a line of two quarter rounds, `x += y; z ^= x; z <<<= BITS`, without the first
/// addition, which is already computed, and with the first addition `v += w` of the next line.
macro_rules! line {
    ($q:ident $bits:literal: $x:ident $x0:literal $x1:literal, $y:ident $y0:literal $y1:literal,
        $z:ident $z0:literal $z1:literal; $($v:ident $v0:literal $w:ident $w0:literal)?) => {
        $z[$z0] = $q.xor($z[$z0], $x[$x0]);
        $x[$x1] = $q.add($x[$x1], $y[$y1]);
        [$z[$z0], $x[$x1]] = $q.fence([$z[$z0], $x[$x1]]);
        $z[$z0] = $q.rotate::<$bits>($z[$z0]);
        $z[$z1] = $q.xor($z[$z1], $x[$x1]);
        [$z[$z0], $z[$z1]] = $q.fence([$z[$z0], $z[$z1]]);
        $( $v[$v0] = $q.add($v[$v0], $w[$w0]); )?
        $z[$z1] = $q.rotate::<$bits>($z[$z1]);
        $( [$v[$v0], $z[$z1]] = $q.fence([$v[$v0], $z[$z1]]); )?
    };
}

impl<Q: Quads, const N: usize> State<Q, N> {
    /// Computes the quarter rounds (RFC 8439, section 2.1) in parallel.
    #[inline(always)]
    pub(super) fn quarter_rounds(&mut self, q: Q) {
        let Self { a, b, c, d } = self;
        add_xor_rotate::<Q, N, 16>(q, a, b, d);
        add_xor_rotate::<Q, N, 12>(q, c, d, b);
        add_xor_rotate::<Q, N, 8>(q, a, b, d);
        add_xor_rotate::<Q, N, 7>(q, c, d, b);
    }

    /// Computes all 20 rounds of a state in rows, and up to 30 steps.
    #[inline(always)]
    pub(super) fn rounds_in_rows(&mut self, q: Q, steps: &mut impl Steps) {
        let mut double_round = 0;
        while double_round < 10 && steps.has(3) {
            self.quarter_rounds(q);
            steps.step();
            self.diagonals_to_columns(q);
            steps.step();
            self.quarter_rounds(q);
            steps.step();
            self.columns_to_diagonals(q);
            double_round += 1;
        }
        while double_round < 10 {
            self.quarter_rounds(q);
            self.diagonals_to_columns(q);
            self.quarter_rounds(q);
            self.columns_to_diagonals(q);
            double_round += 1;
        }
    }

    /// Computes the 19 rounds after the first of a state in words, and up to 29 steps.
    #[inline(always)]
    pub(super) fn rounds_in_words(&mut self, q: Q, steps: &mut impl Steps) {
        if N == 4 && Q::STITCHES {
            return self.rounds_in_few_registers(q, steps);
        }
        self.diagonals_in_words(q);
        let mut double_round = 1;
        while double_round < 10 {
            self.quarter_rounds(q);
            self.diagonals_in_words(q);
            double_round += 1;
        }
    }

    /// Computes the same rounds in 16 registers: quarter rounds in pairs, in the order of the code,
    /// while the two vectors of row `c` that a pair does not use are in memory. Each of the four is
    /// stored and loaded once in two rounds. LLVM would compute nearly one quarter round after
    /// another, and spill three rows.
    #[inline(always)]
    fn rounds_in_few_registers(&mut self, q: Q, steps: &mut impl Steps) {
        let mut parked = self.c;
        self.diagonals_in_few_registers(q, &mut parked, steps);
        let mut double_round = 1;
        while double_round < 10 && steps.has(3) {
            self.double_round_in_few_registers(q, &mut parked, steps);
            double_round += 1;
        }
        while double_round < 10 {
            self.double_round_in_few_registers(q, &mut parked, &mut ());
            double_round += 1;
        }
        self.c[2] = q.unpark(&parked[2]);
        self.c[3] = q.unpark(&parked[3]);
    }

    /// Computes two rounds and three steps.
    #[inline(always)]
    fn double_round_in_few_registers(&mut self, q: Q, parked: &mut [Q::V; N], steps: &mut impl Steps) {
        pair!(self q: a 0 1, b 0 1, c 0 1, d 0 1; { steps.step() });
        self.park::<0, 2>(q, parked);
        pair!(self q: a 2 3, b 2 3, c 2 3, d 2 3; {});
        self.diagonals_in_few_registers(q, parked, steps);
    }

    /// Computes a round on the diagonals and two steps.
    #[inline(always)]
    fn diagonals_in_few_registers(&mut self, q: Q, parked: &mut [Q::V; N], steps: &mut impl Steps) {
        steps.step();
        pair!(self q: a 0 1, b 1 2, c 2 3, d 3 0; {});
        self.park::<2, 0>(q, parked);
        pair!(self q: a 2 3, b 3 0, c 0 1, d 1 2; { steps.step() });
    }

    /// Stores the vectors `I` and `I + 1` of row `c`, and loads `J` and `J + 1`.
    #[inline(always)]
    fn park<const I: usize, const J: usize>(&mut self, q: Q, parked: &mut [Q::V; N]) {
        q.park(self.c[I], &mut parked[I]);
        q.park(self.c[I + 1], &mut parked[I + 1]);
        self.c[J] = q.unpark(&parked[J]);
        self.c[J + 1] = q.unpark(&parked[J + 1]);
    }

    #[inline(always)]
    fn diagonals_in_words(&mut self, q: Q) {
        rotate_vectors::<Q, N, 3>(&mut self.a);
        rotate_vectors::<Q, N, 1>(&mut self.c);
        rotate_vectors::<Q, N, 2>(&mut self.d);
        self.quarter_rounds(q);
        rotate_vectors::<Q, N, 1>(&mut self.a);
        rotate_vectors::<Q, N, 3>(&mut self.c);
        rotate_vectors::<Q, N, 2>(&mut self.d);
    }

    /// Rotates the rows of a state in rows, so that its diagonals become columns.
    ///
    /// The usual choice is to rotate `b`, `c` and `d`. But a quarter round computes `b` last and
    /// the next one needs it first, so rotating `a` instead of `b` keeps the rotations off the
    /// critical path.
    #[inline(always)]
    fn diagonals_to_columns(&mut self, q: Q) {
        unroll!(i < 8 => {
            if i < N {
                self.a[i] = q.rotate_lanes::<3>(self.a[i]);
                self.c[i] = q.rotate_lanes::<1>(self.c[i]);
                self.d[i] = q.rotate_lanes::<2>(self.d[i]);
            }
        });
    }

    /// The inverse of [`State::diagonals_to_columns`]: rotates the rows back.
    #[inline(always)]
    fn columns_to_diagonals(&mut self, q: Q) {
        unroll!(i < 8 => {
            if i < N {
                self.a[i] = q.rotate_lanes::<1>(self.a[i]);
                self.c[i] = q.rotate_lanes::<3>(self.c[i]);
                self.d[i] = q.rotate_lanes::<2>(self.d[i]);
            }
        });
    }

    /// Returns the four columns from column `i` on.
    #[inline(always)]
    pub(super) fn four_columns(&self, i: usize) -> State<Q, 4> {
        let Self { a, b, c, d } = self;
        State {
            a: [a[i], a[i + 1], a[i + 2], a[i + 3]],
            b: [b[i], b[i + 1], b[i + 2], b[i + 3]],
            c: [c[i], c[i + 1], c[i + 2], c[i + 3]],
            d: [d[i], d[i + 1], d[i + 2], d[i + 3]],
        }
    }

    /// Returns group `i` of a state in rows, in the order of the keystream.
    #[inline(always)]
    pub(super) fn keystream(&self, q: Q, i: usize) -> [Q::V; 4] {
        q.transpose_quads([self.a[i], self.b[i], self.c[i], self.d[i]])
    }
}

/// Rotates each group of four vectors: vector `i` becomes the former vector `i + BY` modulo 4.
#[inline(always)]
fn rotate_vectors<Q: Quads, const N: usize, const BY: usize>(x: &mut [Q::V; N]) {
    let old = *x;
    unroll!(i < 8 => { if i < N { x[i] = old[i / 4 * 4 + (i + BY) % 4]; } });
}
