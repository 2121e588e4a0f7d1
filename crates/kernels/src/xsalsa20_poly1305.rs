//! XSalsa20-Poly1305 (Bernstein, "Cryptography in NaCl", 2009, sections 8 to 10), the secretbox of
//! NaCl.
//!
//! ```text
//! stream     = XSalsa20(key, nonce)
//! ciphertext = plaintext ^ stream[32..]
//! tag        = Poly1305(stream[..32], ciphertext)
//! ```
//!
//! There are no associated data. NaCl writes the tag before the ciphertext.
#![forbid(unsafe_code)]

use crate::chacha20::{Key, MAX_UNSPILLED_LEN, SPILLED_WORDS};
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::poly1305::{self, Poly1305};
use crate::salsa20::{self, derive};
use crate::tables::poly1305::Poly1305Functions;
use crate::tables::salsa20::Salsa20Functions;
use crate::variant::Selected;
use crate::vector::inout::{copy_once, read_once};
use crate::zero::{wipe, wipe_dead_stack};
use crate::{InOut, Parts, ct};
use alloc::boxed::Box;

pub use crate::salsa20::{check, rejects_changed_answers, variants};

/// An XSalsa20-Poly1305 key and the variants that compute with it. Its nonces of 192 bits are long
/// enough to be random.
///
/// The key is on the heap, so moving this value leaves no copy of it behind, and it is wiped on
/// drop. So is the key that each call derives from the nonce.
///
/// ```
/// use kernels::{InOut, cpu::Features, xsalsa20_poly1305::XSalsa20Poly1305};
///
/// let key = XSalsa20Poly1305::new(&[7; 32], Features::detect())?;
/// let (mut data, mut tag) = (*b"hello", [0; 16]);
/// key.seal(&[1; 24], InOut::in_place(&mut data), &mut tag).unwrap();
/// key.open(&[1; 24], InOut::in_place(&mut data), &tag).unwrap();
/// assert_eq!(&data, b"hello");
/// # Ok::<(), kernels::error::KeyError>(())
/// ```
pub struct XSalsa20Poly1305 {
    key: Box<Key>,
    stream: Selected<Salsa20Functions>,
    mac: Selected<Poly1305Functions>,
}

debug_key! { XSalsa20Poly1305 {} }

/// Bytes in the longest message: the keystream has 2^32 blocks here, and begins with the key of
/// Poly1305.
const LONGEST: u128 = (64 << 32) - ONE_TIME as u128;
/// Words of the stack that a message uses below its caller: its key and first block, copies of them
/// that the compiler makes, and what the kernels spill.
const MESSAGE_WORDS: usize = SPILLED_WORDS + 256;
/// Bytes in a one-time key of Poly1305.
const ONE_TIME: usize = 32;

impl XSalsa20Poly1305 {
    /// Takes a key of 256 bits for the widest variants that `features` allow and that pass their
    /// self-tests.
    ///
    /// # Errors
    /// Returns [`KeyError::SelfTestFailed`] if no variant passes.
    pub fn new(key: &[u8; 32], features: Features) -> Result<Self, KeyError> {
        let (stream, mac) = (salsa20::select(features)?, poly1305::select(features)?);
        Ok(Self { key: Key::of(key), stream, mac })
    }

    /// Returns the name of the variant of Salsa20, for example `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.stream.name()
    }

    /// Encrypts `data` and writes the tag to `tag`.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if there are more than 2^38 - 32 bytes
    /// of data.
    pub fn seal(
        &self,
        nonce: &[u8; 24],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        Part::Data.check_len(data.len() as u128, LONGEST)?;
        *tag = self.sealed(nonce, &mut data);
        wipe_dead_stack::<MESSAGE_WORDS>();
        Ok(())
    }

    /// Encrypts `data` and returns the tag. A function of its own, so that its stack frame can be
    /// wiped.
    #[inline(never)]
    fn sealed(&self, nonce: &[u8; 24], data: &mut InOut<'_>) -> [u8; 16] {
        let message = Message::new(self, nonce);
        message.xor(data);
        message.tag(data.target())
    }

    /// Verifies the tag of `data` and decrypts them. Each byte of the source is read once.
    ///
    /// # Errors
    /// Returns [`OpenError::AuthenticationFailed`] if the tag is wrong; the destination is zero
    /// then. Returns a [`MessageError`] and writes nothing if there are more than 2^38 - 32 bytes
    /// of data.
    pub fn open(&self, nonce: &[u8; 24], data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError> {
        Part::Data.check_len(data.len() as u128, LONGEST)?;
        let result = Message::open(self, nonce, data, tag);
        wipe_dead_stack::<MESSAGE_WORDS>();
        result
    }
}

/// What one message needs: its key, its nonce and its first block of keystream.
struct Message<'a> {
    cipher: &'a XSalsa20Poly1305,
    secrets: Secrets,
    nonce: [u8; 8],
}

struct Secrets {
    key: Key,
    first: [u8; 64],
}

impl Drop for Secrets {
    fn drop(&mut self) {
        wipe(&mut self.first);
    }
}

impl<'a> Message<'a> {
    fn new(cipher: &'a XSalsa20Poly1305, nonce: &[u8; 24]) -> Self {
        let mut message =
            Self { cipher, secrets: Secrets { key: Key::EMPTY, first: [0; 64] }, nonce: [0; 8] };
        message.nonce = derive(cipher.stream, &cipher.key, nonce, &mut message.secrets.key);
        let Secrets { key, first } = &mut message.secrets;
        cipher.stream.xor(key, &message.nonce, 0, InOut::in_place(first));
        wipe_dead_stack::<SPILLED_WORDS>();
        message
    }

    /// Implements [`XSalsa20Poly1305::open`] in a function of its own, so that its stack frame can
    /// be wiped.
    #[inline(never)]
    fn open(
        cipher: &'a XSalsa20Poly1305,
        nonce: &[u8; 24],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let message = Self::new(cipher, &read_once(nonce));
        // The ciphertext is used twice. If it changed in between, its plaintext would not be
        // authentic.
        let target = match data.into_parts() {
            Parts::InPlace(target) => target,
            Parts::Apart(source, target) => {
                copy_once(source, target);
                target
            }
        };
        let mut expected_tag = message.tag(target);
        ct::verified(&mut expected_tag, tag, InOut::in_place(target))?;
        message.xor(&mut InOut::in_place(target));
        Ok(())
    }

    fn xor(&self, data: &mut InOut<'_>) {
        let (len, Secrets { key, first }) = (data.len(), &self.secrets);
        let head = len.min(64 - ONE_TIME);
        let mut part = data.part(0, head);
        let mut block = [0; 64 - ONE_TIME];
        for (to, (x, y)) in block.iter_mut().zip(part.source().iter().zip(&first[ONE_TIME..])) {
            *to = x ^ y;
        }
        part.target().copy_from_slice(&block[..head]);
        wipe(&mut block);
        self.cipher.stream.xor(key, &self.nonce, 1, data.part(head, len - head));
        if len > MAX_UNSPILLED_LEN || self.cipher.stream.spills() {
            wipe_dead_stack::<SPILLED_WORDS>();
        }
    }

    /// Returns the tag of a ciphertext.
    fn tag(&self, ciphertext: &[u8]) -> [u8; 16] {
        let key = self.secrets.first.first_chunk().expect("32 of 64 bytes");
        let mut mac = Poly1305::with_variant(self.cipher.mac, key);
        mac.update(ciphertext);
        mac.finalize()
    }
}
