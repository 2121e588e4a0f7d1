//! Who computes.

/// Who computes an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// The kernels of this project.
    Native,
    /// AWS-LC, through the crate `aws-lc-rs`.
    AwsLc,
    /// The crate `ring`.
    Ring,
    /// The AEAD crates of the RustCrypto project.
    RustCrypto,
    /// libaegis, through the crate `aegis`.
    Aegis,
}

impl Provider {
    /// Every provider, in the order in which they are listed to users.
    pub const ALL: &'static [Self] = &[Self::Native, Self::AwsLc, Self::Ring, Self::RustCrypto, Self::Aegis];

    /// The name that users type: `"aws-lc"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::AwsLc => "aws-lc",
            Self::Ring => "ring",
            Self::RustCrypto => "rustcrypto",
            Self::Aegis => "aegis",
        }
    }

    /// The provider with exactly this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|provider| provider.name() == name)
    }
}
