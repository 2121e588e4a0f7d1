//! Keys held by the library: generate, load, save and derive.

use crate::call::{exports, freed};
use crate::constants::SEALANE_REPLACE;
use crate::error::{Result, flags};
use crate::memory::{Handle, Input, Layout, Output, Owned, count};
use sealane::Key;
use sealane::keys::{self, Cost, Existing, Kind, LoadOptions, PublicKey, SecretKey};
use std::path::Path;

/// A private or symmetric key.
pub(crate) struct Secret(SecretKey);

impl Handle for Secret {}

impl Secret {
    /// Returns the key of any kind.
    pub(crate) fn key(&self) -> &SecretKey {
        &self.0
    }

    /// Returns the symmetric key, or an error for a private key.
    pub(crate) fn symmetric(&self) -> Result<Key> {
        Ok(self.0.clone().into_symmetric()?)
    }
}

exports! {
    fn sealane_secret_generate(kind: &str) -> Owned<Secret> {
        let kind: Kind = kind.parse()?;
        Ok(Owned::new(Secret(SecretKey::generate(kind)?)))
    }

    fn sealane_secret_from_bytes(key: &[u8][key_len]) -> Owned<Secret> {
        let key = Key::from_bytes(key);
        Ok(Owned::new(Secret(key.into())))
    }

    fn sealane_secret_from_text(text: &str, passphrase: Option<&str>) -> Owned<Secret> {
        Ok(Owned::new(Secret(SecretKey::from_text(text, passphrase)?)))
    }

    fn sealane_secret_load(path: &Path, passphrase: Option<&str>) -> Owned<Secret> {
        let found = keys::load(path, LoadOptions::passphrase(passphrase))?;
        Ok(Owned::new(Secret(found.into_secret()?)))
    }
}

freed!(sealane_secret_free(secret: Secret));

exports! {
    fn sealane_secret_save(secret: &Secret, path: &Path, passphrase: Option<&str>, flags: u32) -> i64 {
        let existing = match self::flags(flags, SEALANE_REPLACE)? {
            0 => Existing::Refuse,
            _ => Existing::Replace,
        };
        secret.0.save(path, passphrase, existing)?;
        Ok(0)
    }

    fn sealane_secret_kind(secret: &Secret, text: Output[text_len]) -> i64 {
        let kind = secret.0.kind();
        Ok(text.put_text(kind.map_or("", Kind::name)))
    }

    fn sealane_secret_to_text(secret: &Secret, passphrase: Option<&str>, text: Output[text_len]) -> i64 {
        let secret = secret.0.to_text(passphrase)?;
        Ok(text.put_text(&secret))
    }

    fn sealane_secret_public(secret: &Secret, text: Output[text_len]) -> i64 {
        let public = secret.0.public();
        let public = public.as_ref().map(PublicKey::to_text).transpose()?.unwrap_or_default();
        Ok(text.put_text(&public))
    }

    fn sealane_secret_bytes(secret: &Secret, key: Output[key_len]) -> i64 {
        let secret = secret.symmetric()?;
        let head = key.first(secret.as_bytes().len())?;
        head.copy_from_slice(secret.as_bytes());
        Ok(count(head.len()))
    }

    fn sealane_derive(
        passphrase: Input[passphrase_len], salt: Input[salt_len], memory_kib: u32, passes: u32, lanes: u32,
        key: Output[key_len]
    ) -> i64 {
        let Layout { head, others: [passphrase, salt], .. } =
            key.arrange(key_len, Input::NONE, 0, [passphrase, salt])?;
        let cost = Cost { memory_kib, passes, lanes };
        head.copy_from_slice(&keys::derive(passphrase, salt, head.len(), cost)?);
        Ok(count(head.len()))
    }
}
