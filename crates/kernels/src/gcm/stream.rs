//! AES-GCM for messages in pieces of any length. The result is the same as of one call for the
//! whole message.
//!
//! Groups of blocks are encrypted and hashed in one pass, as in a whole message. What remains of a
//! piece, less than a group, is encrypted and hashed one after the other. Bytes after the last
//! whole block are buffered for GHASH, and the keystream is computed again for the rest of a block.
#![forbid(unsafe_code)]

use super::body::{GROUPS_LEN, Preamble};
use super::key::{Gcm, MAX_AAD_LEN, MAX_DATA_LEN};
use crate::error::{MessageError, Part};
use crate::first_round::FirstRound;
use crate::stitch::Hashed;
use crate::zero::wipe;
use crate::{InOut, SourceCopy};
use alloc::boxed::Box;
use core::borrow::Borrow;
use core::fmt;

/// A message that is encrypted or decrypted in pieces, with a key that it owns, borrows or shares.
///
/// Associated data comes first, then data. **The output of [`Stream::decrypt`] is not
/// authenticated** until the tag has been compared.
///
/// ```
/// use kernels::{InOut, cpu::Features, gcm::{Gcm, Stream}};
///
/// let gcm = Gcm::new(&[7; 32], Features::detect()).unwrap();
/// let (mut whole, mut tag) = (*b"in one call or in two", [0; 16]);
/// gcm.seal(&[1; 12], b"header", InOut::in_place(&mut whole), &mut tag).unwrap();
///
/// let mut pieces = *b"in one call or in two";
/// let mut stream = Stream::begin(&gcm, &[1; 12]).unwrap();
/// stream.aad(b"header").unwrap();
/// stream.encrypt(InOut::in_place(&mut pieces[..5])).unwrap();
/// stream.encrypt(InOut::in_place(&mut pieces[5..])).unwrap();
/// assert_eq!((pieces, stream.finish()), (whole, tag));
/// ```
pub struct Stream<G: Borrow<Gcm>> {
    gcm: G,
    /// Length of the nonce in bytes. A nonce that does not have 12 bytes is hashed to a secret J0.
    nonce_len: usize,
    /// On the heap, so that moving this value leaves no copy behind: a hash of known blocks reveals
    /// the key of GHASH.
    state: Box<State>,
}

/// The state of a message. Wiped from memory on drop.
struct State {
    /// J0, the pre-counter block of the message, as an integer.
    j0: u128,
    /// GHASH of the whole blocks so far, in the order of POLYVAL.
    hash: u128,
    /// The bytes after the last whole block.
    block: [u8; 16],
    /// Length of the associated data so far, in bytes.
    aad_len: u64,
    /// Length of the data so far, in bytes.
    data_len: u64,
}

impl<G: Borrow<Gcm>> Stream<G> {
    /// Begins a message with its nonce, before any associated data or data.
    ///
    /// A nonce of 12 bytes is used directly; a nonce of another length is hashed (SP 800-38D,
    /// section 7.1). A nonce must never be used twice with the same key.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] if the nonce has more than 2^61 - 1 bytes.
    pub fn begin(gcm: G, nonce: &[u8]) -> Result<Self, MessageError> {
        let Preamble { j0, .. } = gcm.borrow().begin(nonce, &[], 0)?;
        gcm.borrow().clean_stack(nonce.len());
        let state = Box::new(State { j0, hash: 0, block: [0; 16], aad_len: 0, data_len: 0 });
        Ok(Self { gcm, nonce_len: nonce.len(), state })
    }

    /// Counts bytes that are not processed, to test the limits without 64 GiB of data.
    #[doc(hidden)]
    pub fn skip_to(&mut self, aad_len: u64, data_len: u64) {
        (self.state.aad_len, self.state.data_len) = (aad_len, data_len);
    }

