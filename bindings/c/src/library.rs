//! Version, listings, random bytes, wiping, and freeing results.

use crate::call::{exports, infallible};
use crate::constants::SEALANE_ABI;
use crate::error::ArgumentError;
use crate::memory::{Out, Output, count, live};
use sealane::{Algorithm, Key, ListedVariant, named};
use std::ffi::c_char;
use std::fmt::Write;
use zeroize::Zeroize;

#[unsafe(no_mangle)]
extern "C" fn sealane_abi() -> u32 {
    SEALANE_ABI
}

#[unsafe(no_mangle)]
extern "C" fn sealane_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[unsafe(no_mangle)]
extern "C" fn sealane_live_handles() -> i64 {
    live()
}

exports! {
    fn sealane_algorithms(text: Output[text_len]) -> i64 {
        let lines = Algorithm::ALL.iter().map(|algorithm| {
            let (name, key, nonce) = (algorithm.name(), algorithm.key_len(), algorithm.nonce_len());
            let (tag, max, max_aad) =
                (algorithm.tag_len(), algorithm.max_plaintext_len(), algorithm.max_aad_len());
            format!("{name}\t{key}\t{nonce}\t{tag}\t{max}\t{max_aad}\n")
        });
        Ok(text.put_text(&lines.collect::<String>()))
    }

    fn sealane_providers(text: Output[text_len]) -> i64 {
        let mut lines = String::new();
        for row in sealane::listing() {
            let ListedVariant { algorithm, provider, variant, available, reason, chosen } = row;
            let [available, chosen] = [available, chosen].map(u8::from);
            // Writing to a string cannot fail.
            let _ = writeln!(
                lines,
                "{algorithm}\t{provider}\t{variant}\t{available}\t{chosen}\t{}",
                reason.replace(['\t', '\n'], " ")
            );
        }
        Ok(text.put_text(&lines))
    }

    fn sealane_set_default_provider(provider: Option<&str>) -> i64 {
        sealane::set_default(named::provider(provider)?).map_err(ArgumentError::from)?;
        Ok(0)
    }

    fn sealane_random(out: Output[out_len]) -> i64 {
        let out = out.bytes();
        out.copy_from_slice(Key::generate(out.len())?.as_bytes());
        Ok(count(out.len()))
    }
}

#[unsafe(no_mangle)]
extern "C" fn sealane_wipe(bytes: Out, bytes_len: usize) {
    infallible(|| {
        crate::memory::Call::lend(|call| {
            // A null pointer has nothing to wipe.
            if let Ok(bytes) = bytes.output(call, "bytes", bytes_len) {
                bytes.bytes().zeroize();
            }
        });
    });
}

#[unsafe(no_mangle)]
extern "C" fn sealane_free(bytes: Out) {
    infallible(|| bytes.free_result());
}
