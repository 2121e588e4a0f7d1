//! Salsa20 (Bernstein, "The Salsa20 family of stream ciphers", 2007) and HSalsa20, written once for
//! every instruction set.
//!
//! The state is a matrix of 16 words, with the constants on its diagonal:
//!
//! ```text
//! state = [ c0   k0   k1   k2 ]        c: "expand 32-byte k"
//!         [ k3   c1   n0   n1 ]        k: key
//!         [ p0   p1   c2   k4 ]        n: nonce
//!         [ k5   k6   k7   c3 ]        p: position, the number of the block
//! x     = state
//! repeat 10 times:
//!     QUARTERROUND(x) on each column, beginning at its constant
//!     QUARTERROUND(x) on each row, beginning at its constant
//! block = serialize(x + state)
//!
//! QUARTERROUND(a, b, c, d): b ^= (a + d) <<< 7    c ^= (b + a) <<< 9
//!                           d ^= (c + b) <<< 13   a ^= (d + c) <<< 18
//! ```
//!
//! A vector holds one operand of the quarter rounds of all columns, for as many blocks as it has
//! quads. So `a` is the diagonal, and rotating the words of `b`, `c` and `d` moves the rows to the
//! columns and back. `N` groups of such vectors are computed in parallel.
//!
//! ChaCha20 has a second layout, with a word of many blocks in a vector, that saves the rotations.
//! Without it the code is half as long, and a round has 6 rotations beside its 24 operations.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::chacha20::Key;
use crate::vector::quads::Quads;
use crate::vector::unroll;
use crate::zero::wipe;

/// The diagonal of every state.
const CONSTANTS: [u8; 16] = *b"expand 32-byte k";
/// Number of bytes in the widest vector.
const WIDEST: usize = 64;

/// The rows of operands `b`, `c` and `d`. Wiped from memory on drop.
struct Rows([[u8; 16]; 3]);