    /// Returns the name of the variant that computes, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.gcm.borrow().variant()
    }

    /// Adds a piece of associated data. A message may have any number.
    ///
    /// # Errors
    /// Returns [`MessageError::LateAssociatedData`] after the first byte of data, and
    /// [`MessageError::TooLong`] if the associated data would have more than 2^61 - 1 bytes.
    pub fn aad(&mut self, piece: &[u8]) -> Result<(), MessageError> {
        if self.state.data_len > 0 {
            return Err(MessageError::LateAssociatedData);
        }
        let (gcm, state) = (self.gcm.borrow(), &mut *self.state);
        let total = u128::from(state.aad_len) + piece.len() as u128;
        Part::AssociatedData.check_len(total, MAX_AAD_LEN)?;
        state.absorb(gcm, rest(state.aad_len), piece);
        state.aad_len = total as u64;
        Ok(())
    }

    /// Encrypts a piece of the data. A message may have any number.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if the data would have more than 2^36 -
    /// 32 bytes.
    pub fn encrypt(&mut self, piece: InOut<'_>) -> Result<(), MessageError> {
        self.process(Hashed::Target, piece)
    }

    /// Decrypts a piece of the data; a message may have any number of pieces. **The plaintext is
    /// not authenticated.**
    ///
    /// # Errors
    /// Returns the same error as [`Self::encrypt`], for the same reason.
    pub fn decrypt(&mut self, piece: InOut<'_>) -> Result<(), MessageError> {
        self.process(Hashed::Source, piece)
    }

    fn process(&mut self, hashed: Hashed, mut data: InOut<'_>) -> Result<(), MessageError> {
        let (gcm, state) = (self.gcm.borrow(), &mut *self.state);
        let len = data.len();
        Part::Data.check_len(u128::from(state.data_len) + len as u128, MAX_DATA_LEN)?;
        if state.data_len == 0 && len > 0 {
            state.fill_up(gcm, rest(state.aad_len));
        }
        let mut at = 0;
        while at < len {
            let waiting = rest(state.data_len);
            let left = len - at;
            let n = match waiting {
                0 if left >= GROUPS_LEN => left - left % GROUPS_LEN,
                0 => left,
                // The next part begins at a block.
                _ => left.min(16 - waiting),
            };
            let part = data.part(at, n);
            if n >= GROUPS_LEN {
                let first_round = gcm.first_round(self.nonce_len, n);
                state.process_groups(gcm, first_round, hashed, part);
            } else {
                state.process_part(gcm, hashed, waiting, part);
            }
            state.data_len += n as u64;
            at += n;
        }
        Ok(())
    }

    /// Returns the tag of the message, after all associated data and all data were added.
    pub fn finish(mut self) -> [u8; 16] {
        let (gcm, state) = (self.gcm.borrow(), &mut *self.state);
        state.fill_up(gcm, rest(if state.data_len > 0 { state.data_len } else { state.aad_len }));
        let lengths = u128::from(8 * state.data_len) | u128::from(8 * state.aad_len) << 64;
        gcm.absorb(&lengths.to_be_bytes(), &mut state.hash);
        let mut tag = state.hash.to_be_bytes();
        gcm.apply_keystream(state.j0, InOut::in_place(&mut tag));
        gcm.clean_stack(0);
        tag
    }
}

impl State {
    /// Encrypts or decrypts whole groups, beginning at a block, and hashes them in the same pass.
    fn process_groups(
        &mut self,
        gcm: &Gcm,
        first_round: Option<&FirstRound>,
        hashed: Hashed,
        mut data: InOut<'_>,
    ) {
        let (len, counter) = (data.len(), counter(self.j0, self.data_len));
        // A hashed nonce has no first round, and its counter is secret.
        let byte = if first_round.is_some() { counter as usize % 256 } else { 0 };
        let (key, powers) = (gcm.key(), gcm.bulk_powers());
        let (variant, size, hash, data) = (gcm.variant, gcm.size, &mut self.hash, &mut data);
        match hashed {
            Hashed::Target => {
                variant.encrypt_groups(size, key, powers, counter, byte, first_round, hash, data)
            }
            Hashed::Source => {
                variant.decrypt_groups(size, key, powers, counter, byte, first_round, hash, data)
            }
        }
        gcm.clean_stack(len);
    }

