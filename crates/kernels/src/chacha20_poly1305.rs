//! ChaCha20-Poly1305 (RFC 8439, section 2.8) and XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03,
//! section 2).
//!
//! ```text
//! otk        = block(key, nonce, 0)[..32]
//! ciphertext = ChaCha20(key, nonce, 1) ^ plaintext
//! tag        = Poly1305(otk, pad16(aad) || pad16(ciphertext) || len(aad) || len(ciphertext))
//! ```
//!
//! A key uses two variants, one of ChaCha20, which determines the speed, and one of Poly1305. They
//! are in separate tables because the fastest Poly1305 needs other processor features than the
//! fastest ChaCha20.
//!
//! There are four departures from the pseudo-code. Block 0 and the first piece of keystream are
//! computed at once. Then encryption and authentication alternate on pieces that stay in the
//! first-level cache. Both on vectors in one pass were measured to be slower, because each of them
//! has only half of the registers then.
//!
//! On AVX2, for more than 448 bytes, there is one pass: Poly1305 is computed in the integer units,
//! which ChaCha20 leaves idle, between its rounds. See `docs/decisions/011`.
//!
//! The fourth one is that `open` decrypts before the tag is verified, and zeros the destination if
//! it is wrong. It copies each piece of the ciphertext to the destination while it authenticates
//! it, and decrypts the copy. If it read the ciphertext twice, another process could change it
//! between the two passes, for example in a shared mapping, and choose the plaintext of a message
//! with a valid tag. In place there is no copy, since a process that can write to the destination
//! can change the plaintext anyway.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::chacha20::{self, Key, MAX_UNSPILLED_LEN, body::STITCHED};
use crate::cpu::{Features, is_intel};
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::poly1305::{self, body::Powers, scalar::State};
use crate::segments::{Sum, Threads, process, segment_len};
use crate::tables::chacha20::ChaCha20Functions;
use crate::tables::poly1305::Poly1305Functions;
use crate::variant::{Refusal, Selected, Variant, debug_key};
use crate::vector::inout::{SourceCopy, read_once};
use crate::zero::{wipe, wipe_dead_stack};
use alloc::boxed::Box;

mod batch;

/// Maximum number of bytes of the data: 2^32 blocks without block 0, which makes the Poly1305 key.
const LONGEST: u128 = (1 << 38) - 64;
/// Bytes encrypted and then authenticated at a time: source and destination fit into the L1 cache.
const PIECE: usize = 8 << 10;
/// Number of bytes that `open` authenticates and then decrypts at a time. Source and destination
/// fit into the second-level cache. Shorter pieces are slower: 4 KiB by 3 %
/// (`lab/record/open-zen4-2026-11-23.md`).
const OPEN_PIECE: usize = 64 << 10;
/// The same for messages of more than [`CACHED`] bytes: pieces of 64 KiB are 5 to 20 % slower.
const OPEN_PIECE_UNCACHED: usize = 4 << 10;
/// Message length up to which `open` expects source and destination in the caches.
const CACHED: usize = 4 << 20;
/// The same on Intel processors (`lab/record/calls-granite-rapids-2026-11-23.md`).
const CACHED_INTEL: usize = 1 << 20;
/// Returns the number of bytes of a message of `len` bytes that `open` processes at a time.
fn open_piece_len(len: usize) -> usize {
    let cached = if is_intel() { CACHED_INTEL } else { CACHED };
    if len <= cached { OPEN_PIECE } else { OPEN_PIECE_UNCACHED }
}

/// Bytes from which Poly1305 on vectors is faster, with the computation of powers for the message.
const LONG: usize = 768;

/// Bytes of data from which Poly1305 between the rounds is faster after long associated data.
const LONG_DATA: usize = 4 << 10;

/// A ChaCha20-Poly1305 key and the variants that compute with it.
///
/// The key is on the heap, so moving this value leaves no copy behind, and it is wiped on drop.
pub struct ChaCha20Poly1305 {
    key: Box<Key>,
    variants: Variants,
}

