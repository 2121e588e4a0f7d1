//! AEGIS (RFC 10032, sections 3 to 5), written once for every instruction set and degree.
//!
//! The state is S0 … S7 for AEGIS-128L and its variants with a degree, and S0 … S5 for AEGIS-256
//! and its variants:
//!
//! ```text
//! Init(key, nonce)
//! for m in aad:        Absorb(m)
//! for m in plaintext:  c = m ^ Z; Update(m)            // Z is computed from the state
//! Finalize(len(aad), len(plaintext))                   // Update with the lengths seven times, then the XOR of words
//!
//! Update(m) of AEGIS-128L, with two blocks m0 and m1:
//!     S0 = AESRound(S7, S0 ^ m0)        S4 = AESRound(S3, S4 ^ m1)
//!     Si = AESRound(S(i-1), Si)         // for the other words
//! ```
//!
//! With a degree of 2 or 4, each word is a vector of 2 or 4 blocks, and each lane is a state of its
//! own until Finalize. So the code is the same for every degree, and only the context of Init
//! depends on the number of lanes.
//!
//! There are three departures from the specification:
//!
//! - Update passes data to AESRound as the round key and adds the word of the state afterwards, see
//!   [`State::update`].
//! - Lanes are independent, so a vector that is wider than a register is processed one part after
//!   the other, several updates at a time, see [`run`].
//! - In decryption, the round of Update does not wait for the plaintext c ^ Z. Its round key is
//!   zero, and the plaintext is added afterwards; or c, and Z is added.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::vector::rounds::{Degrees, Rounds};
use crate::vector::unroll;
use crate::zero::wipe;

/// A key of 32 bytes, or of 16 bytes followed by zeros. Wiped from memory on drop.
#[repr(align(16))]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The state of the algorithm. An update absorbs `N` vectors of data.
trait State<B: Rounds, const N: usize>: Sized {
    /// A state of some of the lanes.
    type Part: State<B::Part, N>;

    /// Computes Init: returns the state for a key and a nonce.
    fn init(b: B, key: &Key, nonce: &[u8]) -> Self;
    /// Computes Update. The AES round that absorbs vector `i` of the data has the round key
    /// `keys[i]` and is followed by an xor with `plus[i]`.
    ///
    /// In the specification the round key is the word of the state XORed with the data. Passing the
    /// data as the round key and adding the word afterwards has the same result. But data are
    /// known early and words late, so this order removes one xor from the critical path.
    fn update(&mut self, b: B, keys: [B::V; N], plus: [B::V; N]);
    /// Returns the words an update adds data to: S0 and S4, or S0.
    fn absorbing_words(&self) -> [B::V; N];
    /// Returns Z, the keystream for the next update.
    fn keystream(&self, b: B) -> [B::V; N];
    /// Computes Finalize and returns the tag, where `lengths` are the numbers of bits of the
    /// associated data and of the data.
    fn finalize(self, b: B, lengths: &[u8; 16]) -> [u8; 16];

    /// Separates two updates with a scheduling fence. Without it LLVM begins the next update early,
    /// for which 16 registers are not enough. The processor reorders the instructions anyway.
    fn fence(&mut self, b: B);
    /// Returns part `i` of every word of the state, counted from 0.
    fn get_part(&self, b: B, i: usize) -> Self::Part;
    /// Replaces part `i` of every word of the state by the given one.
    fn set_part(&mut self, b: B, i: usize, part: Self::Part);

    /// Computes [`State::update`], inlined or as a call.
    #[inline(always)]
    fn step(&mut self, b: B, keys: [B::V; N], plus: [B::V; N]) {
        if B::LONG { self.call_update(b, &keys, &plus) } else { self.update(b, keys, plus) }
    }
    #[inline(never)]
    fn call_update(&mut self, b: B, keys: &[B::V; N], plus: &[B::V; N]) {
        self.update(b, *keys, *plus);
    }
    /// Absorbs data that are authenticated but not encrypted, that is, the associated data.
    #[inline(always)]
    fn absorb(&mut self, b: B, data: [B::V; N]) {
        self.step(b, data, self.absorbing_words());
    }
}

/// The state of AEGIS-128L, AEGIS-128X2 and AEGIS-128X4 (RFC 10032, sections 3 and 5.4).
struct Aegis128State<V>([V; 8]);

/// The state of AEGIS-256, AEGIS-256X2 and AEGIS-256X4 (RFC 10032, sections 4 and 5.5).
struct Aegis256State<V>([V; 6]);

/// The constants of RFC 10032, section 2: Fibonacci numbers modulo 256.
const C0: [u8; 16] = 0x0001_0102_0305_080d_1522_3759_90e9_7962_u128.to_be_bytes();
const C1: [u8; 16] = 0xdb3d_1855_6dc2_2ff1_2011_3142_73b5_28dd_u128.to_be_bytes();

