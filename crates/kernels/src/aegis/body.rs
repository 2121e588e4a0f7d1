//! AEGIS, once, for every instruction set and degree.
//!
//! A word of the state is one vector of as many blocks as the degree says, so all degrees are the same text,
//! in which only the context of the set-up knows how many lanes there are.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::vector::rounds::{Degrees, Rounds};
use crate::vector::unroll;
use crate::zero::wipe;

/// A key of 16 bytes, with zeros after it, or of 32. Wiped on drop.
#[repr(align(16))]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The state between two steps. A step takes in `N` vectors of data.
trait State<B: Rounds, const N: usize>: Sized {
    /// Some of its lanes.
    type Part: State<B::Part, N>;

    /// Init.
    fn begin(b: B, key: &Key, nonce: &[u8]) -> Self;
    /// Update, with the AES round that takes in vector `i` of the data given as its round key `keys[i]` and
    /// the xor of `plus[i]` after it.
    ///
    /// The specification has the word of the state as the round key and the data after it. What is added is
    /// the same. But the data is known early and the word late, and in this order the word has one xor less
    /// on its way round.
    fn step(&mut self, b: B, keys: [B::V; N], plus: [B::V; N]);
    /// The words to which a step adds data.
    fn inlets(&self) -> [B::V; N];
    /// The keystream for the next step's data.
    fn stream(&self, b: B) -> [B::V; N];
    /// Finalize: the tag, from the bits of additional data and of data.
    fn finish(self, b: B, lengths: &[u8; 16]) -> [u8; 16];

    /// Keeps steps apart. LLVM begins the next one early, for which 16 registers are not enough, and the
    /// processor does so anyway.
    fn fence(&mut self, b: B);
    /// The lanes that are part `i` of every word.
    fn get_part(&self, b: B, i: usize) -> Self::Part;
    /// Puts them back.
    fn set_part(&mut self, b: B, i: usize, part: Self::Part);

    /// Takes in data that is not encrypted.
    #[inline(always)]
    fn absorb(&mut self, b: B, data: [B::V; N]) {
        self.step(b, data, self.inlets());
    }
}

/// AEGIS-128L and its wider siblings (RFC 10032, sections 3 and 5.4).
struct Eight<V>([V; 8]);

/// AEGIS-256 and its wider siblings (RFC 10032, sections 4 and 5.5).
struct Six<V>([V; 6]);

/// Fibonacci numbers modulo 256 (RFC 10032, section 2).
const C0: [u8; 16] = 0x0001_0102_0305_080d_1522_3759_90e9_7962_u128.to_be_bytes();
const C1: [u8; 16] = 0xdb3d_1855_6dc2_2ff1_2011_3142_73b5_28dd_u128.to_be_bytes();

impl<B: Rounds> State<B, 2> for Eight<B::V> {
    type Part = Eight<<B::Part as Rounds>::V>;

