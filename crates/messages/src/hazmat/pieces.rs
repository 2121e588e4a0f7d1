//! Authenticated encryption of one message in pieces of any length.

use super::{ChaCha20, PIECE, Poly1305, XChaCha20, nonce_array, tag_array};
use base::error::MessagePart;
use base::{Error, ForkGuard, Misuse, Result, debug_fields, memory};
use providers::raw::{self, Gcm, GcmStream};
use providers::{Algorithm, InOut, SourceCopy};
use zeroize::Zeroizing;

/// Encrypts a message in pieces: associated data first, then data, then the tag.
///
/// The algorithm is `aes-128-gcm`, `aes-192-gcm`, `aes-256-gcm`, `chacha20-poly1305` or
/// `xchacha20-poly1305`. The ciphertext and the tag do not depend on the lengths of the pieces.
///
/// **Never use a nonce twice with the same key.** In a forked child, all calls return
/// [`Misuse::Forked`], because the parent may encrypt other data under the same nonce.
///
/// ```
/// use sealane::{Algorithm, hazmat::{AeadDecryptor, AeadEncryptor}};
///
/// let mut encryptor = AeadEncryptor::new(Algorithm::Aes256Gcm, &[7; 32], &[1; 12])?;
/// encryptor.aad(b"header")?;
/// let mut ciphertext = encryptor.update(b"attack ")?;
/// ciphertext.extend(encryptor.update(b"at dawn")?);
/// let tag = encryptor.finalize()?;
///
/// let mut decryptor = AeadDecryptor::new(Algorithm::Aes256Gcm, &[7; 32], &[1; 12])?;
/// decryptor.aad(b"header")?;
/// let plaintext = decryptor.update(&ciphertext)?; // not verified yet
/// decryptor.finalize(&tag)?; // verified now
/// assert_eq!(plaintext, b"attack at dawn");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct AeadEncryptor {
    message: Message,
    guard: ForkGuard,
}

/// Decrypts a message in pieces, the inverse of [`AeadEncryptor`].
///
/// **It releases plaintext that is not verified.** Until [`AeadDecryptor::finalize`] returns `Ok`,
/// an attacker may have chosen the plaintext: do not act on it, show it or parse it. If `finalize`
/// fails, discard it all. [`crate::Aead`] and `sealane::file` return verified plaintext only.
pub struct AeadDecryptor(Message);

impl AeadEncryptor {
    /// Starts a message under a nonce that must be unique.
    ///
    /// # Errors
    /// Returns [`Misuse::StreamingUnsupported`] for other algorithms, [`Misuse::KeyLength`] or
    /// [`Misuse::NonceLength`] for other lengths, and [`Error::SelfTest`] or [`Error::Environment`]
    /// if no kernel works.
    pub fn new(algorithm: Algorithm, key: &[u8], nonce: &[u8]) -> Result<Self> {
        Ok(Self { message: Message::new(algorithm, key, nonce)?, guard: ForkGuard::new()? })
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.message.algorithm
    }

    /// Adds a piece of associated data. All of it must precede the data.
    ///
    /// # Errors
    /// Returns [`Misuse::AadAfterData`] after data, [`Error::MessageLength`] above
    /// [`Algorithm::max_aad_len`], and [`Misuse::Forked`] in a forked child.
    pub fn aad(&mut self, piece: &[u8]) -> Result<&mut Self> {
        self.guard.check()?;
        self.message.aad(piece)?;
        Ok(self)
    }

    /// Encrypts a piece of plaintext to a piece of ciphertext of the same length.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] above [`Algorithm::max_plaintext_len`] or
    /// [`Misuse::Forked`] in a forked child, and writes nothing.
    pub fn update(&mut self, piece: &[u8]) -> Result<Vec<u8>> {
        let mut out = memory::zeroed(piece.len())?;
        self.xor(InOut::apart(piece, &mut out))?;
        Ok(out)
    }

    /// Encrypts a piece of plaintext, in place or to another buffer.
    ///
    /// # Errors
    /// Returns the errors of [`Self::update`].
    pub fn xor(&mut self, piece: InOut<'_>) -> Result<()> {
        self.guard.check()?;
        self.message.apply_keystream(Direction::Encrypt, piece)
    }

