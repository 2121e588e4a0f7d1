//! Counter mode and a polynomial hash in one pass, for AES-GCM and AES-GCM-SIV.
//!
//! The main loop processes one group of `W` vectors at a time. It encrypts the counters of a group,
//! and between the rounds of AES it does the multiplications for a group of bytes that are already
//! available:
//!
//! ```text
//! for r in 1..R:
//!     s[i] = AESRound(s[i], key r)            for the W vectors of counters
//!     one step of hashing                     two products, or a part of the reduction
//! data group = data group XOR AESLastRound(s)
//! ```
//!
//! The two instruction sequences do not depend on each other, so the processor executes them in
//! parallel. When the output is hashed, hashing is one group behind; when the input is hashed, it
//! processes the same group.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::two_rounds::{PERIOD, TwoRounds, rounds};
use crate::first_round::FirstRound;
use crate::ghash::{ByteOrder, Powers, ShortPowers, Sum, absorb};
use crate::vector::{NUMBERS, Products, Schedule, each_round, unroll};
use core::marker::PhantomData;

/// The last byte of the counter with which the data of AES-GCM begins, if the nonce has 96 bits.
pub(crate) const FIRST_BYTE: usize = 2;

/// The keys of a message: the AES keys, and enough powers for a short message.
pub(crate) struct Key {
    pub(crate) schedule: Schedule,
    pub(crate) short_powers: ShortPowers,
}

impl Key {
    pub(crate) const EMPTY: Self = Self { schedule: Schedule::EMPTY, short_powers: ShortPowers::EMPTY };
}

/// The vectors of a group that is hashed: in memory, or already loaded.
///
/// When opening, the vectors that are hashed and decrypted are loaded once. If they were loaded
/// twice, another process could change a shared mapping in between, and choose the plaintext of a
/// message with a valid tag.
pub(crate) trait Group<B: Products> {
    /// Returns vector `i` of the group.
    fn vector(&self, b: B, i: usize) -> B::V;
}

impl<B: Products> Group<B> for &[u8] {
    #[inline(always)]
    fn vector(&self, b: B, i: usize) -> B::V {
        b.load(&self[i * B::BYTES..])
    }
}

impl<B: Products, const W: usize> Group<B> for [B::V; W] {
    #[inline(always)]
    fn vector(&self, _: B, i: usize) -> B::V {
        self[i]
    }
}

/// The state of one call. `W` is the number of vectors in flight and `N` the size of the table of
/// powers.
pub(crate) struct Call<'a, B: Products, O, const W: usize, const N: usize> {
    b: B,
    order: PhantomData<O>,
    keys: B::Keys<'a>,
    powers: &'a Powers<N>,
    /// The next counter in every lane, as an integer.
    counter: B::V,
    /// The hash so far, in lane 0. With [`Self::HORNER`] that before the groups, which is zero
    /// after the first one.
    state: B::V,
    /// With [`Self::HORNER`], the hash of the groups, by Horner's method in each lane: every vector
    /// is followed by a multiplication by H^LANES, except the last one. So the last blocks,
    /// from lane 0 on, are still to be multiplied by H^LANES, H^(LANES-1), … before the lanes
    /// are added.
    lanes: B::V,
    /// Whether there is a hash in `lanes`.
    in_lanes: bool,
    /// The block of lengths, hashed last.
    lengths: [u8; 16],
    /// The precomputed first round, if there is one and the counter is public.
    first_round: Option<&'a FirstRound>,
    /// The last byte of the counter, if there is a first round.
    counter_byte: usize,
    /// Two precomputed rounds, if there are, and the state after them of the counter of this period
    /// with last byte 0.
    two_rounds: Option<(&'a TwoRounds, B::S)>,
}

/// The side of the data that is hashed: the ciphertext for GCM, the plaintext for GCM-SIV.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashed {
    Source,
    Target,
}

impl<'a, B: Products, O: ByteOrder, const W: usize, const N: usize> Call<'a, B, O, W, N> {
    #[inline(always)]
    pub(crate) fn new(
        b: B,
        schedule: &'a Schedule,
        powers: &'a Powers<N>,
        counter: B::V,
        state: B::V,
        lengths: [u8; 16],
    ) -> Self {
        let keys = b.keys(schedule);
        Self {
            b,
            order: PhantomData,
            keys,
            powers,
            counter,
            state,
            lanes: b.splat(&[0; 16]),
            in_lanes: false,
            lengths,
            first_round: None,
            counter_byte: 0,
            two_rounds: None,
        }
    }

