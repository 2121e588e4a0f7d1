//! GHASH (SP 800-38D, section 6.4) and POLYVAL (RFC 8452, section 3): polynomials over GF(2^128).
//!
//! ```text
//! Y(0) = 0        Y(i) = (Y(i-1) XOR X(i)) · H
//! ```
//!
//! GHASH is POLYVAL of byte-reversed blocks with the key x·reverse(H) (RFC 8452, appendix A). In
//! the bit order of POLYVAL the product of a carry-less multiplication needs no shift, so
//! everything here is POLYVAL.
//!
//! The recurrence is one long chain of multiplications. So `n` blocks are multiplied by different
//! powers of H, which are independent products, and their sum is reduced once:
//!
//! ```text
//! Y(n) = (Y(0) XOR X(1))·H^n XOR X(2)·H^(n-1) XOR … XOR X(n)·H
//! ```
//!
//! A product has three parts (Karatsuba): low·low, high·high and (low XOR high)·(low XOR high). For
//! the last one the table of powers also stores the XOR of the halves of each power.
#![forbid(unsafe_code)]

use crate::vector::{Products, unroll};
use crate::zero::wipe;

/// Number of zero blocks after H^1. They are the factors of the missing blocks of a last vector.
/// Three suffice for four lanes; with four, everything begins on a cache line.
const ZEROS: usize = 4;

/// Powers for a short message, of at most [`SHORT_POWERS`] blocks with the block of lengths.
pub(crate) type ShortPowers = Powers<{ SHORT_POWERS + ZEROS }>;
/// Powers for a message of any length.
pub(crate) type BulkPowers = Powers<{ BULK_POWERS + ZEROS }>;

pub(crate) const SHORT_POWERS: usize = 8;
/// At the end of a message, four lanes of a hash, up to 32 blocks and the block of lengths need
/// powers. Three more align groups to cache lines.
const BULK_POWERS: usize = 40;

/// Powers for the loops, on cache lines. Those of a short message have a smaller alignment, because
/// memory with a large one takes longer to allocate.
#[repr(align(64))]
pub(crate) struct AlignedBulkPowers(pub(crate) BulkPowers);

impl AlignedBulkPowers {
    pub(crate) const EMPTY: Self = Self(BulkPowers::EMPTY);
}

/// H^n … H^1, then zeros, and the XOR of the halves of each, which are all wiped from memory on
/// drop.
#[repr(C, align(16))]
pub(crate) struct Powers<const N: usize> {
    whole: [[u8; 16]; N],
    halves: [[u8; 16]; N],
}

impl<const N: usize> Powers<N> {
    pub(crate) const EMPTY: Self = Self { whole: [[0; 16]; N], halves: [[0; 16]; N] };
    /// Number of powers of H in the table, without the zeros after them.
    pub(crate) const COUNT: usize = N - ZEROS;

    /// Loads a vector of H^n, H^(n-1), … down to H^1, then zeros.
    #[inline(always)]
    pub(crate) fn down_from<B: Products>(&self, b: B, n: usize) -> (B::V, B::V) {
        let at = Self::COUNT - n.min(Self::COUNT);
        (Self::load(b, &self.whole[at..]), Self::load(b, &self.halves[at..]))
    }

    /// Loads H^n into each lane.
    #[inline(always)]
    pub(crate) fn in_each_lane<B: Products>(&self, b: B, n: usize) -> (B::V, B::V) {
        (b.splat(&self.whole[Self::COUNT - n]), b.splat(&self.halves[Self::COUNT - n]))
    }

    #[inline(always)]
    fn load<B: Products>(b: B, from: &[[u8; 16]]) -> B::V {
        let from = from.as_flattened();
        // With more lanes than zeros, the missing lanes become zero.
        if B::LANES <= ZEROS { b.load(from) } else { b.load_part(&from[..from.len().min(B::BYTES)], 0) }
    }

    /// Loads H into lane 0.
    #[inline(always)]
    pub(crate) fn one<B: Products>(&self, b: B) -> (B::V, B::V) {
        (b.zero_extend(&self.whole[Self::COUNT - 1]), b.zero_extend(&self.halves[Self::COUNT - 1]))
    }

