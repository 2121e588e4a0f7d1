//! Speck-Poly1305 as the Elixir library SpeckEx defines it.

use super::{ByteOrder, PIECE, Poly1305, SpeckSize};
use crate::aead::{Counter, Limit, MessageKey, MessageKeys};
use crate::message_keys;
use crate::prelude::*;
use providers::{AuthenticationError, OpenResult, SealError, SealResult, SourceCopy};

/// The AEAD of SpeckEx, such as `"speck128-256-poly1305"`: Speck in counter mode, with a one-time
/// Poly1305 key from the same keystream.
///
/// Let `ks` be the keystream from `iv = nonce || 00000000` on. The one-time key is `ks[..32]`, the
/// ciphertext is the plaintext XOR `ks[32..]`, and the tag covers the input of RFC 8439, section
/// 2.8. As with [`crate::Aead`], a *sealed* message is `nonce || ciphertext || tag`. The methods
/// are those of [`MessageKeys`].
///
/// **Prefer AES or ChaCha20.** There is no published analysis of this construction.
/// [`super::SpeckCtr`] with the same key and IV has the same keystream, so its output reveals the
/// one-time key of a message here: never share a key between the two.
///
/// **Limits, enforced here.** With 128-bit blocks: 2^36 - 32 bytes per message, so that the counter
/// never reaches the nonce, and 2^32 messages. With smaller blocks (see [`Aead::new_small_block`]):
/// 2^(bits / 2) blocks under one key, and a counter that does not wrap. With nonces of a whole
/// 128-bit block ([`Aead::new_block_nonce`]), the caller keeps the counters of messages apart.
/// Messages are counted per object. If two objects have the same key, as in a process and its
/// forked child, the caller must count.
///
/// ```
/// use sealane::hazmat::{Aead, SpeckSize};
///
/// let aead = Aead::new(SpeckSize::from_name("speck128-256").unwrap(), &[7; 32])?;
/// let sealed = aead.seal(b"hello", b"header")?;
/// assert_eq!(aead.open(&sealed, b"header")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Aead {
    keys: MessageKeys,
    size: SpeckSize,
}

/// Length in bytes of the one-time key, at the start of the keystream.
const ONE_TIME_KEY_LEN: usize = 32;
/// Length in bytes of the longest counter block.
const MAX_BLOCK_LEN: usize = 16;

impl Aead {
    /// Expands a key for 128-bit blocks and 12-byte nonces.
    ///
    /// # Errors
    /// Returns [`Misuse::SmallBlock`] for other sizes, and the errors of
    /// [`Speck::new`](super::Speck::new).
    pub fn new(size: SpeckSize, key: &[u8]) -> Result<Self> {
        if size.block_len() < MAX_BLOCK_LEN {
            return Err(Misuse::SmallBlock(8 * size.block_len()).into());
        }
        Ok(Self { keys: message_key(size, key)?.into(), size })
    }

    /// Expands a key for blocks of 32 to 96 bits. **Use this only to read existing messages.**
    ///
    /// The nonce is the whole counter block, and messages must not overlap: a message uses one
    /// counter value per block of the one-time key and its data, from its nonce on. So nonces are
    /// not generated: [`MessageKeys::seal`] returns an error, and [`MessageKeys::encrypt`] takes
    /// the nonce from the caller.
    ///
    /// # Errors
    /// Returns [`Misuse::LargeBlock`] for 128-bit blocks, and the errors of
    /// [`Speck::new`](super::Speck::new).
    pub fn new_small_block(size: SpeckSize, key: &[u8]) -> Result<Self> {
        if size.block_len() == MAX_BLOCK_LEN {
            return Err(Misuse::LargeBlock.into());
        }
        let of_caller = Misuse::NonceTooShortForRandom;
        let key = message_key(size, key)?.with_nonces_of_caller(size.block_len(), of_caller);
        Ok(Self { keys: key.into(), size })
    }

