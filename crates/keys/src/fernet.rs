//! Fernet tokens, to exchange with other implementations.
//!
//! ```text
//! token = base64url(0x80 || time, 8 bytes || IV, 16 bytes || AES-128-CBC(data, padded) || HMAC-SHA-256)
//! ```
//!
//! The HMAC covers all bytes before it, and we verify it before decrypting anything. The
//! specification is `Spec.md` in the repository fernet/spec. New programs should use
//! [`Aead`]: its messages are shorter and authenticate associated data.

use crate::encoding::json;
use crate::prelude::*;
use aws_lc_rs::cipher::{
    AES_128, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hmac;
use aws_lc_rs::iv::FixedLength;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use base64ct::Base64Url;
use messages::nonce;

/// Words of stack on which the library moves keys by value.
const STACK: usize = 1024;
const VERSION: u8 = 0x80;
const IV_LEN: usize = 16;
const BLOCK_LEN: usize = 16;
const MAC_LEN: usize = 32;
/// Length in bytes before the ciphertext: version, time and IV.
const HEAD_LEN: usize = 1 + 8 + IV_LEN;

/// A key for Fernet tokens. It can be shared between threads and used after a fork.
///
/// ```
/// use sealane::Key;
/// use sealane::fernet::{Fernet, Token};
///
/// let fernet = Fernet::new(&Key::generate(32)?)?;
/// let token = fernet.encrypt(b"hello", 1_700_000_000)?;
/// let token = Token::parse(&token)?;
/// let (time, data) = fernet.decrypt(&token)?;
/// assert_eq!((time, &data[..]), (1_700_000_000, &b"hello"[..]));
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Fernet {
    mac: hmac::Key,
    // Both contain round keys; AWS-LC wipes them on drop.
    encrypting: Box<PaddedBlockEncryptingKey>,
    decrypting: Box<PaddedBlockDecryptingKey>,
}

/// A decoded token. It is not authentic until [`Fernet::time`] or [`Fernet::decrypt`] succeeds.
#[derive(Clone, Debug)]
pub struct Token(Vec<u8>);

impl Token {
    /// Decodes the text of a token: URL-safe base64 with padding.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the text is not a token, and [`Error::OutOfMemory`].
    pub fn parse(text: &[u8]) -> Result<Self> {
        let mut bytes = memory::zeroed(base64::decoded_len_estimate(text.len()))?;
        // A forger cannot tell malformed text from a wrong HMAC.
        let len = URL_SAFE.decode_slice(text, &mut bytes).map_err(|_| Error::Authentication)?;
        bytes.truncate(len);
        Self::from_bytes(bytes)
    }

    /// Takes the bytes of a decoded token.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if they do not have a token's structure.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let ciphertext = bytes.len().checked_sub(HEAD_LEN + MAC_LEN);
        let blocks = ciphertext.is_some_and(|len| len > 0 && len % BLOCK_LEN == 0);
        if blocks && bytes.first() == Some(&VERSION) { Ok(Self(bytes)) } else { Err(Error::Authentication) }
    }

    /// Returns the length of the decoded token in bytes.
    #[allow(clippy::len_without_is_empty, reason = "no token is empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Decodes the text of a key, 44 characters of URL-safe base64; `None` for any other text.
pub fn decode_key(text: &[u8]) -> Option<Key> {
    let text = std::str::from_utf8(text).ok()?;
    let key = json::base64::<Base64Url>(text)?;
    (key.len() == 32).then(|| Key::from_bytes(&key))
}

impl Fernet {
    /// Expands a key of 32 bytes: 16 for HMAC, 16 for AES.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for a key of another length.
    pub fn new(key: &Key) -> Result<Self> {
        Computation::Fernet.check()?;
        let key = key.as_bytes();
        if key.len() != 32 {
            return Err(Misuse::KeyLength { got: key.len(), want: &[32] }.into());
        }
        wiping_stack::<STACK, _>(|| Self::expand(key))
    }

    fn expand(key: &[u8]) -> Result<Self> {
        let (signing, encryption) = key.split_at(16);
        let unbound = || UnboundCipherKey::new(&AES_128, encryption);
        let encrypting = unbound().and_then(PaddedBlockEncryptingKey::cbc_pkcs7).map_err(refused)?;
        let decrypting = unbound().and_then(PaddedBlockDecryptingKey::cbc_pkcs7).map_err(refused)?;
        let mac = hmac::Key::new(hmac::HMAC_SHA256, signing);
        Ok(Self { mac, encrypting: Box::new(encrypting), decrypting: Box::new(decrypting) })
    }

    /// Returns the length in bytes of the token for `len` bytes.
    pub fn token_len(len: usize) -> usize {
        (HEAD_LEN + (len / BLOCK_LEN + 1) * BLOCK_LEN + MAC_LEN).div_ceil(3) * 4
    }

    /// Encrypts `data` under a fresh random IV. Returns the text of a token of this time, in
    /// seconds since 1970.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes, and
    /// [`Error::OutOfMemory`].
    pub fn encrypt(&self, data: &[u8], time: u64) -> Result<Vec<u8>> {
        let mut token = memory::zeroed(Self::token_len(data.len()))?;
        self.encrypt_into(data, time, &mut token)?;
        Ok(token)
    }

    /// Encrypts like [`Self::encrypt`], into the start of `out`. Returns the number of bytes
    /// written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt`] and [`Misuse::OutputTooShort`].
    pub fn encrypt_into(&self, data: &[u8], time: u64, out: &mut [u8]) -> Result<usize> {
        let mut iv = [0; IV_LEN];
        nonce::fill(&mut iv)?;
        self.encrypt_with_iv(data, time, &iv, out)
    }

    /// Encrypts like [`Self::encrypt_into`], under a given IV, for published test vectors. An IV
    /// must be unpredictable and never be used twice.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt_into`].
    pub fn encrypt_with_iv(
        &self,
        data: &[u8],
        time: u64,
        iv: &[u8; IV_LEN],
        out: &mut [u8],
    ) -> Result<usize> {
        let len = Self::token_len(data.len());
        let out = memory::first(out, len)?;
        // Append padding and HMAC without another allocation, which would leave a copy of the data
        // behind.
        let mut token = memory::with_capacity(HEAD_LEN + data.len() + BLOCK_LEN + MAC_LEN)?;
        token.push(VERSION);
        token.extend_from_slice(&time.to_be_bytes());
        token.extend_from_slice(iv);
        token.extend_from_slice(data);
        let context = EncryptionContext::Iv128(FixedLength::from(*iv));
        self.encrypting.less_safe_encrypt(&mut Tail(&mut token), context).map_err(refused)?;
        let mac = hmac::sign(&self.mac, &token);
        token.extend_from_slice(mac.as_ref());
        // The only error is a short destination; ours has the length of the text.
        let short = Misuse::OutputTooShort { got: out.len(), need: len };
        URL_SAFE.encode_slice(&token, out).map_err(|_| short.into())
    }

    /// Verifies a token. Returns its time, in seconds since 1970.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the token was changed or made with another key.
    pub fn time(&self, token: &Token) -> Result<u64> {
        let (message, mac) = token.0.split_at(token.0.len() - MAC_LEN);
        // The only error is a wrong HMAC; the comparison takes constant time.
        hmac::verify(&self.mac, message, mac).map_err(|_| Error::Authentication)?;
        Ok(message[1..9].iter().fold(0, |time, &byte| time << 8 | u64::from(byte)))
    }

    /// Verifies a token. Returns its time, in seconds since 1970, and its data. The caller checks
    /// its age.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] like [`Self::time`], or if the data does not end with
    /// padding (only a holder of the key can cause that), and [`Error::OutOfMemory`].
    pub fn decrypt(&self, token: &Token) -> Result<(u64, Zeroizing<Vec<u8>>)> {
        let time = self.time(token)?;
        let (head, rest) = token.0.split_at(HEAD_LEN);
        let mut data = Zeroizing::new(memory::copy(&rest[..rest.len() - MAC_LEN])?);
        let mut iv = [0; IV_LEN];
        iv.copy_from_slice(&head[HEAD_LEN - IV_LEN..]);
        let context = DecryptionContext::Iv128(FixedLength::from(iv));
        let decrypted = self.decrypting.decrypt(&mut data, context);
        // The only error is a wrong padding.
        let len = decrypted.map_err(|_| Error::Authentication)?.len();
        data.truncate(len);
        Ok((time, data))
    }
}

debug_fields!(Fernet);

/// The data at the end of an unfinished token.
struct Tail<'a>(&'a mut Vec<u8>);

impl AsMut<[u8]> for Tail<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0[HEAD_LEN..]
    }
}

impl<'b> Extend<&'b u8> for Tail<'_> {
    fn extend<I: IntoIterator<Item = &'b u8>>(&mut self, bytes: I) {
        self.0.extend(bytes);
    }
}

/// AWS-LC gives no reason, and refuses nothing of these lengths.
fn refused(_: Unspecified) -> Error {
    Error::ProviderRefused("AWS-LC refused a key or a message of AES-128-CBC")
}