    /// Stores `count` powers from H^n down.
    #[inline(always)]
    fn put<B: Products>(&mut self, b: B, n: usize, v: B::V, count: usize) {
        let to = Self::COUNT - n..Self::COUNT - n + count;
        let halves = b.xor(v, b.swap_halves(v));
        if count == B::LANES {
            b.store(v, self.whole[to.clone()].as_flattened_mut());
            b.store(halves, self.halves[to].as_flattened_mut());
        } else {
            b.store_part(v, self.whole[to.clone()].as_flattened_mut(), 0);
            b.store_part(halves, self.halves[to].as_flattened_mut(), 0);
        }
    }

    /// Computes all powers above H^n: H^(n+k) = H^n · H^k, so that their number doubles each time.
    #[inline(always)]
    fn fill<B: Products>(&mut self, b: B, mut n: usize) {
        while n < Self::COUNT {
            let top = b.splat(&self.whole[Self::COUNT - n]);
            let mut k = n.min(Self::COUNT - n);
            n += k;
            let mut at = n;
            while k > 0 {
                let count = k.min(B::LANES);
                self.put(b, at, times(b, self.down_from(b, k).0, top), count);
                k -= count;
                at -= count;
            }
        }
    }
}

impl ShortPowers {
    /// Computes the powers for the H of GHASH.
    #[inline(always)]
    pub(crate) fn set_up_ghash<B: Products>(&mut self, b: B, h: [u8; 16]) {
        self.set_up_polyval(b, double(u128::from_be_bytes(h)).to_le_bytes());
    }

    /// Returns H^1 in the order of POLYVAL.
    pub(crate) fn first(&self) -> u128 {
        u128::from_le_bytes(self.whole[Self::COUNT - 1])
    }

    /// Sets only H^1, enough to multiply by it. The other powers must be zero.
    pub(crate) fn set_first(&mut self, h: u128) {
        self.whole[Self::COUNT - 1] = h.to_le_bytes();
        self.halves[Self::COUNT - 1] = (h ^ h.rotate_left(64)).to_le_bytes();
    }

    /// Sets H^1 to the `n`-th power of H^1 in `h`, by squaring and multiplying. `multiply`
    /// multiplies an element by the first power in its first argument. The exponent is public,
    /// and at least 1.
    pub(crate) fn set_power(&mut self, h: &Self, n: usize, multiply: impl Fn(&Self, &mut u128)) {
        let mut value = h.first();
        for bit in (0..n.ilog2()).rev() {
            self.set_first(value);
            multiply(self, &mut value);
            if n >> bit & 1 == 1 {
                multiply(h, &mut value);
            }
        }
        self.set_first(value);
        wipe(core::slice::from_mut(&mut value));
    }

    /// Returns the powers of the H of POLYVAL, computed by the reference implementation.
    #[cfg(test)]
    pub(crate) fn reference(h: u128) -> Self {
        let (mut powers, mut power) = (Self::EMPTY, h);
        for n in 1..=Self::COUNT {
            powers.whole[Self::COUNT - n] = power.to_le_bytes();
            powers.halves[Self::COUNT - n] = (power ^ power.rotate_left(64)).to_le_bytes();
            power = reference::gcm_siv::dot_vartime(power, h);
        }
        powers
    }

    /// Computes the powers for the H of POLYVAL.
    #[inline(always)]
    pub(crate) fn set_up_polyval<B: Products>(&mut self, b: B, h: [u8; 16]) {
        let mut v = b.splat(&h);
        let mut known = 1;
        // The powers of one vector are computed in registers: what was stored in parts cannot be
        // loaded as a whole before it has reached the cache, which took longer than all of the
        // products.
        unroll!(k < 4 => {
            const N: usize = 1 << k;
            if 2 * N <= B::LANES.min(SHORT_POWERS) {
                v = b.alternate::<N>(times(b, v, b.splat(&b.first_lane(v))), v);
                known = 2 * N;
            }
        });
        self.put(b, known, v, known);
        self.fill(b, known);
    }
}