    /// Adds the precomputed first round. `counter_byte` is the last byte of the next counter.
    #[inline(always)]
    pub(crate) fn with(self, first_round: Option<&'a FirstRound>, counter_byte: usize) -> Self {
        Self { first_round, counter_byte, ..self }
    }

    /// Computes a table of two rounds from the first round, and adds it. The last byte of the next
    /// counter is [`FIRST_BYTE`].
    #[inline(always)]
    pub(crate) fn with_two_rounds(mut self, two_rounds: Option<&'a mut TwoRounds>) -> Self {
        // The portable variant converts each state from bytes; that takes longer than two rounds.
        if W > 1
            && let Some(first_round) = self.first_round
            && let Some(table) = two_rounds
        {
            let b = self.b;
            let same = self.with_last_byte_0(b.splat(&[0; 16]));
            let after_round_1 = b.aes_round(same, &self.keys, 1);
            let first = b.aes_round(after_round_1, &self.keys, 2);
            table.set_up(b, &self.keys, first, |block| {
                b.aes_add(after_round_1, first_round.differences(b, FIRST_BYTE + block))
            });
            self.two_rounds = Some((table, first));
        }
        self
    }

    /// Returns the state before round 1 of the next counter plus `n`, with last byte 0, in every
    /// lane.
    #[inline(always)]
    fn with_last_byte_0(&self, n: B::V) -> B::S {
        let b = self.b;
        let byte = b.splat(&(self.counter_byte as u128).to_le_bytes());
        b.aes_first(O::reverse_bytes(b, b.xor(b.add32(self.counter, n), byte)), &self.keys)
    }

    /// Returns the next `V` vectors of counter blocks after AddRoundKey with round key 0, and
    /// advances the counter.
    ///
    /// As inc32 does, the additions wrap inside a word of 32 bits and leave the rest of the block
    /// unchanged.
    #[inline(always)]
    fn counters<const V: usize>(&mut self) -> [B::S; V] {
        let b = self.b;
        let mut s = [b.aes_first(O::reverse_bytes(b, self.counter), &self.keys); V];
        unroll!(i < V => {
            let number = b.load(&NUMBERS.as_flattened()[i * B::BYTES..]);
            s[i] = b.aes_first(O::reverse_bytes(b, b.add32(self.counter, number)), &self.keys);
        });
        self.counter = b.add32(self.counter, b.splat(&((V * B::LANES) as u128).to_le_bytes()));
        s
    }

    /// Returns the next group of counter blocks after round 1, or after round 2 if two rounds are
    /// precomputed, and advances the counter.
    #[inline(always)]
    fn begin(&mut self) -> [B::S; W] {
        let b = self.b;
        let blocks = W * B::LANES;
        if let Some((table, first)) = self.two_rounds {
            let s = self.begin_with_two_rounds(table, first);
            self.advance(blocks);
            return s;
        }
        let mut s;
        // For example, seven of eight groups of 32 blocks do not carry out of the last byte.
        if let Some(first_round) = self.first_round
            && self.counter_byte + blocks <= 256
        {
            let base = b.aes_round(self.with_last_byte_0(b.splat(&[0; 16])), &self.keys, 1);
            s = [base; W];
            unroll!(i < W => { s[i] = b.aes_add(base, first_round.differences(b, self.counter_byte + i * B::LANES)); });
            self.advance(blocks);
        } else {
            self.counter_byte = (self.counter_byte + blocks) % 256;
            s = self.counters::<W>();
            unroll!(i < W => { s[i] = b.aes_round(s[i], &self.keys, 1); });
        }
        s
    }

    /// Does the work of [`Self::begin`], without advancing the counter, with a table of two rounds.
    #[inline(always)]
    fn begin_with_two_rounds(&mut self, table: &'a TwoRounds, first: B::S) -> [B::S; W] {
        const { assert!(W == 1 || PERIOD.is_multiple_of(W * B::LANES)) };
        let b = self.b;
        let block = self.counter_byte - FIRST_BYTE;
        let mut s = table.states::<B, W>(b, first, block);
        if block + W * B::LANES == PERIOD {
            // The last byte wraps before the last two blocks of a period, so the other bytes are
            // those of the next period.
            let next = rounds(b, &self.keys, self.with_last_byte_0(b.splat(&256u128.to_le_bytes())));
            let change = b.xor(b.aes_bytes(first), b.aes_bytes(next));
            if B::LANES == 1 {
                s[W - 2] = b.aes_add(s[W - 2], change);
                s[W - 1] = b.aes_add(s[W - 1], change);
            } else {
                let prefix = b.truncate(change, B::BYTES - 16 * FIRST_BYTE);
                s[W - 1] = b.aes_add(s[W - 1], b.xor(change, prefix));
            }
            self.two_rounds = Some((table, next));
        }
        s
    }

