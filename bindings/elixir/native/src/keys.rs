//! Keys held by the library: generate, load, save and derive.

use crate::error::{Answer, CallError};
use crate::output::written;
use crate::paths::path;
use rustler::types::atom::ok;
use rustler::{Atom, Binary, Env, Resource, ResourceArc};
use sealane::Key;
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
    pub(crate) fn symmetric(&self) -> Result<Key, CallError> {
        Ok(self.0.clone().into_symmetric()?)
    }
}

/// A key from a function that can fail for reasons outside the program.
type Loaded = Answer<(Atom, ResourceArc<Secret>)>;

fn loaded(key: Result<SecretKey, sealane::Error>) -> Loaded {
    Ok((ok(), ResourceArc::new(Secret(key.map_err(|error| CallError::from(error).tuple())?))))
}

/// An RSA key takes a tenth of a second.
#[rustler::nif(schedule = "DirtyCpu")]
fn key_generate(kind: &str) -> Answer<ResourceArc<Secret>> {
    let new = || Ok(ResourceArc::new(Secret(SecretKey::generate(kind.parse::<Kind>()?)?)));
    new().map_err(CallError::raise)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn key_from_bytes(key: Binary) -> ResourceArc<Secret> {
    ResourceArc::new(Secret(Key::from_bytes(&key).into()))
}

/// A passphrase takes a second.
#[rustler::nif(schedule = "DirtyCpu")]
fn key_from_text(text: &str, passphrase: Option<&str>) -> Loaded {
    loaded(SecretKey::from_text(text, passphrase))
}

#[rustler::nif(schedule = "DirtyCpu")]
fn key_load(file: Binary, passphrase: Option<&str>) -> Loaded {
    let load = || keys::load(path(&file), LoadOptions::passphrase(passphrase))?.into_secret();
    loaded(load())
}

#[rustler::nif(schedule = "DirtyCpu")]
fn key_save(key: ResourceArc<Secret>, file: Binary, passphrase: Option<&str>, replace: bool) -> Answer<Atom> {
    let existing = if replace { Existing::Replace } else { Existing::Refuse };
    key.0.save(path(&file), passphrase, existing).map_err(|error| CallError::from(error).tuple())?;
    Ok(ok())
}

#[rustler::nif]
fn key_kind(key: ResourceArc<Secret>) -> Option<&'static str> {
    key.0.kind().map(Kind::name)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn key_to_text<'a>(env: Env<'a>, key: ResourceArc<Secret>, passphrase: Option<&str>) -> Answer<Binary<'a>> {
    let text = key.0.to_text(passphrase).map_err(|error| CallError::from(error).raise())?;
    copied(env, text.as_bytes())
}

/// A post-quantum key is expanded.
#[rustler::nif(schedule = "DirtyCpu")]
fn key_public(key: ResourceArc<Secret>) -> Answer<Option<String>> {
    let public = key.0.public();
    let text = public.as_ref().map(PublicKey::to_text).transpose();
    text.map_err(|error| CallError::from(error).raise())
}

#[rustler::nif(schedule = "DirtyCpu")]
fn key_bytes<'a>(env: Env<'a>, key: ResourceArc<Secret>) -> Answer<Binary<'a>> {
    copied(env, key.symmetric().map_err(CallError::raise)?.as_bytes())
}

#[rustler::nif(schedule = "DirtyCpu")]
fn derive(
    passphrase: Binary,
    salt: Binary,
    len: usize,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) -> Answer<ResourceArc<Secret>> {
    let cost = Cost { memory_kib, passes, lanes };
    let key = keys::derive(&passphrase, &salt, len, cost).map_err(|error| CallError::from(error).raise())?;
    Ok(ResourceArc::new(Secret(Key::from_bytes(&key).into())))
}

fn copied<'a>(env: Env<'a>, bytes: &[u8]) -> Answer<Binary<'a>> {
    let copy = |out: &mut [u8]| {
        out.copy_from_slice(bytes);
        Ok::<_, CallError>(())
    };
    written(env, bytes.len(), copy).map_err(CallError::raise)
}
