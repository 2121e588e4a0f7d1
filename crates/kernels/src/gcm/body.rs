//! AES-GCM, once, for every instruction set.
#![forbid(unsafe_code)]

use super::{Key, Text};
use crate::InOut;
use crate::aes::{self, NUMBERS};
use crate::ghash::{Many, Powers, Sum, absorb_group};
use crate::vector::{Products, Schedule, unroll};

/// Key set-up.
#[inline(always)]
pub(crate) fn set_up<B: Products, const R: usize>(b: B, key: &[u8], expanded: &mut Key) {
    aes::expand(b, key, &mut expanded.schedule);
    let zero = b.splat(&[0; 16]);
    let keys = b.keys(&expanded.schedule);
    let mut s = b.aes_first(zero, &keys);
    unroll!(r < 14 => {
        if r > 0 && r < R {
            s = b.aes_round(s, &keys, r);
        }
    });
    expanded.few.set_up(b, b.first_lane(b.aes_last(s, &keys, R, zero)));
}

/// Seals (`SEAL`) or opens at most [`super::SHORT`] bytes. `R` is the number of rounds.
///
/// The parts of [`Text`] come one by one, in registers. As one value they come through memory, written in halves: a
/// vector can be loaded from them only when they are in the cache, behind all that the call before has written, so that
/// no two calls overlap. That was 17 ns of 30. For the same reason `data` is not copied on its way here.
#[inline(always)]
pub(crate) fn short<B: Products, const R: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    first: u128,
    hash: u128,
    aad: u64,
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let text = Text { first, hash, aad };
    let len = data.len();
    let mut call = Call::<B, 1, _>::new(b, &key.schedule, &key.few, text, len);
    let data = data.part(0, len);
    // As many vectors as 64 bytes fill.
    *tag = match B::LANES {
        1 => call.finish::<4, R, SEAL>(data),
        2 => call.finish::<2, R, SEAL>(data),
        _ => call.finish::<1, R, SEAL>(data),
    };
}

/// Seals (`SEAL`) or opens any length. `W` vectors are in flight.
#[expect(clippy::too_many_arguments, reason = "see `short`")]
#[inline(always)]
pub(crate) fn long<B: Products, const W: usize, const R: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    many: &Many,
    first: u128,
    hash: u128,
    aad: u64,
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let text = Text { first, hash, aad };
    let len = data.len();
    let mut call = Call::<B, W, _>::new(b, &key.schedule, many, text, len);
    let bulk = len - len % (W * B::BYTES);
    if bulk > 0 {
        if SEAL {
            call.seal_groups::<R>(data.part(0, bulk));
        } else {
            call.open_groups::<R>(data.part(0, bulk));
        }
    }
    let rest = data.part(bulk, len - bulk);
    *tag = if W > 4 && rest.len() <= 4 * B::BYTES {
        call.finish::<4, R, SEAL>(rest)
    } else {
        call.finish::<W, R, SEAL>(rest)
    };
}

/// What every part of one call needs.
struct Call<'a, B: Products, const W: usize, const N: usize> {
    b: B,
    keys: B::Keys<'a>,
    powers: &'a Powers<N>,
    /// The block that masks the tag, before AES.
    first: B::V,
    /// The next counter, little-endian, in every lane.
    counter: B::V,
    /// GHASH so far, in lane 0.
    state: B::V,
    /// Lengths of additional data and data, in bits.
    lengths: [u8; 16],
}

impl<'a, B: Products, const W: usize, const N: usize> Call<'a, B, W, N> {
    #[inline(always)]
    fn new(b: B, schedule: &'a Schedule, powers: &'a Powers<N>, text: Text, len: usize) -> Self {
        let first = b.splat(&text.first.to_le_bytes());
        Self {
            b,
            keys: b.keys(schedule),
            powers,
            first: b.swap_bytes(first),
            counter: b.add32(first, b.splat(&1u128.to_le_bytes())),
            state: b.only(&text.hash.to_le_bytes()),
            lengths: (u128::from(8 * len as u64) | u128::from(8 * text.aad) << 64).to_le_bytes(),
        }
    }