/// Computes the powers for long messages from those for short ones.
#[inline(always)]
pub(crate) fn set_up_bulk_powers<B: Products>(b: B, short: &ShortPowers, bulk: &mut BulkPowers) {
    let known = BULK_POWERS - SHORT_POWERS..BULK_POWERS;
    bulk.whole[known.clone()].copy_from_slice(&short.whole[..SHORT_POWERS]);
    bulk.halves[known].copy_from_slice(&short.halves[..SHORT_POWERS]);
    bulk.fill(b, SHORT_POWERS);
}

impl<const N: usize> Drop for Powers<N> {
    fn drop(&mut self) {
        wipe(self.whole[..Self::COUNT].as_flattened_mut());
        wipe(self.halves[..Self::COUNT].as_flattened_mut());
    }
}

/// Multiplies by x in constant time. The integer is an element in the order of POLYVAL.
fn double(h: u128) -> u128 {
    h << 1 ^ (0u128.wrapping_sub(h >> 127) & (0xc2 << 120 | 1))
}

/// Multiplies lane by lane, so that each product stays in its lane.
#[inline(always)]
pub(crate) fn times<B: Products>(b: B, x: B::V, y: B::V) -> B::V {
    let mut sum = Sum::new(b);
    sum.add(b, x, y, b.xor(y, b.swap_halves(y)));
    sum.reduce(b)
}

/// A sum of unreduced products: the low part, the middle part of Karatsuba, and the high part.
pub(crate) struct Sum<V>(pub(crate) [V; 3]);

impl<V: Copy> Sum<V> {
    #[inline(always)]
    pub(crate) fn new<B: Products<V = V>>(b: B) -> Self {
        Self([b.splat(&[0; 16]); 3])
    }

    /// Returns the product x·h in three parts, not reduced.
    #[inline(always)]
    pub(crate) fn product<B: Products<V = V>>(b: B, x: V, h: V, halves: V) -> [V; 3] {
        [b.clmul_low(x, h), b.clmul_low(b.xor(x, b.swap_halves(x)), halves), b.clmul_high(x, h)]
    }

    /// Adds the product x·h to the sum, without reducing it.
    #[inline(always)]
    pub(crate) fn add<B: Products<V = V>>(&mut self, b: B, x: V, h: V, halves: V) {
        self.add_one(b, Self::product(b, x, h, halves));
    }

    #[inline(always)]
    pub(crate) fn add_one<B: Products<V = V>>(&mut self, b: B, p: [V; 3]) {
        let [low, middle, high] = self.0;
        self.0 = [b.xor(low, p[0]), b.xor(middle, p[1]), b.xor(high, p[2])];
    }

    #[inline(always)]
    pub(crate) fn add_two<B: Products<V = V>>(&mut self, b: B, p: [V; 3], q: [V; 3]) {
        let [low, middle, high] = self.0;
        self.0 = [b.xor3(low, p[0], q[0]), b.xor3(middle, p[1], q[1]), b.xor3(high, p[2], q[2])];
    }

    /// Does the first half of the reduction.
    #[inline(always)]
    pub(crate) fn reduce_low<B: Products<V = V>>(&mut self, b: B) {
        let [low, middle, high] = self.0;
        let middle = b.xor3(middle, low, high);
        self.0[1] = b.xor3(middle, b.clmul_field(low), b.swap_halves(low));
    }

    /// Does the second half of the reduction, after [`Sum::reduce_low`].
    #[inline(always)]
    pub(crate) fn reduce_high<B: Products<V = V>>(&self, b: B) -> V {
        let [_, middle, high] = self.0;
        b.xor3(high, b.clmul_field(middle), b.swap_halves(middle))
    }

    /// Reduces the sum of each lane.
    #[inline(always)]
    pub(crate) fn reduce<B: Products<V = V>>(mut self, b: B) -> V {
        self.reduce_low(b);
        self.reduce_high(b)
    }
}

/// The byte order of the blocks of an algorithm. Elements and counters are little-endian, as in
/// POLYVAL.
pub(crate) trait ByteOrder {
    /// Reverses the bytes of each block if the algorithm is big-endian.
    fn reverse_bytes<B: Products>(b: B, v: B::V) -> B::V;
}

