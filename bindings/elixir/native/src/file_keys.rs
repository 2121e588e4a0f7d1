//! Keys and formats of files.

use crate::keys::Secret;
use crate::prelude::*;
use rustler::NifTaggedEnum;
use sealane::Misuse;
use sealane::age::{self, Armor};
use sealane::file::{DecryptParams, EncryptParams, FileKey};
use sealane::keys::{Keyring, SecretKey};
use std::panic::RefUnwindSafe;

/// Largest work factor in age files.
const MAX_WORK_FACTOR: u8 = 30;

/// Keys and format for encrypting files.
pub(crate) struct EncryptWith(pub(crate) file::EncryptWith);

/// Keys and format for decrypting files.
pub(crate) struct DecryptWith(pub(crate) file::DecryptWith);

#[rustler::resource_impl]
impl Resource for EncryptWith {}

#[rustler::resource_impl]
impl Resource for DecryptWith {}

// Calls do not change them, so a panic cannot leave one half-changed.
impl RefUnwindSafe for EncryptWith {}
impl RefUnwindSafe for DecryptWith {}

/// A source of keys, such as `{:key, binary}`.
#[derive(NifTaggedEnum)]
enum Source<'a> {
    Key(Binary<'a>),
    Secret(ResourceArc<Secret>),
    Keyset(&'a str),
    Recipients(&'a str),
    Identities(&'a str, Vec<ResourceArc<Secret>>),
    Passphrase(&'a str, Option<u8>),
}

fn factor(name: &'static str, factor: Option<u8>) -> Result<Option<u8>, Misuse> {
    match factor {
        Some(found) if found > MAX_WORK_FACTOR => {
            Err(Misuse::OutOfRange { name, found: found.into(), max: MAX_WORK_FACTOR.into() })
        }
        found => Ok(found),
    }
}

fn symmetric(source: &Source<'_>) -> Result<Option<FileKey>> {
    Ok(match source {
        Source::Key(key) => Some(Key::from_bytes(key).into()),
        Source::Secret(secret) => Some(secret.symmetric()?.into()),
        Source::Keyset(json) => Some(Keyring::from_json(json)?.into()),
        _ => None,
    })
}

on_dirty_scheduler! { "DirtyCpu":
    value fn encrypt_with(source: Source, context: Binary, format: Option<&str>, armor: bool) {
        let recipients = match &source {
            Source::Recipients(lines) => Some(age::parse_recipients(lines)?),
            Source::Passphrase(passphrase, work_factor) => {
                Some(vec![match factor("work_factor", *work_factor)? {
                    None => age::Recipient::passphrase(passphrase)?,
                    Some(factor) => age::Recipient::passphrase_with_work_factor(passphrase, factor)?,
                }])
            }
            _ => None,
        };
        let params = EncryptParams {
            key: symmetric(&source)?,
            recipients,
            context: &context,
            format: format.map(str::parse).transpose()?,
            armor: if armor { Armor::Ascii } else { Armor::Binary },
            ..EncryptParams::default()
        };
        Ok(ResourceArc::new(EncryptWith(params.build()?)))
    }

    value fn decrypt_with(source: Source, context: Binary, format: Option<&str>) {
        let mut params =
            DecryptParams { context: &context, format: format.map(str::parse).transpose()?, ..DecryptParams::default() };
        match &source {
            Source::Identities(lines, keys) => {
                let mut identities =
                    if lines.is_empty() { Vec::new() } else { age::parse_identities(lines)? };
                for key in keys {
                    let SecretKey::Age(identity) = key.key() else {
                        let expected =
                            "an identity is a key of age, and this key has another kind: give it as key";
                        return Err(CallError::Argument(expected));
                    };
                    identities.push(identity.clone());
                }
                params.identities = Some(identities);
            }
            Source::Passphrase(passphrase, max_work_factor) => {
                params.passphrase = Some(passphrase);
                params.max_work_factor = factor("max_work_factor", *max_work_factor)?;
            }
            _ => params.key = symmetric(&source)?,
        }
        Ok(ResourceArc::new(DecryptWith(params.build()?)))
    }
}
