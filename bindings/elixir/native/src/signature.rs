//! Signatures of messages that are passed in pieces.

use crate::prelude::*;
use crate::shared::{Exclusive, ended};
use sealane::signature::{FILE_NAMESPACE, Signers, Signing, SigningKey, Verifying};

enum Work {
    Sign(Signing),
    Verify(Box<Verifying>),
}

/// A message that is signed or verified.
pub(crate) struct Signature(Exclusive<Work>);

#[rustler::resource_impl]
impl Resource for Signature {}

fn begun(work: Work) -> ResourceArc<Signature> {
    ResourceArc::new(Signature(Exclusive::new(work)))
}

on_dirty_scheduler! { "DirtyCpu":
    /// A passphrase takes a second.
    tuple fn sign_new(key: Binary, passphrase: Option<&str>, namespace: Option<&str>, comment: Option<&str>) {
        let key = SigningKey::parse(&key, passphrase)?;
        Ok(begun(Work::Sign(Signing::new(&key, namespace.unwrap_or(FILE_NAMESPACE), comment)?)))
    }

    tuple fn verify_new(signature: Binary, signers: Binary, namespace: Option<&str>, revoked: Binary) {
        let (signers, revoked) = (Signers::parse(&signers)?, Signers::parse_revoked(&revoked)?);
        let verifying = Verifying::new(&signature, &signers, namespace.unwrap_or(FILE_NAMESPACE))?;
        Ok(begun(Work::Verify(Box::new(verifying.revoked(&revoked)))))
    }

    done fn signature_update(signature: ResourceArc<Signature>, data: Binary) {
        match signature.0.enter()?.as_mut().ok_or_else(ended)? {
            Work::Sign(signing) => signing.update(&data),
            Work::Verify(verifying) => verifying.update(&data),
        }
        Ok(())
    }

    /// Returns the signature and an empty text; or the signer and the trusted comment.
    tuple fn signature_finish(signature: ResourceArc<Signature>) {
        match signature.0.enter()?.take().ok_or_else(ended)? {
            Work::Sign(signing) => Ok((signing.finish()?, String::new())),
            Work::Verify(verifying) => {
                let found = verifying.finish()?;
                Ok((found.signer, found.comment))
            }
        }
    }
}
