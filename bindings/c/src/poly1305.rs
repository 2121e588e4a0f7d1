//! The one-time authenticator Poly1305.

use crate::call::{exports, freed};
use crate::memory::{Output, Owned, count};
use sealane::Misuse;
use sealane::hazmat::{self, TAG_LEN};

/// A tag being computed; `None` afterwards.
pub(crate) struct Poly1305(Option<hazmat::Poly1305>);

exports! {
    fn sealane_hazmat_poly1305_new(key: &[u8][key_len]) -> Owned<Poly1305> {
        let mac = hazmat::Poly1305::new(key)?;
        Ok(Owned::new(Poly1305(Some(mac))))
    }

    fn sealane_hazmat_poly1305_new_from_chacha20(
        key: &[u8][key_len], nonce: &[u8][nonce_len]
    ) -> Owned<Poly1305> {
        Ok(Owned::new(Poly1305(Some(hazmat::Poly1305::from_chacha20(key, nonce)?))))
    }
}

freed!(sealane_poly1305_free(poly1305: Poly1305));

exports! {
    fn sealane_poly1305_update(poly1305: &mut Poly1305, data: &[u8][data_len]) -> i64 {
        let mac = poly1305.0.as_mut();
        mac.ok_or(Misuse::AlreadyFinalized)?.update(data);
        Ok(count(data.len()))
    }

    fn sealane_poly1305_finalize(poly1305: &mut Poly1305, tag: Output[tag_len]) -> i64 {
        let mac = &mut poly1305.0;
        let tag = tag.first(TAG_LEN)?;
        tag.copy_from_slice(&mac.take().ok_or(Misuse::AlreadyFinalized)?.finalize()?);
        Ok(count(tag.len()))
    }

    fn sealane_poly1305_verify(poly1305: &mut Poly1305, tag: &[u8][tag_len]) -> i64 {
        let mac = &mut poly1305.0;
        // Checked before taking the message, so that the caller can retry.
        if tag_len != TAG_LEN {
            return Err(Misuse::TagLength { got: tag_len, want: TAG_LEN }.into());
        }
        mac.take().ok_or(Misuse::AlreadyFinalized)?.verify(tag)?;
        Ok(0)
    }
}
