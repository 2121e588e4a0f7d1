//! ChaCha20 (RFC 8439, sections 2.1 to 2.4), written once for every instruction set.
//!
//! The state is a matrix of four rows `a`, `b`, `c`, `d` with four 32-bit words each. A block of
//! the keystream is:
//!
//! ```text
//! state = [constants, key[0..4], key[4..8], counter || nonce]
//! x     = state
//! repeat 10 times:
//!     QUARTERROUND(x) on each of the four columns
//!     QUARTERROUND(x) on each of the four diagonals
//! block = serialize(x + state)
//! ```
//!
//! Vectors compute many blocks at once. A state is stored in vectors in one of two layouts:
//!
//! - In *rows*, a vector holds the same row of as many blocks as it has quads. Rotating the words
//!   of quads moves the diagonals to columns and back. A group of four vectors takes as long as a
//!   single block, so this layout is used for short data.
//! - In *words*, a vector holds the same word of as many blocks as it has words. A diagonal is then
//!   only a different choice of vectors, but the words have to be transposed at the end. This
//!   layout is used for long data.
//!
//! In both layouts a round computes `N` quarter rounds of vectors, and the result is `N` groups of
//! four vectors of keystream.
//!
//! There is one departure from the pseudo-code: in the layout of words, three of the four column
//! quarter rounds of the first round are the same for all blocks of a message, so they are computed
//! once (see [`Stream::first_round`]).
#![forbid(unsafe_code)]

use super::rounds::State;
use crate::InOut;
use crate::poly1305::scalar::State as Mac;
use crate::vector::inout::SourceCopy;
use crate::vector::quads::Quads;
use crate::vector::{Steps, unroll};
use crate::zero::wipe;
use alloc::boxed::Box;

/// The key. Wiped from memory on drop.
#[repr(C, align(16))]
pub(crate) struct Key(pub(crate) [[u8; 16]; 2]);

impl Key {
    pub(crate) const EMPTY: Self = Self([[0; 16]; 2]);

