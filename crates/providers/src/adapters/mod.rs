//! The built-in providers: one file with its entries per provider.

mod aegis;
mod aws_lc;
mod native;
mod ring;
mod rustcrypto;

use crate::Entry;

/// The entries of every built-in provider, in the order in which providers are shown to users.
pub(crate) static BUILT_IN: [&[Entry]; 5] =
    [native::ENTRIES, aws_lc::ENTRIES, ring::ENTRIES, rustcrypto::ENTRIES, aegis::ENTRIES];
