//! Messages: seal and open with random nonces, encrypt and decrypt with explicit nonces.

use crate::error::{Answer, CallError};
use crate::keys::Secret;
use crate::library::{algorithm_named, provider_named};
use crate::output::{transformed, written};
use crate::schedule::on_both_schedulers;
use crate::speck::size_named;
use rustler::types::atom::ok;
use rustler::{Binary, Encoder, Env, Resource, ResourceArc, Term};
use sealane::{Key, MessageKeys, hazmat};

/// An algorithm with a key.
pub(crate) struct Aead(MessageKeys);

#[rustler::resource_impl]
impl Resource for Aead {}

impl Aead {
    /// Decrypts a ciphertext with its tag.
    #[inline]
    fn decrypt<'a>(
        &self,
        env: Env<'a>,
        nonce: &[u8],
        data: &[u8],
        aad: &[u8],
    ) -> Result<Binary<'a>, CallError> {
        // Checked before anything an attacker controls, as in the core.
        self.0.check_nonce_len(nonce.len())?;
        let len = data.len().checked_sub(self.0.tag_len()).ok_or(CallError::AUTHENTICATION)?;
        let (data, tag) = data.split_at(len);
        transformed(env, data, |data| self.0.decrypt_parts(nonce, aad, data, tag))
    }
}

#[rustler::nif(schedule = "DirtyCpu")]
fn aead_new(name: &str, key: Binary, provider: Option<&str>) -> Answer<ResourceArc<Aead>> {
    standard(name, &Key::from_bytes(&key), provider)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn aead_new_with_secret(
    name: &str,
    key: ResourceArc<Secret>,
    provider: Option<&str>,
) -> Answer<ResourceArc<Aead>> {
    standard(name, &key.symmetric().map_err(CallError::raise)?, provider)
}

fn standard(name: &str, key: &Key, provider: Option<&str>) -> Answer<ResourceArc<Aead>> {
    let new = || {
        let (algorithm, provider) = (algorithm_named(name)?, provider_named(provider)?);
        Ok(ResourceArc::new(Aead(sealane::Aead::with_provider(algorithm, key, provider)?.into())))
    };
    new().map_err(CallError::raise)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn speck_aead_new(name: &str, key: Binary, nonce: &str) -> Answer<ResourceArc<Aead>> {
    let new = || {
        let size = size_named(name, "-poly1305")?;
        let aead = match nonce {
            "block" => hazmat::Aead::new_block_nonce(size, &key),
            "small_block" => hazmat::Aead::new_small_block(size, &key),
            _ => hazmat::Aead::new(size, &key),
        };
        Ok(ResourceArc::new(Aead(aead?.into())))
    };
    new().map_err(CallError::raise)
}

#[rustler::nif]
fn aead_describe(aead: ResourceArc<Aead>) -> (&'static str, &'static str, &'static str, usize, usize, u64) {
    let keys = &aead.0;
    let names = (keys.primary().algorithm(), keys.provider().name(), keys.variant());
    (names.0, names.1, names.2, keys.nonce_len(), keys.tag_len(), keys.max_plaintext_len())
}

on_both_schedulers! {
    aead_seal, aead_seal_dirty(env, aead: ResourceArc<Aead>, data: Binary, aad: Binary), [data, aad] {
        let sealed =
            written(env, data.len() + aead.0.overhead(), |out| aead.0.seal_into(&data, out, &aad).map(drop));
        Ok(sealed.map_err(CallError::raise)?.to_term(env))
    }

    aead_open, aead_open_dirty(env, aead: ResourceArc<Aead>, sealed: Binary, aad: Binary), [sealed, aad] {
        let Some((nonce, data)) = sealed.split_at_checked(aead.0.nonce_len()) else {
            return Err(CallError::AUTHENTICATION.message());
        };
        let data = aead.decrypt(env, nonce, data, &aad).map_err(CallError::message)?;
        Ok((ok(), data).encode(env))
    }

    aead_encrypt, aead_encrypt_dirty(
        env, aead: ResourceArc<Aead>, nonce: Binary, data: Binary, aad: Binary
    ), [data, aad] {
        let encrypted = written(env, data.len() + aead.0.tag_len(), |out| {
            aead.0.encrypt_into(&nonce, &data, &aad, out).map(drop)
        });
        Ok(encrypted.map_err(CallError::raise)?.to_term(env))
    }

    aead_decrypt, aead_decrypt_dirty(
        env, aead: ResourceArc<Aead>, nonce: Binary, data: Binary, aad: Binary
    ), [data, aad] {
        let data = aead.decrypt(env, &nonce, &data, &aad).map_err(CallError::message)?;
        Ok((ok(), data).encode(env))
    }
}
