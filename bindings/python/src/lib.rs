//! The Python door of sealane: the module `sealane._native`.
//!
//! It translates and does not think: a method takes its arguments apart, lets other Python threads run, calls the
//! core, and turns errors into exceptions. One file for each name in Python; `unsafe` in `buffer` alone.
#![deny(unsafe_code)]

mod aead;
#[allow(unsafe_code, reason = "the one room for it")]
mod buffer;
mod bulk;
mod error;
mod file;
mod file_keys;
mod hazmat;
mod hybrid;
mod keys;
mod manifest;
mod number;
mod place;
mod providers;
mod ranges;
mod recipients;
mod rencrypt;
mod sealer;
mod text;
mod tree;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs one command line of the program ``sealane`` and returns its exit status. ``args[0]`` is the program's name.
#[pyfunction]
fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    sealane::keys::set_keyring(keys::keyring_text);
    py.detach(|| cli::run(args))
}

/// The native half of sealane. Use the package ``sealane``.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        aead::{Aead, Buffer, generate_key},
        bulk::Operation,
        file::{
            Decryptor, FileInfo, Reader, Writer, decrypt_bytes, decrypt_path, encrypt_bytes, encrypt_path,
            inspect_path, verify_path,
        },
        file_keys::{DecryptWith, EncryptWith},
        hazmat::{
            AeadDecryptor, AeadEncryptor, AesCtr, ChaCha20, Poly1305, Speck, SpeckAead, SpeckCtr, XChaCha20,
        },
        hybrid::{
            ecies_decrypt, ecies_encrypt, hpke_open, hpke_seal, hybrid_open, hybrid_seal, rsa_open_parts,
        },
        keys::{Key, PublicKey, TinkKeyset, derive, generate, kinds, load, parse_key, read_reference},
        manifest::Manifest,
        providers::{AlgorithmInfo, ProviderInfo, algorithms, providers},
        ranges::{Ranges, plain_len, sealed_len, sealed_range},
        rencrypt::REncrypt,
        run_cli,
        tree::walk,
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Bytes before the first chunk of a file in the format chunked-encryption@v1.
    #[pymodule_export]
    const HEADER_LEN: usize = sealane::file::HEADER_LEN;

    /// Length in bytes from which a bulk job gives one source file all threads.
    #[pymodule_export]
    const PARALLEL_FILE_LEN: u64 = sealane::file::PARALLEL_FILE_LEN;

    /// Bytes of plaintext in a full chunk of it.
    #[pymodule_export]
    const CHUNK_LEN: usize = sealane::file::CHUNK_LEN;
}
