//! Poly1305 (RFC 8439, section 2.5): a message as a polynomial modulo 2^130 - 5, at a secret point.
#![forbid(unsafe_code)]

use crate::cpu::Features;
use crate::error::KeyError;
use crate::self_test::poly1305::{CUT, KNOWN_ANSWERS, KnownAnswer};
use crate::variant::poly1305::{POLY1305, Poly1305Functions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::zero::{wipe, wipe_dead_stack};

pub(crate) mod body;
mod radix;
mod scalar;

pub(crate) use body::Powers;
use body::SHORT;
pub(crate) use scalar::State;

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
    variant: Selected<Poly1305Functions>,
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

cipher! {
    POLY1305: Poly1305Functions;
    known_answers: KNOWN_ANSWERS;
    passes: passes;
    changed: |answer| [
        KnownAnswer { tag: answer.tag ^ 1, ..answer },
        KnownAnswer { key: core::array::from_fn(|i| answer.key[i] ^ u8::from(i == 0)), ..answer },
        KnownAnswer { message: &answer.message[1..], ..answer },
    ];
}

describe_key! { Poly1305 {} }

impl Poly1305 {
    /// Begins a message under a key of 32 bytes, with the widest variant that `features` allow and that passes
    /// its self-test.
    ///
    /// The error is always [`KeyError::SelfTestFailed`].
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        Ok(Self::with_variant(select(features)?, key))
    }

    fn with_variant(variant: Selected<Poly1305Functions>, key: &[u8; 32]) -> Self {
        let mut inner = Box::new(Inner { state: State::EMPTY, buffer: Buffer([0; 16]) });
        // There, and not on the stack first.
        inner.state.set(key);
        Self { inner, buffered: 0, powers: None, made: 0, variant }
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
            self.variant.set_up(state, powers, self.made);
        }
        self.variant.padded(state, powers, blocks);
        // What there were no registers for: some powers on the way to others, and some sums.
        if too_few || self.variant.spills() {
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

/// Compares the tag of a message with vectors wherever possible, at once, and in two pieces.
fn passes(variant: Selected<Poly1305Functions>, answer: &KnownAnswer) -> bool {
    let (mut state, mut powers) = (State::start(&answer.key), Powers::EMPTY);
    let (blocks, rest) = answer.message.split_at(answer.message.len() & !15);
    variant.set_up(&state, &mut powers, blocks.len());
    variant.padded(&mut state, &powers, blocks);
    state.end(rest);
    u128::from_be_bytes(state.finish()) == answer.tag
        && [answer.message.len(), CUT].into_iter().all(|cut| {
            let (head, tail) = answer.message.split_at(cut);
            let mut poly = Poly1305::with_variant(variant, &answer.key);
            poly.update(head);
            poly.update(tail);
            u128::from_be_bytes(poly.finalize()) == answer.tag
        })
}

#[cfg(test)]
mod test {
    use super::*;

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
