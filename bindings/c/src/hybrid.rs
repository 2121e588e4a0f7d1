//! Messages for the holder of a private key.

use crate::call::exports;
use crate::keys::Secret;
use crate::memory::{Destination, ResultBytes};
use sealane::hybrid::{self, Options};
use sealane::keys::PublicKey;

exports! {
    fn sealane_hybrid_seal(
        public_key: &str, data: &[u8][data_len], aad: &[u8][aad_len], info: &[u8][info_len],
        suite: Option<&str>, out: Destination
    ) -> i64 {
        let public_key = PublicKey::from_text(public_key)?;
        let options = Options::named(info, suite)?;
        let sealer = hybrid::sealer(&public_key, options)?;
        let mut message = ResultBytes::zeroed(sealer.sealed_len(data.len())?)?;
        sealer.seal_into(data, aad, message.bytes())?;
        Ok(message.give(out))
    }

    fn sealane_hybrid_open(
        secret: &Secret, message: &[u8][message_len], aad: &[u8][aad_len], info: &[u8][info_len],
        suite: Option<&str>, out: Destination
    ) -> i64 {
        let options = Options::named(info, suite)?;
        let opener = hybrid::opener(secret.key(), options)?;
        let mut data = ResultBytes::zeroed(opener.opened_len(message.len())?)?;
        opener.open_into(message, aad, data.bytes())?;
        Ok(data.give(out))
    }
}
