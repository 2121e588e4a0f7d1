//! Signatures of messages that are passed in pieces.

use crate::error::{Answer, CallError};
use crate::shared::{Exclusive, ended};
use rustler::types::atom::ok;
use rustler::{Atom, Binary, Resource, ResourceArc};
use sealane::signature::{FILE_NAMESPACE, Signers, Signing, SigningKey, Verifying};

enum Work {
    Sign(Signing),
    Verify(Box<Verifying>),
}

/// A message that is signed or verified.
pub(crate) struct Signature(Exclusive<Work>);

#[rustler::resource_impl]
impl Resource for Signature {}

fn begun(work: Result<Work, sealane::Error>) -> Answer<(Atom, ResourceArc<Signature>)> {
    let work = work.map_err(|error| CallError::from(error).tuple())?;
    Ok((ok(), ResourceArc::new(Signature(Exclusive::new(work)))))
}

/// A passphrase takes a second.
#[rustler::nif(schedule = "DirtyCpu")]
fn sign_new(
    key: Binary,
    passphrase: Option<&str>,
    namespace: Option<&str>,
    comment: Option<&str>,
) -> Answer<(Atom, ResourceArc<Signature>)> {
    let sign = || {
        let key = SigningKey::parse(&key, passphrase)?;
        Signing::new(&key, namespace.unwrap_or(FILE_NAMESPACE), comment).map(Work::Sign)
    };
    begun(sign())
}

#[rustler::nif(schedule = "DirtyCpu")]
fn verify_new(
    signature: Binary,
    signers: Binary,
    namespace: Option<&str>,
    revoked: Binary,
) -> Answer<(Atom, ResourceArc<Signature>)> {
    let verify = || {
        let (signers, revoked) = (Signers::parse(&signers)?, Signers::parse_revoked(&revoked)?);
        let verifying = Verifying::new(&signature, &signers, namespace.unwrap_or(FILE_NAMESPACE))?;
        Ok(Work::Verify(Box::new(verifying.revoked(&revoked))))
    };
    begun(verify())
}

#[rustler::nif(schedule = "DirtyCpu")]
fn signature_update(signature: ResourceArc<Signature>, data: Binary) -> Answer<Atom> {
    let update = || {
        match signature.0.enter()?.as_mut().ok_or_else(ended)? {
            Work::Sign(signing) => signing.update(&data),
            Work::Verify(verifying) => verifying.update(&data),
        }
        Ok(ok())
    };
    update().map_err(CallError::tuple)
}

/// Returns the signature and an empty text; or the signer and the trusted comment.
#[rustler::nif(schedule = "DirtyCpu")]
fn signature_finish(signature: ResourceArc<Signature>) -> Answer<(Atom, (String, String))> {
    let finish = || match signature.0.enter()?.take().ok_or_else(ended)? {
        Work::Sign(signing) => Ok((signing.finish()?, String::new())),
        Work::Verify(verifying) => {
            let found = verifying.finish()?;
            Ok((found.signer, found.comment))
        }
    };
    Ok((ok(), finish().map_err(CallError::tuple)?))
}