    /// Encrypts or decrypts less than a group, and hashes it in another pass.
    fn process_part(&mut self, gcm: &Gcm, hashed: Hashed, waiting: usize, data: InOut<'_>) {
        // The bytes that are hashed are the bytes that are decrypted, even if another process
        // changes the source in between.
        let mut copy = SourceCopy::<GROUPS_LEN>::new();
        let len = data.len();
        let mut data = if hashed == Hashed::Source { data.copy_source(&mut copy) } else { data };
        if hashed == Hashed::Source {
            self.absorb(gcm, waiting, data.source());
        }
        gcm.xor(self.j0, self.data_len, data.part(0, len));
        if hashed == Hashed::Target {
            self.absorb(gcm, waiting, data.target());
        }
    }

    /// Continues GHASH with `bytes`, after `waiting` buffered bytes of a block that is not
    /// complete.
    fn absorb(&mut self, gcm: &Gcm, waiting: usize, mut bytes: &[u8]) {
        if waiting > 0 {
            let (some, after) = bytes.split_at(bytes.len().min(16 - waiting));
            self.block[waiting..][..some.len()].copy_from_slice(some);
            bytes = after;
            if waiting + some.len() < 16 {
                return;
            }
            self.fill_up(gcm, 16);
        }
        let (whole, after) = bytes.split_at(bytes.len() / 16 * 16);
        if !whole.is_empty() {
            gcm.absorb(whole, &mut self.hash);
            gcm.clean_stack(whole.len());
        }
        self.block[..after.len()].copy_from_slice(after);
    }

    /// Continues GHASH with the `waiting` buffered bytes, padded with zeros to a whole block.
    fn fill_up(&mut self, gcm: &Gcm, waiting: usize) {
        if waiting > 0 {
            gcm.absorb(&self.block[..waiting], &mut self.hash);
        }
    }
}

/// Returns the number of bytes after the last whole block.
fn rest(len: u64) -> usize {
    (len % 16) as usize
}

/// Returns the counter of the block with byte `at` of the data. The last word wraps, as in inc32.
fn counter(j0: u128, at: u64) -> u128 {
    let low = (j0 as u32).wrapping_add(1).wrapping_add((at / 16) as u32);
    j0 >> 32 << 32 | u128::from(low)
}

impl Gcm {
    /// XORs the keystream of a message into `data`, from byte `at` of the keystream on. The end is
    /// at most [`MAX_DATA_LEN`].
    ///
    /// With a hashed nonce the counter is secret, so that no branch depends on its overflow.
    fn xor(&self, j0: u128, at: u64, mut data: InOut<'_>) {
        let skip = rest(at);
        let len = data.len();
        let first_part = if skip == 0 { 0 } else { len.min(16 - skip) };
        if first_part > 0 {
            let mut block = [0; 16];
            let place = skip..skip + first_part;
            block[place.clone()].copy_from_slice(data.part(0, first_part).source());
            self.apply_keystream(counter(j0, at), InOut::in_place(&mut block));
            data.part(0, first_part).target().copy_from_slice(&block[place]);
            wipe(&mut block);
        }
        if len > first_part {
            self.apply_keystream(
                counter(j0, at + first_part as u64),
                data.part(first_part, len - first_part),
            );
        }
        self.clean_stack(len);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        wipe(core::slice::from_mut(&mut self.j0));
        wipe(core::slice::from_mut(&mut self.hash));
        wipe(&mut self.block);
        wipe(core::slice::from_mut(&mut self.aad_len));
        wipe(core::slice::from_mut(&mut self.data_len));
    }
}

impl<G: Borrow<Gcm>> fmt::Debug for Stream<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("gcm", self.gcm.borrow()).finish_non_exhaustive()
    }
}
