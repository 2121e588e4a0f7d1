//! Poly1305 (RFC 8439, section 2.5), a one-time authenticator.
//!
//! The blocks of a message are the coefficients of a polynomial, which is evaluated at the secret r
//! modulo 2^130 - 5. The tag is the result plus the secret s. `scalar` shows the algorithm; `body`
//! evaluates the polynomial on vectors, with powers of r that are computed in advance.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::error::KeyError;
use crate::segments::{Sum, Threads, process_read_only, segment_len};
use crate::self_test::poly1305::{CUT, KNOWN_ANSWERS, KnownAnswer};
use crate::tables::poly1305::{POLY1305, Poly1305Functions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::zero::{wipe, wipe_dead_stack};
use alloc::boxed::Box;
use alloc::vec;

pub(crate) mod body;
mod radix;
pub(crate) mod scalar;

use body::{Powers, SHORT};
use scalar::State;

/// Number of bytes in a piece from which on computing powers is faster. It takes 200 cycles, and an
/// allocation that is written and wiped, while a single block takes only 14 cycles.
const LONG_ON_HEAP: usize = 1024;

/// A computation of one message's tag, in pieces of any length.
///
/// The key must not be used for another message. The key and everything derived from it are on the
/// heap, so moving this value leaves no copy behind, and they are wiped on drop.
///
/// ```
/// use kernels::{cpu::Features, poly1305::Poly1305};
///
/// let [mut whole, mut pieces] = [(); 2].map(|()| Poly1305::new(&[7; 32], Features::detect()).unwrap());
/// whole.update(b"attack at dawn");
/// pieces.update(b"attack ");
/// pieces.update(b"at dawn");
/// assert_eq!(whole.finalize(), pieces.finalize());
/// ```
pub struct Poly1305 {
    inner: Box<Inner>,
    /// Number of bytes in the buffer that wait for the rest of their block.
    buffered: usize,
    /// The powers of r, computed for the first long piece. They take longer than a short message.
    powers: Option<Box<Powers>>,
    /// Maximum length in bytes of a piece for which the powers suffice.
    made: usize,
    variant: Selected<Poly1305Functions>,
}

struct Inner {
    state: State,
    buffer: Buffer,
}

/// The beginning of a block. Wiped from memory on drop.
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
    /// Begins a message with a one-time key, on the widest variant that `features` allow and that
    /// passes its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::SelfTestFailed`] if no variant passes its self-test.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        Ok(Self::with_variant(select(features)?, key))
    }

    pub(crate) fn with_variant(variant: Selected<Poly1305Functions>, key: &[u8; 32]) -> Self {
        let mut inner = Box::new(Inner { state: State::EMPTY, buffer: Buffer([0; 16]) });
        // The key is written to the heap directly, without a copy on the stack.
        inner.state.set(key);
        Self { inner, buffered: 0, powers: None, made: 0, variant }
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, mut data: &[u8]) {
        let Inner { state, buffer: Buffer(buffer) } = &mut *self.inner;
        if self.buffered > 0 {
            let (now, later) = data.split_at(data.len().min(16 - self.buffered));
            buffer[self.buffered..][..now.len()].copy_from_slice(now);
            self.buffered += now.len();
            if self.buffered < 16 {
                return;
            }
            absorb_blocks(state, buffer);
            data = later;
        }
        let (blocks, rest) = data.split_at(data.len() & !15);
        buffer[..rest.len()].copy_from_slice(rest);
        self.buffered = rest.len();
        if !blocks.is_empty() {
            self.blocks(blocks);
        }
    }

    /// Absorbs whole blocks of the message; its length must be a multiple of 16 bytes.
    fn blocks(&mut self, blocks: &[u8]) {
        let state = &mut self.inner.state;
        let enough = if self.powers.is_some() { SHORT } else { LONG_ON_HEAP };
        if blocks.len() < enough {
            return absorb_blocks(state, blocks);
        }
        let powers = self.powers.get_or_insert_with(|| Box::new(Powers::EMPTY));
        let more_powers = blocks.len() > self.made;
        if more_powers {
            // If a second piece is longer, a third one may be even longer, so all powers are
            // computed.
            self.made = if self.made > 0 { usize::MAX } else { blocks.len() };
            self.variant.set_up(state, powers, self.made);
        }
        self.variant.padded(state, powers, blocks);
        // Wipes the powers and sums that were spilled to the stack.
        if more_powers || self.variant.spills() {
            wipe_dead_stack::<128>();
        }
    }

    /// Absorbs the next piece of the message like [`Self::update`], with segments of the piece on
    /// several threads.
    pub fn update_on(&mut self, threads: &dyn Threads, data: &[u8]) {
        let Some(segment_len) = segment_len(threads, data.len()) else {
            return self.update(data);
        };
        // The piece is longer than a segment, and thus than the rest of a block that was begun.
        let (head, data) = data.split_at(self.buffered.wrapping_neg() % 16);
        let (blocks, rest) = data.split_at(data.len() & !15);
        self.update(head);
        self.segments(threads, segment_len, blocks);
        wipe_dead_stack::<2048>();
        self.update(rest);
    }

    /// Absorbs whole blocks in segments. Not inlined, so that its stack frame, which has `r` and a
    /// power, can be wiped.
    #[inline(never)]
    fn segments(&mut self, threads: &dyn Threads, segment_len: usize, blocks: &[u8]) {
        let (variant, state) = (self.variant, &mut self.inner.state);
        let powers = self.powers.get_or_insert_with(|| Box::new(Powers::EMPTY));
        if segment_len > self.made {
            self.made = usize::MAX;
            variant.set_up(state, powers, self.made);
        }
        let (mut part, mut power) = (State::EMPTY, (1, state.r()));
        part.begin_part(state);
        let segment = |blocks: &[u8], sum: &mut Sum| {
            absorb_segment(variant, &part, powers, blocks, sum);
            wipe_dead_stack::<256>();
        };
        process_read_only(threads, segment_len, blocks, segment, |len, sum| {
            state.absorb_segment(&mut power, len, *sum);
        });
    }

    /// Returns the tag of everything that was absorbed and ends the computation.
    pub fn finalize(mut self) -> [u8; 16] {
        let Inner { state, buffer: Buffer(buffer) } = &mut *self.inner;
        let mut tag = [0; 16];
        end(state, &buffer[..self.buffered], &mut tag);
        wipe_dead_stack::<64>();
        tag
    }
}

