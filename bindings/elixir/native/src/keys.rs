//! Keys held by the library: generate, load, save and derive.

use crate::prelude::*;
use sealane::keys::{self, Cost, Existing, Kind, LoadOptions, PublicKey, SecretKey};
use std::panic::RefUnwindSafe;

/// A private or symmetric key.
pub(crate) struct Secret(SecretKey);

#[rustler::resource_impl]
impl Resource for Secret {}

// Calls do not change a key, so a panic cannot leave one half-changed. The compiler cannot tell,
// because an SSH key's passphrase can come from a function.
impl RefUnwindSafe for Secret {}

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

#[rustler::nif]
fn key_kind(key: ResourceArc<Secret>) -> Option<&'static str> {
    key.0.kind().map(Kind::name)
}

on_dirty_scheduler! { "DirtyCpu":
    /// An RSA key takes a tenth of a second.
    value fn key_generate(kind: &str) {
        Ok(ResourceArc::new(Secret(SecretKey::generate(kind.parse::<Kind>()?)?)))
    }

    value fn key_from_bytes(key: Binary) {
        Ok(ResourceArc::new(Secret(Key::from_bytes(&key).into())))
    }

    /// A passphrase takes a second.
    tuple fn key_from_text(text: &str, passphrase: Option<&str>) {
        Ok(ResourceArc::new(Secret(SecretKey::from_text(text, passphrase)?)))
    }

    tuple fn key_load(file: Binary, passphrase: Option<&str>) {
        let key = keys::load(&path_of(&file), LoadOptions::passphrase(passphrase))?;
        Ok(ResourceArc::new(Secret(key.into_secret()?)))
    }

    done fn key_save(key: ResourceArc<Secret>, file: Binary, passphrase: Option<&str>, replace: bool) {
        let existing = if replace { Existing::Replace } else { Existing::Refuse };
        Ok(key.0.save(&path_of(&file), passphrase, existing)?)
    }

    value fn key_to_text[env](key: ResourceArc<Secret>, passphrase: Option<&str>) {
        copied(env, key.0.to_text(passphrase)?.as_bytes())
    }

    /// A post-quantum key is expanded.
    value fn key_public(key: ResourceArc<Secret>) {
        Ok(key.0.public().as_ref().map(PublicKey::to_text).transpose()?)
    }

    value fn key_bytes[env](key: ResourceArc<Secret>) {
        copied(env, key.symmetric()?.as_bytes())
    }

    value fn derive(passphrase: Binary, salt: Binary, len: usize, memory_kib: u32, passes: u32, lanes: u32) {
        let key = keys::derive(&passphrase, &salt, len, Cost { memory_kib, passes, lanes })?;
        Ok(ResourceArc::new(Secret(Key::from_bytes(&key).into())))
    }
}
