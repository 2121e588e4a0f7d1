//! Messages: seal and open with random nonces, encrypt and decrypt with explicit nonces.

use crate::keys::Secret;
use crate::prelude::*;
use sealane::{MessageKeys, hazmat};

/// An algorithm with a key.
pub(crate) struct Aead(MessageKeys);

#[rustler::resource_impl]
impl Resource for Aead {}

impl Aead {
    /// Decrypts a ciphertext with its tag.
    #[inline]
    fn decrypt<'a>(&self, env: Env<'a>, nonce: &[u8], data: &[u8], aad: &[u8]) -> Result<Binary<'a>> {
        // Checked before anything an attacker controls, as in the core.
        self.0.check_nonce_len(nonce.len())?;
        let len = data.len().checked_sub(self.0.tag_len()).ok_or(CallError::AUTHENTICATION)?;
        let (data, tag) = data.split_at(len);
        transformed(env, data, |data| self.0.decrypt_parts(nonce, aad, data, tag))
    }
}

fn standard(name: &str, key: &Key, provider: Option<&str>) -> Result<ResourceArc<Aead>> {
    Ok(ResourceArc::new(Aead(named::aead(name, key, provider)?)))
}

on_dirty_scheduler! { "DirtyCpu":
    value fn aead_new(name: &str, key: Binary, provider: Option<&str>) {
        standard(name, &Key::from_bytes(&key), provider)
    }

    value fn aead_new_with_secret(name: &str, key: ResourceArc<Secret>, provider: Option<&str>) {
        standard(name, &key.symmetric()?, provider)
    }

    value fn speck_aead_new(name: &str, key: Binary, nonce: &str) {
        let size = named::speck_size(name, "-poly1305")?;
        let aead = match nonce {
            "block" => hazmat::Aead::new_block_nonce(size, &key),
            "small_block" => hazmat::Aead::new_small_block(size, &key),
            _ => hazmat::Aead::new(size, &key),
        };
        Ok(ResourceArc::new(Aead(aead?.into())))
    }
}

#[rustler::nif]
fn aead_describe(aead: ResourceArc<Aead>) -> (&'static str, &'static str, &'static str, usize, usize, u64) {
    let keys = &aead.0;
    let names = (keys.primary().algorithm(), keys.provider().name(), keys.variant());
    (names.0, names.1, names.2, keys.nonce_len(), keys.tag_len(), keys.max_plaintext_len())
}

on_both_schedulers! {
    aead_seal, aead_seal_dirty(env, aead: ResourceArc<Aead>, data: Binary, aad: Binary), value [data, aad] {
        written(env, data.len() + aead.0.overhead(), |out| aead.0.seal_into(&data, out, &aad).map(drop))
    }

    aead_open, aead_open_dirty(
        env, aead: ResourceArc<Aead>, sealed: Binary, aad: Binary
    ), message [sealed, aad] {
        let parts = sealed.split_at_checked(aead.0.nonce_len());
        let (nonce, data) = parts.ok_or(CallError::AUTHENTICATION)?;
        aead.decrypt(env, nonce, data, &aad)
    }

    aead_encrypt, aead_encrypt_dirty(
        env, aead: ResourceArc<Aead>, nonce: Binary, data: Binary, aad: Binary
    ), value [data, aad] {
        written(env, data.len() + aead.0.tag_len(), |out| {
            aead.0.encrypt_into(&nonce, &data, &aad, out).map(drop)
        })
    }

    aead_decrypt, aead_decrypt_dirty(
        env, aead: ResourceArc<Aead>, nonce: Binary, data: Binary, aad: Binary
    ), message [data, aad] {
        aead.decrypt(env, &nonce, &data, &aad)
    }
}
