//! The type for names of providers, with which a caller selects an implementation.

/// The name of a provider, that is, of an implementation of algorithms.
///
/// Each built-in provider has a constant, for example [`Provider::Native`]. A provider from another crate makes its
/// name with [`Provider::new`] and adds its entries with [`register`](crate::register).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provider(&'static str);

impl Provider {
    /// Makes the name of a provider. [`register`](crate::register) requires lowercase letters, digits and hyphens.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name of the provider in lower case, for example `"aws-lc"`.
    pub const fn name(self) -> &'static str {
        self.0
    }
}
