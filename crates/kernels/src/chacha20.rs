//! ChaCha20 (RFC 8439) and XChaCha20 (draft-irtf-cfrg-xchacha-03): the keystream at any offset.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::answers::digest;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::variant::{self, CHACHA20, ChaCha20Functions, Picked, Refusal, Row};
use crate::zero::wipe_dead_stack;
pub(crate) use body::Key;
use core::fmt;

pub(crate) mod answers;
pub(crate) mod body;
mod rounds;

/// A ChaCha20 key, and the row that computes with it.
///
/// The key lives in one place on the heap, so moving this value leaves no copy of it behind, and is wiped when it is
/// dropped.
pub struct ChaCha20 {
    key: Box<Key>,
    row: Picked<ChaCha20Functions>,
}

/// Bytes of all blocks that have a number: there is no block 2^32 (RFC 8439, section 2.4).
const END: u128 = 64 << 32;
/// Bytes for which there are enough registers.
pub(crate) const MAX_UNSPILLED_LEN: usize = 256;
/// Words of 64 bits that a row's frame has at most.
pub(crate) const SPILLED_WORDS: usize = 256;

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(CHACHA20)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(CHACHA20, features)
}

impl ChaCha20 {
    /// Takes a key of 256 bits for the widest row that `features` allow and that passes its self-test.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        Ok(Self::on(variant::pick(CHACHA20, features)?, key))
    }

    fn on(row: Picked<ChaCha20Functions>, key: &[u8; 32]) -> Self {
        Self { key: Key::of(key), row }
    }

    /// The row: `"avx512"`, `"avx2"`, `"neon"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// XORs the keystream under a nonce of 96 bits: from byte `offset` on, counted from the beginning of block `counter`.
    ///
    /// The counter never wraps: nothing is written where `data` needs block 2^32.
    #[inline]
    pub fn xor_at(
        &self,
        nonce: &[u8; 12],
        counter: u32,
        offset: u64,
        data: InOut<'_>,
    ) -> Result<(), MessageError> {
        xor_at(self.row, &self.key, nonce, counter, offset, data)
    }
}

/// [`ChaCha20::xor_at`], wherever the key is.
#[inline(always)]
fn xor_at(
    row: Picked<ChaCha20Functions>,
    key: &Key,
    nonce: &[u8; 12],
    counter: u32,
    offset: u64,
    data: InOut<'_>,
) -> Result<(), MessageError> {
    let len = data.len();
    let start = 64 * u128::from(counter) + u128::from(offset);
    if len == 0 {
        return Ok(());
    }
    Part::Keystream.check_len(start + len as u128, END)?;
    row.xor(key, nonce, (start / 64) as u32, (start % 64) as usize, data);
    clean(row, len);
    Ok(())
}

/// After the row has computed, and from where it was called: what it may have parked on the stack.
#[inline(always)]
fn clean(row: Picked<ChaCha20Functions>, len: usize) {
    if len > MAX_UNSPILLED_LEN || row.spills() {
        wipe_dead_stack::<SPILLED_WORDS>();
    }
}

impl fmt::Debug for ChaCha20 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChaCha20").field("variant", &self.variant()).finish_non_exhaustive()
    }
}

/// An XChaCha20 key, and the row that computes with it: ChaCha20 under nonces that are long enough to be random.
///
/// Every nonce has a key of its own, which is derived for each call, and wiped before it returns.
pub struct XChaCha20(ChaCha20);

impl XChaCha20 {
    /// Takes a key of 256 bits for the widest row that `features` allow and that passes its self-test.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        ChaCha20::new(key, features).map(Self)
    }

    /// The row: `"avx512"`, `"avx2"`, `"neon"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.0.variant()
    }

    /// HChaCha20: the key of all nonces that begin with these 16 bytes. What comes after them is the end of a nonce of
    /// 96 bits, which begins with four zeros (section 2.3).
    ///
    /// For many calls with one nonce: [`XChaCha20::xor_at`] derives it each time.
    pub fn subkey(&self, nonce: &[u8; 16]) -> ChaCha20 {
        let mut key = Box::new(Key::EMPTY);
        self.0.row.subkey(&self.0.key, nonce, &mut key);
        wipe_dead_stack::<96>();
        ChaCha20 { key, row: self.0.row }
    }

    /// XORs the keystream under a nonce of 192 bits: from byte `offset` on, counted from the beginning of block
    /// `counter`.
    ///
    /// The counter never wraps: nothing is written where `data` needs block 2^32.
    pub fn xor_at(
        &self,
        nonce: &[u8; 24],
        counter: u32,
        offset: u64,
        data: InOut<'_>,
    ) -> Result<(), MessageError> {
        let mut key = Key::EMPTY;
        let nonce = derive(self.0.row, &self.0.key, nonce, &mut key);
        xor_at(self.0.row, &key, &nonce, counter, offset, data)
    }
}

/// The key under a nonce of 192 bits, and the nonce to use it with (draft, section 2.3).
#[inline(always)]
pub(crate) fn derive(row: Picked<ChaCha20Functions>, key: &Key, nonce: &[u8; 24], to: &mut Key) -> [u8; 12] {
    let (head, tail) = nonce.split_first_chunk().expect("16 of 24 bytes");
    row.subkey(key, head, to);
    // Few words, and so on every row: the portable one spills some here.
    wipe_dead_stack::<96>();
    let mut rest = [0; 12];
    rest[4..].copy_from_slice(tail);
    rest
}

impl fmt::Debug for XChaCha20 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XChaCha20").field("variant", &self.variant()).finish_non_exhaustive()
    }
}

/// Whether a row computes what is known.
pub(crate) fn proof(row: Picked<ChaCha20Functions>) -> bool {
    answers::ANSWERS.iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<ChaCha20Functions>, answer: &answers::Answer) -> bool {
    use answers::{CUT, KEY, Nonce, TEXT};
    let key = XChaCha20(ChaCha20::on(row, &KEY));
    let counter = answer.counter();
    let mut stream = [0; TEXT.len()];
    let stream = &mut stream[..answer.len];
    let (from, from_tail) = TEXT[..answer.len].split_at(CUT);
    let (to, tail) = stream.split_at_mut(CUT);
    tail.copy_from_slice(from_tail);
    let (head, tail) = (InOut::apart(from, to), InOut::in_place(tail));
    let done = match &answer.nonce {
        Nonce::Short(nonce) => {
            let key = &key.0;
            key.xor_at(nonce, counter, 0, head).and_then(|()| key.xor_at(nonce, counter, CUT as u64, tail))
        }
        Nonce::Long(nonce) => {
            let cut = CUT as u64;
            key.xor_at(nonce, counter, 0, head).and_then(|()| key.xor_at(nonce, counter, cut, tail))
        }
    };
    done.is_ok() && digest(stream) == answer.stream
}

#[cfg(test)]
mod test {
    use super::answers::{Answer, Nonce};
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(CHACHA20, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                assert!(computes(picked, &answer), "{} {}", row.name, answer.len);
                assert!(!computes(picked, &Answer { stream: answer.stream ^ 1, ..answer }));
                assert!(!computes(picked, &Answer { len: answer.len - 1, ..answer }));
                assert!(!computes(picked, &Answer { nonce: Nonce::Short([0; 12]), ..answer }));
                assert!(!computes(picked, &Answer { nonce: Nonce::Long([0; 24]), ..answer }));
            }
        }
    }
}