    /// Adds the blocks of a group to the counter.
    #[inline(always)]
    fn advance(&mut self, blocks: usize) {
        self.counter = self.b.add32(self.counter, self.b.splat(&(blocks as u128).to_le_bytes()));
        self.counter_byte = (self.counter_byte + blocks) % 256;
    }

    /// Does all rounds but the last on the next group of counters, and between them the hashing of
    /// a group of bytes.
    #[inline(always)]
    fn stitch<const R: usize>(&mut self, hashed: Option<&impl Group<B>>) -> [B::S; W] {
        let b = self.b;
        b.reread(&mut self.keys);
        let mut s = self.begin();
        let mut sum = hashed.map_or_else(|| Sum::new(b), |hashed| self.last_vector(hashed));
        // Spread over the rounds, at most one in each.
        const { assert!(Self::STEPS <= 8) };
        let (steps, rounds) = (Self::STEPS, b.rounds::<R>());
        let skipped = if rounds > 10 { 3 } else { 2 };
        each_round!(R, b, r after 1 => {
            if r > 2 || self.two_rounds.is_none() {
                unroll!(i < W => { s[i] = b.aes_round(s[i], &self.keys, r); });
            }
            // Without the fence LLVM does all of the hashing first, and then the chains of AES two
            // at a time.
            b.fence_with_sums(&mut s, &mut sum.0);
            if let Some(hashed) = hashed && r >= skipped {
                let step = steps * (r - skipped) / (rounds - skipped);
                if step < steps * (r + 1 - skipped) / (rounds - skipped) {
                    self.step(&mut sum, hashed, step);
                }
            }
        });
        s
    }

    /// Whether each lane is hashed by itself, and the lanes are added at the end. Two lanes are
    /// added after each group, which is 4 % faster with 16 registers; on 32 registers, four
    /// lanes are up to 5 % faster apart.
    const HORNER: bool = B::LANES > 2;

    /// Number of steps of hashing a group: pairs of products, two halves of a reduction, and the
    /// XOR of the lanes.
    const STEPS: usize = W.div_ceil(2) + if Self::HORNER { 2 } else { 3 };

    /// Returns the sum for hashing a group. With [`Self::HORNER`] it begins with the last vector,
    /// which is not multiplied.
    #[inline(always)]
    fn last_vector(&self, hashed: &impl Group<B>) -> Sum<B::V> {
        let b = self.b;
        if !Self::HORNER {
            return Sum::new(b);
        }
        let mut last = O::reverse_bytes(b, hashed.vector(b, W - 1));
        if W == 1 {
            last = b.xor(last, self.state);
        }
        // Karatsuba's middle part has the sum of the other two.
        Sum([b.splat(&[0; 16]), last, last])
    }

    /// Does one step of hashing a group.
    #[inline(always)]
    fn step(&mut self, sum: &mut Sum<B::V>, hashed: &impl Group<B>, k: usize) {
        let b = self.b;
        let pairs = W.div_ceil(2);
        if k < pairs {
            // The first one is last, because it depends on the group before, the result of a long
            // chain.
            let one = self.product(hashed, (2 * k + 1) % W);
            if 2 * k + 1 < W {
                sum.add_two(b, one, self.product(hashed, (2 * k + 2) % W));
            } else {
                sum.add_one(b, one);
            }
        } else if k == pairs {
            sum.reduce_low(b);
        } else if Self::HORNER {
            self.lanes = sum.reduce_high(b);
            self.state = b.splat(&[0; 16]);
            self.in_lanes = true;
        } else if k == pairs + 1 {
            self.state = sum.reduce_high(b);
        } else {
            self.state = b.xor_lanes(self.state);
        }
    }

