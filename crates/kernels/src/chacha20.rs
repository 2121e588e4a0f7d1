//! ChaCha20 (RFC 8439, section 2.4) and XChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.3), from
//! any offset.
//!
//! ```text
//! ChaCha20(key, nonce, counter):   data ^= block(key, nonce, counter) || block(key, nonce, counter + 1) || …
//! XChaCha20(key, nonce, counter):  ChaCha20(HChaCha20(key, nonce[..16]), 0^32 || nonce[16..], counter)
//! ```
//!
//! The block function is in `body`.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::batch::parts as batch_parts;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::poly1305::scalar::State as Mac;
use crate::self_test::chacha20::{AAD, CUT, KEY, KNOWN_ANSWERS, KnownAnswer, MAX_LEN, Nonce};
use crate::self_test::{digest, text};
use crate::tables::chacha20::{CHACHA20, ChaCha20Functions};
use crate::variant::{Refusal, Selected, Variant, cipher, debug_key, describe_key};
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;
use alloc::vec;
use batch::Blocks;
pub(crate) use body::Key;

pub(crate) mod batch;
pub(crate) mod body;
mod rounds;

/// A ChaCha20 key and the variant that computes with it.
///
/// The key is on the heap, so moving this value leaves no copy of it behind, and it is wiped on
/// drop.
///
/// ```
/// use kernels::{InOut, chacha20::ChaCha20, cpu::Features};
///
/// let key = ChaCha20::new(&[7; 32], Features::detect())?;
/// let (nonce, mut data) = ([1; 12], *b"attack at dawn");
/// key.xor_at(&nonce, 0, 0, InOut::in_place(&mut data)).unwrap();
/// key.xor_at(&nonce, 0, 10, InOut::in_place(&mut data[10..])).unwrap();
/// assert_eq!(&data[10..], b"dawn");
/// # Ok::<(), kernels::error::KeyError>(())
/// ```
pub struct ChaCha20 {
    key: Box<Key>,
    variant: Selected<ChaCha20Functions>,
}

/// Bytes in a whole keystream: 2^32 blocks (RFC 8439, section 2.4).
const END: u128 = 64 << 32;
/// Maximum number of bytes for which the registers suffice.
pub(crate) const MAX_UNSPILLED_LEN: usize = 256;
/// Largest size of the stack frame of `xor` and `begin`, in words of 64 bits.
pub(crate) const SPILLED_WORDS: usize = 192;

cipher! {
    CHACHA20: ChaCha20Functions;
    known_answers: KNOWN_ANSWERS;
    passes: passes;
    changed: |answer| [
        KnownAnswer { stream: answer.stream ^ 1, ..answer },
        KnownAnswer { tag: answer.tag ^ 1, ..answer },
        KnownAnswer { len: answer.len - 1, ..answer },
        KnownAnswer { nonce: Nonce::Short([0; 12]), ..answer },
        KnownAnswer { nonce: Nonce::Long([0; 24]), ..answer },
    ];
}

describe_key! { ChaCha20 {} }

impl ChaCha20 {
    /// Takes a key of 256 bits for the widest variant that `features` allow and that passes its
    /// self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::SelfTestFailed`] if no variant passes.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        Ok(Self::with_variant(select(features)?, key))
    }

    fn with_variant(variant: Selected<ChaCha20Functions>, key: &[u8; 32]) -> Self {
        Self { key: Key::of(key), variant }
    }

    /// XORs the keystream to `data`, from byte `offset` on, counted from the beginning of block
    /// `counter`.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if `data` needs block 2^32: the counter
    /// must not wrap.
    #[inline]
    pub fn xor_at(
        &self,
        nonce: &[u8; 12],
        counter: u32,
        offset: u64,
        data: InOut<'_>,
    ) -> Result<(), MessageError> {
        xor_at(self.variant, &self.key, nonce, counter, offset, data)
    }
}