/// Absorbs blocks one at a time, and wipes the stack.
fn absorb_blocks(state: &mut State, blocks: &[u8]) {
    absorb_blocks_in_own_frame(state, blocks);
    wipe_dead_stack::<64>();
}

/// Absorbs blocks one at a time. Not inlined, so that its stack frame can be wiped.
#[inline(never)]
fn absorb_blocks_in_own_frame(state: &mut State, blocks: &[u8]) {
    state.blocks(blocks);
}

/// Absorbs one segment from zero on, under the `r` of `whole`, and writes the accumulator to `sum`.
/// Not inlined, so that its stack frame can be wiped.
#[inline(never)]
fn absorb_segment(
    variant: Selected<Poly1305Functions>,
    whole: &State,
    powers: &Powers,
    blocks: &[u8],
    sum: &mut Sum,
) {
    let mut part = State::EMPTY;
    part.begin_part(whole);
    variant.padded(&mut part, powers, blocks);
    *sum = part.accumulator();
}

/// Absorbs the end of a message and writes the tag. Not inlined, so that its stack frame can be
/// wiped.
#[inline(never)]
fn end(state: &mut State, rest: &[u8], tag: &mut [u8; 16]) {
    state.end(rest);
    *tag = state.finish();
}

/// Returns whether a message has the known tag: with vectors wherever possible, at once, copied,
/// and in two pieces.
fn passes(variant: Selected<Poly1305Functions>, answer: &KnownAnswer) -> bool {
    let (mut state, mut powers) = (State::start(&answer.key), Powers::EMPTY);
    let (blocks, rest) = answer.message.split_at(answer.message.len() & !15);
    variant.set_up(&state, &mut powers, blocks.len());
    variant.padded(&mut state, &powers, blocks);
    state.end(rest);
    let (mut copying, mut copy) = (State::start(&answer.key), vec![0; blocks.len()]);
    variant.padded_copying(&mut copying, &powers, InOut::apart(blocks, &mut copy));
    copying.end(rest);
    u128::from_be_bytes(state.finish()) == answer.tag
        && u128::from_be_bytes(copying.finish()) == answer.tag
        && copy == blocks
        && [answer.message.len(), CUT].into_iter().all(|cut| {
            let (head, tail) = answer.message.split_at(cut);
            let mut poly = Poly1305::with_variant(variant, &answer.key);
            poly.update(head);
            poly.update(tail);
            u128::from_be_bytes(poly.finalize()) == answer.tag
        })
}