impl<B: Rounds> State<B, 2> for Aegis128State<B::V> {
    type Part = Aegis128State<<B::Part as Rounds>::V>;

    #[inline(always)]
    fn init(b: B, key: &Key, nonce: &[u8]) -> Self {
        let (k, n) = (b.splat(key.0.first_chunk().unwrap()), b.splat(nonce.first_chunk().unwrap()));
        let (c0, c1, context) = (b.splat(&C0), b.splat(&C1), context(b));
        let (kn, kc0, kc1) = (b.xor(k, n), b.xor(k, c0), b.xor(k, c1));
        let mut state = Self([kn, c1, c0, c1, kn, kc0, kc1, kc0]);
        for _ in 0..10 {
            state.0[3] = b.xor(state.0[3], context);
            state.0[7] = b.xor(state.0[7], context);
            state.absorb(b, [n, k]);
        }
        state
    }
    #[inline(always)]
    fn update(&mut self, b: B, keys: [B::V; 2], plus: [B::V; 2]) {
        let [s0, s1, s2, s3, s4, s5, s6, s7] = self.0;
        let states = [s7, s0, s1, s2, s3, s4, s5, s6];
        self.0 = b.rounds(states, [keys[0], s1, s2, s3, keys[1], s5, s6, s7]);
        self.0[0] = b.xor(self.0[0], plus[0]);
        self.0[4] = b.xor(self.0[4], plus[1]);
    }
    #[inline(always)]
    fn absorbing_words(&self) -> [B::V; 2] {
        [self.0[0], self.0[4]]
    }
    #[inline(always)]
    fn keystream(&self, b: B) -> [B::V; 2] {
        let [_, s1, s2, s3, _, s5, s6, s7] = self.0;
        [b.xor(b.xor(s6, s1), b.and(s2, s3)), b.xor(b.xor(s2, s5), b.and(s6, s7))]
    }
    #[inline(always)]
    fn finalize(mut self, b: B, lengths: &[u8; 16]) -> [u8; 16] {
        let t = b.xor(self.0[2], b.splat(lengths));
        for _ in 0..7 {
            self.absorb(b, [t, t]);
        }
        let [s0, s1, s2, s3, s4, s5, s6, _] = self.0;
        let sum = [b.xor(s0, s1), b.xor(s2, s3), b.xor(s4, s5)];
        b.xor_lanes(b.xor(b.xor(sum[0], sum[1]), b.xor(sum[2], s6)))
    }
    #[inline(always)]
    fn fence(&mut self, b: B) {
        b.fence(&mut self.0);
    }
    #[inline(always)]
    fn get_part(&self, b: B, i: usize) -> Self::Part {
        let mut part = Aegis128State([b.get_part(self.0[0], i); 8]);
        unroll!(w < 8 => {
            part.0[w] = b.get_part(self.0[w], i);
        });
        part
    }
    #[inline(always)]
    fn set_part(&mut self, b: B, i: usize, part: Self::Part) {
        unroll!(w < 8 => {
            self.0[w] = b.set_part(self.0[w], i, part.0[w]);
        });
    }
}

impl<B: Rounds> State<B, 1> for Aegis256State<B::V> {
    type Part = Aegis256State<<B::Part as Rounds>::V>;

