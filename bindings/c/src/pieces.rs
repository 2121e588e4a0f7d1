//! AEAD messages in pieces.

use crate::call::{Error, guarded, infallible};
use crate::error::{ArgumentError, CallError};
use crate::library::algorithm_named;
use crate::memory::{CText, In, Input, Layout, Out, Owned, Unique, count};
use sealane::Misuse;
use sealane::hazmat::{AeadDecryptor, AeadEncryptor, TAG_LEN};

/// A message being encrypted or decrypted.
pub(crate) enum Pieces {
    Encrypt(Box<AeadEncryptor>),
    Decrypt(Box<AeadDecryptor>),
    Finalized,
}

impl Pieces {
    /// Takes the message, so that later calls are refused.
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Finalized)
    }
}

const FINALIZED: CallError = CallError::misuse(Misuse::AlreadyFinalized);

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_encryptor_new(
    algorithm: CText,
    key: In,
    key_len: usize,
    nonce: In,
    nonce_len: usize,
    error: Unique<Error>,
) -> Owned<Pieces> {
    guarded(error, |call| {
        let algorithm = algorithm_named(algorithm.required(call, "algorithm")?)?;
        let (key, nonce) = (key.bytes(call, "key", key_len)?, nonce.bytes(call, "nonce", nonce_len)?);
        Ok(Owned::new(Pieces::Encrypt(Box::new(AeadEncryptor::new(algorithm, key, nonce)?))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_decryptor_new(
    algorithm: CText,
    key: In,
    key_len: usize,
    nonce: In,
    nonce_len: usize,
    error: Unique<Error>,
) -> Owned<Pieces> {
    guarded(error, |call| {
        let algorithm = algorithm_named(algorithm.required(call, "algorithm")?)?;
        let (key, nonce) = (key.bytes(call, "key", key_len)?, nonce.bytes(call, "nonce", nonce_len)?);
        Ok(Owned::new(Pieces::Decrypt(Box::new(AeadDecryptor::new(algorithm, key, nonce)?))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_pieces_free(pieces: Owned<Pieces>) {
    infallible(|| pieces.free());
}

#[unsafe(no_mangle)]
extern "C" fn sealane_pieces_aad(
    pieces: Unique<Pieces>,
    aad: In,
    aad_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let pieces = pieces.get(call, "pieces")?;
        let aad = aad.bytes(call, "aad", aad_len)?;
        match pieces {
            Pieces::Encrypt(message) => drop(message.aad(aad)?),
            Pieces::Decrypt(message) => drop(message.aad(aad)?),
            Pieces::Finalized => return Err(FINALIZED),
        }
        Ok(count(aad.len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_pieces_update(
    pieces: Unique<Pieces>,
    data: In,
    data_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let pieces = pieces.get(call, "pieces")?;
        let data = data.input(call, "data", data_len)?;
        let Layout { data, .. } = out.output(call, "out", out_len)?.arrange(0, data, 0, [])?;
        let len = data.len();
        // Taken during the work, so that nothing is encrypted under the same keystream after a
        // panic.
        let mut message = pieces.take();
        let done = match &mut message {
            Pieces::Encrypt(message) => message.xor(data),
            Pieces::Decrypt(message) => message.xor(data),
            Pieces::Finalized => return Err(FINALIZED),
        };
        *pieces = message;
        done?;
        Ok(count(len))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_pieces_finalize(
    pieces: Unique<Pieces>,
    tag: Out,
    tag_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let pieces = pieces.get(call, "pieces")?;
        let tag = tag.output(call, "tag", tag_len)?.arrange(TAG_LEN, Input::none(call), 0, [])?.head;
        if let Pieces::Decrypt(_) = pieces {
            let expected = "this message is decrypted: compare its tag with sealane_pieces_verify";
            return Err(ArgumentError::Unsuitable(expected).into());
        }
        let Pieces::Encrypt(message) = pieces.take() else { return Err(FINALIZED) };
        tag.copy_from_slice(&message.finalize()?);
        Ok(count(tag.len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_pieces_verify(
    pieces: Unique<Pieces>,
    tag: In,
    tag_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let pieces = pieces.get(call, "pieces")?;
        let tag = tag.bytes(call, "tag", tag_len)?;
        if let Pieces::Encrypt(_) = pieces {
            let expected = "this message is encrypted: get its tag with sealane_pieces_finalize";
            return Err(ArgumentError::Unsuitable(expected).into());
        }
        // Checked before taking the message, so that the caller can retry.
        if tag_len != TAG_LEN {
            return Err(Misuse::TagLength { got: tag_len, want: TAG_LEN }.into());
        }
        let Pieces::Decrypt(message) = pieces.take() else { return Err(FINALIZED) };
        message.finalize(tag)?;
        Ok(0)
    })
}
