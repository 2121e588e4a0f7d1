//! Keys and formats of files.

use crate::call::{exports, freed};
use crate::constants::SEALANE_ARMOR;
use crate::error::{ArgumentError, Result, flags};
use crate::keys::Secret;
use crate::memory::{Handle, Owned};
use sealane::age::{self, Armor};
use sealane::file::{DecryptParams, DecryptWith, EncryptParams, EncryptWith, FileKey};
use sealane::keys::{Keyring, SecretKey};
use sealane::{Key, Misuse};

/// Largest work factor in age files.
const MAX_WORK_FACTOR: u32 = 30;

impl Handle for EncryptWith {
    const COUNTED: bool = true;
}

impl Handle for DecryptWith {
    const COUNTED: bool = true;
}

fn encrypt_with(params: EncryptParams<'_>) -> Result<Owned<EncryptWith>> {
    Ok(Owned::new(params.build()?))
}

fn decrypt_with(params: DecryptParams<'_>) -> Result<Owned<DecryptWith>> {
    Ok(Owned::new(params.build()?))
}

/// Returns the parameters for a symmetric key or a keyset.
fn encrypt_params<'a>(
    key: Option<FileKey>,
    format: Option<&str>,
    context: &'a [u8],
) -> Result<EncryptParams<'a>> {
    let format = format.map(str::parse).transpose()?;
    Ok(EncryptParams { key, format, context, ..EncryptParams::default() })
}

/// Returns the parameters for a symmetric key or a keyset.
fn decrypt_params<'a>(
    key: Option<FileKey>,
    format: Option<&str>,
    context: &'a [u8],
) -> Result<DecryptParams<'a>> {
    let format = format.map(str::parse).transpose()?;
    Ok(DecryptParams { key, format, context, ..DecryptParams::default() })
}

fn armor(found: u32) -> Result<Armor, ArgumentError> {
    Ok(if flags(found, SEALANE_ARMOR)? == 0 { Armor::Binary } else { Armor::Ascii })
}

exports! {
    fn sealane_encrypt_with_key(
        key: &[u8][key_len], format: Option<&str>, context: &[u8][context_len]
    ) -> Owned<EncryptWith> {
        encrypt_with(encrypt_params(Some(Key::from_bytes(key).into()), format, context)?)
    }

    fn sealane_encrypt_with_secret(
        secret: &Secret, format: Option<&str>, context: &[u8][context_len]
    ) -> Owned<EncryptWith> {
        encrypt_with(encrypt_params(Some(secret.symmetric()?.into()), format, context)?)
    }

    fn sealane_encrypt_with_keyset(keyset: &str, context: &[u8][context_len]) -> Owned<EncryptWith> {
        encrypt_with(encrypt_params(Some(Keyring::from_json(keyset)?.into()), None, context)?)
    }

    fn sealane_encrypt_with_recipients(recipients: &str, flags: u32) -> Owned<EncryptWith> {
        let (recipients, armor) = (Some(age::parse_recipients(recipients)?), armor(flags)?);
        encrypt_with(EncryptParams { recipients, armor, ..EncryptParams::default() })
    }

    fn sealane_encrypt_with_passphrase(passphrase: &str, work_factor: u32, flags: u32) -> Owned<EncryptWith> {
        let factor = factor("work_factor", work_factor)?.unwrap_or(age::DEFAULT_WORK_FACTOR);
        let recipient = age::Recipient::passphrase_with_work_factor(passphrase, factor)?;
        let (recipients, armor) = (Some(vec![recipient]), armor(flags)?);
        encrypt_with(EncryptParams { recipients, armor, ..EncryptParams::default() })
    }
}

/// Returns a work factor, or `None` for 0 (the default).
fn factor(name: &'static str, found: u32) -> Result<Option<u8>, Misuse> {
    match found {
        0 => Ok(None),
        // It fits: it is within the limit.
        1..=MAX_WORK_FACTOR => Ok(Some(found as u8)),
        _ => Err(Misuse::OutOfRange { name, found: found.into(), max: MAX_WORK_FACTOR.into() }),
    }
}

freed!(sealane_encrypt_with_free(with: EncryptWith));

exports! {
    fn sealane_decrypt_with_key(
        key: &[u8][key_len], format: Option<&str>, context: &[u8][context_len]
    ) -> Owned<DecryptWith> {
        decrypt_with(decrypt_params(Some(Key::from_bytes(key).into()), format, context)?)
    }

    fn sealane_decrypt_with_secret(
        secret: &Secret, format: Option<&str>, context: &[u8][context_len]
    ) -> Owned<DecryptWith> {
        let params = decrypt_params(None, format, context)?;
        decrypt_with(match secret.key() {
            SecretKey::Age(identity) => DecryptParams { identities: Some(vec![identity.clone()]), ..params },
            _ => DecryptParams { key: Some(secret.symmetric()?.into()), ..params },
        })
    }

    fn sealane_decrypt_with_keyset(keyset: &str, context: &[u8][context_len]) -> Owned<DecryptWith> {
        decrypt_with(decrypt_params(Some(Keyring::from_json(keyset)?.into()), None, context)?)
    }

    fn sealane_decrypt_with_identities(identities: &str) -> Owned<DecryptWith> {
        let identities = Some(age::parse_identities(identities)?);
        decrypt_with(DecryptParams { identities, ..DecryptParams::default() })
    }

    fn sealane_decrypt_with_passphrase(passphrase: &str, max_work_factor: u32) -> Owned<DecryptWith> {
        let (passphrase, max_work_factor) = (Some(passphrase), factor("max_work_factor", max_work_factor)?);
        decrypt_with(DecryptParams { passphrase, max_work_factor, ..DecryptParams::default() })
    }
}

freed!(sealane_decrypt_with_free(with: DecryptWith));
