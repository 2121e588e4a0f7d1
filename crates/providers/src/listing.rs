//! What users are shown: who could compute what, who does, and why the others do not.

use crate::registry::{self, Row};
use crate::{Algorithm, Provider, choose, native};

/// One line of [`listing`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of an [`Algorithm`], or of something raw: `"aes-ctr"`, `"chacha20"`, `"poly1305"`, `"speck"`.
    pub algorithm: &'static str,
    /// The name of a [`Provider`].
    pub provider: &'static str,
    /// Which build of it; empty for a pair that does not exist.
    pub variant: &'static str,
    /// Whether it works on this machine.
    pub available: bool,
    /// Why not; empty where it does.
    pub reason: String,
    /// Whether it is what a call gets that asks for nobody in particular.
    pub chosen: bool,
}

/// Every algorithm with every provider, whether the pair exists or not, and of ours every variant; then the variants of what
/// is raw, which is always ours.
pub fn listing() -> Vec<Listed> {
    let pairs = Algorithm::ALL.iter().flat_map(|&algorithm| {
        let chosen = choose(algorithm, None).ok().map(|row| row.provider);
        Provider::ALL.iter().flat_map(move |&provider| pair(algorithm, provider, chosen == Some(provider)))
    });
    pairs.chain(native::RAW.iter().flat_map(|(name, table)| table.listed(name, true))).collect()
}

fn pair(algorithm: Algorithm, provider: Provider, chosen: bool) -> Vec<Listed> {
    let row = registry::row_of(algorithm, provider);
    if let Some(table) = row.and_then(Row::native) {
        return table.listed(algorithm.name(), chosen);
    }
    let found = registry::find(algorithm, provider);
    vec![Listed {
        algorithm: algorithm.name(),
        provider: provider.name(),
        variant: row.map_or("", Row::variant),
        available: found.is_ok(),
        reason: found.err().map(|reason| reason.to_string()).unwrap_or_default(),
        chosen,
    }]
}
