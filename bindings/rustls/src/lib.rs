//! sealane's AEADs for rustls.
//!
//! rustls computes a handshake with a `CryptoProvider`: key exchange, signatures, hashes, random
//! bytes and cipher suites. [`with_sealane`] takes a provider, such as `ring`'s or `aws-lc-rs`'s,
//! and replaces its AEADs. sealane's AES-128-GCM, AES-256-GCM and ChaCha20-Poly1305 encrypt and
//! decrypt the records of TLS 1.2 and 1.3; everything else, including QUIC, stays with the given
//! provider.
//!
//! ```
//! use rustls::{ClientConfig, RootCertStore};
//! use std::sync::Arc;
//!
//! let provider = sealane_rustls::with_sealane(rustls::crypto::ring::default_provider())?;
//! let config = ClientConfig::builder_with_provider(Arc::new(provider))
//!     .with_safe_default_protocol_versions()?
//!     .with_root_certificates(RootCertStore::empty())
//!     .with_no_client_auth();
//! # assert!(!config.fips());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! An unauthentic record is `rustls::Error::DecryptError`, and rustls ends the connection.
//!
//! # Limits
//!
//! rustls limits the records under one key; the given provider's limits stay. `fips()` of the
//! cipher suites is false.
#![forbid(unsafe_code)]

mod aead;
mod tls12;
mod tls13;

use aead::algorithm_of;
use rustls::crypto::CryptoProvider;
use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};
use sealane::provider::{Unavailable, choose};

/// Replaces a rustls provider's AEADs with sealane's.
///
/// Cipher suites with other AEADs stay as they are. The new cipher suites are never freed, as
/// rustls requires, so call this once per process.
///
/// # Errors
/// Returns [`Unavailable`] if this machine cannot run an algorithm, or if `SEALANE_PROVIDER` or
/// `SEALANE_CPU` is invalid.
pub fn with_sealane(base: CryptoProvider) -> Result<CryptoProvider, Unavailable> {
    let cipher_suites = base.cipher_suites.iter().map(replaced).collect::<Result<_, _>>()?;
    Ok(CryptoProvider { cipher_suites, ..base })
}

fn replaced(suite: &SupportedCipherSuite) -> Result<SupportedCipherSuite, Unavailable> {
    let Some(ours) = algorithm_of(suite.suite()) else { return Ok(*suite) };
    // Each connection makes a key. Check now that this will succeed.
    choose(ours, None)?;
    Ok(match suite {
        SupportedCipherSuite::Tls13(base) => {
            SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
                common: common(&base.common),
                hkdf_provider: base.hkdf_provider,
                aead_alg: Box::leak(Box::new(tls13::Records(ours))),
                quic: base.quic,
            })))
        }
        SupportedCipherSuite::Tls12(base) => {
            SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
                common: common(&base.common),
                prf_provider: base.prf_provider,
                kx: base.kx,
                sign: base.sign,
                aead_alg: Box::leak(Box::new(tls12::Records::of(ours))),
            })))
        }
    })
}

fn common(base: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: base.suite,
        hash_provider: base.hash_provider,
        confidentiality_limit: base.confidentiality_limit,
    }
}
