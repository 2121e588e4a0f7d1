//! HPKE (RFC 9180) as one message: what [`crate::asymmetric::hpke`] computes, in base mode unless told otherwise.
//!
//! ```text
//! message    = encapsulation[32 | 65 | 1120] || ciphertext || tag[16]
//! X25519     = DHKEM(X25519, HKDF-SHA256), HKDF-SHA256
//! P-256      = DHKEM(P-256, HKDF-SHA256), HKDF-SHA256
//! X-Wing     = MLKEM768-X25519, HKDF-SHA256
//! AEAD       = AES-256-GCM where nothing else is said; AES-128-GCM, ChaCha20-Poly1305
//! ```
//!
//! The KEM follows from the key; a message says neither it nor the AEAD, and not who sent it: whoever has the public
//! key can write. `info` is what both sides know about the exchange, associated data what goes with this message.

pub use crate::asymmetric::hpke::{Aead, Kem, Mode, PrivateKey, Psk, PublicKey, TAG_LEN};

use crate::Error;
use crate::asymmetric::hpke::{Receiver, Sender};

/// Bytes of a message with a plaintext of `plaintext_len` bytes.
///
/// # Errors
/// [`Error::LimitExceeded`].
pub fn sealed_len(public: &PublicKey, plaintext_len: usize) -> Result<usize, Error> {
    plaintext_len
        .checked_add(public.kem().enc_len() + TAG_LEN)
        .ok_or(Error::LimitExceeded("no memory holds a message of this length"))
}

/// Bytes of the plaintext of a message of `sealed_len` bytes.
///
/// # Errors
/// [`Error::Truncated`] where no message is so short.
pub fn opened_len(private: &PrivateKey, sealed_len: usize) -> Result<usize, Error> {
    sealed_len.checked_sub(private.kem().enc_len() + TAG_LEN).ok_or(Error::Truncated)
}

/// Encrypts `plaintext` for whoever has the private key.
///
/// # Errors
/// [`crate::Misuse::InvalidRecipients`] for a key of low order; [`Error::LimitExceeded`] past what the AEAD can carry;
/// [`Error::Io`].
pub fn seal(
    aead: Aead,
    public: &PublicKey,
    plaintext: &[u8],
    aad: &[u8],
    info: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut message = vec![0; sealed_len(public, plaintext.len())?];
    seal_into(aead, public, plaintext, aad, info, &mut message)?;
    Ok(message)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`seal`]; [`crate::Misuse::OutputTooShort`].
pub fn seal_into(
    aead: Aead,
    public: &PublicKey,
    plaintext: &[u8],
    aad: &[u8],
    info: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    seal_as_into(aead, public, Mode::Base, plaintext, aad, info, out)
}

/// The same in a mode that tells who the sender is.
///
/// # Errors
/// Those of [`seal_into`]; [`crate::Misuse::UnsuitableKey`] where the sender's key is of another KEM, or of X-Wing.
pub fn seal_as_into(
    aead: Aead,
    public: &PublicKey,
    mode: Mode<'_, PrivateKey>,
    plaintext: &[u8],
    aad: &[u8],
    info: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    let len = sealed_len(public, plaintext.len())?;
    let (encapsulation, ciphertext) = super::first(out, len)?.split_at_mut(public.kem().enc_len());
    let mut sender = Sender::new(public, aead, mode, info)?;
    encapsulation.copy_from_slice(sender.enc());
    sender.seal_into(plaintext, ciphertext, aad)?;
    Ok(len)
}

/// Decrypts a message.
///
/// # Errors
/// [`Error::Authentication`] for another key, AEAD, `info` or associated data, or a changed message;
/// [`Error::Truncated`].
pub fn open(
    aead: Aead,
    private: &PrivateKey,
    message: &[u8],
    aad: &[u8],
    info: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut plaintext = vec![0; opened_len(private, message.len())?];
    open_into(aead, private, message, aad, info, &mut plaintext)?;
    Ok(plaintext)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`open`]: what would have been the plaintext is zero then. [`crate::Misuse::OutputTooShort`].
pub fn open_into(
    aead: Aead,
    private: &PrivateKey,
    message: &[u8],
    aad: &[u8],
    info: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    open_as_into(aead, private, Mode::Base, message, aad, info, out)
}

/// The same in a mode that tells who the sender is.
///
/// # Errors
/// Those of [`open_into`], also for another sender; [`crate::Misuse::UnsuitableKey`] as [`seal_as_into`].
pub fn open_as_into(
    aead: Aead,
    private: &PrivateKey,
    mode: Mode<'_, PublicKey>,
    message: &[u8],
    aad: &[u8],
    info: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    let out = super::first(out, opened_len(private, message.len())?)?;
    let split = message.split_at_checked(private.kem().enc_len());
    let (encapsulation, ciphertext) = split.ok_or(Error::Truncated)?;
    super::or_zero(out, |out| {
        Receiver::new(private, aead, mode, encapsulation, info)?.open_into(ciphertext, out, aad)
    })
}
