//! Salsa20 (Bernstein, "The Salsa20 family of stream ciphers", 2007) and HSalsa20.
#![forbid(unsafe_code)]

pub(crate) mod body;

use crate::InOut;
use crate::chacha20::Key;
use crate::cpu::Features;
use crate::error::KeyError;
use crate::self_test::salsa20::{CUT, KEY, KNOWN_ANSWERS, KnownAnswer, NONCE};
use crate::self_test::{digest, text};
use crate::tables::salsa20::{SALSA20, Salsa20Functions};
use crate::variant::{Refusal, Selected, Variant, cipher};
use crate::zero::wipe_dead_stack;

cipher! {
    SALSA20: Salsa20Functions;
    known_answers: KNOWN_ANSWERS;
    passes: passes;
    changed: |answer| [
        KnownAnswer { stream: answer.stream ^ 1, ..answer },
        KnownAnswer { counter: answer.counter ^ 1, ..answer },
        KnownAnswer { len: answer.len - 1, ..answer },
    ];
}

/// Derives the key for a nonce of 192 bits with HSalsa20, and returns the nonce to use with it.
#[inline(always)]
pub(crate) fn derive(
    variant: Selected<Salsa20Functions>,
    key: &Key,
    nonce: &[u8; 24],
    to: &mut Key,
) -> [u8; 8] {
    let (head, tail) = nonce.split_first_chunk().expect("16 of 24 bytes");
    variant.subkey(key, head, to);
    wipe_dead_stack::<96>();
    *tail.first_chunk().expect("8 bytes")
}

/// Returns whether a keystream of XSalsa20 in two pieces, the first out of place and the second in
/// place, has the known value.
fn passes(variant: Selected<Salsa20Functions>, answer: &KnownAnswer) -> bool {
    let (mut derived, mut stream) = (Key::EMPTY, text(answer.len).to_vec());
    let nonce = derive(variant, &Key::of(&KEY), &NONCE, &mut derived);
    let (head, tail) = stream.split_at_mut(CUT.min(answer.len));
    let source = head.to_vec();
    variant.xor(&derived, &nonce, answer.counter, InOut::apart(&source, head));
    variant.xor(&derived, &nonce, answer.counter.wrapping_add((CUT / 64) as u32), InOut::in_place(tail));
    digest(&stream) == answer.stream
}
