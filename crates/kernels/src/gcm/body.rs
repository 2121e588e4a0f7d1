//! AES-GCM for every instruction set: key set-up, and messages after their nonce and associated
//! data.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::body as aes;
use crate::aes::two_rounds::TwoRounds;
use crate::first_round::FirstRound;
use crate::ghash::{BigEndian, BulkPowers, ByteOrder, Powers};
use crate::stitch::{Call, FIRST_BYTE, Hashed, Key};
use crate::vector::{Products, Schedule};

/// The values that precede the data of a message: `j0` is a big-endian integer, `aad_hash` one in
/// the order of POLYVAL.
#[derive(Clone, Copy)]
pub(crate) struct Preamble {
    /// J0 (SP 800-38D, section 7.1). The counters of the data are inc32(J0) and those that follow.
    pub(crate) j0: u128,
    /// GHASH of the associated data, with which the hash of the message continues.
    pub(crate) aad_hash: u128,
    /// Length of the associated data in bytes.
    pub(crate) aad_len: u64,
}

/// Expands the AES key and computes the powers of H for short messages.
#[inline(always)]
pub(crate) fn set_up<B: Products, const R: usize>(b: B, key: &[u8], expanded: &mut Key) {
    aes::expand(b, key, &mut expanded.schedule);
    let h = aes::encrypt::<B, R>(b, &b.keys(&expanded.schedule), [0; 16]);
    expanded.short_powers.set_up_ghash(b, h);
}

/// Seals (`SEAL`) or opens at most 64 bytes. `R` is the number of rounds.
///
/// The fields of [`Preamble`] are passed one by one, in registers. As one value they are passed in
/// memory, written in halves: a vector can be loaded from them only when they have reached the
/// cache, after all writes of the call before, so that two calls never overlap. That took 17 ns of
/// 30. For the same reason `data` is passed by reference.
#[inline(always)]
pub(crate) fn short<B: Products, const R: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    j0: u128,
    aad_hash: u128,
    aad_len: u64,
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let len = data.len();
    let mut message =
        Message::<B, 1, _>::new(b, &key.schedule, &key.short_powers, Preamble { j0, aad_hash, aad_len }, len);
    let data = data.part(0, len);
    // The number of vectors that 64 bytes fill.
    *tag = match B::LANES {
        1 => message.finish::<4, R, SEAL>(data),
        2 => message.finish::<2, R, SEAL>(data),
        _ => message.finish::<1, R, SEAL>(data),
    };
}

/// Seals (`SEAL`) or opens data of any length. `W` is the number of vectors in flight, `R` the
/// number of rounds.
#[expect(clippy::too_many_arguments, reason = "see `short`")]
#[inline(always)]
pub(crate) fn long<B: Products, const W: usize, const R: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    powers: &BulkPowers,
    j0: u128,
    aad_hash: u128,
    first_round: Option<&FirstRound>,
    two_rounds: Option<&mut TwoRounds>,
    aad_len: u64,
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let len = data.len();
    let mut message =
        Message::<B, W, _>::new(b, &key.schedule, powers, Preamble { j0, aad_hash, aad_len }, len);
    // With a nonce of 96 bits the counter of the data begins with 2; with other nonces
    // `first_round` is `None`.
    message.call = message.call.with(first_round, FIRST_BYTE).with_two_rounds(two_rounds);
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

/// Length in bytes of the groups that [`groups`] processes: a multiple of the group of every
/// variant.
pub(crate) const GROUPS_LEN: usize = 512;

/// Encrypts (`SEAL`) or decrypts data inside a message and continues its hash. Its length is a
/// multiple of [`GROUPS_LEN`].
///
/// The counter of the first block is `counter`. If there is a precomputed first round,
/// `counter_byte` is its last byte. It is an argument of its own, so that the analysis of the
/// machine code knows that it is public.
#[expect(clippy::too_many_arguments, reason = "see `short`")]
#[inline(always)]
pub(crate) fn groups<B: Products, const W: usize, const R: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    powers: &BulkPowers,
    counter: u128,
    counter_byte: usize,
    first_round: Option<&FirstRound>,
    hash: &mut u128,
    data: &mut InOut<'_>,
) {
    const { assert!(GROUPS_LEN.is_multiple_of(W * B::BYTES)) };
    let len = data.len();
    let next = b.splat(&counter.to_le_bytes());
    let state = b.zero_extend(&hash.to_le_bytes());
    let call = Call::<B, BigEndian, W, _>::new(b, &key.schedule, powers, next, state, [0; 16]);
    let mut call = call.with(first_round, counter_byte);
    let data = data.part(0, len - len % GROUPS_LEN);
    if SEAL {
        call.groups_hashing_target::<R>(data);
    } else {
        call.groups_hashing_source::<R>(data);
    }
    *hash = u128::from_le_bytes(b.first_lane(call.hash()));
}

/// XORs the keystream into `data`, from the block of `counter` on, without hashing.
#[inline(always)]
pub(crate) fn apply_keystream<B: Products, const W: usize, const R: usize>(
    b: B,
    key: &Key,
    counter: u128,
    data: InOut<'_>,
) {
    let (counter, zero) = (b.splat(&counter.to_le_bytes()), [0; 16]);
    let state = b.splat(&zero);
    let mut call = Call::<B, BigEndian, W, _>::new(b, &key.schedule, &key.short_powers, counter, state, zero);
    call.apply_keystream::<R>(data);
}

struct Message<'a, B: Products, const W: usize, const N: usize> {
    b: B,
    call: Call<'a, B, BigEndian, W, N>,
    /// J0 after AddRoundKey with round key 0: its encryption masks the tag.
    mask: B::S,
}

impl<'a, B: Products, const W: usize, const N: usize> Message<'a, B, W, N> {
    #[inline(always)]
    fn new(b: B, schedule: &'a Schedule, powers: &'a Powers<N>, preamble: Preamble, len: usize) -> Self {
        let j0 = b.splat(&preamble.j0.to_le_bytes());
        let counter = b.add32(j0, b.splat(&1u128.to_le_bytes()));
        let lengths = u128::from(8 * len as u64) | u128::from(8 * preamble.aad_len) << 64;
        let state = b.zero_extend(&preamble.aad_hash.to_le_bytes());
        Self {
            b,
            call: Call::new(b, schedule, powers, counter, state, lengths.to_le_bytes()),
            mask: b.aes_first(BigEndian::reverse_bytes(b, j0), &b.keys(schedule)),
        }
    }

    /// Processes the last data, at most `V` vectors, and returns the tag.
    #[inline(always)]
    fn finish<const V: usize, const R: usize, const SEAL: bool>(&mut self, data: InOut<'_>) -> [u8; 16] {
        let b = self.b;
        let mut mask = [self.mask];
        let hashed = if SEAL { Hashed::Target } else { Hashed::Source };
        let hash = self.call.finish::<V, R, 1>(hashed, data, &mut mask);
        b.first_lane(self.call.last::<R>(mask[0], BigEndian::reverse_bytes(b, hash)))
    }
}
