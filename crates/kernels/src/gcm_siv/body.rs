//! AES-GCM-SIV for every instruction set: the keys of a message, and messages.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::body as aes;
use crate::error::KeyError;
use crate::ghash::{self, AlignedBulkPowers, LittleEndian, Powers, absorb};
use crate::stitch::{Call, Hashed, Key};
use crate::vector::{Blocks, NUMBERS, Products, Schedule, each_round, unroll};
use crate::zero::wipe;

/// Largest length in bytes of a message, with its associated data, for which the powers of short
/// messages are used: more powers take longer to compute than they save.
const SHORT: usize = 512;

/// The size of an AES-GCM-SIV key; it determines the number of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySize {
    Bits128,
    Bits256,
}

impl KeySize {
    pub(crate) fn of(key: &[u8]) -> Result<Self, KeyError> {
        match key.len() {
            16 => Ok(Self::Bits128),
            32 => Ok(Self::Bits256),
            other => Err(KeyError::InvalidLength(other)),
        }
    }
}

/// Seals (`SEAL`) or opens a message. `W` is the number of vectors in flight and `R` the number of
/// rounds; the nonce is a little-endian integer. When opening, `tag` is first the tag of the
/// message and then the expected tag.
#[inline(always)]
pub(crate) fn run<B: Products, const W: usize, const R: usize, const SEAL: bool>(
    b: B,
    key_generating_key: &Schedule,
    nonce: u128,
    aad: &[u8],
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let mut key = Key::EMPTY;
    derive::<B, R>(b, key_generating_key, nonce, &mut key);
    let schedule = &key.schedule;
    if aad.len() + data.len() <= SHORT {
        Message { b, schedule, powers: &key.short_powers, nonce }.run::<W, R, SEAL>(aad, data, tag);
    } else {
        let mut powers = AlignedBulkPowers::EMPTY;
        ghash::set_up_bulk_powers(b, &key.short_powers, &mut powers.0);
        Message { b, schedule, powers: &powers.0, nonce }.run::<W, R, SEAL>(aad, data, tag);
    }
}

/// A message with its own keys, derived from the nonce.
struct Message<'a, B, const N: usize> {
    b: B,
    schedule: &'a Schedule,
    powers: &'a Powers<N>,
    nonce: u128,
}

impl<B: Products, const N: usize> Message<'_, B, N> {
    #[inline(always)]
    fn run<const W: usize, const R: usize, const SEAL: bool>(
        &self,
        aad: &[u8],
        data: &mut InOut<'_>,
        tag: &mut [u8; 16],
    ) {
        let Self { b, schedule, powers, .. } = *self;
        let len = data.len();
        let lengths = (u128::from(8 * aad.len() as u64) | u128::from(8 * len as u64) << 64).to_le_bytes();
        let state = absorb::<B, LittleEndian, W, N>(b, powers, b.splat(&[0; 16]), aad, None);
        if SEAL {
            let source = data.source();
            let hash = absorb::<B, LittleEndian, W, N>(b, powers, state, source, Some(&lengths));
            *tag = self.tag::<R>(hash);
        }
        let counter = b.splat(&initial_counter(tag).to_le_bytes());
        let mut call = Call::<B, LittleEndian, W, N>::new(b, schedule, powers, counter, state, lengths);
        if SEAL {
            call.apply_keystream::<R>(data.part(0, len));
        } else {
            let hash = Self::open::<W, R>(&mut call, data);
            *tag = self.tag::<R>(hash);
        }
    }

    /// Decrypts the data, and returns the hash of it and of the block of lengths.
    #[inline(always)]
    fn open<const W: usize, const R: usize>(
        call: &mut Call<'_, B, LittleEndian, W, N>,
        data: &mut InOut<'_>,
    ) -> B::V {
        let len = data.len();
        // Only with enough powers for the lanes of the groups, the data after them and the block of
        // lengths.
        if (W + 1) * B::LANES < Powers::<N>::COUNT {
            let bulk = len - len % (W * B::BYTES);
            call.groups_hashing_target::<R>(data.part(0, bulk));
            let rest = data.part(bulk, len - bulk);
            if W > 4 && rest.len() <= 4 * B::BYTES {
                call.finish::<4, R, 0>(Hashed::Target, rest, &mut [])
            } else {
                call.finish::<W, R, 0>(Hashed::Target, rest, &mut [])
            }
        } else {
            call.apply_keystream::<R>(data.part(0, len));
            call.hash_only(data.target())
        }
    }

    /// Computes the tag from the hash by encrypting it.
    #[inline(always)]
    fn tag<const R: usize>(&self, hash: B::V) -> [u8; 16] {
        let b = self.b;
        let block = (u128::from_le_bytes(b.first_lane(hash)) ^ self.nonce) & (u128::MAX >> 1);
        aes::encrypt::<B, R>(b, &b.keys(self.schedule), block.to_le_bytes())
    }
}

/// Returns the counter block of the first block of data.
#[inline(always)]
pub(super) fn initial_counter(tag: &[u8; 16]) -> u128 {
    u128::from_le_bytes(*tag) | 1 << 127
}

