//! AES-GCM-SIV, once, for every instruction set.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::{self, NUMBERS};
use crate::gcm::{Key, Lines};
use crate::ghash::{self, LittleEndian, Powers, absorb};
use crate::stitch::{Call, Hashed};
use crate::vector::{Blocks, Products, Schedule, unroll};
use crate::zero::wipe;

/// Bytes of a message, additional data among them, for which few powers are enough. More of them take longer to make
/// than they save.
const SHORT: usize = 512;

/// Seals (`SEAL`) or opens. `W` vectors are in flight, `R` is the number of rounds; the nonce is a little-endian
/// integer. When opening, `tag` is at first that of the message, and then what it should be.
#[inline(always)]
pub(crate) fn run<B: Products, const W: usize, const R: usize, const SEAL: bool>(
    b: B,
    root: &Schedule,
    nonce: u128,
    aad: &[u8],
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    let mut key = Key::EMPTY;
    derive::<B, R>(b, root, nonce, &mut key);
    let schedule = &key.schedule;
    if aad.len() + data.len() <= SHORT {
        Message { b, schedule, powers: &key.few, nonce }.run::<W, R, SEAL>(aad, data, tag);
    } else {
        let mut many = Lines::EMPTY;
        ghash::set_up_many(b, &key.few, &mut many.0);
        Message { b, schedule, powers: &many.0, nonce }.run::<W, R, SEAL>(aad, data, tag);
    }
}

/// A message under its own keys.
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
        let counter = u128::from_le_bytes(*tag) | 1 << 127;
        let counter = b.splat(&counter.to_le_bytes());
        let mut call = Call::<B, LittleEndian, W, N>::new(b, schedule, powers, counter, state, lengths);
        if SEAL {
            call.cover::<R>(data.part(0, len));
            return;
        }
        // With enough powers for what is left after groups, and the lengths.
        let hash = if W * B::LANES < Powers::<N>::COUNT {
            let bulk = len - len % (W * B::BYTES);
            call.groups_hashing_target::<R>(data.part(0, bulk));
            let rest = data.part(bulk, len - bulk);
            if W > 4 && rest.len() <= 4 * B::BYTES {
                call.finish::<4, R, 0>(Hashed::Target, rest, &mut [])
            } else {
                call.finish::<W, R, 0>(Hashed::Target, rest, &mut [])
            }
        } else {
            call.cover::<R>(data.part(0, len));
            absorb::<B, LittleEndian, W, N>(b, powers, state, data.target(), Some(&lengths))
        };
        *tag = self.tag::<R>(hash);
    }

    /// The tag that belongs to a hash.
    #[inline(always)]
    fn tag<const R: usize>(&self, hash: B::V) -> [u8; 16] {
        let b = self.b;
        let block = (u128::from_le_bytes(b.first_lane(hash)) ^ self.nonce) & (u128::MAX >> 1);
        aes::encrypt::<B, R>(b, &b.keys(self.schedule), block.to_le_bytes())
    }
}

/// Keys of one message (RFC 8452, section 4): the first halves of the blocks that count in front of the nonce.
#[inline(always)]
fn derive<B: Products, const R: usize>(b: B, root: &Schedule, nonce: u128, key: &mut Key) {
    let blocks = if R == 10 { 4 } else { 6 };
    let keys = b.keys(root);
    let nonce = b.splat(&(nonce << 32).to_le_bytes());
    let mut s = [b.aes_first(nonce, &keys); 6];
    unroll!(i < 6 => {
        if i * B::LANES < blocks {
            s[i] = b.aes_first(b.add32(nonce, b.load(&NUMBERS.as_flattened()[i * B::BYTES..])), &keys);
        }
    });
    unroll!(r < 14 => {
        if r > 0 && r < R {
            unroll!(i < 6 => {
                if i * B::LANES < blocks {
                    s[i] = b.aes_round(s[i], &keys, r);
                }
            });
        }
    });
    let mut derived = Derived([[0; 16]; 8]);
    unroll!(i < 6 => {
        if i * B::LANES < blocks {
            let v = b.aes_last(s[i], &keys, R, b.splat(&[0; 16]));
            let to = derived.0[i * B::LANES..].as_flattened_mut();
            if to.len() < B::BYTES { b.store_part(v, to, 0) } else { b.store(v, to) }
        }
    });
    let one = b.one();
    let first = one.zero_extend(&derived.key(2));
    if R == 10 {
        aes::expand_128(one, first, &mut key.schedule);
    } else {
        aes::expand_256(one, first, one.zero_extend(&derived.key(4)), &mut key.schedule);
    }
    key.few.set_up_polyval(b, derived.key(0));
}

/// The blocks, in whole vectors of four. Wiped on drop.
struct Derived([[u8; 16]; 8]);

impl Derived {
    /// The first halves of blocks `i` and `i + 1`.
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
