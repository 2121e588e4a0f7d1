//! Keys held by the library: generate, load, save and derive.

use crate::call::{Error, guarded, infallible};
use crate::constants::SEALANE_REPLACE;
use crate::error::{CallError, flags};
use crate::memory::{CText, In, Input, Layout, Out, Owned, Shared, Unique, count};
use sealane::Key;
use sealane::keys::{self, Cost, Existing, Kind, LoadOptions, PublicKey, SecretKey};

/// A private or symmetric key.
pub(crate) struct Secret(SecretKey);

impl Secret {
    /// Returns the key of any kind.
    pub(crate) fn key(&self) -> &SecretKey {
        &self.0
    }

    /// Returns the symmetric key, or an error for a private key.
    pub(crate) fn symmetric(&self) -> Result<Key, CallError> {
        Ok(self.0.clone().into_symmetric()?)
    }
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_generate(kind: CText, error: Unique<Error>) -> Owned<Secret> {
    guarded(error, |call| {
        let kind: Kind = kind.required(call, "kind")?.parse()?;
        Ok(Owned::new(Secret(SecretKey::generate(kind)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_from_bytes(key: In, key_len: usize, error: Unique<Error>) -> Owned<Secret> {
    guarded(error, |call| {
        let key = Key::from_bytes(key.bytes(call, "key", key_len)?);
        Ok(Owned::new(Secret(key.into())))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_from_text(
    text: CText,
    passphrase: CText,
    error: Unique<Error>,
) -> Owned<Secret> {
    guarded(error, |call| {
        let (text, passphrase) = (text.required(call, "text")?, passphrase.optional(call, "passphrase")?);
        Ok(Owned::new(Secret(SecretKey::from_text(text, passphrase)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_load(path: CText, passphrase: CText, error: Unique<Error>) -> Owned<Secret> {
    guarded(error, |call| {
        let (path, passphrase) = (path.path(call, "path")?, passphrase.optional(call, "passphrase")?);
        let found = keys::load(path, LoadOptions::passphrase(passphrase))?;
        Ok(Owned::new(Secret(found.into_secret()?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_free(secret: Owned<Secret>) {
    infallible(|| secret.free());
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_save(
    secret: Shared<Secret>,
    path: CText,
    passphrase: CText,
    flags: u32,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let (secret, path) = (secret.get(call, "secret")?, path.path(call, "path")?);
        let existing = match self::flags(flags, SEALANE_REPLACE)? {
            0 => Existing::Refuse,
            _ => Existing::Replace,
        };
        secret.0.save(path, passphrase.optional(call, "passphrase")?, existing)?;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_kind(
    secret: Shared<Secret>,
    text: Out,
    text_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let kind = secret.get(call, "secret")?.0.kind();
        Ok(text.output(call, "text", text_len)?.put_text(kind.map_or("", Kind::name)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_to_text(
    secret: Shared<Secret>,
    passphrase: CText,
    text: Out,
    text_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let secret = secret.get(call, "secret")?.0.to_text(passphrase.optional(call, "passphrase")?)?;
        Ok(text.output(call, "text", text_len)?.put_text(&secret))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_public(
    secret: Shared<Secret>,
    text: Out,
    text_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let public = secret.get(call, "secret")?.0.public();
        let public = public.as_ref().map(PublicKey::to_text).transpose()?.unwrap_or_default();
        Ok(text.output(call, "text", text_len)?.put_text(&public))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_secret_bytes(
    secret: Shared<Secret>,
    key: Out,
    key_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let secret = secret.get(call, "secret")?.symmetric()?;
        let key = key.output(call, "key", key_len)?;
        let head = key.arrange(secret.as_bytes().len(), Input::none(call), 0, [])?.head;
        head.copy_from_slice(secret.as_bytes());
        Ok(count(head.len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_derive(
    passphrase: In,
    passphrase_len: usize,
    salt: In,
    salt_len: usize,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    key: Out,
    key_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let passphrase = passphrase.input(call, "passphrase", passphrase_len)?;
        let salt = salt.input(call, "salt", salt_len)?;
        let key = key.output(call, "key", key_len)?;
        let Layout { head, others: [passphrase, salt], .. } =
            key.arrange(key_len, Input::none(call), 0, [passphrase, salt])?;
        let cost = Cost { memory_kib, passes, lanes };
        head.copy_from_slice(&keys::derive(passphrase, salt, head.len(), cost)?);
        Ok(count(head.len()))
    })
}
