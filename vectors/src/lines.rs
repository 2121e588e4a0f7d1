//! The ciphers' vectors as lines of text, for languages without a JSON reader.
//!
//! ```text
//! aead NAME KEY NONCE AAD PLAINTEXT CIPHERTEXT||TAG RESULT  RESULT: valid, invalid, nonce-length
//! stream NAME ORDER KEY IV COUNTER PLAINTEXT CIPHERTEXT     COUNTER: ChaCha20's first block
//! poly1305 KEY MESSAGE TAG
//! block NAME ORDER KEY PLAINTEXT CIPHERTEXT                 ORDER: big or little; - without Speck
//! file NAME KEY CONTEXT FILE RESULT LENGTH                  LENGTH: plaintext bytes if valid
//! ```
//!
//! One space separates fields. Bytes are lower-case hex digits; `-` means no bytes. Lines that
//! begin with `#` are comments. A reader must reject kinds it does not know.

use crate::{ChaCha20Part, Outcome, SpeckMode, SpeckOrder};
use std::fmt::Write;

/// Maximum bytes of a file in a line. Two published files of 4 MiB would make `lines.txt` 17 MB
/// long.
const MAX_FILE_LEN: usize = 1 << 16;

/// Returns the content of `vectors/lines.txt`: cases of AEADs, keystreams, Poly1305, Speck and
/// chunked files.
///
/// # Panics
/// Panics if one of the published files cannot be parsed or is missing.
pub fn lines() -> String {
    let mut text = String::from(
        "# Written by `cargo run -p sealane-vectors --example lines`. vectors/src/lines.rs describes the fields.\n",
    );
    for case in crate::aead().into_iter().chain(crate::speck_poly1305()) {
        let sealed = [&case.ciphertext[..], &case.tag].concat();
        let result = match case.result {
            _ if case.nonce.len() != nonce_len(&case.algorithm) => "nonce-length",
            Outcome::Valid => "valid",
            Outcome::Invalid => "invalid",
        };
        let parts = [&case.key[..], &case.nonce, &case.aad, &case.plaintext, &sealed].map(hex);
        line(&mut text, &["aead", &case.algorithm, &parts.join(" "), result]);
    }
    for case in crate::aes_ctr() {
        let parts = [&case.iv[..], &case.plaintext, &case.ciphertext];
        stream(&mut text, "aes-ctr", "-", &case.key, 0, parts);
    }
    for case in crate::chacha20() {
        // The other cases are HChaCha20's. The bindings do not offer it.
        if let ChaCha20Part::Stream { nonce, counter, plaintext, ciphertext } = &case.part {
            let name = if nonce.len() == 24 { "xchacha20" } else { "chacha20" };
            stream(&mut text, name, "-", &case.key, *counter, [nonce, plaintext, ciphertext]);
        }
    }
    for case in crate::speck() {
        let order = match case.order {
            SpeckOrder::Big => "big",
            SpeckOrder::Little => "little",
        };
        let parts = [&case.iv[..], &case.plaintext, &case.ciphertext];
        match case.mode {
            SpeckMode::Ctr => stream(&mut text, &case.algorithm, order, &case.key, 0, parts),
            SpeckMode::Ecb => {
                let bytes = [&case.key[..], &case.plaintext, &case.ciphertext].map(hex);
                line(&mut text, &["block", &case.algorithm, order, &bytes.join(" ")]);
            }
            // The bindings have no CBC. Tests of the kernels compute these cases.
            SpeckMode::Cbc => {}
        }
    }
    for case in crate::poly1305() {
        line(&mut text, &["poly1305", &hex(&case.key), &hex(&case.message), &hex(&case.tag)]);
    }
    for case in crate::chunked().into_iter().filter(|case| case.ciphertext.len() <= MAX_FILE_LEN) {
        let bytes = [&case.key[..], &case.context, &case.ciphertext].map(hex).join(" ");
        let (result, len) = match (case.result, case.message_len) {
            (Outcome::Valid, Some(len)) => ("valid", len),
            _ => ("invalid", 0),
        };
        line(&mut text, &["file chunked", &bytes, result, &len.to_string()]);
    }
    text
}

fn stream(text: &mut String, name: &str, order: &str, key: &[u8], counter: u32, parts: [&[u8]; 3]) {
    let [iv, plaintext, ciphertext] = parts.map(hex);
    line(text, &["stream", name, order, &hex(key), &iv, &counter.to_string(), &plaintext, &ciphertext]);
}

/// Returns an algorithm's nonce length; for Speck-Poly1305, the block length.
///
/// # Panics
/// Panics for an unknown algorithm, so that a new one is added here.
fn nonce_len(algorithm: &str) -> usize {
    match algorithm {
        "xchacha20-poly1305" | "xaes-256-gcm" => 24,
        name if name.starts_with("aegis-128") => 16,
        name if name.starts_with("aegis-256") => 32,
        name if name.starts_with("aes-") || name == "chacha20-poly1305" => 12,
        name => {
            match name.strip_prefix("speck").and_then(|sizes| sizes.split('-').next()?.parse::<usize>().ok())
            {
                // The nonce is a whole block.
                Some(bits) => bits / 8,
                None => panic!("{name}: the length of its nonces is unknown"),
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".into() } else { ::hex::encode(bytes) }
}

fn line(text: &mut String, fields: &[&str]) {
    writeln!(text, "{}", fields.join(" ")).expect("a string takes every text");
}
