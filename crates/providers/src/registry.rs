//! The entries of all providers, and selection by rank.

use crate::adapters::BUILT_IN;
use crate::{Algorithm, Entry, Provider, Reason, RegisterError};
use std::sync::OnceLock;

/// A node in the list of registered entries. The list only grows and is read without a lock: a
/// forked child never waits for a lock that another thread of its parent held.
struct Node {
    entries: &'static [Entry],
    next: List,
}

type List = OnceLock<Box<Node>>;

static REGISTERED: List = List::new();

/// Adds the entries of a provider from another crate.
///
/// They then take part in [`choose`](crate::choose), [`listing`](crate::listing()),
/// [`set_default`](crate::set_default) and `SEALANE_PROVIDER`. Existing keys keep their provider.
/// An application registers providers at its start, before it makes keys; a library should leave
/// that to the application. Any thread may call this, and adds all entries or none. Entries cannot
/// be removed.
///
/// # Errors
/// Returns a [`RegisterError`] if a name is invalid or belongs to a built-in provider, or if a
/// provider would have two entries for an algorithm.
pub fn register(entries: &'static [Entry]) -> Result<(), RegisterError> {
    let built_in = BUILT_IN.iter().copied().flatten();
    for (at, entry) in entries.iter().enumerate() {
        let name = entry.provider.name();
        let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(valid) {
            return Err(RegisterError::InvalidName(entry.provider));
        }
        if built_in.clone().any(|known| known.provider == entry.provider) {
            return Err(RegisterError::BuiltIn(entry.provider));
        }
        unique(&entries[..at], entry)?;
    }
    let mut node = Box::new(Node { entries, next: List::new() });
    let mut end = &REGISTERED;
    loop {
        while let Some(known) = end.get() {
            entries.iter().try_for_each(|entry| unique(known.entries, entry))?;
            end = &known.next;
        }
        // Another thread was faster: check its entries before the next attempt.
        match end.set(node) {
            Ok(()) => return Ok(()),
            Err(refused) => node = refused,
        }
    }
}

fn unique(known: &[Entry], entry: &Entry) -> Result<(), RegisterError> {
    let same = |known: &Entry| (known.provider, known.algorithm) == (entry.provider, entry.algorithm);
    match known.iter().any(same) {
        true => Err(RegisterError::AlreadyRegistered(entry.provider, entry.algorithm)),
        false => Ok(()),
    }
}

/// Lists every entry: the built-in ones, then the registered ones in order of registration.
pub fn entries() -> impl Iterator<Item = &'static Entry> + Clone {
    let registered = std::iter::successors(REGISTERED.get(), |node| node.next.get());
    BUILT_IN.iter().copied().flatten().chain(registered.flat_map(|node| node.entries))
}

impl Provider {
    /// Lists every provider with an entry, in the order in which users see them.
    pub fn all() -> Vec<Self> {
        let mut providers = Vec::new();
        for entry in entries() {
            if !providers.contains(&entry.provider) {
                providers.push(entry.provider);
            }
        }
        providers
    }

    /// Returns the provider with exactly this name, if it has an entry.
    pub fn from_name(name: &str) -> Option<Self> {
        entries().map(|entry| entry.provider).find(|provider| provider.name() == name)
    }
}

/// Returns the entry of this pair, if it works on this machine.
pub(crate) fn find(algorithm: Algorithm, provider: Provider) -> Result<&'static Entry, Reason> {
    let entry = entry_of(algorithm, provider).ok_or(Reason::Unsupported(provider, algorithm))?;
    entry.available().map(|()| entry)
}

/// Returns the entry of this pair, whether or not it works on this machine.
pub(crate) fn entry_of(algorithm: Algorithm, provider: Provider) -> Option<&'static Entry> {
    entries_of(algorithm).find(|entry| entry.provider == provider)
}

/// Returns the available entry of lowest rank, portable ones last.
pub(crate) fn best(algorithm: Algorithm) -> Result<&'static Entry, Reason> {
    best_of(entries_of(algorithm))
}

fn best_of(entries: impl Iterator<Item = &'static Entry> + Clone) -> Result<&'static Entry, Reason> {
    let available = entries.clone().filter(|entry| entry.available().is_ok());
    // The ranks were measured with AES instructions. Without them, every other provider is faster
    // than a native portable variant.
    available.min_by_key(|entry| (entry.is_portable(), entry.rank)).ok_or_else(|| {
        let mut reasons = entries.filter_map(|entry| entry.available().err());
        reasons.next().unwrap_or(Reason::NoImplementation)
    })
}

/// Lists the providers that can compute `algorithm` on this machine.
pub(crate) fn available(algorithm: Algorithm) -> Vec<Provider> {
    entries_of(algorithm).filter(|entry| entry.available().is_ok()).map(|entry| entry.provider).collect()
}

fn entries_of(algorithm: Algorithm) -> impl Iterator<Item = &'static Entry> + Clone {
    entries().filter(move |entry| entry.algorithm == algorithm)
}

#[cfg(all(test, feature = "aws-lc"))]
mod test {
    use super::*;
    use crate::kernel::{AES, Kernel};
    use crate::{Algorithm::*, KeyError};

    static BROKEN_KERNEL: Kernel = Kernel::BROKEN;
    static BROKEN: [Entry; 4] = [
        Entry::native(Aes256Gcm, &BROKEN_KERNEL, |_| Err(KeyError::Unspecified)),
        Entry::extended(Xaes256Gcm, Provider::Native, 1, &[&AES, &BROKEN_KERNEL], |_| {
            Err(KeyError::Unspecified)
        }),
        Entry::opaque(Aes256Gcm, Provider::AwsLc, 2, |_| Err(KeyError::Unspecified)),
        Entry::opaque(Aes256Gcm, Provider::RustCrypto, 3, |_| Err(KeyError::Unspecified)),
    ];

    #[test]
    fn another_provider_is_selected_where_the_native_kernels_fail() {
        assert_eq!(best_of(BROKEN.iter()).map(|entry| entry.provider), Ok(Provider::AwsLc));
        for broken in &BROKEN[..2] {
            assert_eq!(broken.available(), Err(Reason::SelfTestFailed));
        }
        assert_eq!(BROKEN[0].variant(), "");
        assert_eq!(best_of(BROKEN[..2].iter()).map(|entry| entry.provider), Err(Reason::SelfTestFailed));
    }
}