/// An XChaCha20-Poly1305 key and its variants. The nonces of 192 bits are long enough to be random.
///
/// Each call derives a key from the nonce, and wipes it before it returns.
pub struct XChaCha20Poly1305(ChaCha20Poly1305);

/// Lists the pairs of variants that some processor selects, widest first, with the name of the
/// variant of ChaCha20 and the processor features of both. The last one needs no features.
pub fn variants() -> impl Iterator<Item = Variant> {
    chacha20::variants().flat_map(|stream| {
        poly1305::variants().filter_map(move |mac| {
            let needs = stream.needs.union(mac.needs);
            let usable = |variant: &Variant| needs.contains(variant.needs);
            let selected = [chacha20::variants().find(usable), poly1305::variants().find(usable)];
            (selected == [Some(stream), Some(mac)]).then_some(Variant { name: stream.name, needs })
        })
    })
}

/// Lists every variant of ChaCha20 with `Ok(())` or the reason it cannot be used. If no variant of
/// Poly1305 passes its self-test, none can be used.
pub fn check(features: Features) -> impl Iterator<Item = (Variant, Result<(), Refusal>)> {
    // The only error of selecting a variant is that none passes.
    let mac = poly1305::select(features).map_err(|_| Refusal::SelfTestFailed);
    chacha20::check(features).map(move |(variant, check)| (variant, check.and(mac.map(drop))))
}

impl ChaCha20Poly1305 {
    /// Takes a key of 256 bits for the widest variants that `features` allow and that pass their
    /// self-tests.
    ///
    /// # Errors
    /// Returns [`KeyError::SelfTestFailed`] if no variant passes its self-test.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        let variants = Variants { stream: chacha20::select(features)?, mac: poly1305::select(features)? };
        Ok(Self { key: Key::of(key), variants })
    }

    /// Returns the name of the variant of ChaCha20, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.variants.stream.name()
    }

    /// Returns the name of the variant of Poly1305, for example `"portable"`.
    pub fn mac_variant(&self) -> &'static str {
        self.variants.mac.name()
    }

    /// Calls `work` with a message under this nonce.
    #[inline(always)]
    fn message<R>(&self, nonce: &[u8; 12], work: impl FnOnce(Message<'_>) -> R) -> R {
        work(Message { variants: self.variants, key: &self.key, nonce })
    }
}

impl XChaCha20Poly1305 {
    /// Takes a key of 256 bits for the widest variants that `features` allow and that pass their
    /// self-tests.
    ///
    /// # Errors
    /// Returns [`KeyError::SelfTestFailed`] if no variant passes its self-test.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        ChaCha20Poly1305::new(key, features).map(Self)
    }

    /// Returns the name of the variant of ChaCha20, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.0.variant()
    }

    /// Calls `work` with a message under this nonce. Its key is wiped on drop.
    #[inline(always)]
    fn message<R>(&self, nonce: &[u8; 24], work: impl FnOnce(Message<'_>) -> R) -> R {
        let Self(ChaCha20Poly1305 { key, variants }) = self;
        let mut subkey = Key::EMPTY;
        let nonce = chacha20::derive(variants.stream, key, nonce, &mut subkey);
        work(Message { variants: *variants, key: &subkey, nonce: &nonce })
    }
}