    #[inline(always)]
    fn begin(b: B, key: &Key, nonce: &[u8]) -> Self {
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
    fn step(&mut self, b: B, keys: [B::V; 2], plus: [B::V; 2]) {
        let [s0, s1, s2, s3, s4, s5, s6, s7] = self.0;
        let states = [s7, s0, s1, s2, s3, s4, s5, s6];
        self.0 = b.rounds(states, [keys[0], s1, s2, s3, keys[1], s5, s6, s7]);
        self.0[0] = b.xor(self.0[0], plus[0]);
        self.0[4] = b.xor(self.0[4], plus[1]);
    }
    #[inline(always)]
    fn inlets(&self) -> [B::V; 2] {
        [self.0[0], self.0[4]]
    }
    #[inline(always)]
    fn stream(&self, b: B) -> [B::V; 2] {
        let [_, s1, s2, s3, _, s5, s6, s7] = self.0;
        [b.xor(b.xor(s6, s1), b.and(s2, s3)), b.xor(b.xor(s2, s5), b.and(s6, s7))]
    }
    #[inline(always)]
    fn finish(mut self, b: B, lengths: &[u8; 16]) -> [u8; 16] {
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
        let mut part = Eight([b.get_part(self.0[0], i); 8]);
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

impl<B: Rounds> State<B, 1> for Six<B::V> {
    type Part = Six<<B::Part as Rounds>::V>;

    #[inline(always)]
    fn begin(b: B, key: &Key, nonce: &[u8]) -> Self {
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
    fn step(&mut self, b: B, keys: [B::V; 1], plus: [B::V; 1]) {
        let [s0, s1, s2, s3, s4, s5] = self.0;
        self.0 = b.rounds([s5, s0, s1, s2, s3, s4], [keys[0], s1, s2, s3, s4, s5]);
        self.0[0] = b.xor(self.0[0], plus[0]);
    }
    #[inline(always)]
    fn inlets(&self) -> [B::V; 1] {
        [self.0[0]]
    }
    #[inline(always)]
    fn stream(&self, b: B) -> [B::V; 1] {
        let [_, s1, s2, s3, s4, s5] = self.0;
        [b.xor(b.xor(s1, b.xor(s4, s5)), b.and(s2, s3))]
    }
    #[inline(always)]
    fn finish(mut self, b: B, lengths: &[u8; 16]) -> [u8; 16] {
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
        let mut part = Six([b.get_part(self.0[0], i); 6]);
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

/// The number of each lane and of the last one, which tells the degrees apart (RFC 10032, section 5.4.2:
/// `ctx_v`).
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

/// [`Degrees::REGISTER_DEGREE`].
#[inline(always)]
pub(crate) fn register_degree<B: Degrees>(_: B, degree: &mut usize) {
    *degree = B::REGISTER_DEGREE;
}

/// AEGIS-128L, X2 or X4, by the degree `D`: seals (`SEAL`) or opens. The tag is made; when opening, it is
/// what it should be.
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
        1 => *tag = run::<_, Eight<_>, 2, SEAL>(b.degree_1(), B::SPILLS, key, nonce, aad, data),
        2 => *tag = run::<_, Eight<_>, 2, SEAL>(b.degree_2(), B::SPILLS, key, nonce, aad, data),
        _ => *tag = run::<_, Eight<_>, 2, SEAL>(b.degree_4(), B::SPILLS, key, nonce, aad, data),
    }
}

/// The same for AEGIS-256, X2 or X4.
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
        1 => *tag = run::<_, Six<_>, 1, SEAL>(b.degree_1(), B::SPILLS, key, nonce, aad, data),
        2 => *tag = run::<_, Six<_>, 1, SEAL>(b.degree_2(), B::SPILLS, key, nonce, aad, data),
        _ => *tag = run::<_, Six<_>, 1, SEAL>(b.degree_4(), B::SPILLS, key, nonce, aad, data),
    }
}

/// Encrypt, or Decrypt up to the comparison. `spills` is [`Token::SPILLS`] of the row, whose degree `b` may be
/// a narrow one.
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
    let mut state = S::begin(b, key, nonce);
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
    // Steps written out in a turn of the loop: else a fifth of the instructions only moves words on. Where
    // words have parts, more of them, since each turn also fetches the parts' states and puts them back.
    let steps = if B::PARTS > 1 { 4 } else { 2 };
    while len - at >= steps * rate {
        let mut group = data.part(at, steps * rate);
        unroll!(p < 4 => {
            if p < B::PARTS {
                let mut part = state.get_part(b, p);
                unroll!(i < 4 => {
                    if i < steps {
                        let from = i * rate + p * <B::Part as Rounds>::BYTES;
                        let data = group.part(from, steps * rate - from);
                        crypt::<_, _, N, SEAL>(b.part(), &mut part, data, B::BYTES);
                        if spills {
                            part.fence(b.part());
                        }
                    }
                });
                state.set_part(b, p, part);
            }
        });
        at += steps * rate;
    }
    while len - at >= rate {
        crypt::<B, S, N, SEAL>(b, &mut state, data.part(at, rate), B::BYTES);
        at += rate;
    }
    if at < len {
        crypt_part::<B, S, N, SEAL>(b, &mut state, data.part(at, len - at));
    }
    let lengths = u128::from(8 * aad.len() as u64) | u128::from(8 * len as u64) << 64;
    state.finish(b, &lengths.to_le_bytes())
}

/// Enc or Dec: one step's data, of which a vector begins after every `stride` bytes.
#[inline(always)]
fn crypt<B: Rounds, S: State<B, N>, const N: usize, const SEAL: bool>(
    b: B,
    state: &mut S,
    mut data: InOut<'_>,
    stride: usize,
) {
    let from = load::<B, N>(b, data.source(), stride);
    let stream = state.stream(b);
    let to = xor(b, from, stream);
    unroll!(i < N => {
        b.store(to[i], &mut data.target()[i * stride..]);
    });
    let inlets = state.inlets();
    if SEAL {
        state.step(b, from, inlets);
    } else {
        // The plaintext is `from` and `stream`, of which the former is known earlier.
        state.step(b, from, xor(b, inlets, stream));
    }
}

/// Less than one step's data. What is taken in has zeros after the plaintext.
#[inline(always)]
fn crypt_part<B: Rounds, S: State<B, N>, const N: usize, const SEAL: bool>(
    b: B,
    state: &mut S,
    mut data: InOut<'_>,
) {
    let from = load_part::<B, N>(b, data.source());
    let to = xor(b, from, state.stream(b));
    let target = data.target();
    let len = target.len();
    unroll!(i < N => {
        let (start, end) = (len.min(i * B::BYTES), len.min((i + 1) * B::BYTES));
        b.store_part(to[i], &mut target[start..end]);
    });
    // Read again, without the keystream after its end.
    let plain = if SEAL { from } else { load_part::<B, N>(b, target) };
    state.absorb(b, plain);
}

/// `N` vectors of `from`, of which one begins after every `stride` bytes.
#[inline(always)]
fn load<B: Rounds, const N: usize>(b: B, from: &[u8], stride: usize) -> [B::V; N] {
    let mut v = [b.load(from); N];
    unroll!(i < N => {
        v[i] = b.load(&from[i * stride..]);
    });
    v
}

/// All bytes of `from`, less than `N` vectors, and zeros after them.
#[inline(always)]
fn load_part<B: Rounds, const N: usize>(b: B, from: &[u8]) -> [B::V; N] {
    let len = from.len();
    let mut v = [b.splat(&[0; 16]); N];
    unroll!(i < N => {
        v[i] = b.load_part(&from[len.min(i * B::BYTES)..len.min((i + 1) * B::BYTES)]);
    });
    v
}

/// a ^ b.
#[inline(always)]
fn xor<B: Rounds, const N: usize>(b: B, mut x: [B::V; N], y: [B::V; N]) -> [B::V; N] {
    unroll!(i < N => {
        x[i] = b.xor(x[i], y[i]);
    });
    x
}
