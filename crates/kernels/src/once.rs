//! A value that is computed once and then shared.
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
pub(crate) use std::sync::OnceLock;

/// The part of the type in `std` that needs no lock: the value is set before its owner is shared.
#[cfg(not(feature = "std"))]
pub(crate) struct OnceLock<T>(Option<T>);

#[cfg(not(feature = "std"))]
impl<T> OnceLock<T> {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

#[cfg(not(feature = "std"))]
impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self(Some(value))
    }
}