/// Defines the calls of a key, each with a value of `message`.
macro_rules! calls {
    ($key:ident, $nonce_len:literal) => {
        impl $key {
            /// Encrypts `data` and writes the tag to `tag`.
            ///
            /// # Errors
            /// Returns [`MessageError::TooLong`] and writes nothing if there are more than
            /// 2^38 - 64 bytes of data.
            #[inline]
            pub fn seal(
                &self,
                nonce: &[u8; $nonce_len],
                aad: &[u8],
                data: InOut<'_>,
                tag: &mut [u8; 16],
            ) -> Result<(), MessageError> {
                self.message(nonce, |message| message.seal(aad, data, tag))
            }

            /// Decrypts `data` and verifies the tag over the bytes that were decrypted. Each byte
            /// of the source is read once.
            ///
            /// # Errors
            /// Returns [`OpenError::AuthenticationFailed`] if the tag is wrong; the destination is
            /// zero then. Returns a [`MessageError`] and writes nothing if there are more than
            /// 2^38 - 64 bytes of data.
            #[inline]
            pub fn open(
                &self,
                nonce: &[u8; $nonce_len],
                aad: &[u8],
                data: InOut<'_>,
                tag: &[u8; 16],
            ) -> Result<(), OpenError> {
                self.message(&read_once(nonce), |message| message.open(aad, data, tag))
            }

            /// Encrypts like [`Self::seal`], to the same bytes, with segments of the message on
            /// threads.
            ///
            /// # Errors
            /// Returns the errors of [`Self::seal`] for the same reasons.
            pub fn seal_on(
                &self,
                threads: &dyn Threads,
                nonce: &[u8; $nonce_len],
                aad: &[u8],
                data: InOut<'_>,
                tag: &mut [u8; 16],
            ) -> Result<(), MessageError> {
                self.message(nonce, |message| message.seal_on(threads, aad, data, tag))
            }

            /// Decrypts like [`Self::open`], with segments of the message on several threads.
            ///
            /// # Errors
            /// Returns the errors of [`Self::open`]. After [`OpenError::AuthenticationFailed`] all
            /// of the destination is zero.
            pub fn open_on(
                &self,
                threads: &dyn Threads,
                nonce: &[u8; $nonce_len],
                aad: &[u8],
                data: InOut<'_>,
                tag: &[u8; 16],
            ) -> Result<(), OpenError> {
                self.message(&read_once(nonce), |message| message.open_on(threads, aad, data, tag))
            }
        }
    };
}

calls!(ChaCha20Poly1305, 12);
calls!(XChaCha20Poly1305, 24);

/// The variants of both algorithms, ChaCha20 and Poly1305, that a key uses.
#[derive(Clone, Copy)]
struct Variants {
    stream: Selected<ChaCha20Functions>,
    mac: Selected<Poly1305Functions>,
}

/// A message to seal or to open.
#[derive(Clone, Copy)]
struct Message<'a> {
    variants: Variants,
    key: &'a Key,
    nonce: &'a [u8; 12],
}