/// Does the work of [`ChaCha20::xor_at`] for a key on the heap or on the stack.
#[inline(always)]
fn xor_at(
    variant: Selected<ChaCha20Functions>,
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
    variant.xor(key, nonce, (start / 64) as u32, (start % 64) as usize, data);
    clean(variant, len);
    Ok(())
}

/// Wipes what a variant may have spilled to the stack. It is called from where the variant was
/// called.
#[inline(always)]
fn clean(variant: Selected<ChaCha20Functions>, len: usize) {
    if len > MAX_UNSPILLED_LEN || variant.spills() {
        wipe_dead_stack::<SPILLED_WORDS>();
    }
}

/// An XChaCha20 key and the variant that computes with it. Its nonces of 192 bits are long enough
/// to be random.
///
/// Each call of [`XChaCha20::xor_at`] derives a key from the nonce, and wipes it before it returns.
pub struct XChaCha20(ChaCha20);

impl XChaCha20 {
    /// Takes a key of 256 bits for the widest variant that `features` allow and that passes its
    /// self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::SelfTestFailed`] if no variant passes.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        ChaCha20::new(key, features).map(Self)
    }

    /// Returns the name of the variant that computes, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.0.variant()
    }

    /// Derives the ChaCha20 key for nonces that begin with these 16 bytes (HChaCha20, section 2.2
    /// of the draft). The nonce for this key consists of four zero bytes and the other 8 bytes.
    ///
    /// This is faster for several calls with the same nonce, since [`XChaCha20::xor_at`] derives
    /// the key in each call.
    pub fn subkey(&self, nonce: &[u8; 16]) -> ChaCha20 {
        let mut key = Box::new(Key::EMPTY);
        self.0.variant.subkey(&self.0.key, nonce, &mut key);
        wipe_dead_stack::<96>();
        ChaCha20 { key, variant: self.0.variant }
    }

    /// XORs the keystream to `data`, from byte `offset` on, counted from the beginning of block
    /// `counter`.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if `data` needs block 2^32: the counter
    /// must not wrap.
    pub fn xor_at(
        &self,
        nonce: &[u8; 24],
        counter: u32,
        offset: u64,
        data: InOut<'_>,
    ) -> Result<(), MessageError> {
        let mut key = Key::EMPTY;
        let nonce = derive(self.0.variant, &self.0.key, nonce, &mut key);
        xor_at(self.0.variant, &key, &nonce, counter, offset, data)
    }
}

/// Derives the key for a nonce of 192 bits, and returns the nonce to use with it (section 2.3 of
/// the draft).
#[inline(always)]
pub(crate) fn derive(
    variant: Selected<ChaCha20Functions>,
    key: &Key,
    nonce: &[u8; 24],
    to: &mut Key,
) -> [u8; 12] {
    let (head, tail) = nonce.split_first_chunk().expect("16 of 24 bytes");
    variant.subkey(key, head, to);
    // The frame is small, so it is wiped for every variant: the portable one spills here.
    wipe_dead_stack::<96>();
    let mut rest = [0; 12];
    rest[4..].copy_from_slice(tail);
    rest
}

debug_key! { XChaCha20 {} }

/// Returns whether a keystream in two pieces, the first out of place and the second in place, has
/// the known value, and the ciphertext the known tag.
fn passes(variant: Selected<ChaCha20Functions>, answer: &KnownAnswer) -> bool {
    let key = XChaCha20(ChaCha20::with_variant(variant, &KEY));
    let counter = answer.counter();
    let mut stream = [0; MAX_LEN];
    let stream = &mut stream[..answer.len];
    let (from, from_tail) = text(answer.len).split_at(CUT);
    let (to, tail) = stream.split_at_mut(CUT);
    tail.copy_from_slice(from_tail);
    let done = [(0, InOut::apart(from, to)), (CUT as u64, InOut::in_place(tail))].into_iter().all(
        |(offset, piece)| match &answer.nonce {
            Nonce::Short(nonce) => key.0.xor_at(nonce, counter, offset, piece).is_ok(),
            Nonce::Long(nonce) => key.xor_at(nonce, counter, offset, piece).is_ok(),
        },
    );
    done && digest(stream) == answer.stream && authenticates(&key, answer, stream) && seals_batches(&key.0)
}

