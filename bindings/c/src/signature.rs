//! Signatures of messages that are passed in pieces.

use crate::call::{exports, freed};
use crate::error::Result;
use crate::memory::{Destination, Owned, ResultBytes};
use sealane::Misuse;
use sealane::signature::{FILE_NAMESPACE, Signers, Signing, SigningKey, Verifying};

/// A message that is signed or verified.
pub(crate) enum Signature {
    Sign(Signing),
    Verify(Box<Verifying>),
    Finished,
}

impl Signature {
    /// Returns the signature; or the signer, a line end and the trusted comment.
    fn finish(&mut self) -> Result<String> {
        Ok(match std::mem::replace(self, Self::Finished) {
            Self::Sign(signing) => signing.finish()?,
            Self::Verify(verifying) => {
                let found = verifying.finish()?;
                format!("{}\n{}", found.signer, found.comment)
            }
            Self::Finished => return Err(Misuse::AlreadyFinalized.into()),
        })
    }
}

exports! {
    fn sealane_sign_new(
        key: &[u8][key_len], passphrase: Option<&str>, name_space: Option<&str>, comment: Option<&str>
    ) -> Owned<Signature> {
        let key = SigningKey::parse(key, passphrase)?;
        let signing = Signing::new(&key, name_space.unwrap_or(FILE_NAMESPACE), comment)?;
        Ok(Owned::new(Signature::Sign(signing)))
    }

    fn sealane_verify_new(
        signature: &[u8][signature_len], signers: &[u8][signers_len], name_space: Option<&str>,
        revoked: &[u8][revoked_len]
    ) -> Owned<Signature> {
        let (signers, revoked) = (Signers::parse(signers)?, Signers::parse_revoked(revoked)?);
        let verifying = Verifying::new(signature, &signers, name_space.unwrap_or(FILE_NAMESPACE))?;
        Ok(Owned::new(Signature::Verify(Box::new(verifying.revoked(&revoked)))))
    }

    fn sealane_signature_update(signature: &mut Signature, data: &[u8][data_len]) -> i64 {
        match signature {
            Signature::Sign(signing) => signing.update(data),
            Signature::Verify(verifying) => verifying.update(data),
            Signature::Finished => return Err(Misuse::AlreadyFinalized.into()),
        }
        Ok(0)
    }

    fn sealane_signature_finish(signature: &mut Signature, out: Destination) -> i64 {
        let text = signature.finish()?;
        let mut result = ResultBytes::zeroed(text.len())?;
        result.bytes().copy_from_slice(text.as_bytes());
        Ok(result.give(out))
    }
}

freed!(sealane_signature_free(signature: Signature));
