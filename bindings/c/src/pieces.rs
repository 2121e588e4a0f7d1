//! AEAD messages in pieces.

use crate::call::{exports, freed};
use crate::error::{ArgumentError, CallError};
use crate::memory::{Input, Layout, Output, Owned, count};
use sealane::hazmat::{AeadDecryptor, AeadEncryptor, TAG_LEN};
use sealane::{Misuse, named};

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

exports! {
    fn sealane_hazmat_encryptor_new(
        algorithm: &str, key: &[u8][key_len], nonce: &[u8][nonce_len]
    ) -> Owned<Pieces> {
        let algorithm = named::algorithm(algorithm)?;
        Ok(Owned::new(Pieces::Encrypt(Box::new(AeadEncryptor::new(algorithm, key, nonce)?))))
    }

    fn sealane_hazmat_decryptor_new(
        algorithm: &str, key: &[u8][key_len], nonce: &[u8][nonce_len]
    ) -> Owned<Pieces> {
        let algorithm = named::algorithm(algorithm)?;
        Ok(Owned::new(Pieces::Decrypt(Box::new(AeadDecryptor::new(algorithm, key, nonce)?))))
    }
}

freed!(sealane_pieces_free(pieces: Pieces));

exports! {
    fn sealane_pieces_aad(pieces: &mut Pieces, aad: &[u8][aad_len]) -> i64 {
        match pieces {
            Pieces::Encrypt(message) => drop(message.aad(aad)?),
            Pieces::Decrypt(message) => drop(message.aad(aad)?),
            Pieces::Finalized => return Err(FINALIZED),
        }
        Ok(count(aad.len()))
    }

    fn sealane_pieces_update(pieces: &mut Pieces, data: Input[data_len], out: Output[out_len]) -> i64 {
        let Layout { data, .. } = out.arrange(0, data, 0, [])?;
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
    }

    fn sealane_pieces_finalize(pieces: &mut Pieces, tag: Output[tag_len]) -> i64 {
        let tag = tag.first(TAG_LEN)?;
        if let Pieces::Decrypt(_) = pieces {
            let expected = "this message is decrypted: compare its tag with sealane_pieces_verify";
            return Err(ArgumentError::Unsuitable(expected).into());
        }
        let Pieces::Encrypt(message) = pieces.take() else { return Err(FINALIZED) };
        tag.copy_from_slice(&message.finalize()?);
        Ok(count(tag.len()))
    }

    fn sealane_pieces_verify(pieces: &mut Pieces, tag: &[u8][tag_len]) -> i64 {
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
    }
}
