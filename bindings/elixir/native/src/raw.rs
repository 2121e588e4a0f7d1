//! Keystreams at any offset and Poly1305.

use crate::prelude::*;
use sealane::Error;
use sealane::hazmat::{Poly1305, TAG_LEN};

/// A keystream with its key and IV.
pub(crate) struct Keystream(named::Keystream);

#[rustler::resource_impl]
impl Resource for Keystream {}

on_dirty_scheduler! { "DirtyCpu":
    value fn keystream_new(cipher: &str, key: Binary, iv: Binary, counter: u64, order: Option<&str>) {
        let stream = named::Keystream::new(cipher, &key, &iv, counter, order)?;
        Ok(ResourceArc::new(Keystream(stream)))
    }
}

on_both_schedulers! {
    keystream_xor_at, keystream_xor_at_dirty(
        env, stream: ResourceArc<Keystream>, offset: u64, data: Binary
    ), value [data] {
        transformed(env, &data, |data| stream.0.xor(offset, data))
    }

    poly1305_tag, poly1305_tag_dirty(env, key: Binary, data: Binary), value [data] {
        let mut mac = Poly1305::new(&key)?;
        mac.update(&data);
        copied(env, &mac.finalize()?)
    }

    /// Returns whether the tag matches the data, in constant time. A tag of another length does
    /// not.
    poly1305_verify_tag, poly1305_verify_tag_dirty(
        _env, key: Binary, data: Binary, tag: Binary
    ), value [data] {
        let mut mac = Poly1305::new(&key)?;
        if tag.len() != TAG_LEN {
            return Ok(false);
        }
        mac.update(&data);
        Ok(Error::authentic(mac.verify(&tag))?.is_some())
    }
}