    /// Copies a key to the heap, where it stays until it is wiped.
    pub(crate) fn of(key: &[u8; 32]) -> Box<Self> {
        let mut copy = Box::new(Self::EMPTY);
        copy.0.as_flattened_mut().copy_from_slice(key);
        copy
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// The first row of every state, the constant words of RFC 8439, section 2.3.
pub(super) const CONSTANTS: [u8; 16] = *b"expand 32-byte k";
/// Number of bytes in the widest vector.
const WIDEST: usize = 64;

/// XORs `data` with the keystream from byte `skip` of block `counter` on. `skip` is below 64.
///
/// `N` is the number of quarter rounds that are computed in parallel for long data: 8 or 4 in
/// words, or 1 in rows, for instruction sets with too few registers for the layout of words.
///
/// The caller must check that the last block has a number below 2^32.
#[inline(always)]
pub(crate) fn xor<Q: Quads, const N: usize>(
    q: Q,
    key: &Key,
    nonce: &[u8; 12],
    counter: u32,
    skip: usize,
    mut data: InOut<'_>,
) {
    let mut stream = Stream { q, key, nonce, counter };
    let len = data.len();
    let mut done = 0;
    if skip > 0 && len > 0 {
        let mut keystream = Buffer::EMPTY;
        stream.xor_in_rows::<1, 0>(InOut::in_place(&mut keystream.0[..4 * Q::BYTES]), &mut [], &mut ());
        done = len.min(4 * Q::BYTES - skip);
        xor_bytes(q, &keystream.0[skip..skip + done], data.part(0, done));
        stream.advance(4);
    }
    if N > 1 && len - done >= 16 * Q::BYTES {
        let mut first = Buffer::EMPTY;
        stream.first_round(&mut first);
        while N > 4 && len - done >= 4 * N * Q::BYTES {
            stream.xor_in_words::<N>(&first, data.part(done, 4 * N * Q::BYTES));
            done += 4 * N * Q::BYTES;
        }
        while len - done >= 16 * Q::BYTES {
            stream.xor_in_words::<4>(&first, data.part(done, 16 * Q::BYTES));
            done += 16 * Q::BYTES;
        }
    }
    while N == 1 && len - done > 4 * Q::BYTES {
        stream.xor_in_rows::<1, 0>(data.part(done, 4 * Q::BYTES), &mut [], &mut ());
        stream.advance(4);
        done += 4 * Q::BYTES;
    }
    if done < len {
        stream.xor_short::<N, 0>(data.part(done, len - done), &mut [], &mut ());
    }
}

/// Begins an authenticated message (RFC 8439, section 2.8): writes block 0, which holds the
/// Poly1305 key, to `first`, and XORs `data` with the keystream from block 1 on. For short data
/// this is a single computation.
///
/// `first` is a secret that the caller must wipe.
#[inline(always)]
pub(crate) fn begin<Q: Quads, const N: usize>(
    q: Q,
    key: &Key,
    nonce: &[u8; 12],
    first: &mut [u8; 64],
    data: InOut<'_>,
) {
    let stream = Stream { q, key, nonce, counter: 0 };
    // The maximum length for `xor_short`.
    if 64 + data.len() <= 4 * Q::BYTES * if N > 1 { 4 } else { 1 } {
        stream.xor_short::<N, 64>(data, first, &mut ());
    } else {
        stream.xor_short::<N, 64>(InOut::in_place(&mut []), first, &mut ());
        xor::<Q, N>(q, key, nonce, 1, 0, data);
    }
}

/// Minimum number of bytes for [`stitched`]: seven of the eight blocks of the first group.
pub(crate) const STITCHED: usize = GROUP - 64;
/// Number of bytes in the group of [`stitched`], four times four vectors of 256 bits.
const GROUP: usize = 512;

/// Seals, or with `OPEN` opens, at least [`STITCHED`] bytes: XORs the keystream, and absorbs the
/// ciphertext, padded with zeros to whole blocks. A group is absorbed while the next one is
/// computed.
///
/// The data begin after block `counter`, which is written to `before`, a secret that the caller
/// must wipe. With `aad` a message begins here: block 0 holds the key of `mac`, which must be
/// empty, and `aad` is absorbed first.
///
/// Each byte of the source is read once: `open` absorbs a copy of what it decrypted.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the state of two algorithms")]
pub(crate) fn stitched<Q: Quads, const N: usize, const OPEN: bool>(
    q: Q,
    key: &Key,
    nonce: &[u8; 12],
    counter: u32,
    before: &mut [u8; 64],
    aad: Option<&[u8]>,
    mac: &mut Mac,
    mut data: InOut<'_>,
) {
    // Two different texts: LLVM would merge the functions, and each is analysed by its symbol.
    let what = if OPEN { "open" } else { "seal" };
    assert!(Q::STITCHES && 16 * Q::BYTES == GROUP, "cannot {what} on this instruction set");
    let (len, mut done, mut first) = (data.len(), STITCHED, Buffer::EMPTY);
    let mut stream = Stream { q, key, nonce, counter };
    stream.first_round(&mut first);
    // The ciphertext of the last group, to be absorbed.
    let mut group = [0; GROUP];
    let (counters, state) = stream.in_words::<4>(&first, &mut ());
    stream.xor_result::<64, OPEN>(state, counters[0], data.part(0, done), before, &mut group);
    stream.advance(16);
    if let Some(aad) = aad {
        mac.set(before.first_chunk().unwrap());
        mac.padded(aad);
    }
    let mut waiting = STITCHED;
    while len - done >= GROUP {
        let mut steps = mac.absorb(&group[..waiting]);
        let (counters, state) = stream.in_words::<4>(&first, &mut steps);
        mac.absorbed(steps);
        stream.xor_result::<0, OPEN>(state, counters[0], data.part(done, GROUP), &mut [], &mut group);
        stream.advance(16);
        waiting = GROUP;
        done += GROUP;
    }
    let mut steps = mac.absorb(&group[..waiting]);
    let mut copy = SourceCopy::<GROUP>::new();
    let mut rest = data.part(done, len - done);
    if OPEN {
        rest = rest.copy_source(&mut copy);
    }
    if done < len {
        stream.xor_short::<N, 0>(rest.part(0, len - done), &mut [], &mut steps);
    }
    mac.absorbed(steps);
    mac.padded(if OPEN { rest.source() } else { rest.target() });
}

/// HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): derives a key from a key and the first 16
/// bytes of a nonce.
#[inline(always)]
pub(crate) fn subkey<Q: Quads>(q: Q, key: &Key, nonce: &[u8; 16], to: &mut Key) {
    let mut s = State::<Q, 1> {
        a: [q.splat_quad(&CONSTANTS)],
        b: [q.splat_quad(&key.0[0])],
        c: [q.splat_quad(&key.0[1])],
        d: [q.splat_quad(nonce)],
    };
    s.rounds_in_rows(q, &mut ());
    let mut rows = Buffer::EMPTY;
    q.store(s.a[0], &mut rows.0[..Q::BYTES]);
    q.store(s.d[0], &mut rows.0[WIDEST..][..Q::BYTES]);
    to.0 = [*rows.0.first_chunk().unwrap(), *rows.0[WIDEST..].first_chunk().unwrap()];
}

/// XORs `data` with equally long `bytes`.
#[inline(always)]
pub(crate) fn xor_bytes<Q: Quads>(q: Q, bytes: &[u8], mut data: InOut<'_>) {
    let len = bytes.len();
    let mut done = 0;
    while len - done >= Q::BYTES {
        xor_vector(q, q.load(&bytes[done..]), data.part(done, Q::BYTES));
        done += Q::BYTES;
    }
    if done < len {
        xor_part(q, q.load_part(&bytes[done..]), data.part(done, len - done));
    }
}

#[inline(always)]
fn xor_vector<Q: Quads>(q: Q, v: Q::V, mut data: InOut<'_>) {
    let x = q.load(data.source());
    q.store(q.xor(x, v), data.target());
}

#[inline(always)]
fn xor_part<Q: Quads>(q: Q, v: Q::V, mut data: InOut<'_>) {
    let x = q.load_part(data.source());
    q.store_part(q.xor(x, v), data.target());
}

/// A buffer for keystream or for the rows of a state. Wiped from memory on drop.
#[repr(C, align(64))]
struct Buffer([u8; 4 * WIDEST]);

impl Buffer {
    const EMPTY: Self = Self([0; 4 * WIDEST]);

    /// Returns word `i` of the row with the number `row`, counted from 0.
    #[inline(always)]
    fn word(&self, row: usize, i: usize) -> u32 {
        word(&self.0[WIDEST * row..], i)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Returns word `i` of a row.
#[inline(always)]
pub(super) fn word(row: &[u8], i: usize) -> u32 {
    u32::from_le_bytes(*row[4 * i..].first_chunk().unwrap())
}

/// For each lane of a vector of counters, the difference to the counter of the first block.
struct CounterOffsets<Q>(Q);

impl<Q: Quads> CounterOffsets<Q> {
    const QUADS: usize = Q::LANES / 4;
    /// The offsets for the layout of words. After the transposition, quad `l` of vector `j` belongs
    /// to the block that was in lane `4l + j`. With these offsets, the blocks of a vector are
    /// consecutive.
    const WORDS: [u8; WIDEST] = {
        let mut bytes = [0; WIDEST];
        let mut i = 0;
        while i < Q::LANES {
            bytes[4 * i] = (i % 4 * Self::QUADS + i / 4) as u8;
            i += 1;
        }
        bytes
    };
    /// The offsets for the layout of rows, where the counter is word 0 of each quad.
    const ROWS: [u8; WIDEST] = {
        let mut bytes = [0; WIDEST];
        let mut i = 0;
        while i < Self::QUADS {
            bytes[16 * i] = i as u8;
            i += 1;
        }
        bytes
    };
}

/// A keystream that begins at block `counter`.
struct Stream<'a, Q> {
    q: Q,
    key: &'a Key,
    nonce: &'a [u8; 12],
    counter: u32,
}

impl<Q: Quads> Stream<'_, Q> {
    /// Returns row `d` of a state.
    #[inline(always)]
    fn row_d(&self, counter: u32) -> [u8; 16] {
        let mut row = [0; 16];
        row[..4].copy_from_slice(&counter.to_le_bytes());
        row[4..].copy_from_slice(self.nonce);
        row
    }

    /// Advances the counter by a number of vectors of keystream.
    #[inline(always)]
    fn advance(&mut self, vectors: usize) {
        self.counter = self.counter.wrapping_add((vectors * Q::BYTES / 64) as u32);
    }

    /// Writes the first `HEAD` bytes of keystream to `head` and XORs the following ones to `data`.
    /// Both together have at most `16 * Q::BYTES` bytes, or `4 * Q::BYTES` if `N` is 1.
    #[inline(always)]
    fn xor_short<const N: usize, const HEAD: usize>(
        &self,
        data: InOut<'_>,
        head: &mut [u8],
        steps: &mut impl Steps,
    ) {
        let group = 4 * Q::BYTES;
        let len = HEAD + data.len();
        if N == 1 || len <= group {
            self.xor_in_rows::<1, HEAD>(data, head, steps);
        } else if len <= 2 * group {
            self.xor_in_rows::<2, HEAD>(data, head, steps);
        } else if len <= 3 * group {
            self.xor_in_rows::<3, HEAD>(data, head, steps);
        } else {
            self.xor_in_rows::<4, HEAD>(data, head, steps);
        }
    }

    /// Does the work of [`Stream::xor_short`] in rows, for data that end in group `N`.
    #[inline(always)]
    fn xor_in_rows<const N: usize, const HEAD: usize>(
        &self,
        mut data: InOut<'_>,
        head: &mut [u8],
        steps: &mut impl Steps,
    ) {
        let q = self.q;
        let [a, b, c] =
            [q.splat_quad(&CONSTANTS), q.splat_quad(&self.key.0[0]), q.splat_quad(&self.key.0[1])];
        let offsets = q.load(&CounterOffsets::<Q>::ROWS);
        let mut d = [offsets; N];
        unroll!(i < 8 => {
            if i < N {
                let counter = self.counter.wrapping_add((i * CounterOffsets::<Q>::QUADS) as u32);
                d[i] = q.add(q.splat_quad(&self.row_d(counter)), offsets);
            }
        });
        let mut s = State::<Q, N> { a: [a; N], b: [b; N], c: [c; N], d };
        s.rounds_in_rows(q, steps);
        unroll!(i < 8 => {
            if i < N {
                s.a[i] = q.add(s.a[i], a);
                s.b[i] = q.add(s.b[i], b);
                s.c[i] = q.add(s.c[i], c);
                s.d[i] = q.add(s.d[i], d[i]);
                let v = s.keystream(q, i);
                unroll!(j < 4 => {
                    let at = (4 * i + j) * Q::BYTES;
                    if at < HEAD {
                        q.store(v[j], &mut head[at..][..Q::BYTES]);
                    } else {
                        let at = at - HEAD;
                        if at + Q::BYTES <= data.len() {
                            xor_vector(q, v[j], data.part(at, Q::BYTES));
                        } else if at < data.len() {
                            let len = data.len() - at;
                            xor_part(q, v[j], data.part(at, len));
                        }
                    }
                });
            }
        });
    }

    /// Computes the state after the first round in rows. Three of its four columns do not depend on
    /// the counter, so they are the same for all blocks.
    #[inline(always)]
    fn first_round(&self, to: &mut Buffer) {
        let q = self.q;
        let mut s = State::<Q, 1> {
            a: [q.splat_quad(&CONSTANTS)],
            b: [q.splat_quad(&self.key.0[0])],
            c: [q.splat_quad(&self.key.0[1])],
            d: [q.splat_quad(&self.row_d(0))],
        };
        s.quarter_rounds(q);
        q.store(s.a[0], &mut to.0[..Q::BYTES]);
        q.store(s.b[0], &mut to.0[WIDEST..][..Q::BYTES]);
        q.store(s.c[0], &mut to.0[2 * WIDEST..][..Q::BYTES]);
        q.store(s.d[0], &mut to.0[3 * WIDEST..][..Q::BYTES]);
    }

    /// XORs the keystream to `N` whole groups in words, and advances the counter.
    #[inline(always)]
    fn xor_in_words<const N: usize>(&mut self, first: &Buffer, mut data: InOut<'_>) {
        let (counters, s) = self.in_words::<N>(first, &mut ());
        unroll!(i < 2 => {
            if 4 * i < N {
                let data = data.part(16 * i * Q::BYTES, 16 * Q::BYTES);
                self.xor_result::<0, false>(s.four_columns(4 * i), counters[i], data, &mut [], &mut []);
            }
        });
        self.advance(4 * N);
    }

    /// Returns the counters of `N` groups in words and their state after all rounds.
    #[inline(always)]
    fn in_words<const N: usize>(&self, first: &Buffer, steps: &mut impl Steps) -> ([Q::V; 2], State<Q, N>) {
        let q = self.q;
        let offsets = q.load(&CounterOffsets::<Q>::WORDS);
        let mut counters = [offsets; 2];
        unroll!(i < 2 => {
            counters[i] = q.add(q.splat(self.counter.wrapping_add((i * Q::LANES) as u32)), offsets);
        });
        let mut s = self.after_first_round::<N>(first, counters);
        s.rounds_in_words(q, steps);
        (counters, s)
    }

    /// Returns a state in words after its first round. Only the columns with the counters are
    /// computed, since the other columns are in `first`.
    #[inline(always)]
    fn after_first_round<const N: usize>(&self, first: &Buffer, counters: [Q::V; 2]) -> State<Q, N> {
        let q = self.q;
        let (key, first) = (q.opaque_ref(self.key), q.opaque_ref(first));
        let mut column = State::<Q, 2> {
            a: [q.splat(word(&CONSTANTS, 0)); 2],
            b: [q.splat(word(&key.0[0], 0)); 2],
            c: [q.splat(word(&key.0[1], 0)); 2],
            d: counters,
        };
        column.quarter_rounds(q);
        let State { a, b, c, d } = column;
        let mut s = State::<Q, N> { a: [a[0]; N], b: [b[0]; N], c: [c[0]; N], d: [d[0]; N] };
        unroll!(i < 8 => {
            if i < N && i.is_multiple_of(4) {
                s.a[i] = a[i / 4];
                s.b[i] = b[i / 4];
                s.c[i] = c[i / 4];
                s.d[i] = d[i / 4];
            } else if i < N {
                s.a[i] = q.splat(first.word(0, i % 4));
                s.b[i] = q.splat(first.word(1, i % 4));
                s.c[i] = q.splat(first.word(2, i % 4));
                s.d[i] = q.splat(first.word(3, i % 4));
            }
        });
        s
    }

    /// Adds the initial state to a state in words after its rounds. Writes the first `HEAD` bytes
    /// of the four groups of keystream to `head`, and XORs the following ones to `data`. Copies the
    /// ciphertext, which is the source if `OPEN`, to `copy`, if it is not empty.
    #[inline(always)]
    fn xor_result<const HEAD: usize, const OPEN: bool>(
        &self,
        s: State<Q, 4>,
        counters: Q::V,
        mut data: InOut<'_>,
        head: &mut [u8],
        copy: &mut [u8],
    ) {
        let q = self.q;
        let row_d = |i| if i == 0 { counters } else { q.splat(word(self.nonce, (i + 3) % 4)) };
        let s = words_to_rows(q, self.key, s, row_d);
        unroll!(i < 4 => {
            let v = s.keystream(q, i);
            unroll!(j < 4 => {
                let at = (4 * i + j) * Q::BYTES;
                if at < HEAD {
                    q.store(v[j], &mut head[at..]);
                } else {
                    let at = at - HEAD;
                    let mut data = data.part(at, Q::BYTES);
                    let x = q.load(data.source());
                    let y = q.xor(x, v[j]);
                    if !copy.is_empty() {
                        q.store(if OPEN { x } else { y }, &mut copy[at..]);
                    }
                    q.store(y, data.target());
                }
            });
        });
    }
}

/// Adds the initial state, whose row `d` is given, to a state in words after its rounds, and
/// transposes it to rows.
#[inline(always)]
pub(super) fn words_to_rows<Q: Quads>(
    q: Q,
    key: &Key,
    mut s: State<Q, 4>,
    row_d: impl Fn(usize) -> Q::V,
) -> State<Q, 4> {
    let key = q.opaque_ref(key);
    unroll!(i < 4 => {
        s.a[i] = q.add(s.a[i], q.splat(word(&CONSTANTS, i)));
        s.b[i] = q.add(s.b[i], q.splat(word(&key.0[0], i)));
        s.c[i] = q.add(s.c[i], q.splat(word(&key.0[1], i)));
        s.d[i] = q.add(s.d[i], row_d(i));
    });
    s.a = q.transpose(s.a);
    s.b = q.transpose(s.b);
    s.c = q.transpose(s.c);
    s.d = q.transpose(s.d);
    s
}