/// Returns whether each message of a batch has the ciphertext and tag that the keystream gives, and
/// the batch opens to the plaintexts. The lengths reach each number of states.
fn seals_batches(ChaCha20 { key, variant }: &ChaCha20) -> bool {
    const LENS: [usize; 14] = [64, 0, 20, 130, 64, 63, 200, 512, 64, 33, 129, 7, 64, 65];
    let nonces: [[u8; 12]; 14] = core::array::from_fn(|i| [i as u8; 12]);
    let plaintexts = LENS.map(text);
    let mut sealed = LENS.map(|len| vec![0; 12 + len + 16]);
    let (mut opened, mut tags) = (LENS.map(|len| vec![0; len]), [[0; 16]; 14]);
    let mut blocks = Blocks::EMPTY;
    variant.seal_batch(
        key,
        &mut blocks,
        AAD,
        &nonces,
        &plaintexts,
        &mut sealed.each_mut().map(|sealed| &mut sealed[..]),
    );
    variant.open_batch(
        key,
        &mut blocks,
        AAD,
        &sealed.each_ref().map(|sealed| &sealed[..]),
        &mut opened.each_mut().map(|opened| &mut opened[..]),
        &mut tags,
    );
    opened == plaintexts
        && (0..14).all(|i| {
            let (nonce, ciphertext, tag) = batch_parts::<12>(&sealed[i]);
            let mut stream = vec![0; 64 + LENS[i]];
            stream[64..].copy_from_slice(plaintexts[i]);
            variant.xor(key, nonce, 0, 0, InOut::in_place(&mut stream));
            let mut mac = Mac::start(stream.first_chunk().expect("32 of 64 bytes"));
            mac.padded(AAD);
            mac.padded(&stream[64..]);
            mac.blocks(&(AAD.len() as u128 | (LENS[i] as u128) << 64).to_le_bytes());
            *nonce == nonces[i] && ciphertext == &stream[64..] && *tag == mac.finish() && *tag == tags[i]
        })
}

/// Returns whether the ciphertext `sealed` has the known tag, also if it is computed between the
/// rounds, where the variant [stitches](Selected::stitches).
fn authenticates(key: &XChaCha20, answer: &KnownAnswer, sealed: &[u8]) -> bool {
    let (XChaCha20(ChaCha20 { key, variant }), mut derived) = (key, Key::EMPTY);
    let (key, nonce) = match &answer.nonce {
        Nonce::Short(nonce) => (&**key, *nonce),
        Nonce::Long(nonce) => {
            let nonce = derive(*variant, key, nonce, &mut derived);
            (&derived, nonce)
        }
    };
    let (counter, plain, mut before) = (answer.counter() - 1, text(answer.len), [0; 64]);
    variant.xor(key, &nonce, counter, 0, InOut::in_place(&mut before));
    let mut mac = Mac::start(before.first_chunk().expect("32 of 64 bytes"));
    mac.padded(AAD);
    mac.padded(sealed);
    let tag = mac.finish();
    let stitched = |open| {
        let (mut mac, mut out) = (Mac::EMPTY, [0; MAX_LEN]);
        let (out, [from, to]) =
            (&mut out[..answer.len], if open { [sealed, plain] } else { [plain, sealed] });
        let data = InOut::apart(from, out);
        variant.stitched(open, key, &nonce, counter, &mut [0; 64], Some(AAD), &mut mac, data);
        out == to && mac.finish() == tag
    };
    u128::from_be_bytes(tag) == answer.tag && (!variant.stitches() || [false, true].into_iter().all(stitched))
}
