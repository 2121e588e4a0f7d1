//! Poly1305 (RFC 8439, section 2.5): a message as a polynomial modulo 2^130 - 5, at a secret point.
#![forbid(unsafe_code)]

use crate::cpu::Features;
use crate::error::KeyError;
use crate::variant::{self, POLY1305, Picked, Poly1305Functions, Refusal, Row};
use crate::zero::{wipe, wipe_dead_stack};
use core::fmt;

pub(crate) mod answers;
pub(crate) mod body;
mod radix;
mod scalar;

pub(crate) use body::Powers;
pub(crate) use scalar::State;

/// Bytes of a piece from which on vectors are faster, where there are powers: with any row a vector, and some
/// blocks before it, which take as long as the sum over its lanes.
pub(crate) const SHORT: usize = 128;
/// Bytes from which on it is worth making powers on the heap: 200 cycles, and memory to get, to write and to wipe, where 14
/// are enough for a single block.
const LONG_ON_HEAP: usize = 1024;

/// The tag of one message under way.
///
/// The key is for one message only. It and what comes from it live on the heap, so moving this value leaves
/// no copy behind, and are wiped when it is dropped. A message may have any length.
pub struct Poly1305 {
    inner: Box<Inner>,
    /// Bytes in the buffer.
    buffered: usize,
    /// Made when a piece is long: they cost more than a short message does.
    powers: Option<Box<Powers>>,
    /// For pieces of how many bytes there are powers.
    made: usize,
    row: Picked<Poly1305Functions>,
}

struct Inner {
    state: State,
    buffer: Buffer,
}

/// The start of a block. Wiped on drop.
struct Buffer([u8; 16]);

impl Drop for Buffer {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(POLY1305)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator
/// gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(POLY1305, features)
}

impl Poly1305 {
    /// Begins a message under a key of 32 bytes, with the widest row that `features` allow and that passes
    /// its self-test.
    ///
    /// The error is always [`KeyError::SelfTestFailed`].
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        Ok(Self::on(variant::pick(POLY1305, features)?, key))
    }

    fn on(row: Picked<Poly1305Functions>, key: &[u8; 32]) -> Self {
        let mut inner = Box::new(Inner { state: State::EMPTY, buffer: Buffer([0; 16]) });
        // There, and not on the stack first.
        inner.state.set(key);
        Self { inner, buffered: 0, powers: None, made: 0, row }
    }

    /// The row: `"avx512ifma"`, `"avx2"`, `"neon"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// Takes in the next piece of the message, which may have any length.
    pub fn update(&mut self, mut data: &[u8]) {
        let Inner { state, buffer: Buffer(buffer) } = &mut *self.inner;
        if self.buffered > 0 {
            let (now, later) = data.split_at(data.len().min(16 - self.buffered));
            buffer[self.buffered..][..now.len()].copy_from_slice(now);
            self.buffered += now.len();
            if self.buffered < 16 {
                return;
            }
            few(state, buffer);
            data = later;
        }
        let (blocks, rest) = data.split_at(data.len() & !15);
        buffer[..rest.len()].copy_from_slice(rest);
        self.buffered = rest.len();
        if !blocks.is_empty() {
            self.blocks(blocks);
        }
    }

    /// Takes in whole blocks.
    fn blocks(&mut self, blocks: &[u8]) {
        let state = &mut self.inner.state;
        let enough = if self.powers.is_some() { SHORT } else { LONG_ON_HEAP };
        if blocks.len() < enough {
            return few(state, blocks);
        }
        let powers = self.powers.get_or_insert_with(|| Box::new(Powers::EMPTY));
        let too_few = blocks.len() > self.made;
        if too_few {
            // Of a message in pieces, the third may be longer than the second.
            self.made = if self.made > 0 { usize::MAX } else { blocks.len() };
            self.row.set_up(state, powers, self.made);
        }
        self.row.padded(state, powers, blocks);
        // What there were no registers for: some powers on the way to others, and some sums.
        if too_few || self.row.spills() {
            wipe_dead_stack::<128>();
        }
    }

    /// The tag.
    pub fn finalize(mut self) -> [u8; 16] {
        let Inner { state, buffer: Buffer(buffer) } = &mut *self.inner;
        let mut tag = [0; 16];
        end(state, &buffer[..self.buffered], &mut tag);
        wipe_dead_stack::<64>();
        tag
    }
}

/// Takes in blocks one at a time.
fn few(state: &mut State, blocks: &[u8]) {
    one_by_one(state, blocks);
    wipe_dead_stack::<64>();
}

/// A frame of its own, which can be wiped.
#[inline(never)]
fn one_by_one(state: &mut State, blocks: &[u8]) {
    state.blocks(blocks);
}

/// The same for what comes last.
#[inline(never)]
fn end(state: &mut State, rest: &[u8], tag: &mut [u8; 16]) {
    state.end(rest);
    *tag = state.finish();
}

impl fmt::Debug for Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly1305").field("variant", &self.variant()).finish_non_exhaustive()
    }
}

/// Whether a row computes what is known: at once, in two pieces, and with vectors also where the message is
/// short.
pub(crate) fn proof(row: Picked<Poly1305Functions>) -> bool {
    answers::ANSWERS.iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<Poly1305Functions>, answer: &answers::Answer) -> bool {
    let (mut state, mut powers) = (State::start(&answer.key), Powers::EMPTY);
    let (blocks, rest) = answer.message.split_at(answer.message.len() & !15);
    row.set_up(&state, &mut powers, blocks.len());
    row.padded(&mut state, &powers, blocks);
    state.end(rest);
    u128::from_be_bytes(state.finish()) == answer.tag
        && [answer.message.len(), answers::CUT].into_iter().all(|cut| {
            let (head, tail) = answer.message.split_at(cut);
            let mut poly = Poly1305::on(row, &answer.key);
            poly.update(head);
            poly.update(tail);
            u128::from_be_bytes(poly.finalize()) == answer.tag
        })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(POLY1305, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                assert!(computes(picked, &answer), "{} {}", row.name, answer.message.len());
                assert!(!computes(picked, &answers::Answer { tag: answer.tag ^ 1, ..answer }));
                let mut key = answer.key;
                key[0] ^= 1;
                assert!(!computes(picked, &answers::Answer { key, ..answer }));
                assert!(!computes(picked, &answers::Answer { message: &answer.message[1..], ..answer }));
            }
        }
    }

    /// What an AEAD takes in: zeros after its parts.
    #[test]
    fn padding() {
        let key = [0x9b; 32];
        for len in 0..70 {
            let mut data = vec![0xee; len];
            let mut padded = State::start(&key);
            padded.padded(&data);
            data.resize(len.next_multiple_of(16), 0);
            let mut whole = State::start(&key);
            whole.blocks(&data);
            assert_eq!(padded.finish(), whole.finish(), "{len}");
        }
    }
}
