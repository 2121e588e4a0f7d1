//! GHASH: a sum of products in GF(2^128).
//!
//! GHASH is POLYVAL (RFC 8452, appendix A) of byte-reversed blocks under the key x·reverse(H). In that order the bits
//! of an element stand as carry-less multiplication wants them, and nothing is left to shift.
#![forbid(unsafe_code)]

use crate::vector::{Products, unroll};
use crate::zero::wipe;

/// Blocks of zero after H^1: the blocks that a last vector lacks are multiplied by them. Three are enough for four lanes;
/// four, so that everything begins on a cache line.
const ZEROS: usize = 4;

/// Powers for a short message, of at most [`FEW`] blocks together with that of the lengths.
pub(crate) type Few = Powers<{ FEW + ZEROS }>;
/// Powers for a message of any length.
pub(crate) type Many = Powers<{ MANY + ZEROS }>;

pub(crate) const FEW: usize = 8;
/// A group has at most 32 blocks, and there is the block of lengths. Three more, so that groups begin on cache lines.
const MANY: usize = 36;

/// H^n … H^1, then zeros, and their halves added up for Karatsuba's middle product. Wiped on drop.
#[repr(C, align(16))]
pub(crate) struct Powers<const N: usize> {
    whole: [[u8; 16]; N],
    halves: [[u8; 16]; N],
}

impl<const N: usize> Powers<N> {
    pub(crate) const EMPTY: Self = Self { whole: [[0; 16]; N], halves: [[0; 16]; N] };
    /// How many powers there are.
    pub(crate) const COUNT: usize = N - ZEROS;

    /// H^n, H^(n-1), … down to H^1, then zeros.
    #[inline(always)]
    pub(crate) fn down_from<B: Products>(&self, b: B, n: usize) -> (B::V, B::V) {
        let at = Self::COUNT - n.min(Self::COUNT);
        (Self::load(b, &self.whole[at..]), Self::load(b, &self.halves[at..]))
    }

    #[inline(always)]
    fn load<B: Products>(b: B, from: &[[u8; 16]]) -> B::V {
        let from = from.as_flattened();
        // More lanes have zeros of their own after what is there.
        if B::LANES <= ZEROS { b.load(from) } else { b.load_part(&from[..from.len().min(B::BYTES)], 0) }
    }

    /// H in lane 0.
    #[inline(always)]
    pub(crate) fn one<B: Products>(&self, b: B) -> (B::V, B::V) {
        (b.zero_extend(&self.whole[Self::COUNT - 1]), b.zero_extend(&self.halves[Self::COUNT - 1]))
    }

    /// Powers from H^n down, as many as a vector has but none below H^1.
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

    /// All powers above H^n: H^(n+k) = H^n · H^k, so that their number doubles each time.
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

impl Few {
    /// From GHASH's H, as AES made it.
    #[inline(always)]
    pub(crate) fn set_up_ghash<B: Products>(&mut self, b: B, h: [u8; 16]) {
        self.set_up_polyval(b, double(u128::from_be_bytes(h)).to_le_bytes());
    }

    /// From POLYVAL's H.
    #[inline(always)]
    pub(crate) fn set_up_polyval<B: Products>(&mut self, b: B, h: [u8; 16]) {
        let mut v = b.splat(&h);
        let mut known = 1;
        // As many as a vector holds, in registers: what was stored in parts cannot be loaded whole before it has
        // reached the cache, and that took longer than all of the products.
        unroll!(k < 4 => {
            const N: usize = 1 << k;
            if 2 * N <= B::LANES.min(FEW) {
                v = b.alternate::<N>(times(b, v, b.splat(&b.first_lane(v))), v);
                known = 2 * N;
            }
        });
        self.put(b, known, v, known);
        self.fill(b, known);
    }
}

/// Many powers, from the few.
#[inline(always)]
pub(crate) fn set_up_many<B: Products>(b: B, few: &Few, many: &mut Many) {
    many.whole[MANY - FEW..MANY].copy_from_slice(&few.whole[..FEW]);
    many.halves[MANY - FEW..MANY].copy_from_slice(&few.halves[..FEW]);
    many.fill(b, FEW);
}

impl<const N: usize> Drop for Powers<N> {
    fn drop(&mut self) {
        wipe(self.whole[..Self::COUNT].as_flattened_mut());
        wipe(self.halves[..Self::COUNT].as_flattened_mut());
    }
}

/// x·h, of integers that hold elements in POLYVAL's order.
fn double(h: u128) -> u128 {
    h << 1 ^ (0u128.wrapping_sub(h >> 127) & (0xc2 << 120 | 1))
}

/// x·y.
#[inline(always)]
fn times<B: Products>(b: B, x: B::V, y: B::V) -> B::V {
    let mut sum = Sum::new(b);
    sum.add(b, x, y, b.xor(y, b.swap_halves(y)));
    sum.reduce(b)
}

/// A sum of products not yet reduced: low halves, Karatsuba's middle, high halves.
pub(crate) struct Sum<V>(pub(crate) [V; 3]);

impl<V: Copy> Sum<V> {
    #[inline(always)]
    pub(crate) fn new<B: Products<V = V>>(b: B) -> Self {
        Self([b.splat(&[0; 16]); 3])
    }

