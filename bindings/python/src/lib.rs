//! The Python binding of sealane: the module `sealane._native`.
//!
//! A method parses its arguments, detaches from the interpreter, calls the core, and converts
//! errors to exceptions. `unsafe` is allowed in `buffer` only.
#![deny(unsafe_code)]
#![allow(clippy::too_many_arguments, reason = "functions have the arguments that they have in Python")]

mod aead;
mod arguments;
mod batch;
#[allow(unsafe_code, reason = "the buffer protocol is a C interface")]
mod buffer;
mod bulk;
mod detach;
mod deterministic;
mod error;
mod fernet;
mod fields;
mod file;
mod file_keys;
mod folder;
mod hazmat;
mod hybrid;
mod integers;
mod inventory;
mod job;
mod jwe;
mod keys;
mod objects;
mod parquet;
mod plugins;
mod prelude;
mod providers;
mod recipients;
mod rencrypt;
mod sealer;
mod secrets;
mod shared;
mod signing;

use crate::prelude::*;

/// Runs the program ``sealane`` and returns its exit status. ``args[0]`` is the program name.
#[pyfunction]
fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    sealane::keys::set_keyring(keys::keyring_text);
    sealane::keys::set_key_services(keys::keyset_of_service);
    cli::set_url_functions(file_keys::rewrap_url, folder::open_url, folder::create_url);
    let host = format!("Python {}", Python::version_str().split(' ').next().unwrap_or_default());
    py.detach(|| cli::run_in(&host, args))
}

/// The native module of the package ``sealane``; the package is the public interface.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::exceptions::PyImportError;
    use pyo3::prelude::*;
    use pyo3::sync::PyOnceLock;

    #[pymodule_export]
    use crate::{
        aead::{Aead, Buffer, generate_key},
        bulk::Operation,
        deterministic::DeterministicAead,
        fernet::Fernet,
        fields::FieldOpener,
        file::{
            Decryptor, FileInfo, Ranges, Reader, Writer, check_file, decrypt_bytes, decrypt_path,
            encrypt_bytes, encrypt_path, inspect_path, plain_len, rewrap_path, salvage_path, sealed_len,
            sealed_range, verify_path,
        },
        file_keys::{DecryptWith, EncryptWith, RewrapWith},
        folder::{DescribedFolder, Vault},
        hazmat::{
            AeadDecryptor, AeadEncryptor, AesCtr, ChaCha20, Poly1305, Speck, SpeckAead, SpeckCtr, XChaCha20,
        },
        hybrid::{
            ecies_decrypt, ecies_encrypt, hpke_open, hpke_seal, hybrid_open, hybrid_seal, rsa_open_parts,
        },
        inventory::{compare_inventory_path, write_inventory_path},
        job::Job,
        jwe::{jwe_decrypt, jwe_encrypt},
        keys::{
            Key, Keyring, KeyringKey, PublicKey, accept_key, check_key, check_token_key, cleartext_keyset,
            derive, duplicate_keyring, encrypted_keyset, generate, is_secret, keyset_ciphertext, kinds, load,
            load_reference, new_dataset_key, parse_key, read_reference, remember_key,
            replace_keyset_ciphertext, rewrap_dataset_key, shown_token_key, split_reference, token_decrypt,
            token_encrypt,
        },
        parquet::parquet_footer,
        plugins::{disable_plugins, enable_plugins, plugin_identity},
        providers::{AlgorithmInfo, ProviderInfo, algorithms, providers},
        rencrypt::REncrypt,
        run_cli,
        shared::CallLock,
        signing::Signature,
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages use")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Header length of a chunked-encryption@v1 file in bytes.
    #[pymodule_export]
    const HEADER_LEN: usize = sealane::file::HEADER_LEN;

    /// Plaintext bytes in a full chunk of that format.
    #[pymodule_export]
    const CHUNK_LEN: usize = sealane::file::CHUNK_LEN;

    /// Refuses a second interpreter: PyO3 finds our exceptions once, and `except` would not know
    /// those of another one. Lets folders use key services. Removes the list of names that PyO3
    /// makes: the type stubs would have to repeat it.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        static FIRST: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        let py = module.py();
        let own = py.import("sys")?;
        if !FIRST.get_or_init(py, || own.clone().unbind()).is(&own) {
            return Err(PyImportError::new_err("another interpreter of this process has imported sealane"));
        }
        sealane::keys::set_wrapping_services(crate::folder::SERVICES);
        crate::keys::never_pickle(module)?;
        module.delattr("__all__")
    }
}