    /// Expands a key for 128-bit blocks and nonces of a whole block, as in SpeckEx's low-level
    /// functions. **Use this only to exchange messages with such a program.**
    ///
    /// The first message block has the counter `nonce + 2`, modulo 2^128; a nonce of [`Self::new`]
    /// is the same with four zeros at its end. If one message begins inside another, the two share
    /// keystream, and this reveals their plaintexts. So nonces are not generated:
    /// [`MessageKeys::seal`] returns an error, and [`MessageKeys::encrypt`] takes the nonce from
    /// the caller. The limits of [`Self::new`] apply.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`].
    pub fn new_block_nonce(size: SpeckSize, key: &[u8]) -> Result<Self> {
        if size.block_len() < MAX_BLOCK_LEN {
            return Err(Misuse::SmallBlock(8 * size.block_len()).into());
        }
        let key = message_key(size, key)?.with_nonces_of_caller(MAX_BLOCK_LEN, Misuse::CounterBlockForRandom);
        Ok(Self { keys: key.into(), size })
    }

    /// Returns the block and key sizes of this cipher.
    pub fn size(&self) -> SpeckSize {
        self.size
    }
}

message_keys!(Aead: MessageKeys; |it| size: it.size.name(), variant: it.variant());

/// Names of the algorithms; each begins with its size.
const NAMES: [&str; 10] = [
    "speck32-64-poly1305",
    "speck48-72-poly1305",
    "speck48-96-poly1305",
    "speck64-96-poly1305",
    "speck64-128-poly1305",
    "speck96-96-poly1305",
    "speck96-144-poly1305",
    "speck128-128-poly1305",
    "speck128-192-poly1305",
    "speck128-256-poly1305",
];

/// Expands a key for random 12-byte nonces.
fn message_key(size: SpeckSize, key: &[u8]) -> Result<MessageKey> {
    let speck = raw::speck(size, key, ByteOrder::Big)?;
    // If no variant passes its self-test, the error names the cipher here; a message's error would
    // not.
    raw::poly1305(&[0; ONE_TIME_KEY_LEN])?;
    let variant = speck.variant();
    let name = NAMES.into_iter().find(|name| name.strip_suffix("-poly1305") == Some(size.name()));
    let counter = Counter::new(size.block_len(), ONE_TIME_KEY_LEN);
    let key = SpeckPoly1305 { speck, block_len: size.block_len() };
    Ok(MessageKey::native(key, name.expect("a name for each size"), size.key_len(), variant)
        .with_limits(counter.max_plaintext_len(), Limit::Every(counter)))
}

struct SpeckPoly1305 {
    speck: raw::Speck,
    block_len: usize,
}

impl AeadKey for SpeckPoly1305 {
    fn seal(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &mut [u8; 16]) -> SealResult {
        let (len, mut mac) = (data.len(), self.mac(nonce, aad)?);
        for at in (0..len).step_by(PIECE) {
            let mut piece = data.part(at, PIECE.min(len - at));
            self.xor(nonce, at, piece.reborrow())?;
            mac.update(piece.target());
        }
        *tag = mac.finalize_aead(aad.len() as u64, len as u64);
        Ok(())
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8; 16]) -> OpenResult {
        let (len, mut copy) = (data.len(), SourceCopy::<PIECE>::new());
        let mut expected_tag = || {
            let mut mac = self.mac(nonce, aad)?;
            for at in (0..len).step_by(PIECE) {
                // Authenticate exactly the bytes that we decrypt, even if the source changes.
                let piece = data.part(at, PIECE.min(len - at)).copy_source(&mut copy);
                mac.update(piece.source());
                self.xor(nonce, at, piece)?;
            }
            Ok::<_, SealError>(mac.finalize_aead(aad.len() as u64, len as u64))
        };
        if expected_tag().is_ok_and(|expected| raw::equal(&expected, tag)) {
            return Ok(());
        }
        data.target().fill(0);
        Err(AuthenticationError)
    }
}

