//! AES-GCM in pieces of any length: the same bytes as one call over the whole.
#![forbid(unsafe_code)]

use super::{Gcm, LONGEST, LONGEST_HASHED, Text};
use crate::InOut;
use crate::aes::Size;
use crate::error::{MessageError, Part};
use crate::stitch::Hashed;
use crate::zero::wipe;
use core::borrow::Borrow;
use core::fmt;

/// One message under way, over a key that it owns, borrows or shares.
///
/// Additional data comes first, then data. **What [`Stream::decrypt`] writes is not verified** until the tag
/// was compared.
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
    /// On the heap, so that no copy is left behind where this value moves: a hash of known blocks gives away
    /// its key.
    state: Box<State>,
}

/// Wiped on drop.
struct State {
    /// The counter block that masks the tag, as an integer. The data's counters follow.
    first: u128,
    /// GHASH of the whole blocks so far, in POLYVAL's order.
    hash: u128,
    /// Bytes that wait for the rest of their block: as many as there are after whole blocks.
    block: [u8; 16],
    /// Bytes of additional data.
    aad: u64,
    /// Bytes of data.
    data: u64,
}

/// Bytes that are encrypted before they are hashed: they and their source stay in the first cache.
const PIECE: usize = 8192;

impl<G: Borrow<Gcm>> Stream<G> {
    /// Begins a message.
    ///
    /// A nonce of 12 bytes is used as it is, any other is hashed (SP 800-38D, 7.1). It must never be used
    /// twice with one key.
    ///
    /// # Errors
    /// [`MessageError::TooLong`] for a nonce of more than 2^61 - 1 bytes.
    pub fn begin(gcm: G, nonce: &[u8]) -> Result<Self, MessageError> {
        let Text { first, .. } = gcm.borrow().begin(nonce, &[], 0)?;
        gcm.borrow().clean(nonce.len());
        let state = Box::new(State { first, hash: 0, block: [0; 16], aad: 0, data: 0 });
        Ok(Self { gcm, state })
    }

    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"`, `"neon-aes"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.gcm.borrow().variant()
    }

    /// A piece of additional data.
    ///
    /// # Errors
    /// [`MessageError::LateAssociatedData`] after the first byte of data; [`MessageError::TooLong`] for more than
    /// 2^61 - 1 bytes of associated data.
    pub fn aad(&mut self, piece: &[u8]) -> Result<(), MessageError> {
        if self.state.data > 0 {
            return Err(MessageError::LateAssociatedData);
        }
        let (gcm, state) = (self.gcm.borrow(), &mut *self.state);
        let total = u128::from(state.aad) + piece.len() as u128;
        Part::AssociatedData.check_len(total, LONGEST_HASHED)?;
        state.absorb(gcm, rest(state.aad), piece);
        state.aad = total as u64;
        Ok(())
    }

    /// A piece of plaintext becomes a piece of ciphertext.
    ///
    /// # Errors
    /// [`MessageError::TooLong`] where the data of the message would have more than 2^36 - 32 bytes.
    pub fn encrypt(&mut self, piece: InOut<'_>) -> Result<(), MessageError> {
        self.cover(Hashed::Target, piece)
    }

    /// A piece of ciphertext becomes a piece of plaintext, **not verified**.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn decrypt(&mut self, piece: InOut<'_>) -> Result<(), MessageError> {
        self.cover(Hashed::Source, piece)
    }

    fn cover(&mut self, hashed: Hashed, mut data: InOut<'_>) -> Result<(), MessageError> {
        let (gcm, state) = (self.gcm.borrow(), &mut *self.state);
        let len = data.len();
        Part::Data.check_len(u128::from(state.data) + len as u128, LONGEST)?;
        if state.data == 0 && len > 0 {
            state.fill_up(gcm, rest(state.aad));
        }
        let mut at = 0;
        while at < len {
            // Every piece but the first begins with a block.
            let waiting = rest(state.data);
            let n = (len - at).min(PIECE - waiting);
            let mut piece = data.part(at, n);
            if hashed == Hashed::Source {
                state.absorb(gcm, waiting, piece.source());
            }
            gcm.xor(state.first, state.data, piece.part(0, n));
            if hashed == Hashed::Target {
                state.absorb(gcm, waiting, piece.target());
            }
            state.data += n as u64;
            at += n;
        }
        Ok(())
    }

    /// The tag.
    pub fn finish(mut self) -> [u8; 16] {
        let (gcm, state) = (self.gcm.borrow(), &mut *self.state);
        state.fill_up(gcm, rest(if state.data > 0 { state.data } else { state.aad }));
        let lengths = u128::from(8 * state.data) | u128::from(8 * state.aad) << 64;
        gcm.absorb(&lengths.to_be_bytes(), &mut state.hash);
        let mut tag = state.hash.to_be_bytes();
        gcm.cover(state.first, InOut::in_place(&mut tag));
        gcm.clean(0);
        tag
    }
}

