//! What this processor can do.

/// A set of processor features. It can be detected and reduced, never invented, so holding one is a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// What this processor has.
    pub fn detect() -> Self {
        Self(0)
    }
    /// Nothing: only portable rows remain.
    pub const NONE: Self = Self(0);
    /// Without the named feature and everything that needs it; `None` where no feature has that name.
    pub fn without(self, _name: &str) -> Option<Self> {
        Some(self)
    }
}
