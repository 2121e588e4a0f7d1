//! Messages: seal and open with random nonces, encrypt and decrypt with explicit nonces.

use crate::error::{Answer, CallError};
use crate::keys::Secret;
use crate::library::{algorithm_named, provider_named};
use crate::output::{transformed, written};
use crate::schedule::on_both_schedulers;
use crate::speck::size_named;
use rustler::types::atom::ok;
use rustler::{Binary, Encoder, Env, Resource, ResourceArc, Term};
use sealane::{InOut, Key, hazmat};

/// An algorithm with a key.
pub(crate) enum Aead {
    Standard(sealane::Aead),
    Speck(hazmat::Aead),
}

#[rustler::resource_impl]
impl Resource for Aead {}

impl Aead {
    #[inline]
    fn nonce_len(&self) -> usize {
        match self {
            Self::Standard(aead) => aead.nonce_len(),
            Self::Speck(aead) => aead.nonce_len(),
        }
    }

    #[inline]
    fn tag_len(&self) -> usize {
        match self {
            Self::Standard(aead) => aead.tag_len(),
            Self::Speck(aead) => aead.tag_len(),
        }
    }

    #[inline]
    fn encrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), sealane::Error> {
        match self {
            Self::Standard(aead) => aead.encrypt_parts(nonce, aad, data, tag),
            Self::Speck(aead) => aead.encrypt_parts(nonce, aad, data, tag),
        }
    }

    /// Decrypts a ciphertext with its tag.
    #[inline]
    fn decrypt<'a>(
        &self,
        env: Env<'a>,
        nonce: &[u8],
        data: &[u8],
        aad: &[u8],
    ) -> Result<Binary<'a>, CallError> {
        // Checked before anything that an attacker controls, as the core does.
        if nonce.len() != self.nonce_len() {
            return Err(sealane::Misuse::NonceLength { got: nonce.len(), want: self.nonce_len() }.into());
        }
        let len = data.len().checked_sub(self.tag_len()).ok_or(CallError::AUTHENTICATION)?;
        let (data, tag) = data.split_at(len);
        transformed(env, data, |data| match self {
            Self::Standard(aead) => aead.decrypt_parts(nonce, aad, data, tag),
            Self::Speck(aead) => aead.decrypt_parts(nonce, aad, data, tag),
        })
    }
}

#[rustler::nif]
fn aead_new(name: &str, key: Binary, provider: Option<&str>) -> Answer<ResourceArc<Aead>> {
    standard(name, &Key::from_bytes(&key), provider)
}

#[rustler::nif]
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
        Ok(ResourceArc::new(Aead::Standard(sealane::Aead::with_provider(algorithm, key, provider)?)))
    };
    new().map_err(CallError::raise)
}

#[rustler::nif]
fn speck_aead_new(name: &str, key: Binary, nonce: &str) -> Answer<ResourceArc<Aead>> {
    let new = || {
        let size = size_named(name, "-poly1305")?;
        let aead = match nonce {
            "block" => hazmat::Aead::new_block_nonce(size, &key),
            "small_block" => hazmat::Aead::new_small_block(size, &key),
            _ => hazmat::Aead::new(size, &key),
        };
        Ok(ResourceArc::new(Aead::Speck(aead?)))
    };
    new().map_err(CallError::raise)
}

#[rustler::nif]
fn aead_describe(aead: ResourceArc<Aead>) -> (String, String, String, usize, usize, u64) {
    let (name, provider, variant, max) = match &*aead {
        Aead::Standard(aead) => {
            let (name, provider) = (aead.algorithm().name(), aead.provider().name());
            (name.to_owned(), provider, aead.variant(), aead.max_plaintext_len())
        }
        Aead::Speck(aead) => {
            let name = format!("{}-poly1305", aead.size().name());
            (name, "native", aead.variant(), aead.max_plaintext_len())
        }
    };
    (name, provider.to_owned(), variant.to_owned(), aead.nonce_len(), aead.tag_len(), max)
}

on_both_schedulers! {
    seal: aead_seal, aead_seal_dirty(aead: ResourceArc<Aead>, data: Binary, aad: Binary), [data, aad];
    open: aead_open, aead_open_dirty(aead: ResourceArc<Aead>, sealed: Binary, aad: Binary), [sealed, aad];
    encrypt: aead_encrypt, aead_encrypt_dirty(
        aead: ResourceArc<Aead>, nonce: Binary, data: Binary, aad: Binary
    ), [data, aad];
    decrypt: aead_decrypt, aead_decrypt_dirty(
        aead: ResourceArc<Aead>, nonce: Binary, data: Binary, aad: Binary
    ), [data, aad];
}

#[inline]
fn seal<'a>(env: Env<'a>, aead: ResourceArc<Aead>, data: Binary<'_>, aad: Binary<'_>) -> Answer<Term<'a>> {
    let overhead = aead.nonce_len() + aead.tag_len();
    let sealed = written(env, data.len() + overhead, |out| {
        let (nonce, out) = out.split_at_mut(aead.nonce_len());
        let (out, tag) = out.split_at_mut(data.len());
        let data = InOut::apart(&data, out);
        match &*aead {
            Aead::Standard(aead) => aead.seal_parts(nonce, &aad, data, tag),
            Aead::Speck(aead) => aead.seal_parts(nonce, &aad, data, tag),
        }
    });
    Ok(sealed.map_err(CallError::raise)?.to_term(env))
}

#[inline]
fn open<'a>(env: Env<'a>, aead: ResourceArc<Aead>, sealed: Binary<'_>, aad: Binary<'_>) -> Answer<Term<'a>> {
    let Some((nonce, data)) = sealed.split_at_checked(aead.nonce_len()) else {
        return Err(CallError::AUTHENTICATION.message());
    };
    let data = aead.decrypt(env, nonce, data, &aad).map_err(CallError::message)?;
    Ok((ok(), data).encode(env))
}

#[inline]
fn encrypt<'a>(
    env: Env<'a>,
    aead: ResourceArc<Aead>,
    nonce: Binary<'_>,
    data: Binary<'_>,
    aad: Binary<'_>,
) -> Answer<Term<'a>> {
    let encrypted = written(env, data.len() + aead.tag_len(), |out| {
        let (out, tag) = out.split_at_mut(data.len());
        aead.encrypt(&nonce, &aad, InOut::apart(&data, out), tag)
    });
    Ok(encrypted.map_err(CallError::raise)?.to_term(env))
}

#[inline]
fn decrypt<'a>(
    env: Env<'a>,
    aead: ResourceArc<Aead>,
    nonce: Binary<'_>,
    data: Binary<'_>,
    aad: Binary<'_>,
) -> Answer<Term<'a>> {
    let data = aead.decrypt(env, &nonce, &data, &aad).map_err(CallError::message)?;
    Ok((ok(), data).encode(env))
}
