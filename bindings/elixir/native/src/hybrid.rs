//! Messages for the holder of a private key.

use crate::keys::Secret;
use crate::prelude::*;
use sealane::hybrid::{self, Options};
use sealane::keys::PublicKey;

on_dirty_scheduler! { "DirtyCpu":
    tuple fn hybrid_seal[env](
        public_key: &str, data: Binary, aad: Binary, info: Binary, suite: Option<&str>
    ) {
        let public_key = PublicKey::from_text(public_key)?;
        let sealer = hybrid::sealer(&public_key, Options::named(&info, suite)?)?;
        written(env, sealer.sealed_len(data.len())?, |out| sealer.seal_exact(&data, &aad, out))
    }

    tuple fn hybrid_open[env](
        key: ResourceArc<Secret>, message: Binary, aad: Binary, info: Binary, suite: Option<&str>
    ) {
        let opener = hybrid::opener(key.key(), Options::named(&info, suite)?)?;
        let len = opener.opened_len(message.len())?;
        written(env, len, |out| opener.open_into(&message, &aad, out).map(drop))
    }
}