    /// Returns the tag of the whole message.
    ///
    /// # Errors
    /// Returns [`Misuse::Forked`] in a forked child.
    pub fn finalize(self) -> Result<[u8; 16]> {
        self.guard.check()?;
        Ok(self.message.finish())
    }
}

impl AeadDecryptor {
    /// Starts a message with the algorithm, the key and the nonce of its encryption.
    ///
    /// # Errors
    /// Returns the errors of [`AeadEncryptor::new`].
    pub fn new(algorithm: Algorithm, key: &[u8], nonce: &[u8]) -> Result<Self> {
        Message::new(algorithm, key, nonce).map(Self)
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    /// Adds a piece of associated data. All of it must precede the data.
    ///
    /// # Errors
    /// Returns the errors of [`AeadEncryptor::aad`].
    pub fn aad(&mut self, piece: &[u8]) -> Result<&mut Self> {
        self.0.aad(piece)?;
        Ok(self)
    }

    /// Decrypts a piece of ciphertext. The plaintext is **not verified**.
    ///
    /// # Errors
    /// Returns the errors of [`AeadEncryptor::update`].
    pub fn update(&mut self, piece: &[u8]) -> Result<Vec<u8>> {
        let mut out = memory::zeroed(piece.len())?;
        self.xor(InOut::apart(piece, &mut out))?;
        Ok(out)
    }

    /// Decrypts a piece of ciphertext, in place or to another buffer. The plaintext is **not
    /// verified**.
    ///
    /// # Errors
    /// Returns the errors of [`AeadEncryptor::update`].
    pub fn xor(&mut self, piece: InOut<'_>) -> Result<()> {
        self.0.apply_keystream(Direction::Decrypt, piece)
    }

    /// Verifies the tag of the whole message, after its last piece.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] or [`Misuse::TagLength`]: discard the plaintext of all
    /// pieces.
    pub fn finalize(self, tag: &[u8]) -> Result<()> {
        let tag = tag_array(tag)?;
        if raw::equal(&self.0.finish(), tag) { Ok(()) } else { Err(Error::Authentication) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Encrypt,
    Decrypt,
}

/// The state of a message, for encryption and decryption.
struct Message {
    algorithm: Algorithm,
    construction: Construction,
}

enum Construction {
    Gcm(GcmStream<Gcm>),
    ChaCha(Box<ChaCha>),
}

impl Message {
    fn new(algorithm: Algorithm, key: &[u8], nonce: &[u8]) -> Result<Self> {
        let length = |want| move |_| Misuse::KeyLength { got: key.len(), want };
        let construction = match algorithm {
            Algorithm::Aes128Gcm => gcm(<&[u8; 16]>::try_from(key).map_err(length(&[16]))?, nonce),
            Algorithm::Aes192Gcm => gcm(<&[u8; 24]>::try_from(key).map_err(length(&[24]))?, nonce),
            Algorithm::Aes256Gcm => gcm(<&[u8; 32]>::try_from(key).map_err(length(&[32]))?, nonce),
            Algorithm::ChaCha20Poly1305 => chacha(ChaCha20::new(key, nonce, 0)?),
            Algorithm::XChaCha20Poly1305 => chacha(XChaCha20::new(key, nonce, 0)?.0),
            _ => Err(Misuse::StreamingUnsupported(algorithm).into()),
        };
        Ok(Self { algorithm, construction: construction? })
    }

    fn aad(&mut self, piece: &[u8]) -> Result<()> {
        match &mut self.construction {
            Construction::Gcm(stream) => Ok(stream.aad(piece)?),
            Construction::ChaCha(message) => message.aad(piece),
        }
    }

    fn apply_keystream(&mut self, direction: Direction, piece: InOut<'_>) -> Result<()> {
        match (&mut self.construction, direction) {
            (Construction::Gcm(stream), Direction::Encrypt) => Ok(stream.encrypt(piece)?),
            (Construction::Gcm(stream), Direction::Decrypt) => Ok(stream.decrypt(piece)?),
            (Construction::ChaCha(message), direction) => message.apply_keystream(direction, piece),
        }
    }

    fn finish(self) -> [u8; 16] {
        match self.construction {
            Construction::Gcm(stream) => stream.finish(),
            Construction::ChaCha(message) => message.finish(),
        }
    }
}

fn gcm(key: &[u8], nonce: &[u8]) -> Result<Construction> {
    let nonce: [u8; 12] = nonce_array(nonce)?;
    Ok(Construction::Gcm(GcmStream::begin(raw::gcm(key)?, &nonce)?))
}

/// The state of the AEAD of RFC 8439, section 2.8.
struct ChaCha {
    /// The keystream from block 0 on; its start is the one-time key.
    keystream: ChaCha20,
    mac: Poly1305,
    aad: u64,
    data: u64,
}

/// Offset of the data in the keystream: block 1.
const DATA_OFFSET: u64 = 64;

fn chacha(keystream: ChaCha20) -> Result<Construction> {
    let mut one_time_key = Zeroizing::new([0; 32]);
    keystream.xor(0, InOut::in_place(&mut *one_time_key))?;
    let mac = Poly1305::new(&*one_time_key)?;
    Ok(Construction::ChaCha(Box::new(ChaCha { keystream, mac, aad: 0, data: 0 })))
}

impl ChaCha {
    fn aad(&mut self, piece: &[u8]) -> Result<()> {
        if self.data > 0 {
            return Err(Misuse::AadAfterData.into());
        }
        let algorithm = Algorithm::ChaCha20Poly1305;
        self.aad = sum(MessagePart::AssociatedData, self.aad, piece.len(), algorithm.max_aad_len())?;
        self.mac.update(piece);
        Ok(())
    }

    fn apply_keystream(&mut self, direction: Direction, mut data: InOut<'_>) -> Result<()> {
        let len = data.len();
        let total = sum(MessagePart::Data, self.data, len, Algorithm::ChaCha20Poly1305.max_plaintext_len())?;
        if self.data == 0 && len > 0 {
            self.mac.pad(self.aad);
        }
        let (mut at, mut copy) = (0, SourceCopy::<PIECE>::new());
        while at < len {
            let offset = DATA_OFFSET + self.data + at as u64;
            // Every piece but the first starts at a block of the keystream.
            let n = (len - at).min(PIECE - (offset % 64) as usize);
            let mut piece = data.part(at, n);
            if direction == Direction::Decrypt {
                // Authenticate exactly the bytes that we decrypt, even if the source changes.
                piece = piece.copy_source(&mut copy);
                self.mac.update(piece.source());
            }
            self.keystream.xor(offset, piece.part(0, n))?;
            if direction == Direction::Encrypt {
                self.mac.update(piece.target());
            }
            at += n;
        }
        self.data = total;
        Ok(())
    }

    fn finish(mut self) -> [u8; 16] {
        if self.data == 0 {
            self.mac.pad(self.aad);
        }
        self.mac.finalize_aead(self.aad, self.data)
    }
}

/// Returns the length of a part after `piece` more bytes, up to `limit`.
fn sum(part: MessagePart, len: u64, piece: usize, limit: u64) -> Result<u64> {
    let found = u128::from(len) + piece as u128;
    match u64::try_from(found) {
        Ok(len) if len <= limit => Ok(len),
        _ => Err(Error::MessageLength { part, found, limit: limit.into() }),
    }
}

debug_fields!(AeadEncryptor; |it| algorithm: it.algorithm().name());

debug_fields!(AeadDecryptor; |it| algorithm: it.algorithm().name());

#[cfg(test)]
mod test {
    use super::*;

    /// Returns the state after `data` and `aad` bytes: a test cannot process 256 GiB.
    fn after(data: u64, aad: u64) -> ChaCha {
        let stream = ChaCha20::new(&[7; 32], &[0; 12], 0).unwrap();
        let Construction::ChaCha(mut message) = chacha(stream).unwrap() else { panic!() };
        (message.data, message.aad) = (data, aad);
        *message
    }

    #[test]
    fn rejects_messages_above_the_limits() {
        let longest = Algorithm::ChaCha20Poly1305.max_plaintext_len();
        let mut data = [0xee; 40];
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let mut message = after(longest - 32, 0);
            let refused = message.apply_keystream(direction, InOut::in_place(&mut data[..33]));
            assert!(matches!(refused, Err(Error::MessageLength { .. })));
            assert_eq!(data, [0xee; 40], "written although rejected");
            message.apply_keystream(direction, InOut::in_place(&mut [0; 32])).unwrap();
            assert!(message.apply_keystream(direction, InOut::in_place(&mut data[..1])).is_err());
        }
        assert!(matches!(after(0, u64::MAX).aad(&[0]), Err(Error::MessageLength { .. })));
    }
}