    #[inline(always)]
    fn init(b: B, key: &Key, nonce: &[u8]) -> Self {
        let nonce: &[u8; 32] = nonce.first_chunk().unwrap();
        let (k0, k1) = (b.splat(key.0.first_chunk().unwrap()), b.splat(key.0.last_chunk().unwrap()));
        let (n0, n1) = (b.splat(nonce.first_chunk().unwrap()), b.splat(nonce.last_chunk().unwrap()));
        let (c0, c1, context) = (b.splat(&C0), b.splat(&C1), context(b));
        let (kn0, kn1) = (b.xor(k0, n0), b.xor(k1, n1));
        let mut state = Self([kn0, kn1, c1, c0, b.xor(k0, c0), b.xor(k1, c1)]);
        for _ in 0..4 {
            unroll!(i < 4 => {
                state.0[3] = b.xor(state.0[3], context);
                state.0[5] = b.xor(state.0[5], context);
                state.absorb(b, [[k0, k1, kn0, kn1][i]]);
            });
        }
        state
    }
    #[inline(always)]
    fn update(&mut self, b: B, keys: [B::V; 1], plus: [B::V; 1]) {
        let [s0, s1, s2, s3, s4, s5] = self.0;
        self.0 = b.rounds([s5, s0, s1, s2, s3, s4], [keys[0], s1, s2, s3, s4, s5]);
        self.0[0] = b.xor(self.0[0], plus[0]);
    }
    #[inline(always)]
    fn absorbing_words(&self) -> [B::V; 1] {
        [self.0[0]]
    }
    #[inline(always)]
    fn keystream(&self, b: B) -> [B::V; 1] {
        let [_, s1, s2, s3, s4, s5] = self.0;
        [b.xor(b.xor(s1, b.xor(s4, s5)), b.and(s2, s3))]
    }
    #[inline(always)]
    fn finalize(mut self, b: B, lengths: &[u8; 16]) -> [u8; 16] {
        let t = b.xor(self.0[3], b.splat(lengths));
        for _ in 0..7 {
            self.absorb(b, [t]);
        }
        let [s0, s1, s2, s3, s4, s5] = self.0;
        b.xor_lanes(b.xor(b.xor(b.xor(s0, s1), b.xor(s2, s3)), b.xor(s4, s5)))
    }
    #[inline(always)]
    fn fence(&mut self, b: B) {
        b.fence(&mut self.0);
    }
    #[inline(always)]
    fn get_part(&self, b: B, i: usize) -> Self::Part {
        let mut part = Aegis256State([b.get_part(self.0[0], i); 6]);
        unroll!(w < 6 => {
            part.0[w] = b.get_part(self.0[w], i);
        });
        part
    }
    #[inline(always)]
    fn set_part(&mut self, b: B, i: usize, part: Self::Part) {
        unroll!(w < 6 => {
            self.0[w] = b.set_part(self.0[w], i, part.0[w]);
        });
    }
}

/// Returns `ctx_v` (RFC 10032, section 5.4.2): the index of each lane and of the last one, which
/// distinguishes the degrees.
#[inline(always)]
fn context<B: Rounds>(b: B) -> B::V {
    let mut lanes = [[0; 16]; 4];
    unroll!(i < 4 => {
        if i < B::LANES {
            (lanes[i][0], lanes[i][1]) = (i as u8, B::LANES as u8 - 1);
        }
    });
    b.load(lanes.as_flattened())
}

/// Writes [`Degrees::REGISTER_DEGREE`] to `degree`.
#[inline(always)]
pub(crate) fn register_degree<B: Degrees>(_: B, degree: &mut usize) {
    *degree = B::REGISTER_DEGREE;
}

/// Seals or opens a message with AEGIS-128L, AEGIS-128X2 or AEGIS-128X4, for the degree `D`. Writes
/// the tag of the message to `tag`, also when opening, where the caller must compare it.
#[inline(always)]
pub(crate) fn eight<B: Degrees, const D: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    nonce: &[u8],
    aad: &[u8],
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    match D {
        1 => *tag = run::<_, Aegis128State<_>, 2, SEAL>(b.degree_1(), B::SPILLS, key, nonce, aad, data),
        2 => *tag = run::<_, Aegis128State<_>, 2, SEAL>(b.degree_2(), B::SPILLS, key, nonce, aad, data),
        _ => *tag = run::<_, Aegis128State<_>, 2, SEAL>(b.degree_4(), B::SPILLS, key, nonce, aad, data),
    }
}

/// Seals or opens a message with AEGIS-256, AEGIS-256X2 or AEGIS-256X4, as [`eight`] does.
#[inline(always)]
pub(crate) fn six<B: Degrees, const D: usize, const SEAL: bool>(
    b: B,
    key: &Key,
    nonce: &[u8],
    aad: &[u8],
    data: &mut InOut<'_>,
    tag: &mut [u8; 16],
) {
    match D {
        1 => *tag = run::<_, Aegis256State<_>, 1, SEAL>(b.degree_1(), B::SPILLS, key, nonce, aad, data),
        2 => *tag = run::<_, Aegis256State<_>, 1, SEAL>(b.degree_2(), B::SPILLS, key, nonce, aad, data),
        _ => *tag = run::<_, Aegis256State<_>, 1, SEAL>(b.degree_4(), B::SPILLS, key, nonce, aad, data),
    }
}

