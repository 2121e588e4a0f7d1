//! AEGIS, all six algorithms, with 16-byte tags, from libaegis (C) in the crate `aegis`.
//!
//! The crate copies the key for each message and does not wipe that copy. The stored key is wiped.

use crate::Algorithm::*;
use crate::kernel::aes_instructions;
use crate::key::{copied, key_array, nonce_array, rejected};
use crate::{AeadKey, Entry, InOut, OpenResult, Parts, Provider, SealError, SealResult};
use zeroize::Zeroizing;

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// libaegis, through the crate `aegis`.
    pub const Aegis: Self = Self::new("aegis");
}

/// Messages apart use the incremental call from this size on: it saves the copy but wipes its state
/// byte by byte afterwards. Below, the copy is cheaper (tried at 1, 4 and 16 KiB on Granite Rapids,
/// 2026-11-21).
const INCREMENTAL: usize = 16 << 10;

/// Implements [`AeadKey`] for a type of the crate and makes the entries.
///
/// Without AES instructions, libaegis falls back on code that may not run in constant time, so the
/// entries are unavailable.
macro_rules! aegis {
    ($($algorithm:ident $module:ident key $key_len:literal nonce $nonce_len:literal;)*) => {
        pub(super) static ENTRIES: &[Entry] = &[$(
            Entry::opaque($algorithm, Provider::Aegis, 2, |key| {
                Ok(Box::new($module(Zeroizing::new(*key_array(key)?))))
            })
            .available_if(aes_instructions),
        )*];

        $(
            #[allow(non_camel_case_types, reason = "named like the module of the crate")]
            struct $module(Zeroizing<[u8; $key_len]>);

            impl $module {
                fn message(&self, nonce: &[u8]) -> Result<::aegis::$module::$algorithm<16>, SealError> {
                    let nonce: &[u8; $nonce_len] = nonce_array(nonce)?;
                    Ok(::aegis::$module::$algorithm::new(&self.0, nonce))
                }
            }

            impl AeadKey for $module {
                fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> SealResult {
                    let message = self.message(nonce)?;
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

                fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8; 16]) -> OpenResult {
                    let Ok(message) = self.message(nonce) else { return Err(rejected(data.target())) };
                    match data.into_parts() {
                        Parts::Apart(from, to) if from.len() >= INCREMENTAL => {
                            let mut message = message.decryptor(aad, &mut *to);
                            let opened = message.update(from).and_then(|()| message.finalize(tag).map(drop));
                            // The library's error is `Unspecified`.
                            opened.map_err(|_| rejected(to))
                        }
                        parts => {
                            let data = copied(parts);
                            // The library's error is `Unspecified`.
                            message.decrypt_in_place(data, tag, aad).map_err(|_| rejected(data))
                        }
                    }
                }
            }
        )*
    };
}

aegis! {
    Aegis128L  aegis128l  key 16 nonce 16;
    Aegis128X2 aegis128x2 key 16 nonce 16;
    Aegis128X4 aegis128x4 key 16 nonce 16;
    Aegis256   aegis256   key 32 nonce 32;
    Aegis256X2 aegis256x2 key 32 nonce 32;
    Aegis256X4 aegis256x4 key 32 nonce 32;
}
