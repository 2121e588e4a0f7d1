//! ChaCha20, once, for every instruction set.
//!
//! A state is four rows of four words (RFC 8439, section 2.3). It lies in vectors in one of two ways:
//!
//! - in *rows*: a vector holds the same row of as many blocks as it has quads. Diagonals come by turning the quads.
//!   One group of four vectors takes as long as one block, so this is for what is short.
//! - in *words*: a vector holds the same word of as many blocks as it has words. Diagonals come by renaming vectors,
//!   and at the end the words have to be transposed. This is for what is long.
//!
//! Either way a round does the same to `N` quarters at a time, and `N` groups of four vectors come out.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::vector::quads::Quads;
use crate::vector::unroll;
use crate::zero::wipe;

/// The key. Wiped on drop.
#[repr(C, align(16))]
pub(crate) struct Key(pub(crate) [[u8; 16]; 2]);

impl Key {
    pub(crate) const EMPTY: Self = Self([[0; 16]; 2]);
}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// "expand 32-byte k": the first row of every state.
const CONSTANTS: [u8; 16] = *b"expand 32-byte k";
/// Bytes of the widest vector.
const WIDEST: usize = 64;

/// XORs `data` with the keystream of the blocks from `counter` on, but for the first `skip` bytes of it, fewer than 64.
/// `N` quarters are computed side by side where the data are long: four, or eight.
///
/// The last block that is needed is below 2^32: whoever calls has checked.
#[inline(always)]
pub(crate) fn xor<Q: Quads, const N: usize>(
    q: Q,
    key: &Key,
    nonce: &[u8; 12],
    mut counter: u32,
    skip: usize,
    mut data: InOut<'_>,
) {
    let len = data.len();
    let mut done = 0;
    if skip > 0 && len > 0 {
        let group = 4 * Q::BYTES;
        let mut keystream = Buffer::EMPTY;
        let stream = Stream { q, key, nonce, counter };
        stream.rows::<1, 0>(InOut::in_place(&mut keystream.0[..group]), &mut []);
        done = len.min(group - skip);
        xor_bytes(q, &keystream.0[skip..skip + done], data.part(0, done));
        counter = counter.wrapping_add(4 * Q::BYTES as u32 / 64);
    }
    let mut stream = Stream { q, key, nonce, counter };
    if len - done >= 16 * Q::BYTES {
        let mut first = Buffer::EMPTY;
        stream.first_round(&mut first);
        while N > 4 && len - done >= 4 * N * Q::BYTES {
            stream.words::<N>(&first, data.part(done, 4 * N * Q::BYTES));
            done += 4 * N * Q::BYTES;
        }
        while len - done >= 16 * Q::BYTES {
            stream.words::<4>(&first, data.part(done, 16 * Q::BYTES));
            done += 16 * Q::BYTES;
        }
    }
    if done < len {
        stream.short::<0>(data.part(done, len - done), &mut []);
    }
}

/// Most data that [`start`] takes.
pub(crate) const fn most_at_start<Q: Quads>() -> usize {
    16 * Q::BYTES - 64
}

/// Block 0, and `data` with the keystream of the blocks after it, at once. Where there is more than [`most_at_start`],
/// the rest is for [`xor`].
#[inline(always)]
pub(crate) fn start<Q: Quads>(q: Q, key: &Key, nonce: &[u8; 12], first: &mut [u8; 64], data: InOut<'_>) {
    Stream { q, key, nonce, counter: 0 }.short::<64>(data, first);
}

/// HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): a key made of a key and the first 16 bytes of a nonce.
#[inline(always)]
pub(crate) fn subkey<Q: Quads>(q: Q, key: &Key, nonce: &[u8; 16], to: &mut Key) {
    let mut s = State::<Q, 1> {
        a: [q.repeat(&CONSTANTS)],
        b: [q.repeat(&key.0[0])],
        c: [q.repeat(&key.0[1])],
        d: [q.repeat(nonce)],
    };
    let mut turn = 0;
    while turn < 10 {
        s.quarters(q);
        s.turn_rows(q);
        s.quarters(q);
        s.turn_rows_back(q);
        turn += 1;
    }
    let mut rows = Buffer::EMPTY;
    q.store(s.a[0], &mut rows.0[..Q::BYTES]);
    q.store(s.d[0], &mut rows.0[WIDEST..][..Q::BYTES]);
    to.0 = [*rows.0.first_chunk().unwrap(), *rows.0[WIDEST..].first_chunk().unwrap()];
}

/// XORs `data` with as many bytes.
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

/// Keystream, or rows of a state, on their way. Wiped on drop.
#[repr(C, align(64))]
struct Buffer([u8; 4 * WIDEST]);

impl Buffer {
    const EMPTY: Self = Self([0; 4 * WIDEST]);

    /// Word `i` of row `row`.
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

/// Word `i` of a row.
#[inline(always)]
fn word(row: &[u8], i: usize) -> u32 {
    u32::from_le_bytes(*row[4 * i..].first_chunk().unwrap())
}

/// `N` quarters of every row.
struct State<Q: Quads, const N: usize> {
    a: [Q::V; N],
    b: [Q::V; N],
    c: [Q::V; N],
    d: [Q::V; N],
}

impl<Q: Quads, const N: usize> State<Q, N> {
    /// Quarter rounds (RFC 8439, section 2.1), all side by side.
    #[inline(always)]
    fn quarters(&mut self, q: Q) {
        self.half_quarters::<16, 12>(q);
        self.half_quarters::<8, 7>(q);
    }

    #[inline(always)]
    fn half_quarters<const D: i32, const B: i32>(&mut self, q: Q) {
        let Self { a, b, c, d } = self;
        unroll!(i < 8 => { if i < N { a[i] = q.add(a[i], b[i]); } });
        unroll!(i < 8 => { if i < N { d[i] = q.xor(d[i], a[i]); } });
        unroll!(i < 8 => { if i < N { d[i] = q.rotate_left::<D>(d[i]); } });
        unroll!(i < 8 => { if i < N { c[i] = q.add(c[i], d[i]); } });
        unroll!(i < 8 => { if i < N { b[i] = q.xor(b[i], c[i]); } });
        unroll!(i < 8 => { if i < N { b[i] = q.rotate_left::<B>(b[i]); } });
    }

    /// From columns to diagonals. Not `b`, which is the last to be ready and the first to be wanted: so no step waits
    /// for its turn.
    #[inline(always)]
    fn turn_rows(&mut self, q: Q) {
        unroll!(i < 8 => {
            if i < N {
                self.a[i] = q.turn::<3>(self.a[i]);
                self.c[i] = q.turn::<1>(self.c[i]);
                self.d[i] = q.turn::<2>(self.d[i]);
            }
        });
    }

    #[inline(always)]
    fn turn_rows_back(&mut self, q: Q) {
        unroll!(i < 8 => {
            if i < N {
                self.a[i] = q.turn::<1>(self.a[i]);
                self.c[i] = q.turn::<3>(self.c[i]);
                self.d[i] = q.turn::<2>(self.d[i]);
            }
        });
    }

    /// From columns to diagonals where every word has a vector of its own.
    #[inline(always)]
    fn turn_words(&mut self) {
        turn::<Q, N, 3>(&mut self.a);
        turn::<Q, N, 1>(&mut self.c);
        turn::<Q, N, 2>(&mut self.d);
    }

    #[inline(always)]
    fn turn_words_back(&mut self) {
        turn::<Q, N, 1>(&mut self.a);
        turn::<Q, N, 3>(&mut self.c);
        turn::<Q, N, 2>(&mut self.d);
    }

