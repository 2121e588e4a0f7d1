//! The one-time authenticator Poly1305.

use crate::call::{Error, guarded, infallible};
use crate::memory::{In, Input, Out, Owned, Unique, count};
use sealane::Misuse;
use sealane::hazmat::{self, TAG_LEN};

/// A tag being computed; `None` afterwards.
pub(crate) struct Poly1305(Option<hazmat::Poly1305>);

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_poly1305_new(key: In, key_len: usize, error: Unique<Error>) -> Owned<Poly1305> {
    guarded(error, |call| {
        let mac = hazmat::Poly1305::new(key.bytes(call, "key", key_len)?)?;
        Ok(Owned::new(Poly1305(Some(mac))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_poly1305_new_from_chacha20(
    key: In,
    key_len: usize,
    nonce: In,
    nonce_len: usize,
    error: Unique<Error>,
) -> Owned<Poly1305> {
    guarded(error, |call| {
        let (key, nonce) = (key.bytes(call, "key", key_len)?, nonce.bytes(call, "nonce", nonce_len)?);
        Ok(Owned::new(Poly1305(Some(hazmat::Poly1305::from_chacha20(key, nonce)?))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_poly1305_free(poly1305: Owned<Poly1305>) {
    infallible(|| poly1305.free());
}

#[unsafe(no_mangle)]
extern "C" fn sealane_poly1305_update(
    poly1305: Unique<Poly1305>,
    data: In,
    data_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let mac = poly1305.get(call, "poly1305")?.0.as_mut();
        let data = data.bytes(call, "data", data_len)?;
        mac.ok_or(Misuse::AlreadyFinalized)?.update(data);
        Ok(count(data.len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_poly1305_finalize(
    poly1305: Unique<Poly1305>,
    tag: Out,
    tag_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let mac = &mut poly1305.get(call, "poly1305")?.0;
        let tag = tag.output(call, "tag", tag_len)?.arrange(TAG_LEN, Input::none(call), 0, [])?.head;
        tag.copy_from_slice(&mac.take().ok_or(Misuse::AlreadyFinalized)?.finalize()?);
        Ok(count(tag.len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_poly1305_verify(
    poly1305: Unique<Poly1305>,
    tag: In,
    tag_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let mac = &mut poly1305.get(call, "poly1305")?.0;
        let tag = tag.bytes(call, "tag", tag_len)?;
        // Checked before taking the message, so that the caller can retry.
        if tag_len != TAG_LEN {
            return Err(Misuse::TagLength { got: tag_len, want: TAG_LEN }.into());
        }
        mac.take().ok_or(Misuse::AlreadyFinalized)?.verify(tag)?;
        Ok(0)
    })
}
