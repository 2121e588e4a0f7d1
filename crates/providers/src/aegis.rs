//! AEGIS, all six, with 16-byte tags, from libaegis (C) in the crate `aegis`.
//!
//! The crate copies the key into its own object for each message and does not wipe that copy; the key kept between
//! messages is wiped.

use crate::key::{copied, forged};
use crate::{AeadKey, Failed, Forged, InOut, Parts};
use zeroize::Zeroizing;

/// From this length on, messages apart go through the incremental call, which saves the copy but wipes its state
/// byte by byte afterwards. Below, the copy is cheaper (tried at 1, 4 and 16 KiB on Granite Rapids, 2026-11-21).
const INCREMENTAL: usize = 16 << 10;

macro_rules! aegis {
    ($($make:ident $key:ident $module:ident $inner:ident key $key_len:literal nonce $nonce_len:literal;)*) => {$(
        pub(crate) fn $make(key: &[u8]) -> Result<Box<dyn AeadKey>, Failed> {
            Ok(Box::new($key(Zeroizing::new(key.try_into().map_err(|_| Failed)?))))
        }

        struct $key(Zeroizing<[u8; $key_len]>);

        impl $key {
            fn message(&self, nonce: &[u8]) -> Option<::aegis::$module::$inner<16>> {
                Some(::aegis::$module::$inner::new(&self.0, nonce.try_into().ok()?))
            }
        }

        impl AeadKey for $key {
            fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
                let message = self.message(nonce).ok_or(Failed)?;
                let tag: &mut [u8; 16] = tag.try_into().map_err(|_| Failed)?;
                *tag = match data.into_parts() {
                    Parts::Apart(from, to) if from.len() >= INCREMENTAL => {
                        let mut message = message.encryptor(aad);
                        message.update(from, to);
                        message.finalize()
                    }
                    parts => message.encrypt_in_place(copied(parts), aad),
                };
                Ok(())
            }

            fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
                let (Some(message), Ok(tag)) = (self.message(nonce), tag.try_into()) else {
                    return Err(forged(data.target()));
                };
                match data.into_parts() {
                    Parts::Apart(from, to) if from.len() >= INCREMENTAL => {
                        let mut message = message.decryptor(aad, &mut *to);
                        let opened = message.update(from).and_then(|()| message.finalize(tag).map(drop));
                        opened.map_err(|_| forged(to))
                    }
                    parts => {
                        let data = copied(parts);
                        message.decrypt_in_place(data, tag, aad).map_err(|_| forged(data))
                    }
                }
            }
        }
    )*};
}

aegis! {
    aegis_128l  Aegis128L  aegis128l  Aegis128L  key 16 nonce 16;
    aegis_128x2 Aegis128X2 aegis128x2 Aegis128X2 key 16 nonce 16;
    aegis_128x4 Aegis128X4 aegis128x4 Aegis128X4 key 16 nonce 16;
    aegis_256   Aegis256   aegis256   Aegis256   key 32 nonce 32;
    aegis_256x2 Aegis256X2 aegis256x2 Aegis256X2 key 32 nonce 32;
    aegis_256x4 Aegis256X4 aegis256x4 Aegis256X4 key 32 nonce 32;
}