    /// The four vectors of group `i` in the order of the keystream, from a state in rows.
    #[inline(always)]
    fn group(&self, q: Q, i: usize) -> [Q::V; 4] {
        q.weave([self.a[i], self.b[i], self.c[i], self.d[i]])
    }
}

/// In every four vectors, `i` becomes what `i + BY` modulo 4 was.
#[inline(always)]
fn turn<Q: Quads, const N: usize, const BY: usize>(x: &mut [Q::V; N]) {
    let old = *x;
    unroll!(i < 8 => { if i < N { x[i] = old[i / 4 * 4 + (i + BY) % 4]; } });
}

/// From words to rows, four vectors at a time.
#[inline(always)]
fn transpose<Q: Quads, const N: usize>(q: Q, x: &mut [Q::V; N]) {
    unroll!(i < 8 => {
        if i < N && i % 4 == 0 {
            let t = q.transpose([x[i], x[i + 1], x[i + 2], x[i + 3]]);
            unroll!(j < 4 => { x[i + j] = t[j]; });
        }
    });
}

/// By how much the counter of each word of a vector is above that of the first.
struct Numbers<Q>(Q);

impl<Q: Quads> Numbers<Q> {
    const QUADS: usize = Q::LANES / 4;
    /// In words. After the transposition lane `l` of vector `j` has what was word `4l + j` of the vectors: those of one
    /// vector shall be blocks in sequence.
    const WORDS: [u8; WIDEST] = {
        let mut bytes = [0; WIDEST];
        let mut i = 0;
        while i < Q::LANES {
            bytes[4 * i] = (i % 4 * Self::QUADS + i / 4) as u8;
            i += 1;
        }
        bytes
    };
    /// In rows: word 0 of each quad.
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

/// A keystream from one block on.
struct Stream<'a, Q> {
    q: Q,
    key: &'a Key,
    nonce: &'a [u8; 12],
    counter: u32,
}

impl<Q: Quads> Stream<'_, Q> {
    /// The last row of a state.
    #[inline(always)]
    fn last_row(&self, counter: u32) -> [u8; 16] {
        let mut row = [0; 16];
        row[..4].copy_from_slice(&counter.to_le_bytes());
        row[4..].copy_from_slice(self.nonce);
        row
    }

    /// What is shorter than `16 * Q::BYTES`, of which the first `HEAD` bytes of the keystream go to `head`.
    #[inline(always)]
    fn short<const HEAD: usize>(&self, data: InOut<'_>, head: &mut [u8]) {
        let group = 4 * Q::BYTES;
        let len = HEAD + data.len();
        if len <= group {
            self.rows::<1, HEAD>(data, head);
        } else if len <= 2 * group {
            self.rows::<2, HEAD>(data, head);
        } else if len <= 3 * group {
            self.rows::<3, HEAD>(data, head);
        } else {
            self.rows::<4, HEAD>(data, head);
        }
    }

