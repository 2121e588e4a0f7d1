//! An entry of the registry: one algorithm from one provider.

use crate::kernel::Kernel;
use crate::{AeadKey, Algorithm, KeyError, Provider, Reason, fips};
use core::slice;

/// An algorithm as one provider computes it.
///
/// Entries are data. [`choose`](crate::choose) selects among them, [`listing`](crate::listing()) shows them, and the
/// checks in [`contract`](crate::contract) can be run on each of them.
#[derive(Debug)]
pub struct Entry {
    /// The algorithm that the provider computes.
    pub algorithm: Algorithm,
    /// The provider that computes it.
    pub provider: Provider,
    /// The order of preference among the entries of an algorithm. By default, the lowest available rank is selected,
    /// but a native entry that runs a portable variant comes after all others.
    pub rank: u8,
    /// The lab record that the rank rests on, as a path in the repository; empty for an entry of another crate.
    pub record: &'static str,
    build: Build,
    /// Whether a build with the feature `fips` may use the entry.
    approved: bool,
    available: fn() -> Result<(), Reason>,
    expand: Expand,
}

/// A function that expands a key of one algorithm.
pub type Expand = fn(&[u8]) -> Result<Box<dyn AeadKey>, KeyError>;

/// The code that computes an entry, as far as it is known.
#[derive(Clone, Copy, Debug)]
enum Build {
    /// A kernel of this project, whose variants have names.
    Native(&'static Kernel),
    /// A library that selects its code at run time and does not name it.
    Opaque,
    /// An AEAD with nonces of 12 bytes, for which this crate derives a subkey from the nonce of 24 bytes of each
    /// message. The entry needs these kernels.
    Extended(&'static [&'static Kernel]),
}

impl Entry {
    /// Makes an entry for [`register`](crate::register).
    ///
    /// `expand` gets a key of [`Algorithm::key_len`] bytes. The built-in entries of an algorithm have the ranks 1 to 4,
    /// so rank 0 comes before all of them. A built-in entry precedes a registered one of the same rank.
    pub const fn new(algorithm: Algorithm, provider: Provider, rank: u8, expand: Expand) -> Self {
        Self {
            algorithm,
            provider,
            rank,
            record: "",
            build: Build::Opaque,
            approved: false,
            available: || Ok(()),
            expand,
        }
    }

    /// Sets the check that decides whether the entry can be used on this machine.
    ///
    /// The check runs at each selection, so it should be fast. For example, it tests for a processor feature.
    pub const fn available_if(self, check: fn() -> Result<(), Reason>) -> Self {
        Self { available: check, ..self }
    }

    /// Marks an entry that a FIPS module computes as an approved algorithm.
    #[cfg_attr(not(feature = "aws-lc"), allow(dead_code, reason = "only AWS-LC has such a module"))]
    pub(crate) const fn approved(self) -> Self {
        Self { approved: true, ..self }
    }

    /// Makes an entry of this crate, whose rank rests on a record of the lab.
    const fn built_in(algorithm: Algorithm, provider: Provider, rank: u8, expand: Expand) -> Self {
        Self { record: "lab/record/providers-zen4.md", ..Self::new(algorithm, provider, rank, expand) }
    }

    /// Makes an entry of a kernel of this project.
    pub(crate) const fn native(algorithm: Algorithm, kernel: &'static Kernel, expand: Expand) -> Self {
        let entry = Self::built_in(algorithm, Provider::Native, 1, expand);
        Self { build: Build::Native(kernel), ..entry }
    }

    /// Makes an entry of a foreign library.
    pub(crate) const fn opaque(algorithm: Algorithm, provider: Provider, rank: u8, expand: Expand) -> Self {
        Self::built_in(algorithm, provider, rank, expand)
    }

    /// Makes an entry whose nonces are extended here; `kernels` are those that the entry needs.
    pub(crate) const fn extended(
        algorithm: Algorithm,
        provider: Provider,
        rank: u8,
        kernels: &'static [&'static Kernel],
        expand: Expand,
    ) -> Self {
        Self { build: Build::Extended(kernels), ..Self::built_in(algorithm, provider, rank, expand) }
    }

    /// Expands a key.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] if the key does not have [`Algorithm::key_len`] bytes. Otherwise it returns
    /// the error of the provider, for example [`KeyError::SelfTestFailed`]. In a build with the feature `fips`, it returns
    /// [`KeyError::NotApproved`] for every entry but the approved ones of AWS-LC.
    pub fn key(&self, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
        self.approval().map_err(|_| KeyError::NotApproved(self.algorithm.name()))?;
        if key.len() != self.algorithm.key_len() {
            return Err(KeyError::InvalidLength { found: key.len(), expected: self.algorithm.key_lens() });
        }
        (self.expand)(key)
    }

    /// Checks that this build may use the entry, see [`FIPS`](crate::FIPS).
    pub(crate) fn approval(&self) -> Result<(), Reason> {
        fips::check(self.approved)
    }

    /// Returns the kernel of this project that computes the entry, if its variants have names.
    pub(crate) fn kernel(&self) -> Option<&'static Kernel> {
        match self.build {
            Build::Native(kernel) => Some(kernel),
            Build::Opaque | Build::Extended(_) => None,
        }
    }

    /// Returns whether the entry is native and some of it runs a portable variant on this machine.
    pub(crate) fn is_portable(&self) -> bool {
        self.provider == Provider::Native
            && self.kernels().iter().any(|kernel| (kernel.variant)() == Ok("portable"))
    }

    /// Returns the kernels of this project that the entry needs.
    fn kernels(&self) -> &[&'static Kernel] {
        match &self.build {
            Build::Native(kernel) => slice::from_ref(kernel),
            Build::Extended(kernels) => kernels,
            Build::Opaque => &[],
        }
    }

    /// Returns the variant that new keys use.
    ///
    /// It is the variant of a native kernel, for example `"vaes512"`, and empty if none works. It is `"opaque"` where
    /// a foreign library selects its code and does not name it, and `"extended"` where this crate derives a subkey for
    /// each message.
    pub fn variant(&self) -> &'static str {
        match self.build {
            Build::Native(kernel) => (kernel.variant)().unwrap_or_default(),
            Build::Opaque => "opaque",
            Build::Extended(_) => "extended",
        }
    }

    /// Checks whether the entry can be used on this machine.
    ///
    /// # Errors
    /// Returns the reason why it cannot be used.
    pub fn available(&self) -> Result<(), Reason> {
        self.approval()?;
        (self.available)()?;
        self.kernels().iter().try_for_each(|kernel| (kernel.variant)().map(drop))
    }
}
