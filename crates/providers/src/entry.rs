//! An entry of the registry: an algorithm as computed by a provider.

use crate::kernel::Kernel;
use crate::{AeadKey, Algorithm, KeyError, Provider, Reason, fips};
use core::slice;

/// An algorithm as computed by a provider.
///
/// Entries are data: [`choose`](crate::choose) selects one, [`listing`](crate::listing()) shows
/// them, and [`contract`](crate::contract) checks them.
#[derive(Debug)]
pub struct Entry {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its provider.
    pub provider: Provider,
    /// Order of preference among the entries of an algorithm: the available entry of lowest rank is
    /// selected by default. A native entry on a portable variant comes after all others.
    pub rank: u8,
    /// Lab record behind the rank, as a path in the repository; empty for an entry of another
    /// crate.
    pub record: &'static str,
    build: Build,
    /// Whether a build with the feature `fips` may use the entry.
    approved: bool,
    available: fn() -> Result<(), Reason>,
    expand: Expand,
}

/// Expands a key of one algorithm.
pub type Expand = fn(&[u8]) -> Result<Box<dyn AeadKey>, KeyError>;

/// The code behind an entry, as far as it is known.
#[derive(Clone, Copy, Debug)]
enum Build {
    /// A kernel of this project, with named variants.
    Native(&'static Kernel),
    /// A library that selects its code at run time and does not say which.
    Opaque,
    /// An AEAD with 12-byte nonces under a subkey that this crate derives from each message's
    /// 24-byte nonce, with these kernels.
    Extended(&'static [&'static Kernel]),
}

impl Entry {
    /// Makes an entry for [`register`](crate::register).
    ///
    /// `expand` gets a key of [`Algorithm::key_len`] bytes. The built-in entries of an algorithm
    /// have the ranks 1 to 4, so rank 0 comes first. At equal rank, built-in entries precede
    /// registered ones.
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

    /// Sets the check whether the entry works on this machine.
    ///
    /// It runs at each selection, so keep it fast: test for a processor feature, for example.
    pub const fn available_if(self, check: fn() -> Result<(), Reason>) -> Self {
        Self { available: check, ..self }
    }

    /// Marks an entry as an approved algorithm of a FIPS module.
    #[cfg_attr(not(feature = "aws-lc"), allow(dead_code, reason = "only AWS-LC has such a module"))]
    pub(crate) const fn approved(self) -> Self {
        Self { approved: true, ..self }
    }

    /// Makes an entry of a foreign library, ranked by a record of the lab.
    pub(crate) const fn opaque(algorithm: Algorithm, provider: Provider, rank: u8, expand: Expand) -> Self {
        Self { record: "lab/record/providers-zen4.md", ..Self::new(algorithm, provider, rank, expand) }
    }

    /// Makes an entry of a kernel of this project.
    pub(crate) const fn native(algorithm: Algorithm, kernel: &'static Kernel, expand: Expand) -> Self {
        let entry = Self::opaque(algorithm, Provider::Native, 1, expand);
        Self { build: Build::Native(kernel), ..entry }
    }

    /// Makes an entry over these `kernels`; this crate extends the nonces.
    pub(crate) const fn extended(
        algorithm: Algorithm,
        provider: Provider,
        rank: u8,
        kernels: &'static [&'static Kernel],
        expand: Expand,
    ) -> Self {
        Self { build: Build::Extended(kernels), ..Self::opaque(algorithm, provider, rank, expand) }
    }

    /// Expands a key.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] unless the key has [`Algorithm::key_len`] bytes, or the
    /// error of the provider, such as [`KeyError::SelfTestFailed`]. A build with the feature `fips`
    /// returns [`KeyError::NotApproved`] for every entry but the approved ones of AWS-LC.
    pub fn key(&self, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
        self.approval().map_err(|_| KeyError::NotApproved(self.algorithm.name()))?;
        if key.len() != self.algorithm.key_len() {
            return Err(KeyError::InvalidLength { found: key.len(), expected: self.algorithm.key_lens() });
        }
        (self.expand)(key)
    }

    /// Checks that this build may use the entry (see [`FIPS`](crate::FIPS)).
    pub(crate) fn approval(&self) -> Result<(), Reason> {
        fips::check(self.approved)
    }

    /// Returns the kernel of this project behind the entry, if its variants have names.
    pub(crate) fn kernel(&self) -> Option<&'static Kernel> {
        if let Build::Native(kernel) = self.build { Some(kernel) } else { None }
    }

    /// Returns whether the entry is native and runs a portable variant, at least in part, on this
    /// machine.
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
    /// A native kernel names its variant (`"vaes512"`), or is empty if none works. `"opaque"`
    /// stands for a foreign library that selects its code silently, `"extended"` for a subkey per
    /// message derived here.
    pub fn variant(&self) -> &'static str {
        match self.build {
            Build::Native(kernel) => (kernel.variant)().unwrap_or_default(),
            Build::Opaque => "opaque",
            Build::Extended(_) => "extended",
        }
    }

    /// Checks whether the entry works on this machine.
    ///
    /// # Errors
    /// Returns why it does not.
    pub fn available(&self) -> Result<(), Reason> {
        self.approval()?;
        (self.available)()?;
        self.kernels().iter().try_for_each(|kernel| (kernel.variant)().map(drop))
    }
}
