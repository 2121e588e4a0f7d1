//! Keys of key services and tokens that wrap keyrings.

use super::token::TokenKey;
use crate::prelude::*;
use std::fmt::Display;
use std::sync::OnceLock;

/// Decrypts a ciphertext with the wrapping key of this name.
pub type Unwrap = fn(name: &str, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>>;

/// Functions over the clients of key services. The first argument is a reference without a path,
/// such as `vault:transit/sales`. The texts of errors begin with it.
#[derive(Clone, Copy, Debug)]
pub struct WrappingServices {
    /// Encrypts a cleartext keyset in the binary format.
    pub wrap: fn(name: &str, keyset: &[u8]) -> Result<Vec<u8>>,
    /// Decrypts what `wrap` returned.
    pub unwrap: Unwrap,
}

static SERVICES: OnceLock<WrappingServices> = OnceLock::new();

/// Sets this process's functions for keys of key services that wrap the keys of folders. The first
/// call decides; later calls return `false`. There is no default, as for
/// [`set_key_services`](crate::set_key_services).
pub fn set_wrapping_services(services: WrappingServices) -> bool {
    SERVICES.set(services).is_ok()
}

pub(crate) fn wrap(name: &str, keyset: &[u8]) -> Result<Vec<u8>> {
    match name.starts_with("pkcs11:") {
        true => TokenKey::parse(name)?.encrypt(keyset),
        false => (services(name)?.wrap)(name, keyset),
    }
}

pub(crate) fn unwrap(name: &str, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    match name.starts_with("pkcs11:") {
        true => TokenKey::parse(name)?.decrypt(ciphertext),
        false => (services(name)?.unwrap)(name, ciphertext),
    }
}

fn services(name: &str) -> Result<&'static WrappingServices> {
    SERVICES.get().ok_or_else(|| missing(&name))
}

/// The error without a function for the key service of a reference.
pub(crate) fn missing(reference: &dyn Display) -> Error {
    Error::KeyService(format!(
        "{reference}: this program has no access to key services; use the program of the Python package, installed with \
         'pip install sealane[aws-kms]' or 'sealane[vault]'"
    ))
}