impl SpeckPoly1305 {
    /// Starts the authenticator and adds the associated data.
    fn mac(&self, nonce: &[u8], aad: &[u8]) -> Result<Poly1305, SealError> {
        let mut one_time_key = Zeroizing::new([0; ONE_TIME_KEY_LEN]);
        self.keystream(nonce, 0, InOut::in_place(&mut *one_time_key))?;
        // An authenticator was started when the key was expanded, so this cannot fail.
        let mut mac = Poly1305::new(&*one_time_key).map_err(|_| SealError::Unspecified)?;
        mac.update(aad).pad(aad.len() as u64);
        Ok(mac)
    }

    /// XORs `data` with the keystream, from byte `at` of the message on.
    fn xor(&self, nonce: &[u8], at: usize, data: InOut<'_>) -> SealResult {
        self.keystream(nonce, (ONE_TIME_KEY_LEN + at) as u64, data)
    }

    fn keystream(&self, nonce: &[u8], offset: u64, data: InOut<'_>) -> SealResult {
        let mut iv = [0; MAX_BLOCK_LEN];
        iv[..nonce.len()].copy_from_slice(nonce);
        self.speck.xor_at(&iv[..self.block_len], offset, data).map_err(SealError::Message)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn aead(name: &str) -> Aead {
        let size = SpeckSize::from_name(name).unwrap();
        let key: Vec<u8> = (0..size.key_len() as u8).collect();
        Aead::new(size, &key).or_else(|_| Aead::new_small_block(size, &key)).unwrap()
    }

    #[test]
    fn the_maximum_length_follows_from_the_block_size() {
        let longest = |name| aead(name).max_plaintext_len();
        assert_eq!(longest("speck128-256"), (1 << 36) - 32);
        assert_eq!(longest("speck64-128"), (8 << 32) - 32);
        assert_eq!(longest("speck32-64"), (4 << 16) - 32);
        assert_eq!([longest("speck48-72"), longest("speck96-96")], [(6 << 24) - 32, (12 << 48) - 32]);
    }

    // claim: message-speck
    #[test]
    fn messages_are_counted() {
        let a = aead("speck128-128");
        a.count_messages((1 << 32) - 1).unwrap();
        let sealed = a.seal(b"the last one", b"").unwrap();
        let (mut data, mut tag) = ([0xee; 5], [0xee; 16]);
        for _ in 0..2 {
            assert!(matches!(a.seal(b"", b""), Err(Error::LimitExceeded(_))));
            let refused = a.encrypt_parts(&[0; 12], b"", InOut::in_place(&mut data), &mut tag);
            assert!(matches!(refused, Err(Error::LimitExceeded(_))));
        }
        assert_eq!((data, tag), ([0xee; 5], [0xee; 16]), "written");
        assert_eq!(a.open(&sealed, b"").unwrap(), b"the last one");
    }

    // claim: message-speck
    #[test]
    fn small_blocks_are_counted() {
        let a = aead("speck32-64");
        // The limit is 2^16 blocks. A message has 8 for the one-time key, and here 1 for the data.
        a.count_messages((1 << 16) - 9).unwrap();
        assert!(a.encrypt(&[0; 4], &[0; 5], b"").is_err());
        a.encrypt(&[0; 4], &[0; 4], b"").unwrap();
        assert!(a.encrypt(&[0; 4], b"", b"").is_err());
        // The counter may reach its maximum but not wrap.
        let a = aead("speck32-64");
        let nonce = |before: u32| before.wrapping_neg().to_be_bytes();
        a.encrypt(&nonce(9), &[0; 4], b"").unwrap();
        for before in [8, 1] {
            assert!(matches!(a.encrypt(&nonce(before), &[0; 4], b""), Err(Error::LimitExceeded(_))));
        }
        assert!(matches!(a.seal(b"", b""), Err(Error::Misuse(Misuse::NonceTooShortForRandom))));
        let small = Aead::new(SpeckSize::from_name("speck64-96").unwrap(), &[0; 12]);
        assert!(matches!(small, Err(Error::Misuse(Misuse::SmallBlock(64)))));
    }
}
