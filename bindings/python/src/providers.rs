//! What there is, and who computes it: `sealane.algorithms()` and `sealane.providers()`.

use pyo3::prelude::*;

/// One algorithm: a row of ``sealane.algorithms()``. Lengths are in bytes.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct AlgorithmInfo {
    name: &'static str,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
    max_plaintext_len: u64,
    max_aad_len: u64,
    /// Where it is specified.
    source: &'static str,
}

#[pymethods]
impl AlgorithmInfo {
    fn __repr__(&self) -> String {
        let Self { name, key_len, nonce_len, tag_len, .. } = self;
        format!("<{name}: key {key_len}, nonce {nonce_len}, tag {tag_len} bytes>")
    }
}

/// One algorithm with one provider: a row of ``sealane.providers()``.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct ProviderInfo {
    algorithm: &'static str,
    provider: &'static str,
    /// Which build of it; empty where the pair does not exist.
    variant: &'static str,
    /// Whether it works on this machine.
    available: bool,
    /// Why not; empty where it does.
    reason: String,
    /// Whether a call gets it that asks for nobody in particular.
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

/// Every algorithm that ``Aead`` takes, with its lengths and limits.
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

/// Every algorithm with every provider, whether the pair exists here or not, and why not.
#[pyfunction]
pub(crate) fn providers() -> Vec<ProviderInfo> {
    let info = |row: sealane::ListedVariant| ProviderInfo {
        algorithm: row.algorithm,
        provider: row.provider,
        variant: row.variant,
        available: row.available,
        reason: row.reason,
        chosen: row.chosen,
    };
    sealane::listing().into_iter().map(info).collect()
}