impl Message<'_> {
    #[inline(always)]
    fn seal(self, aad: &[u8], mut data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), MessageError> {
        let (len, mut first) = (data.len(), Block::EMPTY);
        Part::Data.check_len(len as u128, LONGEST)?;
        *tag = if self.stitches(len, aad.len()) {
            self.stitched(false, &mut first, aad, &mut data)
        } else if len.max(aad.len()) < LONG {
            self.variants.stream.begin(self.key, self.nonce, &mut first.0, data.part(0, len));
            short(first.mac_key(), aad, data.target())
        } else {
            let mut mac = Mac::EMPTY;
            self.seal_long(&mut mac, &mut first, aad, &mut data)
        };
        self.clean(len, aad.len());
        Ok(())
    }

    #[inline(always)]
    fn open(self, aad: &[u8], mut data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError> {
        let (len, mut first) = (data.len(), Block::EMPTY);
        Part::Data.check_len(len as u128, LONGEST)?;
        // The expected tag is not moved, since a move would leave a copy on the stack.
        if self.stitches(len, aad.len()) {
            let mut expected_tag = self.stitched(true, &mut first, aad, &mut data);
            self.clean(len, aad.len());
            ct::verified(&mut expected_tag, tag, data)
        } else if len.max(aad.len()) < LONG {
            let mut copy = SourceCopy::<LONG>::new();
            let mut copied = data.part(0, len).copy_source(&mut copy);
            self.variants.stream.begin(self.key, self.nonce, &mut first.0, copied.part(0, len));
            let mut expected_tag = short(first.mac_key(), aad, copied.source());
            self.clean(len, aad.len());
            ct::verified(&mut expected_tag, tag, data)
        } else {
            let mut mac = Mac::EMPTY;
            let mut expected_tag = self.open_long(&mut mac, &mut first, aad, &mut data);
            self.clean(len, aad.len());
            ct::verified(&mut expected_tag, tag, data)
        }
    }

    /// Returns whether Poly1305 is computed between the rounds of ChaCha20, for that many bytes of
    /// data and of associated data. Powers for long associated data serve short data too.
    #[inline(always)]
    fn stitches(self, len: usize, aad: usize) -> bool {
        self.variants.stream.stitches() && len > STITCHED && (aad < LONG || len >= LONG_DATA)
    }

    /// Seals, or opens if `open`, a message that [`Self::stitches`], writes block 0 to `first`, and
    /// returns the tag that the message must have. Not inlined, so that its stack frame can be
    /// wiped.
    #[inline(never)]
    fn stitched(self, open: bool, first: &mut Block, aad: &[u8], data: &mut InOut<'_>) -> [u8; 16] {
        let (len, mut mac) = (data.len(), State::EMPTY);
        let short = (aad.len() < LONG).then_some(aad);
        if short.is_none() {
            self.absorb_long(first, aad, &mut mac);
        }
        let (Self { variants, key, nonce }, data) = (self, data.part(0, len));
        variants.stream.stitched(open, key, nonce, 0, &mut first.0, short, &mut mac, data);
        mac.blocks(&lengths(aad.len(), len));
        mac.finish()
    }

    /// Absorbs long associated data, with powers. Not inlined, because of its large stack frame.
    #[inline(never)]
    fn absorb_long(self, first: &mut Block, aad: &[u8], state: &mut State) {
        let mut mac = Mac::EMPTY;
        self.variants.stream.begin(self.key, self.nonce, &mut first.0, InOut::in_place(&mut []));
        mac.begin(self.variants.mac, first.mac_key(), aad.len());
        mac.padded(self.variants.mac, aad);
        state.set(first.mac_key());
        state.set_accumulator(mac.state.accumulator());
    }

    /// Does the work of [`Self::segment`] for a segment that [`Self::stitches`]. Not inlined, so
    /// that its stack frame can be wiped.
    #[inline(never)]
    fn stitched_segment(self, open: bool, first: &Block, at: usize, data: InOut<'_>, sum: &mut Sum) {
        let (mut before, mut mac) = (Block::EMPTY, State::EMPTY);
        mac.set(first.mac_key());
        let (Self { variants, key, nonce }, counter) = (self, counter(at) - 1);
        variants.stream.stitched(open, key, nonce, counter, &mut before.0, None, &mut mac, data);
        *sum = mac.accumulator();
    }

    /// Seals a long message in pieces, writes block 0 to `first`, and returns the tag. `mac` is the
    /// caller's: wiping it with the stack frame of this call would take twice as long.
    #[inline(never)]
    fn seal_long(self, mac: &mut Mac, first: &mut Block, aad: &[u8], data: &mut InOut<'_>) -> [u8; 16] {
        let (len, done) = (data.len(), PIECE.min(data.len()));
        let mut piece = data.part(0, done);
        self.variants.stream.begin(self.key, self.nonce, &mut first.0, piece.part(0, done));
        mac.begin(self.variants.mac, first.mac_key(), aad.len().max(done));
        mac.padded(self.variants.mac, aad);
        mac.padded(self.variants.mac, piece.target());
        self.seal_pieces(done, mac, &mut data.part(done, len - done));
        mac.finish(aad.len(), len)
    }

    /// Encrypts and authenticates data in pieces. `offset` is the data's position in the message.
    #[inline(always)]
    fn seal_pieces(self, offset: usize, mac: &mut Mac, data: &mut InOut<'_>) {
        let (len, mut done) = (data.len(), 0);
        while done < len {
            let mut piece = data.part(done, PIECE.min(len - done));
            let n = piece.len();
            self.variants.stream.xor(self.key, self.nonce, counter(offset + done), 0, piece.part(0, n));
            mac.padded(self.variants.mac, piece.target());
            done += n;
        }
    }

    /// Decrypts a long message in pieces, writes block 0 to `first`, and returns the tag that it
    /// must have.
    #[inline(never)]
    fn open_long(self, mac: &mut Mac, first: &mut Block, aad: &[u8], data: &mut InOut<'_>) -> [u8; 16] {
        let (len, piece_len) = (data.len(), open_piece_len(data.len()));
        self.variants.stream.begin(self.key, self.nonce, &mut first.0, InOut::in_place(&mut []));
        mac.begin(self.variants.mac, first.mac_key(), aad.len().max(len.min(piece_len)));
        mac.padded(self.variants.mac, aad);
        self.open_pieces(0, piece_len, mac, data);
        mac.finish(aad.len(), len)
    }

    /// Authenticates and decrypts data in pieces. `offset` is the data's position in the message.
    #[inline(always)]
    fn open_pieces(self, offset: usize, piece_len: usize, mac: &mut Mac, data: &mut InOut<'_>) {
        let (len, mut done) = (data.len(), 0);
        while done < len {
            let mut piece = data.part(done, piece_len.min(len - done));
            let n = piece.len();
            mac.padded_copying(self.variants.mac, piece.part(0, n));
            let copy = InOut::in_place(piece.target());
            self.variants.stream.xor(self.key, self.nonce, counter(offset + done), 0, copy);
            done += n;
        }
    }

    /// Does the work of [`ChaCha20Poly1305::seal_on`].
    fn seal_on(
        self,
        threads: &dyn Threads,
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let len = data.len();
        let Some(segment_len) = segment_len(threads, len) else {
            return self.seal(aad, data, tag);
        };
        Part::Data.check_len(len as u128, LONGEST)?;
        self.in_segments::<false>(threads, segment_len, aad, data, tag, |at, data, mac| {
            self.seal_pieces(at, mac, data);
        });
        self.clean(0, LONG);
        Ok(())
    }

    /// Does the work of [`ChaCha20Poly1305::open_on`].
    fn open_on(
        self,
        threads: &dyn Threads,
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let len = data.len();
        let Some(segment_len) = segment_len(threads, len) else {
            return self.open(aad, data, tag);
        };
        Part::Data.check_len(len as u128, LONGEST)?;
        let piece_len = open_piece_len(len);
        let mut expected_tag = [0; 16];
        let open = |at, data: &mut InOut<'_>, mac: &mut Mac| {
            self.open_pieces(at, piece_len, mac, data);
        };
        self.in_segments::<true>(threads, segment_len, aad, data.part(0, len), &mut expected_tag, open);
        self.clean(0, LONG);
        ct::verified(&mut expected_tag, tag, data)
    }

    /// Seals, or opens if `OPEN`, the segments: stitched, or with `work`, which authenticates each
    /// of them from zero on, and computes the tag. Not inlined, so that its stack frame, which has
    /// copies of powers, can be wiped.
    #[inline(never)]
    fn in_segments<const OPEN: bool>(
        self,
        threads: &dyn Threads,
        segment_len: usize,
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
        work: impl Fn(usize, &mut InOut<'_>, &mut Mac) + Sync,
    ) {
        let (len, mut first, mut message) = (data.len(), Block::EMPTY, Mac::EMPTY);
        self.variants.stream.begin(self.key, self.nonce, &mut first.0, InOut::in_place(&mut []));
        message.begin(self.variants.mac, first.mac_key(), aad.len());
        message.padded(self.variants.mac, aad);
        let first = &first;
        let segment = |at: usize, mut data: InOut<'_>, sum: &mut Sum| {
            if self.stitches(data.len(), 0) {
                self.stitched_segment(OPEN, first, at, data, sum);
            } else {
                self.segment(first, &work, at, &mut data, sum);
            }
            self.clean(0, LONG);
        };
        let state = &mut message.state;
        let mut power = (1, state.r());
        process(threads, segment_len, data, segment, |len, sum| state.absorb_segment(&mut power, len, *sum));
        *tag = message.finish(aad.len(), len);
    }

    /// Seals or opens one segment, and writes the accumulator to `sum`. Not inlined, so that its
    /// stack frame can be wiped.
    #[inline(never)]
    fn segment(
        self,
        first: &Block,
        work: &impl Fn(usize, &mut InOut<'_>, &mut Mac),
        at: usize,
        data: &mut InOut<'_>,
        sum: &mut Sum,
    ) {
        let mut mac = Mac::EMPTY;
        mac.begin(self.variants.mac, first.mac_key(), data.len());
        work(at, data, &mut mac);
        *sum = mac.state.accumulator();
    }

    /// Wipes what the variants may have spilled to the stack. It is called from where the variants
    /// were called.
    #[inline(always)]
    fn clean(self, len: usize, aad: usize) {
        if aad >= LONG {
            // The powers are already wiped, but not the values spilled while they were used.
            wipe_dead_stack::<{ chacha20::SPILLED_WORDS + size_of::<Mac>() / 8 + 64 }>();
        } else if self.stitches(len, aad) {
            // A group of ciphertext and the end of the source are on the stack too.
            wipe_dead_stack::<{ chacha20::SPILLED_WORDS + 144 }>();
        } else if len >= LONG {
            wipe_dead_stack::<{ chacha20::SPILLED_WORDS + 32 }>();
        } else if len > MAX_UNSPILLED_LEN || self.variants.stream.spills() {
            wipe_dead_stack::<{ chacha20::SPILLED_WORDS }>();
        } else {
            wipe_dead_stack::<48>();
        }
    }
}

