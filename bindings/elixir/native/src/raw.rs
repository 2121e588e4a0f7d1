//! Keystreams at any offset and Poly1305.

use crate::error::{ArgumentError, verified};
use crate::output::{copied, transformed};
use crate::schedule::{on_both_schedulers, on_dirty_scheduler};
use crate::speck::{order_named, size_named};
use rustler::{Binary, Resource, ResourceArc};
use sealane::hazmat::{self, AesCtr, ChaCha20, SpeckCtr, XChaCha20};

/// Length of a Poly1305 tag in bytes.
const TAG_LEN: usize = 16;

/// A keystream with its key and IV.
pub(crate) enum Keystream {
    AesCtr(AesCtr),
    ChaCha20(ChaCha20),
    XChaCha20(XChaCha20),
    Speck(SpeckCtr),
}

#[rustler::resource_impl]
impl Resource for Keystream {}

on_dirty_scheduler! { "DirtyCpu":
    value fn keystream_new(cipher: &str, key: Binary, iv: Binary, counter: u64, order: Option<&str>) {
        let has_counter = matches!(cipher, "chacha20" | "xchacha20");
        let max = if has_counter { u32::MAX } else { 0 };
        // The other ciphers' IV is their first counter, so the caller means another position than
        // would be used.
        let range = ArgumentError::Range { name: "counter", found: counter, max: max.into() };
        let counter = u32::try_from(counter).ok().filter(|counter| *counter <= max).ok_or(range)?;
        let stream = match cipher {
            "aes-ctr" => Keystream::AesCtr(AesCtr::new(&key, &iv)?),
            "chacha20" => Keystream::ChaCha20(ChaCha20::new(&key, &iv, counter)?),
            "xchacha20" => Keystream::XChaCha20(XChaCha20::new(&key, &iv, counter)?),
            name if name.starts_with("speck") => {
                let order = order_named(order.unwrap_or("big"))?;
                Keystream::Speck(SpeckCtr::new(size_named(name, "")?, &key, &iv, order)?)
            }
            _ => {
                let expected = "aes-ctr, chacha20, xchacha20, or a size of Speck, for example speck128-256";
                return Err(ArgumentError::Name { name: "cipher", expected: expected.into() }.into());
            }
        };
        if order.is_some() && !matches!(stream, Keystream::Speck(_)) {
            let expected = "byte_order is for Speck only: omit it for this cipher";
            return Err(ArgumentError::Unsuitable(expected).into());
        }
        Ok(ResourceArc::new(stream))
    }
}

on_both_schedulers! {
    keystream_xor_at, keystream_xor_at_dirty(
        env, stream: ResourceArc<Keystream>, offset: u64, data: Binary
    ), value [data] {
        transformed(env, &data, |data| match &*stream {
            Keystream::AesCtr(stream) => stream.xor(offset, data),
            Keystream::ChaCha20(stream) => stream.xor(offset, data),
            Keystream::XChaCha20(stream) => stream.xor(offset, data),
            Keystream::Speck(stream) => stream.xor(offset, data),
        })
    }

    poly1305_tag, poly1305_tag_dirty(env, key: Binary, data: Binary), value [data] {
        let mut mac = hazmat::Poly1305::new(&key)?;
        mac.update(&data);
        copied(env, &mac.finalize()?)
    }

    /// Returns whether the tag matches the data, in constant time. A tag of another length does
    /// not.
    poly1305_verify_tag, poly1305_verify_tag_dirty(
        _env, key: Binary, data: Binary, tag: Binary
    ), value [data] {
        let mut mac = hazmat::Poly1305::new(&key)?;
        if tag.len() != TAG_LEN {
            return Ok(false);
        }
        mac.update(&data);
        verified(mac.verify(&tag))
    }
}