impl State {
    /// Goes on hashing, after `waiting` bytes of a block.
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
            gcm.clean(whole.len());
        }
        self.block[..after.len()].copy_from_slice(after);
    }

    /// Hashes the bytes that wait, with zeros up to a whole block.
    fn fill_up(&mut self, gcm: &Gcm, waiting: usize) {
        if waiting > 0 {
            gcm.absorb(&self.block[..waiting], &mut self.hash);
        }
    }
}

/// How many of so many bytes come after whole blocks.
fn rest(len: u64) -> usize {
    (len % 16) as usize
}

impl Gcm {
    /// XORs the keystream of a message from byte `at` of its data on. It does not pass [`LONGEST`].
    ///
    /// With a hashed nonce the counter is secret: where it wraps in its 32 bits there is no branch.
    fn xor(&self, first: u128, at: u64, mut data: InOut<'_>) {
        let counter = |at: u64| {
            let low = (first as u32).wrapping_add(1).wrapping_add((at / 16) as u32);
            first >> 32 << 32 | u128::from(low)
        };
        let skip = rest(at);
        let len = data.len();
        let begun = if skip == 0 { 0 } else { len.min(16 - skip) };
        if begun > 0 {
            let mut block = [0; 16];
            let place = skip..skip + begun;
            block[place.clone()].copy_from_slice(data.part(0, begun).source());
            self.cover(counter(at), InOut::in_place(&mut block));
            data.part(0, begun).target().copy_from_slice(&block[place]);
            wipe(&mut block);
        }
        if len > begun {
            self.cover(counter(at + begun as u64), data.part(begun, len - begun));
        }
        self.clean(len);
    }

    /// The keystream from the block of a counter on.
    #[inline]
    fn cover(&self, counter: u128, data: InOut<'_>) {
        match self.size {
            Size::Bits128 => self.row.cover_128(&self.key, counter, data),
            Size::Bits192 => self.row.cover_192(&self.key, counter, data),
            Size::Bits256 => self.row.cover_256(&self.key, counter, data),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        wipe(core::slice::from_mut(&mut self.first));
        wipe(core::slice::from_mut(&mut self.hash));
        wipe(&mut self.block);
        wipe(core::slice::from_mut(&mut self.aad));
        wipe(core::slice::from_mut(&mut self.data));
    }
}

impl<G: Borrow<Gcm>> fmt::Debug for Stream<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("gcm", self.gcm.borrow()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::cpu::Features;

    /// As after very much data: nobody has 64 GiB for it here.
    fn at(data: u64, aad: u64) -> Stream<Gcm> {
        let gcm = Gcm::new(&[3; 16], Features::detect()).unwrap();
        let mut stream = Stream::begin(gcm, &[0xff; 12]).unwrap();
        (stream.state.data, stream.state.aad) = (data, aad);
        stream
    }

    /// One byte more than the limit.
    fn too_long(part: Part, limit: u128) -> Result<(), MessageError> {
        Err(MessageError::TooLong { part, found: limit + 1, limit })
    }

    #[test]
    fn limits() {
        let mut data = [0xee; 64];
        for at_once in [Stream::encrypt, Stream::decrypt] {
            let mut stream = at(LONGEST as u64 - 32, 0);
            assert_eq!(at_once(&mut stream, InOut::in_place(&mut data[..33])), too_long(Part::Data, LONGEST));
            assert_eq!(data, [0xee; 64], "written");
            assert_eq!(at_once(&mut stream, InOut::in_place(&mut [0; 32])), Ok(()));
            assert_eq!(at_once(&mut stream, InOut::in_place(&mut data[..1])), too_long(Part::Data, LONGEST));
            assert_eq!(at_once(&mut stream, InOut::in_place(&mut [])), Ok(()));
        }
        let mut stream = at(0, LONGEST_HASHED as u64 - 1);
        assert_eq!(stream.aad(&[0; 2]), too_long(Part::AssociatedData, LONGEST_HASHED));
        assert_eq!(stream.aad(&[0]), Ok(()));
    }

    /// The last counter of the longest message is the one before that of the tag.
    #[test]
    fn the_last_block() {
        let stream = at(LONGEST as u64 - 16, 0);
        let (mut last, mut tag) = ([0; 16], [0; 16]);
        stream.gcm.xor(stream.state.first, LONGEST as u64 - 16, InOut::in_place(&mut last));
        let counter = stream.state.first >> 32 << 32 | 0xffff_ffff;
        stream.gcm.cover(counter, InOut::in_place(&mut tag));
        assert_eq!(last, tag);
    }
}