/// Block 0 of the keystream. Wiped from memory on drop.
struct Block([u8; 64]);

impl Block {
    const EMPTY: Self = Self([0; 64]);

    /// Returns the one-time key of Poly1305 (RFC 8439, section 2.6), which is the first half of the
    /// block.
    #[inline(always)]
    fn mac_key(&self) -> &[u8; 32] {
        self.0.first_chunk().expect("32 of 64 bytes")
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Returns the counter of the block at `offset`, which is a multiple of 64 bytes, in the data of a
/// message.
#[inline(always)]
fn counter(offset: usize) -> u32 {
    1 + (offset / 64) as u32
}

/// Returns the last block that is authenticated, with both lengths in bytes.
#[inline(always)]
fn lengths(aad: usize, data: usize) -> [u8; 16] {
    (aad as u128 | (data as u128) << 64).to_le_bytes()
}

/// Returns the tag of a short message, without vectors. Not inlined, so that its stack frame is
/// below the caller's frame, and the caller wipes it.
#[inline(never)]
fn short(key: &[u8; 32], aad: &[u8], data: &[u8]) -> [u8; 16] {
    let mut state = State::start(key);
    state.padded(aad);
    state.padded(data);
    state.blocks(&lengths(aad.len(), data.len()));
    state.finish()
}

/// The computation of a tag. It is initialised in place and not moved, so that it leaves no copy
/// behind.
struct Mac {
    state: State,
    powers: Powers,
}

impl Mac {
    const EMPTY: Self = Self { state: State::EMPTY, powers: Powers::EMPTY };

    /// Begins a message with pieces of at most `longest` bytes.
    #[inline(always)]
    fn begin(&mut self, variant: Selected<Poly1305Functions>, key: &[u8; 32], longest: usize) {
        self.state.set(key);
        variant.set_up(&self.state, &mut self.powers, longest);
    }

    /// Absorbs data, padded with zeros to whole blocks.
    #[inline(always)]
    fn padded(&mut self, variant: Selected<Poly1305Functions>, data: &[u8]) {
        variant.padded(&mut self.state, &self.powers, data);
    }

    /// Absorbs the source, padded with zeros to whole blocks, and copies it to the destination.
    #[inline(always)]
    fn padded_copying(&mut self, variant: Selected<Poly1305Functions>, data: InOut<'_>) {
        variant.padded_copying(&mut self.state, &self.powers, data);
    }

    #[inline(always)]
    fn finish(&mut self, aad: usize, data: usize) -> [u8; 16] {
        self.state.blocks(&lengths(aad, data));
        self.state.finish()
    }
}

debug_key! { ChaCha20Poly1305 {} }
debug_key! { XChaCha20Poly1305 {} }