/// The order of GHASH.
pub(crate) struct BigEndian;
/// The order of POLYVAL.
pub(crate) struct LittleEndian;

impl ByteOrder for BigEndian {
    #[inline(always)]
    fn reverse_bytes<B: Products>(b: B, v: B::V) -> B::V {
        b.swap_bytes(v)
    }
}

impl ByteOrder for LittleEndian {
    #[inline(always)]
    fn reverse_bytes<B: Products>(_: B, v: B::V) -> B::V {
        v
    }
}

/// Continues the hash `state` (in lane 0) with `W` vectors.
#[inline(always)]
pub(crate) fn absorb_group<B: Products, O: ByteOrder, const W: usize, const N: usize>(
    b: B,
    powers: &Powers<N>,
    state: B::V,
    group: &[u8],
) -> B::V {
    let group = &group[..W * B::BYTES];
    let mut sum = Sum::new(b);
    unroll!(k < W => {
        // The first vector is the last one, because it depends on the state, the result of a long
        // chain.
        let i = (k + 1) % W;
        let x = O::reverse_bytes(b, b.load(&group[i * B::BYTES..]));
        let x = if i == 0 { b.xor(x, state) } else { x };
        let (h, halves) = b.opaque_ref(powers).down_from(b, (W - i) * B::LANES);
        sum.add(b, x, h, halves);
    });
    b.xor_lanes(sum.reduce(b))
}

/// Continues the hash `state`, which is in lane 0, with `bytes`, padded with zeros to blocks, and
/// with the block `last`.
#[inline(always)]
pub(crate) fn absorb<B: Products, O: ByteOrder, const W: usize, const N: usize>(
    b: B,
    powers: &Powers<N>,
    mut state: B::V,
    bytes: &[u8],
    last: Option<&[u8; 16]>,
) -> B::V {
    let mut rest = bytes;
    if W * B::LANES <= Powers::<N>::COUNT {
        while let Some((group, after)) = rest.split_at_checked(W * B::BYTES) {
            state = absorb_group::<B, O, W, N>(b, powers, state, group);
            rest = after;
        }
    }
    // As many blocks as there are powers, except one for `last`.
    while let Some((some, after)) = rest.split_at_checked(16 * (Powers::<N>::COUNT - 1))
        && !after.is_empty()
    {
        state = absorb_end::<B, O, N>(b, powers, state, some, None);
        rest = after;
    }
    absorb_end::<B, O, N>(b, powers, state, rest, last)
}

/// Does the work of [`absorb`] with one reduction, for at most as many blocks as there are powers.
#[inline(always)]
fn absorb_end<B: Products, O: ByteOrder, const N: usize>(
    b: B,
    powers: &Powers<N>,
    mut state: B::V,
    bytes: &[u8],
    last: Option<&[u8; 16]>,
) -> B::V {
    let mut blocks = bytes.len().div_ceil(16) + usize::from(last.is_some());
    if blocks == 0 {
        return state;
    }
    let mut sum = Sum::new(b);
    for part in bytes.chunks(B::BYTES) {
        let x = b.xor(O::reverse_bytes(b, b.load_part(part, 0)), state);
        let (h, halves) = powers.down_from(b, blocks);
        sum.add(b, x, h, halves);
        state = b.splat(&[0; 16]);
        blocks = blocks.saturating_sub(B::LANES);
    }
    if let Some(last) = last {
        let (h, halves) = powers.one(b);
        sum.add(b, b.xor(b.zero_extend(last), state), h, halves);
    }
    b.xor_lanes(sum.reduce(b))
}

/// Does the work of [`absorb`] with a state in memory, an integer in POLYVAL's order.
#[inline(always)]
pub(crate) fn absorb_into<B: Products, O: ByteOrder, const W: usize, const N: usize>(
    b: B,
    powers: &Powers<N>,
    bytes: &[u8],
    hash: &mut u128,
) {
    let state = absorb::<B, O, W, N>(b, powers, b.zero_extend(&hash.to_le_bytes()), bytes, None);
    *hash = u128::from_le_bytes(b.first_lane(state));
}
