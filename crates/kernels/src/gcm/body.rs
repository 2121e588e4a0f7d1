//! AES-GCM, once, for every instruction set.
#![forbid(unsafe_code)]

use super::{Key, Text};
use crate::InOut;
use crate::aes;
use crate::first_round::FirstRound;
use crate::ghash::{BigEndian, Many, Order, Powers};
use crate::stitch::{Call, Hashed};
use crate::vector::{Products, Schedule};

/// Key set-up.
#[inline(always)]
pub(crate) fn set_up<B: Products, const R: usize>(b: B, key: &[u8], expanded: &mut Key) {
    aes::expand(b, key, &mut expanded.schedule);
    let h = aes::encrypt::<B, R>(b, &b.keys(&expanded.schedule), [0; 16]);
    expanded.few.set_up_ghash(b, h);
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
    let len = data.len();
    let mut message = Message::<B, 1, _>::new(b, &key.schedule, &key.few, Text { first, hash, aad }, len);
    let data = data.part(0, len);
    // As many vectors as 64 bytes fill.
    *tag = match B::LANES {
        1 => message.finish::<4, R, SEAL>(data),
        2 => message.finish::<2, R, SEAL>(data),
        _ => message.finish::<1, R, SEAL>(data),
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
    ahead: Option<&FirstRound>,
    aad: u64,
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let len = data.len();
    let mut message = Message::<B, W, _>::new(b, &key.schedule, many, Text { first, hash, aad }, len);
    // Where a nonce of 96 bits has the data begin; with others nothing is made ahead.
    message.call = message.call.with(ahead, 2);
    let bulk = len - len % (W * B::BYTES);
    if SEAL {
        message.call.groups_hashing_target::<R>(data.part(0, bulk));
    } else {
        message.call.groups_hashing_source::<R>(data.part(0, bulk));
    }
    let rest = data.part(bulk, len - bulk);
    *tag = if W > 4 && rest.len() <= 4 * B::BYTES {
        message.finish::<4, R, SEAL>(rest)
    } else {
        message.finish::<W, R, SEAL>(rest)
    };
}

/// XORs the keystream from the block of `counter` on, and hashes nothing. Counters wrap in their 32 bits.
#[inline(always)]
pub(crate) fn cover<B: Products, const W: usize, const R: usize>(
    b: B,
    key: &Key,
    counter: u128,
    data: InOut<'_>,
) {
    let (counter, zero) = (b.splat(&counter.to_le_bytes()), [0; 16]);
    let state = b.splat(&zero);
    let mut call = Call::<B, BigEndian, W, _>::new(b, &key.schedule, &key.few, counter, state, zero);
    call.cover::<R>(data);
}

struct Message<'a, B: Products, const W: usize, const N: usize> {
    b: B,
    call: Call<'a, B, BigEndian, W, N>,
    /// The block that masks the tag, after key 0.
    mask: B::S,
}

impl<'a, B: Products, const W: usize, const N: usize> Message<'a, B, W, N> {
    #[inline(always)]
    fn new(b: B, schedule: &'a Schedule, powers: &'a Powers<N>, text: Text, len: usize) -> Self {
        let first = b.splat(&text.first.to_le_bytes());
        let counter = b.add32(first, b.splat(&1u128.to_le_bytes()));
        let lengths = u128::from(8 * len as u64) | u128::from(8 * text.aad) << 64;
        let state = b.zero_extend(&text.hash.to_le_bytes());
        Self {
            b,
            call: Call::new(b, schedule, powers, counter, state, lengths.to_le_bytes()),
            mask: b.aes_first(BigEndian::turn(b, first), &b.keys(schedule)),
        }
    }

    /// At most `V` vectors of data, and the tag.
    #[inline(always)]
    fn finish<const V: usize, const R: usize, const SEAL: bool>(&mut self, data: InOut<'_>) -> [u8; 16] {
        let b = self.b;
        let mut mask = [self.mask];
        let hashed = if SEAL { Hashed::Target } else { Hashed::Source };
        let hash = self.call.finish::<V, R, 1>(hashed, data, &mut mask);
        b.first_lane(self.call.last::<R>(mask[0], BigEndian::turn(b, hash)))
    }
}
