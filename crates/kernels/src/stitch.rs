//! Counter mode with a hash in the same pass: AES on the next counters, and between its rounds the products for bytes
//! that are already there. AES-GCM and AES-GCM-SIV are made of it.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::NUMBERS;
use crate::first_round::FirstRound;
use crate::ghash::{Order, Powers, Sum, absorb_group};
use crate::vector::{Products, Schedule, unroll};
use core::marker::PhantomData;

/// What every part of one call needs. `W` vectors are in flight, and there are `N` powers.
pub(crate) struct Call<'a, B: Products, O, const W: usize, const N: usize> {
    b: B,
    order: PhantomData<O>,
    keys: B::Keys<'a>,
    powers: &'a Powers<N>,
    /// The next counter in every lane, as `O` turns it.
    counter: B::V,
    /// The hash so far, in lane 0.
    state: B::V,
    /// The last block that is hashed.
    lengths: [u8; 16],
    /// The first round, if it was made ahead and where the counter stands may be known.
    ahead: Option<&'a FirstRound>,
    /// With it, the last byte of the counter.
    byte: usize,
}

/// Which side of the data is hashed: the ciphertext of GCM, and the plaintext of GCM-SIV.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashed {
    Source,
    Target,
}

impl<'a, B: Products, O: Order, const W: usize, const N: usize> Call<'a, B, O, W, N> {
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
        Self { b, order: PhantomData, keys, powers, counter, state, lengths, ahead: None, byte: 0 }
    }

    /// With the first round made ahead. The next counter ends in `byte`.
    #[inline(always)]
    pub(crate) fn with(self, ahead: Option<&'a FirstRound>, byte: usize) -> Self {
        Self { ahead, byte, ..self }
    }

    /// The next `V` vectors of counter blocks, after key 0.
    ///
    /// Counters have 32 bits: they wrap inside their word and leave the rest of their block alone.
    #[inline(always)]
    fn counters<const V: usize>(&mut self) -> [B::S; V] {
        let b = self.b;
        let mut s = [b.aes_first(O::turn(b, self.counter), &self.keys); V];
        unroll!(i < V => {
            let number = b.load(&NUMBERS.as_flattened()[i * B::BYTES..]);
            s[i] = b.aes_first(O::turn(b, b.add32(self.counter, number)), &self.keys);
        });
        self.counter = b.add32(self.counter, b.splat(&((V * B::LANES) as u128).to_le_bytes()));
        s
    }

    /// The next group of counters, after round 1.
    #[inline(always)]
    fn begin(&mut self) -> [B::S; W] {
        let b = self.b;
        let blocks = W * B::LANES;
        // Seven groups of eight, or fifteen of sixteen, do not carry out of the byte.
        if let Some(ahead) = self.ahead
            && self.byte + blocks <= 256
        {
            let base = b.xor(self.counter, b.splat(&(self.byte as u128).to_le_bytes()));
            let base = b.aes_round(b.aes_first(O::turn(b, base), &self.keys), &self.keys, 1);
            let mut s = [base; W];
            unroll!(i < W => { s[i] = b.aes_add(base, ahead.sums(b, self.byte + i * B::LANES)); });
            self.counter = b.add32(self.counter, b.splat(&(blocks as u128).to_le_bytes()));
            self.byte = (self.byte + blocks) % 256;
            s
        } else {
            self.byte = (self.byte + blocks) % 256;
            let mut s = self.counters::<W>();
            unroll!(i < W => { s[i] = b.aes_round(s[i], &self.keys, 1); });
            s
        }
    }

    /// All rounds but the last on the next group of counters, and between them the hashing of a group of bytes.
    #[inline(always)]
    fn stitch<const R: usize>(&mut self, hashed: Option<&[u8]>) -> [B::S; W] {
        let b = self.b;
        b.reread(&mut self.keys);
        let mut s = self.begin();
        let mut sum = Sum::new(b);
        // Products in pairs, two halves of a reduction and a fold, spread over the rounds.
        let steps = W.div_ceil(2) + 3;
        let skipped = if R > 10 { 3 } else { 2 };
        unroll!(r < 14 => {
            if r > 1 && r < R {
                unroll!(i < W => { s[i] = b.aes_round(s[i], &self.keys, r); });
                // Else LLVM does all of the hashing first, and then the chains of AES two at a time.
                b.fence_with_sums(&mut s, &mut sum.0);
                if let Some(hashed) = hashed && r >= skipped {
                    let from = steps * (r - skipped) / (R - skipped);
                    let to = steps * (r + 1 - skipped) / (R - skipped);
                    unroll!(j < 4 => {
                        if from + j < to {
                            self.step(&mut sum, hashed, from + j);
                        }
                    });
                }
            }
        });
        s
    }

    /// One step of hashing a group.
    #[inline(always)]
    fn step(&mut self, sum: &mut Sum<B::V>, hashed: &[u8], k: usize) {
        let b = self.b;
        let pairs = W.div_ceil(2);
        if k < pairs {
            // The first vector last: the state that it waits for is the end of a long chain.
            let one = self.product(hashed, (2 * k + 1) % W);
            if 2 * k + 1 < W {
                sum.add_two(b, one, self.product(hashed, (2 * k + 2) % W));
            } else {
                sum.add_one(b, one);
            }
        } else if k == pairs {
            sum.reduce_low(b);
        } else if k == pairs + 1 {
            self.state = sum.reduce_high(b);
        } else {
            self.state = b.xor_lanes(self.state);
        }
    }

    /// Vector `i` of a group times its powers.
    #[inline(always)]
    fn product(&self, hashed: &[u8], i: usize) -> [B::V; 3] {
        let b = self.b;
        let x = O::turn(b, b.load(&hashed[i * B::BYTES..]));
        let x = if i == 0 { b.xor(x, self.state) } else { x };
        let (h, halves) = b.opaque_ref(self.powers).down_from(b, (W - i) * B::LANES);
        Sum::product(b, x, h, halves)
    }

    /// The last round, into `group`.
    #[inline(always)]
    fn write<const R: usize>(&self, s: [B::S; W], mut group: InOut<'_>) {
        let b = self.b;
        unroll!(i < W => {
            let x = b.load(&group.source()[i * B::BYTES..]);
            b.store(b.aes_last(s[i], &self.keys, R, x), &mut group.target()[i * B::BYTES..]);
        });
    }

    /// Whole groups, hashing what is written: one group behind, as it was stored.
    #[inline(always)]
    pub(crate) fn groups_hashing_target<const R: usize>(&mut self, mut data: InOut<'_>) {
        if data.is_empty() {
            return;
        }
        let group = W * B::BYTES;
        let s = self.stitch::<R>(None);
        self.write::<R>(s, data.part(0, group));
        let mut at = group;
        while at < data.len() {
            // Of a length that the compiler knows, so that nothing below is checked.
            let s = self.stitch::<R>(Some(data.part(at - group, group).target()));
            self.write::<R>(s, data.part(at, group));
            at += group;
        }
        let last = data.part(at - group, group);
        self.state = absorb_group::<B, O, W, N>(self.b, self.powers, self.state, last.into_target());
    }

    /// Whole groups, hashing what is read: each while its keystream is made.
    #[inline(always)]
    pub(crate) fn groups_hashing_source<const R: usize>(&mut self, mut data: InOut<'_>) {
        let group = W * B::BYTES;
        let mut at = 0;
        while at < data.len() {
            let s = self.stitch::<R>(Some(data.part(at, group).source()));
            self.write::<R>(s, data.part(at, group));
            at += group;
        }
    }

    /// Any length, hashing nothing.
    #[inline(always)]
    pub(crate) fn cover<const R: usize>(&mut self, mut data: InOut<'_>) {
        let b = self.b;
        let (len, group) = (data.len(), W * B::BYTES);
        let mut at = 0;
        while len - at >= group {
            let s = self.stitch::<R>(None);
            self.write::<R>(s, data.part(at, group));
            at += group;
        }
        // One by one: they do not wait for each other.
        while at < len {
            let mut part = data.part(at, (len - at).min(B::BYTES));
            b.reread(&mut self.keys);
            let [mut s] = self.counters::<1>();
            unroll!(r < 14 => {
                if r > 0 && r < R {
                    s = b.aes_round(s, &self.keys, r);
                }
            });
            let to = b.aes_last(s, &self.keys, R, load(b, part.source()));
            store(b, to, part.target());
            at += part.len();
        }
    }

    /// The end: at most `V` vectors of data and the lengths, with one reduction. `beside` goes through the rounds of
    /// AES with them, all but the last. Returns the hash.
    #[inline(always)]
    pub(crate) fn finish<const V: usize, const R: usize, const M: usize>(
        &mut self,
        hashed: Hashed,
        mut data: InOut<'_>,
        beside: &mut [B::S; M],
    ) -> B::V {
        let b = self.b;
        b.reread(&mut self.keys);
        let mut s = self.counters::<V>();
        unroll!(r < 14 => {
            if r > 0 && r < R {
                unroll!(i < M => { beside[i] = b.aes_round(beside[i], &self.keys, r); });
                unroll!(i < V => { s[i] = b.aes_round(s[i], &self.keys, r); });
            }
        });
        let mut sum = Sum::new(b);
        let (h, halves) = self.powers.one(b);
        sum.add(b, b.zero_extend(&self.lengths), h, halves);
        let len = data.len();
        let blocks = len.div_ceil(16);
        // What is left after whole vectors is read ahead and written afterwards, so that the code for it is here once.
        let rest = len % B::BYTES;
        let mut last = b.splat(&[0; 16]);
        if rest > 0 {
            last = b.load_part(data.part(len - rest, rest).source(), 0);
        }
        unroll!(i < V => {
            let at = i * B::BYTES;
            // The first one always, because the state is added to it.
            if i == 0 || at < len {
                let whole = len - at >= B::BYTES;
                let from = if whole { b.load(data.part(at, B::BYTES).source()) } else { last };
                let to = b.aes_last(s[i], &self.keys, R, from);
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
                let x = O::turn(b, x);
                let x = if i == 0 { b.xor(x, self.state) } else { x };
                let (h, halves) = self.powers.down_from(b, blocks + 1 - i * B::LANES);
                sum.add(b, x, h, halves);
            }
        });
        if rest > 0 {
            b.store_part(last, data.part(len - rest, rest).target(), 0);
        }
        b.xor_lanes(sum.reduce(b))
    }

    /// The last round for what went beside.
    #[inline(always)]
    pub(crate) fn last<const R: usize>(&self, s: B::S, data: B::V) -> B::V {
        self.b.aes_last(s, &self.keys, R, data)
    }
}

/// One vector or a part of it. With masks a part is as cheap as the whole.
#[inline(always)]
fn load<B: Products>(b: B, from: &[u8]) -> B::V {
    if B::LANES < 4 && from.len() == B::BYTES { b.load(from) } else { b.load_part(from, 0) }
}

/// The counterpart of [`load`].
#[inline(always)]
fn store<B: Products>(b: B, v: B::V, to: &mut [u8]) {
    if B::LANES < 4 && to.len() == B::BYTES {
        b.store(v, to);
    } else {
        b.store_part(v, to, 0);
    }
}