    /// x·h in three parts.
    #[inline(always)]
    pub(crate) fn product<B: Products<V = V>>(b: B, x: V, h: V, halves: V) -> [V; 3] {
        [b.clmul_low(x, h), b.clmul_low(b.xor(x, b.swap_halves(x)), halves), b.clmul_high(x, h)]
    }

    /// Adds x·h.
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

    /// First half of the reduction.
    #[inline(always)]
    pub(crate) fn reduce_low<B: Products<V = V>>(&mut self, b: B) {
        let [low, middle, high] = self.0;
        let middle = b.xor3(middle, low, high);
        self.0[1] = b.xor3(middle, b.clmul_field(low), b.swap_halves(low));
    }

    /// Second half, after [`Sum::reduce_low`].
    #[inline(always)]
    pub(crate) fn reduce_high<B: Products<V = V>>(&self, b: B) -> V {
        let [_, middle, high] = self.0;
        b.xor3(high, b.clmul_field(middle), b.swap_halves(middle))
    }

    /// The sum in every lane.
    #[inline(always)]
    pub(crate) fn reduce<B: Products<V = V>>(mut self, b: B) -> V {
        self.reduce_low(b);
        self.reduce_high(b)
    }
}

/// How the bytes of a cipher's blocks stand against POLYVAL's order, which is little-endian.
pub(crate) trait Order {
    /// From one into the other.
    fn turn<B: Products>(b: B, v: B::V) -> B::V;
}

/// GHASH's.
pub(crate) struct BigEndian;
/// POLYVAL's own.
pub(crate) struct LittleEndian;

impl Order for BigEndian {
    #[inline(always)]
    fn turn<B: Products>(b: B, v: B::V) -> B::V {
        b.swap_bytes(v)
    }
}

impl Order for LittleEndian {
    #[inline(always)]
    fn turn<B: Products>(_: B, v: B::V) -> B::V {
        v
    }
}

/// Goes on hashing with `W` vectors. `state` is in lane 0.
#[inline(always)]
pub(crate) fn absorb_group<B: Products, O: Order, const W: usize, const N: usize>(
    b: B,
    powers: &Powers<N>,
    state: B::V,
    group: &[u8],
) -> B::V {
    let group = &group[..W * B::BYTES];
    let mut sum = Sum::new(b);
    unroll!(k < W => {
        // The first vector last: the state that it waits for is the end of a long chain.
        let i = (k + 1) % W;
        let x = O::turn(b, b.load(&group[i * B::BYTES..]));
        let x = if i == 0 { b.xor(x, state) } else { x };
        let (h, halves) = b.opaque_ref(powers).down_from(b, (W - i) * B::LANES);
        sum.add(b, x, h, halves);
    });
    b.xor_lanes(sum.reduce(b))
}

/// Goes on hashing with `bytes`, with zeros up to whole blocks, and then the block `last`. `state` is in lane 0.
#[inline(always)]
pub(crate) fn absorb<B: Products, O: Order, const W: usize, const N: usize>(
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
    // As many blocks as there are powers, but for that of `last`.
    while let Some((some, after)) = rest.split_at_checked(16 * (Powers::<N>::COUNT - 1))
        && !after.is_empty()
    {
        state = absorb_end::<B, O, N>(b, powers, state, some, None);
        rest = after;
    }
    absorb_end::<B, O, N>(b, powers, state, rest, last)
}

/// [`absorb`] with one reduction. No more blocks than there are powers.
#[inline(always)]
fn absorb_end<B: Products, O: Order, const N: usize>(
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
        let x = b.xor(O::turn(b, b.load_part(part, 0)), state);
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

/// [`absorb`] between calls: `hash` is an integer in POLYVAL's order.
#[inline(always)]
pub(crate) fn absorb_into<B: Products, const W: usize, const N: usize>(
    b: B,
    powers: &Powers<N>,
    bytes: &[u8],
    hash: &mut u128,
) {
    let state = absorb::<B, BigEndian, W, N>(b, powers, b.zero_extend(&hash.to_le_bytes()), bytes, None);
    *hash = u128::from_le_bytes(b.first_lane(state));
}
