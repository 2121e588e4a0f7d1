//! The built-in providers: one file with its entries per provider.

#[cfg(feature = "aegis")]
mod aegis;
#[cfg(feature = "aws-lc")]
mod aws_lc;
mod native;
#[cfg(feature = "ring")]
mod ring;
mod rustcrypto;

use crate::Entry;

/// The built-in entries, in the order in which users see the providers.
pub(crate) static BUILT_IN: &[&[Entry]] = &[
    native::ENTRIES,
    #[cfg(feature = "aws-lc")]
    aws_lc::ENTRIES,
    #[cfg(feature = "ring")]
    ring::ENTRIES,
    rustcrypto::ENTRIES,
    #[cfg(feature = "aegis")]
    aegis::ENTRIES,
];