    /// Multiplies vector `i` of a group by its powers. With [`Self::HORNER`], these are the hash of
    /// the groups before and all vectors but the last, and the power is the same in each lane.
    #[inline(always)]
    fn product(&self, hashed: &impl Group<B>, i: usize) -> [B::V; 3] {
        let b = self.b;
        if !Self::HORNER {
            let x = O::reverse_bytes(b, hashed.vector(b, i));
            let x = if i == 0 { b.xor(x, self.state) } else { x };
            let (h, halves) = b.opaque_ref(self.powers).down_from(b, (W - i) * B::LANES);
            return Sum::product(b, x, h, halves);
        }
        let x = match i {
            0 => self.lanes,
            1 => b.xor(O::reverse_bytes(b, hashed.vector(b, 0)), self.state),
            _ => O::reverse_bytes(b, hashed.vector(b, i - 1)),
        };
        let (h, halves) = b.opaque_ref(self.powers).in_each_lane(b, (W - i) * B::LANES);
        Sum::product(b, x, h, halves)
    }

    /// Does the last round and XORs the keystream into `group`.
    #[inline(always)]
    fn write<const R: usize>(&self, s: [B::S; W], mut group: InOut<'_>) {
        let b = self.b;
        unroll!(i < W => {
            let x = b.load(&group.source()[i * B::BYTES..]);
            b.store(b.aes_last(s[i], &self.keys, b.rounds::<R>(), x), &mut group.target()[i * B::BYTES..]);
        });
    }

    /// Processes whole groups and hashes the output, one group behind.
    #[inline(always)]
    pub(crate) fn groups_hashing_target<const R: usize>(&mut self, mut data: InOut<'_>) {
        if data.is_empty() {
            return;
        }
        let group = W * B::BYTES;
        let s = self.stitch::<R>(None::<&&[u8]>);
        self.write::<R>(s, data.part(0, group));
        let mut at = group;
        while at < data.len() {
            // The compiler knows the lengths of both parts, and removes the bounds checks below.
            let s = self.stitch::<R>(Some(&&*data.part(at - group, group).target()));
            self.write::<R>(s, data.part(at, group));
            at += group;
        }
        let last = &&*data.part(at - group, group).into_target();
        let mut sum = self.last_vector(last);
        unroll!(k < 7 => {
            if k < Self::STEPS {
                self.step(&mut sum, last, k);
            }
        });
    }

    /// Processes whole groups and hashes the input, each group while its keystream is computed.
    /// Each vector is loaded once.
    #[inline(always)]
    pub(crate) fn groups_hashing_source<const R: usize>(&mut self, mut data: InOut<'_>) {
        let group = W * B::BYTES;
        let mut at = 0;
        while at < data.len() {
            let mut part = data.part(at, group);
            let mut x = [self.state; W];
            unroll!(i < W => { x[i] = self.b.load(&part.source()[i * B::BYTES..]); });
            let s = self.stitch::<R>(Some(&x));
            unroll!(i < W => {
                self.b.store(self.b.aes_last(s[i], &self.keys, self.b.rounds::<R>(), x[i]), &mut part.target()[i * B::BYTES..]);
            });
            at += group;
        }
    }

    /// Returns the hash of the groups so far, in lane 0.
    #[inline(always)]
    pub(crate) fn hash(&self) -> B::V {
        if !self.in_lanes {
            return self.state;
        }
        let b = self.b;
        let (h, halves) = self.powers.down_from(b, B::LANES);
        let mut sum = Sum::new(b);
        sum.add(b, self.lanes, h, halves);
        b.xor_lanes(sum.reduce(b))
    }

    /// Hashes bytes and then the block of lengths, before any group was hashed.
    #[inline(always)]
    pub(crate) fn hash_only(&self, bytes: &[u8]) -> B::V {
        absorb::<B, O, W, N>(self.b, self.powers, self.state, bytes, Some(&self.lengths))
    }

    /// XORs the keystream into data of any length, without hashing.
    #[inline(always)]
    pub(crate) fn apply_keystream<const R: usize>(&mut self, mut data: InOut<'_>) {
        let b = self.b;
        let (len, group) = (data.len(), W * B::BYTES);
        let mut at = 0;
        while len - at >= group {
            let s = self.stitch::<R>(None::<&&[u8]>);
            self.write::<R>(s, data.part(at, group));
            at += group;
        }
        // Single vectors: they do not depend on each other, so the processor overlaps them.
        while at < len {
            let mut part = data.part(at, (len - at).min(B::BYTES));
            b.reread(&mut self.keys);
            let [mut s] = self.counters::<1>();
            each_round!(R, b, r after 0 => { s = b.aes_round(s, &self.keys, r); });
            let to = b.aes_last(s, &self.keys, b.rounds::<R>(), load(b, part.source()));
            store(b, to, part.target());
            at += part.len();
        }
    }