    /// The next `V` vectors of counter blocks, after key 0.
    ///
    /// Counters have 32 bits: they wrap inside their word and leave the nonce alone.
    #[inline(always)]
    fn counters<const V: usize>(&mut self) -> [B::S; V] {
        let b = self.b;
        let mut s = [b.aes_first(b.swap_bytes(self.counter), &self.keys); V];
        unroll!(i < V => {
            let number = b.load(&NUMBERS.as_flattened()[i * B::BYTES..]);
            s[i] = b.aes_first(b.swap_bytes(b.add32(self.counter, number)), &self.keys);
        });
        self.counter = b.add32(self.counter, b.splat(&((V * B::LANES) as u128).to_le_bytes()));
        s
    }

    /// All rounds but the last on the next group of counters, and between them the hashing of a group of ciphertext.
    #[inline(always)]
    fn stitch<const R: usize>(&mut self, hashed: Option<&[u8]>) -> [B::S; W] {
        let b = self.b;
        b.reread(&mut self.keys);
        let mut s = self.counters::<W>();
        let mut sum = Sum::new(b);
        // Products in pairs, two halves of a reduction and a fold, spread over the rounds.
        let steps = W.div_ceil(2) + 3;
        let skipped = if R > 10 { 3 } else { 1 };
        unroll!(r < 14 => {
            if r > 0 && r < R {
                unroll!(i < W => { s[i] = b.aes_round(s[i], &self.keys, r); });
                // Else LLVM does all of the hashing first, and then the chains of AES two at a time.
                b.fence_beside(&mut s, &mut sum.0);
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
            self.state = b.fold(self.state);
        }
    }

    /// Vector `i` of a group times its powers.
    #[inline(always)]
    fn product(&self, hashed: &[u8], i: usize) -> [B::V; 3] {
        let b = self.b;
        let x = b.swap_bytes(b.load(&hashed[i * B::BYTES..]));
        let x = if i == 0 { b.xor(x, self.state) } else { x };
        let (h, halves) = b.afresh(self.powers).down_from(b, (W - i) * B::LANES);
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

    /// Whole groups. Hashing follows one group behind, on what has been stored.
    #[inline(always)]
    fn seal_groups<const R: usize>(&mut self, mut data: InOut<'_>) {
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
        self.state =
            absorb_group::<B, W, N>(self.b, self.powers, self.state, data.part(at - group, group).target());
    }

    /// Whole groups. Each is hashed while its keystream is made.
    #[inline(always)]
    fn open_groups<const R: usize>(&mut self, mut data: InOut<'_>) {
        let group = W * B::BYTES;
        let mut at = 0;
        while at < data.len() {
            let s = self.stitch::<R>(Some(data.part(at, group).source()));
            self.write::<R>(s, data.part(at, group));
            at += group;
        }
    }

    /// At most `V` vectors of data, the lengths and the tag, with one reduction.
    #[inline(always)]
    fn finish<const V: usize, const R: usize, const SEAL: bool>(&mut self, mut data: InOut<'_>) -> [u8; 16] {
        let b = self.b;
        let mut mask = b.aes_first(self.first, &self.keys);
        let mut s = self.counters::<V>();
        unroll!(r < 14 => {
            if r > 0 && r < R {
                mask = b.aes_round(mask, &self.keys, r);
                unroll!(i < V => { s[i] = b.aes_round(s[i], &self.keys, r); });
            }
        });
        let mut sum = Sum::new(b);
        let (h, halves) = self.powers.one(b);
        sum.add(b, b.only(&self.lengths), h, halves);
        let len = data.len();
        let blocks = len.div_ceil(16);
        unroll!(i < V => {
            let at = i * B::BYTES;
            // The first one always, because the state is added to it.
            if i == 0 || at < len {
                let mut part = data.part(at, (len - at).min(B::BYTES));
                // With masks a part is as cheap as the whole.
                let whole = B::LANES < 4 && part.len() == B::BYTES;
                let from = if whole { b.load(part.source()) } else { b.load_part(part.source(), 0) };
                let to = b.aes_last(s[i], &self.keys, R, from);
                if whole {
                    b.store(to, part.target());
                } else {
                    b.store_part(to, part.target(), 0);
                }
                let x = b.swap_bytes(if SEAL { b.keep(to, part.len()) } else { from });
                let x = if i == 0 { b.xor(x, self.state) } else { x };
                let (h, halves) = self.powers.down_from(b, blocks + 1 - i * B::LANES);
                sum.add(b, x, h, halves);
            }
        });
        let hash = b.fold(sum.reduce(b));
        b.first_lane(b.aes_last(mask, &self.keys, R, b.swap_bytes(hash)))
    }
}