    /// Up to `N` groups, in rows. `data` needs the last of them.
    #[inline(always)]
    fn rows<const N: usize, const HEAD: usize>(&self, mut data: InOut<'_>, head: &mut [u8]) {
        let q = self.q;
        let [a, b, c] = [q.repeat(&CONSTANTS), q.repeat(&self.key.0[0]), q.repeat(&self.key.0[1])];
        let numbers = q.load(&Numbers::<Q>::ROWS);
        let mut d = [numbers; N];
        unroll!(i < 8 => {
            if i < N {
                let counter = self.counter.wrapping_add((i * Numbers::<Q>::QUADS) as u32);
                d[i] = q.add(q.repeat(&self.last_row(counter)), numbers);
            }
        });
        let mut s = State::<Q, N> { a: [a; N], b: [b; N], c: [c; N], d };
        let mut turn = 0;
        while turn < 10 {
            s.quarters(q);
            s.turn_rows(q);
            s.quarters(q);
            s.turn_rows_back(q);
            turn += 1;
        }
        unroll!(i < 8 => {
            if i < N {
                s.a[i] = q.add(s.a[i], a);
                s.b[i] = q.add(s.b[i], b);
                s.c[i] = q.add(s.c[i], c);
                s.d[i] = q.add(s.d[i], d[i]);
                let v = s.group(q, i);
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

    /// A state after the first round, in rows: all blocks of the keystream agree on three of its four columns.
    #[inline(always)]
    fn first_round(&self, to: &mut Buffer) {
        let q = self.q;
        let mut s = State::<Q, 1> {
            a: [q.repeat(&CONSTANTS)],
            b: [q.repeat(&self.key.0[0])],
            c: [q.repeat(&self.key.0[1])],
            d: [q.repeat(&self.last_row(0))],
        };
        s.quarters(q);
        q.store(s.a[0], &mut to.0[..Q::BYTES]);
        q.store(s.b[0], &mut to.0[WIDEST..][..Q::BYTES]);
        q.store(s.c[0], &mut to.0[2 * WIDEST..][..Q::BYTES]);
        q.store(s.d[0], &mut to.0[3 * WIDEST..][..Q::BYTES]);
    }

    /// `N` whole groups, in words; then the counter stands behind them.
    #[inline(always)]
    fn words<const N: usize>(&mut self, first: &Buffer, mut data: InOut<'_>) {
        let q = self.q;
        let (key, first) = (q.afresh(self.key), q.afresh(first));
        let numbers = q.load(&Numbers::<Q>::WORDS);
        let mut s = State::<Q, N> { a: [numbers; N], b: [numbers; N], c: [numbers; N], d: [numbers; N] };
        let mut column = State::<Q, 2> { a: [numbers; 2], b: [numbers; 2], c: [numbers; 2], d: [numbers; 2] };
        unroll!(i < 2 => {
            let counter = self.counter.wrapping_add((i * Q::LANES) as u32);
            column.a[i] = q.splat(word(&CONSTANTS, 0));
            column.b[i] = q.splat(word(&key.0[0], 0));
            column.c[i] = q.splat(word(&key.0[1], 0));
            column.d[i] = q.add(q.splat(counter), numbers);
        });
        let counters = column.d;
        column.quarters(q);
        unroll!(i < 8 => {
            if i < N {
                if i % 4 == 0 {
                    s.a[i] = column.a[i / 4];
                    s.b[i] = column.b[i / 4];
                    s.c[i] = column.c[i / 4];
                    s.d[i] = column.d[i / 4];
                } else {
                    s.a[i] = q.splat(first.word(0, i % 4));
                    s.b[i] = q.splat(first.word(1, i % 4));
                    s.c[i] = q.splat(first.word(2, i % 4));
                    s.d[i] = q.splat(first.word(3, i % 4));
                }
            }
        });
        s.turn_words();
        s.quarters(q);
        s.turn_words_back();
        let mut turn = 1;
        while turn < 10 {
            s.quarters(q);
            s.turn_words();
            s.quarters(q);
            s.turn_words_back();
            turn += 1;
        }
        let key = q.afresh(key);
        unroll!(i < 8 => {
            if i < N {
                s.a[i] = q.add(s.a[i], q.splat(word(&CONSTANTS, i % 4)));
                s.b[i] = q.add(s.b[i], q.splat(word(&key.0[0], i % 4)));
                s.c[i] = q.add(s.c[i], q.splat(word(&key.0[1], i % 4)));
                let last = if i % 4 == 0 { counters[i / 4] } else { q.splat(word(self.nonce, i % 4 - 1)) };
                s.d[i] = q.add(s.d[i], last);
            }
        });
        transpose(q, &mut s.a);
        transpose(q, &mut s.b);
        transpose(q, &mut s.c);
        transpose(q, &mut s.d);
        unroll!(i < 8 => {
            if i < N {
                let v = s.group(q, i);
                unroll!(j < 4 => { xor_vector(q, v[j], data.part((4 * i + j) * Q::BYTES, Q::BYTES)); });
            }
        });
        self.counter = self.counter.wrapping_add((N * Numbers::<Q>::QUADS) as u32);
    }
}
