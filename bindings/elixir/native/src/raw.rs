//! Keystreams at any offset and Poly1305.

use crate::error::{Answer, ArgumentError, CallError};
use crate::output::{transformed, written};
use crate::schedule::on_both_schedulers;
use crate::speck::{order_named, size_named};
use rustler::{Binary, Encoder, Env, Resource, ResourceArc, Term};
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

#[rustler::nif(schedule = "DirtyCpu")]
fn keystream_new(
    cipher: &str,
    key: Binary,
    iv: Binary,
    counter: u64,
    order: Option<&str>,
) -> Answer<ResourceArc<Keystream>> {
    new(cipher, &key, &iv, counter, order).map(ResourceArc::new).map_err(CallError::raise)
}

fn new(
    cipher: &str,
    key: &[u8],
    iv: &[u8],
    counter: u64,
    order: Option<&str>,
) -> Result<Keystream, CallError> {
    let has_counter = matches!(cipher, "chacha20" | "xchacha20");
    let max = if has_counter { u32::MAX } else { 0 };
    // The other ciphers' IV is their first counter, so the caller means another position than would
    // be used.
    let range = ArgumentError::Range { name: "counter", found: counter, max: max.into() };
    let counter = u32::try_from(counter).ok().filter(|counter| *counter <= max).ok_or(range)?;
    let stream = match cipher {
        "aes-ctr" => Keystream::AesCtr(AesCtr::new(key, iv)?),
        "chacha20" => Keystream::ChaCha20(ChaCha20::new(key, iv, counter)?),
        "xchacha20" => Keystream::XChaCha20(XChaCha20::new(key, iv, counter)?),
        name if name.starts_with("speck") => {
            let order = order_named(order.unwrap_or("big"))?;
            Keystream::Speck(SpeckCtr::new(size_named(name, "")?, key, iv, order)?)
        }
        _ => {
            let expected = "aes-ctr, chacha20, xchacha20, or a size of Speck, for example speck128-256";
            return Err(ArgumentError::Name { name: "cipher", expected: expected.into() }.into());
        }
    };
    if order.is_some() && !matches!(stream, Keystream::Speck(_)) {
        return Err(ArgumentError::Unsuitable("byte_order is for Speck only: omit it for this cipher").into());
    }
    Ok(stream)
}

on_both_schedulers! {
    keystream_xor_at, keystream_xor_at_dirty(
        env, stream: ResourceArc<Keystream>, offset: u64, data: Binary
    ), [data] {
        let crypted = transformed(env, &data, |data| match &*stream {
            Keystream::AesCtr(stream) => stream.xor(offset, data),
            Keystream::ChaCha20(stream) => stream.xor(offset, data),
            Keystream::XChaCha20(stream) => stream.xor(offset, data),
            Keystream::Speck(stream) => stream.xor(offset, data),
        });
        Ok(crypted.map_err(CallError::raise)?.to_term(env))
    }

    poly1305_tag, poly1305_tag_dirty(env, key: Binary, data: Binary), [data] {
        let tag = written(env, TAG_LEN, |out| {
            let mut mac = hazmat::Poly1305::new(&key)?;
            mac.update(&data);
            out.copy_from_slice(&mac.finalize()?);
            Ok::<_, CallError>(())
        });
        Ok(tag.map_err(CallError::raise)?.to_term(env))
    }

    /// Returns whether the tag matches the data, in constant time. A tag of another length does
    /// not.
    poly1305_verify_tag, poly1305_verify_tag_dirty(env, key: Binary, data: Binary, tag: Binary), [data] {
        let mut mac = hazmat::Poly1305::new(&key).map_err(|error| CallError::from(error).raise())?;
        if tag.len() != TAG_LEN {
            return Ok(false.encode(env));
        }
        mac.update(&data);
        match mac.verify(&tag) {
            Ok(()) => Ok(true.encode(env)),
            Err(error) => CallError::from(error).only_authentication().map(|()| false.encode(env)),
        }
    }
}
