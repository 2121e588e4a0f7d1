//! `sealane.algorithms()` and `sealane.providers()`: the algorithms and their implementations.

use crate::prelude::*;

/// An algorithm in ``sealane.algorithms()``. Lengths are in bytes.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct AlgorithmInfo {
    /// The name for ``Aead``, such as "aes-256-gcm".
    name: &'static str,
    /// Key length in bytes.
    key_len: usize,
    /// Nonce length in bytes.
    nonce_len: usize,
    /// Tag length in bytes.
    tag_len: usize,
    /// Maximum message length in bytes.
    max_plaintext_len: u64,
    /// Maximum length of the associated data in bytes.
    max_aad_len: u64,
    /// The specification, such as "NIST SP 800-38D".
    source: &'static str,
}

#[pymethods]
impl AlgorithmInfo {
    fn __repr__(&self) -> String {
        let Self { name, key_len, nonce_len, tag_len, .. } = self;
        format!("<{name}: key {key_len}, nonce {nonce_len}, tag {tag_len} bytes>")
    }
}

/// An algorithm with a provider, from ``sealane.providers()``.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct ProviderInfo {
    /// Name of the algorithm, such as "aes-256-gcm".
    algorithm: &'static str,
    /// Name of the provider: "native", "aws-lc" or "rustcrypto".
    provider: &'static str,
    /// Variant (the code for an instruction set); empty if the provider lacks the algorithm.
    variant: &'static str,
    /// Whether the provider can compute the algorithm on this machine.
    available: bool,
    /// Why the pair is unavailable; empty if it is available.
    reason: String,
    /// Whether ``Aead`` uses this provider by default.
    chosen: bool,
}

#[pymethods]
impl ProviderInfo {
    fn __repr__(&self) -> String {
        let Self { algorithm, provider, variant, .. } = self;
        let state = match (self.available, self.chosen) {
            (false, _) => self.reason.as_str(),
            (true, false) => "available",
            (true, true) => "chosen",
        };
        format!("<{algorithm} by {provider} ({variant}): {state}>")
    }
}

/// Lists the algorithms of ``Aead`` with their lengths and limits.
///
/// Examples
/// --------
/// >>> [row.name for row in sealane.algorithms() if row.nonce_len == 24]
/// ['xchacha20-poly1305', 'xaes-256-gcm']
#[pyfunction]
pub(crate) fn algorithms() -> Vec<AlgorithmInfo> {
    let info = |a: &sealane::Algorithm| AlgorithmInfo {
        name: a.name(),
        key_len: a.key_len(),
        nonce_len: a.nonce_len(),
        tag_len: a.tag_len(),
        max_plaintext_len: a.max_plaintext_len(),
        max_aad_len: a.max_aad_len(),
        source: a.source(),
    };
    sealane::Algorithm::ALL.iter().map(info).collect()
}

/// Lists every algorithm with every provider, and why a pair is unavailable on this machine.
///
/// Examples
/// --------
/// >>> [row.provider for row in sealane.providers() if row.algorithm == "aes-256-gcm" and row.chosen]
/// ['native']
#[pyfunction]
pub(crate) fn providers() -> Vec<ProviderInfo> {
    let info = |row: sealane::ListedVariant| {
        let sealane::ListedVariant { algorithm, provider, variant, available, reason, chosen, .. } = row;
        ProviderInfo { algorithm, provider, variant, available, reason, chosen }
    };
    sealane::listing().into_iter().map(info).collect()
}