/// Computes Encrypt, or Decrypt up to the comparison of tags. `spills` is `Token::SPILLS` of the
/// variant; `b` may be a narrower token of the same instruction set.
#[inline(always)]
fn run<B: Rounds, S: State<B, N>, const N: usize, const SEAL: bool>(
    b: B,
    spills: bool,
    key: &Key,
    nonce: &[u8],
    aad: &[u8],
    data: &mut InOut<'_>,
) -> [u8; 16] {
    let rate = N * B::BYTES;
    let mut state = S::init(b, key, nonce);
    let mut rest = aad;
    while rest.len() >= rate {
        state.absorb(b, load::<B, N>(b, rest, B::BYTES));
        rest = &rest[rate..];
    }
    if !rest.is_empty() {
        state.absorb(b, load_part::<B, N>(b, rest));
    }
    let len = data.len();
    let mut at = 0;
    // The number of updates in an iteration of the loop. With a single one, a fifth of the
    // instructions only moves words between registers. There are more if words have several parts,
    // because an iteration loads and stores the state of each part.
    let updates = if B::PARTS > 1 { 4 } else { 2 };
    while len - at >= updates * rate {
        let mut group = data.part(at, updates * rate);
        unroll!(p < 4 => {
            if p < B::PARTS {
                let mut part = state.get_part(b, p);
                unroll!(i < 4 => {
                    if i < updates {
                        let from = i * rate + p * <B::Part as Rounds>::BYTES;
                        let data = group.part(from, updates * rate - from);
                        crypt::<_, _, N, SEAL>(b.part(), spills, &mut part, data, B::BYTES);
                        if spills {
                            part.fence(b.part());
                        }
                    }
                });
                state.set_part(b, p, part);
            }
        });
        at += updates * rate;
    }
    while len - at >= rate {
        crypt::<B, S, N, SEAL>(b, spills, &mut state, data.part(at, rate), B::BYTES);
        at += rate;
    }
    if at < len {
        crypt_part::<B, S, N, SEAL>(b, &mut state, data.part(at, len - at));
    }
    let lengths = u128::from(8 * aad.len() as u64) | u128::from(8 * len as u64) << 64;
    state.finalize(b, &lengths.to_le_bytes())
}

/// Computes Enc or Dec of one update's data; its vectors begin `stride` bytes apart.
#[inline(always)]
fn crypt<B: Rounds, S: State<B, N>, const N: usize, const SEAL: bool>(
    b: B,
    spills: bool,
    state: &mut S,
    mut data: InOut<'_>,
    stride: usize,
) {
    let from = load::<B, N>(b, data.source(), stride);
    let stream = state.keystream(b);
    let to = xor(b, from, stream);
    unroll!(i < N => {
        b.store(to[i], &mut data.target()[i * stride..]);
    });
    let absorbing_words = state.absorbing_words();
    if SEAL {
        state.step(b, from, absorbing_words);
    } else if N == 2 && !spills {
        // `to` alone depends on Z, so instructions that XOR three operands save one of four.
        state.step(b, [b.splat(&[0; 16]); N], xor(b, absorbing_words, to));
    } else {
        // The zeros would need a register, and a word of the state would be on the stack. On Zen 4,
        // AEGIS-256 with several lanes takes 2 to 12 % longer the other way.
        state.step(b, from, xor(b, absorbing_words, stream));
    }
}

/// Computes EncPartial or DecPartial for data shorter than one update. The plaintext is absorbed
/// with zeros after it.
#[inline(always)]
fn crypt_part<B: Rounds, S: State<B, N>, const N: usize, const SEAL: bool>(
    b: B,
    state: &mut S,
    mut data: InOut<'_>,
) {
    let from = load_part::<B, N>(b, data.source());
    let to = xor(b, from, state.keystream(b));
    let target = data.target();
    let len = target.len();
    unroll!(i < N => {
        let (start, end) = (len.min(i * B::BYTES), len.min((i + 1) * B::BYTES));
        b.store_part(to[i], &mut target[start..end]);
    });
    // The plaintext is read again, since `to` has keystream after its end.
    let plain = if SEAL { from } else { load_part::<B, N>(b, target) };
    state.absorb(b, plain);
}

/// Loads `N` vectors that begin `stride` bytes apart.
#[inline(always)]
fn load<B: Rounds, const N: usize>(b: B, from: &[u8], stride: usize) -> [B::V; N] {
    let mut v = [b.load(from); N];
    unroll!(i < N => {
        v[i] = b.load(&from[i * stride..]);
    });
    v
}

/// Loads all bytes of `from`, fewer than `N` vectors have, followed by zeros.
#[inline(always)]
fn load_part<B: Rounds, const N: usize>(b: B, from: &[u8]) -> [B::V; N] {
    let len = from.len();
    let mut v = [b.splat(&[0; 16]); N];
    unroll!(i < N => {
        v[i] = b.load_part(&from[len.min(i * B::BYTES)..len.min((i + 1) * B::BYTES)]);
    });
    v
}

#[inline(always)]
fn xor<B: Rounds, const N: usize>(b: B, mut x: [B::V; N], y: [B::V; N]) -> [B::V; N] {
    unroll!(i < N => {
        x[i] = b.xor(x[i], y[i]);
    });
    x
}
