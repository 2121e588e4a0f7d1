//! The algorithms by their registered names (RFC 7518, sections 4.1 and 5.1).

use crate::asymmetric::rsa::Oaep;
use crate::prelude::*;
use aws_lc_rs::cipher::{self, AES_128, AES_192, AES_256};
use aws_lc_rs::{hmac, pbkdf2};

/// How a token's content encryption key gets from the sender to the recipient (`alg`).
pub(super) struct Alg {
    pub(super) name: &'static str,
    pub(super) how: How,
}

#[derive(Clone, Copy)]
pub(super) enum How {
    /// The shared key encrypts the content.
    Direct,
    /// AES Key Wrap with a key of so many bytes.
    Wrap(usize),
    /// AES-GCM encrypts the content encryption key.
    GcmWrap(Algorithm),
    /// ECDH with an ephemeral key. It derives the content encryption key, or a key of so many bytes
    /// that wraps it.
    Agreement(Option<usize>),
    Oaep(Oaep),
    /// PBKDF2 derives a wrapping key of so many bytes from a password.
    Password(pbkdf2::Algorithm, usize),
}

/// How the content is encrypted (`enc`).
pub(super) struct Enc {
    pub(super) name: &'static str,
    pub(super) key_len: usize,
    pub(super) cipher: Cipher,
}

pub(super) enum Cipher {
    Gcm(Algorithm),
    CbcHmac(&'static hmac::Algorithm, &'static cipher::Algorithm),
}

static ALGS: [Alg; 18] = [
    Alg { name: "dir", how: How::Direct },
    Alg { name: "A128KW", how: How::Wrap(16) },
    Alg { name: "A192KW", how: How::Wrap(24) },
    Alg { name: "A256KW", how: How::Wrap(32) },
    Alg { name: "A128GCMKW", how: How::GcmWrap(Algorithm::Aes128Gcm) },
    Alg { name: "A192GCMKW", how: How::GcmWrap(Algorithm::Aes192Gcm) },
    Alg { name: "A256GCMKW", how: How::GcmWrap(Algorithm::Aes256Gcm) },
    Alg { name: "ECDH-ES", how: How::Agreement(None) },
    Alg { name: "ECDH-ES+A128KW", how: How::Agreement(Some(16)) },
    Alg { name: "ECDH-ES+A192KW", how: How::Agreement(Some(24)) },
    Alg { name: "ECDH-ES+A256KW", how: How::Agreement(Some(32)) },
    Alg { name: "RSA-OAEP", how: How::Oaep(Oaep::Sha1) },
    Alg { name: "RSA-OAEP-256", how: How::Oaep(Oaep::Sha256) },
    Alg { name: "RSA-OAEP-384", how: How::Oaep(Oaep::Sha384) },
    Alg { name: "RSA-OAEP-512", how: How::Oaep(Oaep::Sha512) },
    Alg { name: "PBES2-HS256+A128KW", how: How::Password(pbkdf2::PBKDF2_HMAC_SHA256, 16) },
    Alg { name: "PBES2-HS384+A192KW", how: How::Password(pbkdf2::PBKDF2_HMAC_SHA384, 24) },
    Alg { name: "PBES2-HS512+A256KW", how: How::Password(pbkdf2::PBKDF2_HMAC_SHA512, 32) },
];

static ENCS: [Enc; 6] = [
    Enc { name: "A128GCM", key_len: 16, cipher: Cipher::Gcm(Algorithm::Aes128Gcm) },
    Enc { name: "A192GCM", key_len: 24, cipher: Cipher::Gcm(Algorithm::Aes192Gcm) },
    Enc { name: "A256GCM", key_len: 32, cipher: Cipher::Gcm(Algorithm::Aes256Gcm) },
    Enc { name: "A128CBC-HS256", key_len: 32, cipher: Cipher::CbcHmac(&hmac::HMAC_SHA256, &AES_128) },
    Enc { name: "A192CBC-HS384", key_len: 48, cipher: Cipher::CbcHmac(&hmac::HMAC_SHA384, &AES_192) },
    Enc { name: "A256CBC-HS512", key_len: 64, cipher: Cipher::CbcHmac(&hmac::HMAC_SHA512, &AES_256) },
];

impl Alg {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALGS.iter().find(|alg| alg.name == name)
    }

    pub(super) fn is_password(&self) -> bool {
        matches!(self.how, How::Password(..))
    }
}

impl Enc {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ENCS.iter().find(|enc| enc.name == name)
    }
}

/// Returns the error for a name in a call that no algorithm has.
pub(super) fn unknown() -> Error {
    let known = ALGS.iter().map(|alg| alg.name).chain(ENCS.iter().map(|enc| enc.name));
    Misuse::unknown("algorithm", known).into()
}

/// The names in a call's list of accepted algorithms; those of one sort restrict only that sort.
#[derive(Clone, Copy)]
pub(super) struct Accepted<'a>(Option<&'a [&'a str]>);

impl<'a> Accepted<'a> {
    /// # Errors
    /// Returns [`Misuse::UnknownName`] for an unknown name, and for an empty list.
    pub(super) fn new(names: Option<&'a [&'a str]>) -> Result<Self> {
        let known = |name: &&str| Alg::named(name).is_some() || Enc::named(name).is_some();
        match names {
            Some(names) if names.is_empty() || !names.iter().all(known) => Err(unknown()),
            _ => Ok(Self(names)),
        }
    }

    /// Returns whether the list has this `alg` or `enc`, or none of its sort.
    pub(super) fn has(self, name: &str) -> bool {
        let is_alg = |name| Alg::named(name).is_some();
        self.names(name)
            || self.0.is_none_or(|names| !names.iter().any(|other| is_alg(other) == is_alg(name)))
    }

    /// Returns whether the list names this `alg` or `enc`.
    pub(super) fn names(self, name: &str) -> bool {
        self.0.is_some_and(|names| names.contains(&name))
    }
}