    /// Processes the last data, at most `V` vectors, and the lengths, with one reduction, and
    /// returns the hash. `extra` goes through the same rounds of AES, all but the last.
    #[inline(always)]
    pub(crate) fn finish<const V: usize, const R: usize, const M: usize>(
        &mut self,
        hashed: Hashed,
        data: InOut<'_>,
        extra: &mut [B::S; M],
    ) -> B::V {
        let b = self.b;
        b.reread(&mut self.keys);
        let mut s = self.counters::<V>();
        each_round!(R, b, r after 0 => {
            unroll!(i < M => { extra[i] = b.aes_round(extra[i], &self.keys, r); });
            unroll!(i < V => { s[i] = b.aes_round(s[i], &self.keys, r); });
        });
        let mut sum = Sum::new(b);
        let (h, halves) = self.powers.one(b);
        sum.add(b, b.zero_extend(&self.lengths), h, halves);
        if self.in_lanes {
            let (h, halves) = self.powers.down_from(b, data.len().div_ceil(16) + 1 + B::LANES);
            sum.add(b, self.lanes, h, halves);
        }
        self.last_data::<V, R>(hashed, data, s, &mut sum, false);
        b.xor_lanes(sum.reduce(b))
    }

    /// Does the last round for the last data, at most `V` vectors, and adds its products to `sum`.
    /// If `parts`, whole vectors are loaded and stored like parts of vectors, without a branch.
    #[inline(always)]
    pub(crate) fn last_data<const V: usize, const R: usize>(
        &self,
        hashed: Hashed,
        mut data: InOut<'_>,
        s: [B::S; V],
        sum: &mut Sum<B::V>,
        parts: bool,
    ) {
        let b = self.b;
        let len = data.len();
        let blocks = len.div_ceil(16);
        // The bytes after whole vectors are read before and written after the others, so that their
        // code exists once.
        let rest = if parts { len } else { len % B::BYTES };
        let mut last = b.splat(&[0; 16]);
        if rest > 0 {
            last = b.load_part(data.part(len - rest, rest).source(), 0);
        }
        unroll!(i < V => {
            let at = i * B::BYTES;
            // The first vector is always processed, because the state is added to it.
            if i == 0 || at < len {
                let whole = !parts && len - at >= B::BYTES;
                let from = if whole { b.load(data.part(at, B::BYTES).source()) } else { last };
                let to = b.aes_last(s[i], &self.keys, b.rounds::<R>(), from);
                if whole {
                    b.store(to, data.part(at, B::BYTES).target());
                } else {
                    last = to;
                }
                let x = match hashed {
                    Hashed::Source => from,
                    Hashed::Target if whole => to,
                    Hashed::Target => b.truncate(to, rest),
                };
                let x = O::reverse_bytes(b, x);
                let x = if i == 0 { b.xor(x, self.state) } else { x };
                let (h, halves) = self.powers.down_from(b, blocks + 1 - i * B::LANES);
                sum.add(b, x, h, halves);
            }
        });
        if rest > 0 {
            b.store_part(last, data.part(len - rest, rest).target(), 0);
        }
    }

    /// Does the last round for a vector that went through [`Self::finish`] as `extra`.
    #[inline(always)]
    pub(crate) fn last<const R: usize>(&self, s: B::S, data: B::V) -> B::V {
        self.b.aes_last(s, &self.keys, self.b.rounds::<R>(), data)
    }
}

/// Loads a vector or part of one. With masks, a part is as fast as the whole.
#[inline(always)]
pub(crate) fn load<B: Products>(b: B, from: &[u8]) -> B::V {
    if B::LANES < 4 && from.len() == B::BYTES { b.load(from) } else { b.load_part(from, 0) }
}

/// Stores a vector or a part of one.
#[inline(always)]
pub(crate) fn store<B: Products>(b: B, v: B::V, to: &mut [u8]) {
    if B::LANES < 4 && to.len() == B::BYTES {
        b.store(v, to);
    } else {
        b.store_part(v, to, 0);
    }
}
