//! Speck in SpeckEx's style: a key comes with each call.

use crate::output::Output;
use crate::prelude::*;
use sealane::InOut;
use sealane::hazmat::{Aead, ByteOrder, Speck, SpeckCtr, SpeckSize, TAG_LEN};

/// A key of the block cipher.
pub(crate) struct Blocks {
    speck: Speck,
    /// The key's variant. Another variant with the same block length is refused.
    variant: Atom,
}

#[rustler::resource_impl]
impl Resource for Blocks {}

impl Blocks {
    fn check(&self, variant: Atom) -> Result<&Speck> {
        if variant == self.variant {
            return Ok(&self.speck);
        }
        let expected =
            "the key was made for another variant of Speck: give the same variant to init and to this call";
        Err(CallError::Argument(expected))
    }
}

/// Returns the Speck size with this UTF-8 name.
#[inline]
fn size(name: &[u8], suffix: &str) -> Result<SpeckSize> {
    // No name is longer, and a long text would take the time of other processes.
    let name = std::str::from_utf8(&name[..name.len().min(64)]).unwrap_or_default();
    Ok(named::speck_size(name, suffix)?)
}

/// Returns a Speck-Poly1305 key with nonces of a whole block.
fn aead(name: &[u8], key: &[u8], nonce_len: usize) -> Result<Aead> {
    let size = size(name, "")?;
    Ok(if nonce_len == 16 { Aead::new_block_nonce(size, key) } else { Aead::new_small_block(size, key) }?)
}

on_dirty_scheduler! { "DirtyCpu":
    value fn speck_new(variant: Atom, name: &str, key: Binary, order: &str) {
        let speck = Speck::new(named::speck_size(name, "")?, &key, named::byte_order(Some(order))?)?;
        Ok(ResourceArc::new(Blocks { speck, variant }))
    }
}

on_both_schedulers! {
    speck_encrypt_blocks, speck_encrypt_blocks_dirty(
        env, speck: ResourceArc<Blocks>, variant: Atom, data: Binary
    ), value [data] {
        let speck = speck.check(variant)?;
        transformed(env, &data, |data| speck.encrypt_blocks(data))
    }

    speck_decrypt_blocks, speck_decrypt_blocks_dirty(
        env, speck: ResourceArc<Blocks>, variant: Atom, data: Binary
    ), value [data] {
        let speck = speck.check(variant)?;
        transformed(env, &data, |data| speck.decrypt_blocks(data))
    }

    speck_ctr, speck_ctr_dirty(env, name: Binary, key: Binary, iv: Binary, data: Binary), value [data] {
        let stream = SpeckCtr::new(size(&name, "")?, &key, &iv, ByteOrder::Big)?;
        transformed(env, &data, |data| stream.xor(0, data))
    }

    speck_aead_seal, speck_aead_seal_dirty(
        env, name: Binary, key: Binary, iv: Binary, data: Binary, aad: Binary
    ), value [data, aad] {
        let aead = aead(&name, &key, iv.len())?;
        let (mut out, mut tag) = (Output::new(env, data.len())?, Output::new(env, TAG_LEN)?);
        aead.encrypt_parts(&iv, &aad, InOut::apart(&data, out.bytes()), tag.bytes())?;
        Ok((out.finish(), tag.finish()))
    }

    speck_aead_open, speck_aead_open_dirty(
        env, name: Binary, key: Binary, iv: Binary, data: Binary, tag: Binary, aad: Binary
    ), message [data, aad] {
        let aead = aead(&name, &key, iv.len())?;
        transformed(env, &data, |data| aead.decrypt_parts(&iv, &aad, data, &tag))
    }
}
