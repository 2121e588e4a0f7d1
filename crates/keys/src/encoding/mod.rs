//! DER and PEM of keys: PKCS#8, SubjectPublicKeyInfo and encrypted PKCS#8, over the crates `der`
//! and `pkcs8`; JSON of keys.

pub(crate) mod der;
pub(crate) mod json;
pub(crate) mod pbes2;
pub(crate) mod pem;
pub(crate) mod pkcs8;
mod sequence;
pub(crate) mod text;