impl Rows {
    /// `middle` has words 6 to 9 of the state: a nonce, or the rest of a nonce and the number of
    /// the first block.
    #[inline(always)]
    fn new(key: &Key, middle: &[u8; 16]) -> Self {
        // Each word is one of the key, from 0 on, or one of `middle`, from 8 on.
        const WORDS: [[usize; 4]; 3] = [[3, 11, 7, 2], [10, 6, 1, 9], [5, 0, 8, 4]];
        let mut rows = Self([[0; 16]; 3]);
        for (words, row) in WORDS.iter().zip(&mut rows.0) {
            for (&from, to) in words.iter().zip(row.as_chunks_mut::<4>().0) {
                let half = if from < 8 { &key.0[from / 4] } else { middle };
                *to = half.as_chunks().0[from % 4];
            }
        }
        rows
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// For `N` groups, the operands of the quarter rounds.
struct State<Q: Quads, const N: usize> {
    a: [Q::V; N],
    b: [Q::V; N],
    c: [Q::V; N],
    d: [Q::V; N],
}

impl<Q: Quads, const N: usize> State<Q, N> {
    /// Returns the initial state. Block numbers are consecutive in the vectors of a group.
    #[inline(always)]
    fn new(q: Q, rows: &Rows) -> Self {
        let [b, c, d] = [&rows.0[0], &rows.0[1], &rows.0[2]].map(|row| q.splat_quad(row));
        let mut s = Self { a: [q.splat_quad(&CONSTANTS); N], b: [b; N], c: [c; N], d: [d; N] };
        unroll!(i < 4 => {
            if i < N {
                s.c[i] = q.add(c, q.load(&const { Counters::<Q>::OFFSETS[i % 4] }));
            }
        });
        s
    }

    #[inline(always)]
    fn rounds(&mut self, q: Q) {
        let mut round = 0;
        while round < 20 {
            let Self { a, b, c, d } = self;
            step::<Q, N, 7>(q, b, a, d);
            step::<Q, N, 9>(q, c, b, a);
            step::<Q, N, 13>(q, d, c, b);
            step::<Q, N, 18>(q, a, d, c);
            unroll!(i < 4 => {
                if i < N {
                    (b[i], d[i]) = (q.rotate_lanes::<1>(d[i]), q.rotate_lanes::<3>(b[i]));
                    c[i] = q.rotate_lanes::<2>(c[i]);
                }
            });
            round += 1;
        }
    }

    /// Returns the rows of the matrices of group `i`.
    #[inline(always)]
    fn matrix(&self, q: Q, i: usize) -> [Q::V; 4] {
        let [columns, x, y, z] = q.transpose([self.a[i], self.b[i], self.c[i], self.d[i]]);
        q.transpose([columns, q.rotate_lanes::<3>(x), q.rotate_lanes::<2>(y), q.rotate_lanes::<1>(z)])
    }
}

/// Computes `x ^= (y + z) <<< BITS` for all quarter rounds.
#[inline(always)]
fn step<Q: Quads, const N: usize, const BITS: i32>(q: Q, x: &mut [Q::V; N], y: &[Q::V; N], z: &[Q::V; N]) {
    unroll!(i < 4 => {
        if i < N {
            x[i] = q.xor(x[i], q.rotate_left::<BITS>(q.add(y[i], z[i])));
        }
    });
}

/// For each group, the difference of its block numbers to the first one, in word 0 of each quad.
struct Counters<Q>(Q);

impl<Q: Quads> Counters<Q> {
    const OFFSETS: [[u8; WIDEST]; 4] = {
        let (quads, mut offsets) = (Q::LANES / 4, [[0; WIDEST]; 4]);
        let mut i = 0;
        while i < 4 * quads {
            offsets[i / quads][16 * (i % quads)] = i as u8;
            i += 1;
        }
        offsets
    };
}

/// XORs `data` with the keystream from block `counter` on. The caller must check that the last
/// block has a number below 2^32.
#[inline(always)]
pub(crate) fn xor<Q: Quads, const W: usize>(
    q: Q,
    key: &Key,
    nonce: &[u8; 8],
    mut counter: u32,
    mut data: InOut<'_>,
) {
    let (group, len, mut done) = (4 * Q::BYTES, data.len(), 0);
    while done < len {
        let mut middle = [0; 16];
        middle[..8].copy_from_slice(nonce);
        middle[8..12].copy_from_slice(&counter.to_le_bytes());
        let rows = Rows::new(key, &middle);
        let left = len - done;
        let now = if W > 4 && left > 2 * group {
            xor_groups::<Q, 4>(q, &rows, data.part(done, left.min(4 * group)))
        } else if W > 1 && left > group {
            xor_groups::<Q, 2>(q, &rows, data.part(done, left.min(2 * group)))
        } else {
            xor_groups::<Q, 1>(q, &rows, data.part(done, left.min(group)))
        };
        counter = counter.wrapping_add((now / 64) as u32);
        done += now;
    }
}

/// XORs the keystream of up to `N` groups, and returns the number of bytes.
#[inline(always)]
fn xor_groups<Q: Quads, const N: usize>(q: Q, rows: &Rows, mut data: InOut<'_>) -> usize {
    let len = data.len();
    let mut s = State::<Q, N>::new(q, rows);
    s.rounds(q);
    let initial = State::<Q, N>::new(q, q.opaque_ref(rows));
    unroll!(i < 4 => {
        if i < N {
            s.a[i] = q.add(s.a[i], initial.a[i]);
            s.b[i] = q.add(s.b[i], initial.b[i]);
            s.c[i] = q.add(s.c[i], initial.c[i]);
            s.d[i] = q.add(s.d[i], initial.d[i]);
            let keystream = q.transpose_quads(s.matrix(q, i));
            unroll!(j < 4 => {
                let at = (4 * i + j) * Q::BYTES;
                if at + Q::BYTES <= len {
                    let mut part = data.part(at, Q::BYTES);
                    let x = q.load(part.source());
                    q.store(q.xor(x, keystream[j]), part.target());
                } else if at < len {
                    let mut part = data.part(at, len - at);
                    let x = q.load_part(part.source());
                    q.store_part(q.xor(x, keystream[j]), part.target());
                }
            });
        }
    });
    len
}

/// HSalsa20 (Bernstein, "Extending the Salsa20 nonce", 2011, section 2): derives a key from a key
/// and the first 16 bytes of a nonce. It is the diagonal and words 6 to 9 after the rounds.
#[inline(always)]
pub(crate) fn subkey<Q: Quads>(q: Q, key: &Key, nonce: &[u8; 16], to: &mut Key) {
    let rows = Rows::new(key, nonce);
    let mut s = State::<Q, 1>::new(q, &rows);
    s.rounds(q);
    let mut words = [[0; WIDEST]; 4];
    for (v, to) in [s.a[0], s.b[0], s.c[0], s.d[0]].into_iter().zip(&mut words) {
        q.store(v, to);
    }
    let [a, b, c, d] = &words;
    to.0[0].copy_from_slice(&a[..16]);
    to.0[1][..4].copy_from_slice(&d[8..12]);
    to.0[1][4..8].copy_from_slice(&c[12..16]);
    to.0[1][8..12].copy_from_slice(&c[..4]);
    to.0[1][12..].copy_from_slice(&b[4..8]);
    wipe(words.as_flattened_mut());
}
