//! The listing of providers and variants, for users.

use crate::kernel::{self, Kernel};
use crate::{Algorithm, Entry, Provider, Reason, choose, fips, registry};

/// One line of [`listing`]: an algorithm, a provider and a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVariant {
    /// The name of an [`Algorithm`], or of a raw cipher: `"aes-ctr"`, `"chacha20"`, `"poly1305"`,
    /// `"speck"`.
    pub algorithm: &'static str,
    /// The name of a [`Provider`].
    pub provider: &'static str,
    /// The name of the variant; empty if the provider does not have the algorithm.
    pub variant: &'static str,
    /// Whether the variant can be used on this machine.
    pub available: bool,
    /// Why it cannot be used; empty if it can.
    pub reason: String,
    /// Whether a call that names no provider uses this variant.
    pub chosen: bool,
}

/// Lists every pair of an algorithm and a provider, even without an implementation, with every
/// variant of the native kernels. The raw ciphers follow; they are always native.
pub fn listing() -> Vec<ListedVariant> {
    let pairs = Algorithm::ALL.iter().flat_map(|&algorithm| {
        let chosen = choose(algorithm, None).ok().map(|entry| entry.provider);
        Provider::all()
            .into_iter()
            .flat_map(move |provider| pair(algorithm, provider, chosen == Some(provider)))
    });
    let raw = kernel::RAW.iter().flat_map(|(name, kernel)| variants(name, kernel, fips::check(false), true));
    pairs.chain(raw).collect()
}

fn pair(algorithm: Algorithm, provider: Provider, chosen: bool) -> Vec<ListedVariant> {
    let entry = registry::entry_of(algorithm, provider);
    if let Some((entry, kernel)) = entry.and_then(|entry| Some((entry, entry.kernel()?))) {
        return variants(algorithm.name(), kernel, entry.approval(), chosen);
    }
    let check = registry::find(algorithm, provider).map(drop);
    vec![line(algorithm.name(), provider, (entry.map_or("", Entry::variant), check), chosen)]
}

fn variants(
    algorithm: &'static str,
    kernel: &Kernel,
    approval: Result<(), Reason>,
    chosen: bool,
) -> Vec<ListedVariant> {
    let selected = (kernel.variant)().ok().filter(|_| chosen && approval.is_ok());
    let line = |(variant, check): kernel::Checked| {
        let chosen = selected == Some(variant);
        line(algorithm, Provider::Native, (variant, approval.clone().and(check)), chosen)
    };
    (kernel.variants)().into_iter().map(line).collect()
}

fn line(
    algorithm: &'static str,
    provider: Provider,
    (variant, check): (&'static str, Result<(), Reason>),
    chosen: bool,
) -> ListedVariant {
    ListedVariant {
        algorithm,
        provider: provider.name(),
        variant,
        available: check.is_ok(),
        reason: check.err().map(|reason| reason.to_string()).unwrap_or_default(),
        chosen,
    }
}
