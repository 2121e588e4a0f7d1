//! Names of providers, for callers to select an implementation.

/// The name of a provider.
///
/// Built-in providers have constants, such as [`Provider::Native`]. A provider from another crate
/// makes its name with [`Provider::new`] and adds its entries with [`register`](crate::register).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provider(&'static str);

impl Provider {
    /// Makes a name. [`register`](crate::register) requires lowercase letters, digits and hyphens.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name, such as `"aws-lc"`.
    pub const fn name(self) -> &'static str {
        self.0
    }
}