// ---- a message on several threads
// -------------------------------------------------------------------------------

/// The keys of a long message. Wiped from memory on drop.
pub(crate) struct MessageKeys {
    pub(super) key: Key,
    pub(super) powers: AlignedBulkPowers,
}

impl MessageKeys {
    pub(super) const EMPTY: Self = Self { key: Key::EMPTY, powers: AlignedBulkPowers::EMPTY };
}

/// Derives the keys of a long message.
#[inline(always)]
pub(crate) fn message_keys<B: Products, const R: usize>(
    b: B,
    key_generating_key: &Schedule,
    nonce: u128,
    keys: &mut MessageKeys,
) {
    derive::<B, R>(b, key_generating_key, nonce, &mut keys.key);
    ghash::set_up_bulk_powers(b, &keys.key.short_powers, &mut keys.powers.0);
}

/// Decrypts a segment, whose first counter block is `counter`, and sets `times_h` to the product of
/// its hash and H.
#[inline(always)]
pub(crate) fn open_segment<B: Products, const W: usize, const R: usize>(
    b: B,
    keys: &MessageKeys,
    counter: u128,
    data: &mut InOut<'_>,
    times_h: &mut u128,
) {
    let (counter, zero) = (b.splat(&counter.to_le_bytes()), b.splat(&[0; 16]));
    // With zeros for the block of lengths, the hash is multiplied by H and nothing is added.
    let mut call =
        Call::<B, LittleEndian, W, _>::new(b, &keys.key.schedule, &keys.powers.0, counter, zero, [0; 16]);
    *times_h = u128::from_le_bytes(b.first_lane(Message::open::<W, R>(&mut call, data)));
}

/// Encrypts a segment with first counter block `counter`.
#[inline(always)]
pub(crate) fn encrypt_segment<B: Products, const W: usize, const R: usize>(
    b: B,
    keys: &MessageKeys,
    counter: u128,
    data: &mut InOut<'_>,
) {
    let (counter, zero, len) = (b.splat(&counter.to_le_bytes()), b.splat(&[0; 16]), data.len());
    Call::<B, LittleEndian, W, _>::new(b, &keys.key.schedule, &keys.powers.0, counter, zero, [0; 16])
        .apply_keystream::<R>(data.part(0, len));
}

/// Computes the tag from the hash of a message.
#[inline(always)]
pub(crate) fn tag<B: Products, const R: usize>(
    b: B,
    keys: &MessageKeys,
    nonce: u128,
    hash: u128,
    tag: &mut [u8; 16],
) {
    let message = Message { b, schedule: &keys.key.schedule, powers: &keys.powers.0, nonce };
    *tag = message.tag::<R>(b.zero_extend(&hash.to_le_bytes()));
}

/// Derives the keys of one message (RFC 8452, section 4): the first halves of the encrypted blocks
/// `i || nonce`, i = 0, 1, ….
#[inline(always)]
fn derive<B: Products, const R: usize>(b: B, key_generating_key: &Schedule, nonce: u128, key: &mut Key) {
    let rounds = b.rounds::<R>();
    let blocks = if rounds == 10 { 4 } else { 6 };
    let keys = b.keys(key_generating_key);
    let nonce = b.splat(&(nonce << 32).to_le_bytes());
    let mut s = [b.aes_first(nonce, &keys); 6];
    unroll!(i < 6 => {
        if i * B::LANES < blocks {
            s[i] = b.aes_first(b.add32(nonce, b.load(&NUMBERS.as_flattened()[i * B::BYTES..])), &keys);
        }
    });
    each_round!(R, b, r after 0 => {
        unroll!(i < 6 => {
            if i * B::LANES < blocks {
                s[i] = b.aes_round(s[i], &keys, r);
            }
        });
    });
    let mut derived = Derived([[0; 16]; 8]);
    unroll!(i < 6 => {
        if i * B::LANES < blocks {
            let v = b.aes_last(s[i], &keys, rounds, b.splat(&[0; 16]));
            let to = derived.0[i * B::LANES..].as_flattened_mut();
            if to.len() < B::BYTES { b.store_part(v, to, 0) } else { b.store(v, to) }
        }
    });
    let one = b.one();
    let first = one.zero_extend(&derived.key(2));
    if rounds == 10 {
        aes::expand_128(one, [first], &mut key.schedule);
    } else {
        aes::expand_256(one, [first], [one.zero_extend(&derived.key(4))], &mut key.schedule);
    }
    key.short_powers.set_up_polyval(b, derived.key(0));
}

/// The encrypted blocks, padded to whole vectors of four. Wiped from memory on drop.
struct Derived([[u8; 16]; 8]);

impl Derived {
    /// Returns the first halves of blocks `i` and `i + 1`.
    #[inline(always)]
    fn key(&self, i: usize) -> [u8; 16] {
        let half = |i: usize| u128::from(u64::from_le_bytes(*self.0[i].first_chunk().unwrap()));
        (half(i) | half(i + 1) << 64).to_le_bytes()
    }
}

impl Drop for Derived {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}
