//! Builds with the feature `fips`: the FIPS module of AWS-LC computes the approved algorithms, and all others are refused.
//!
//! An entry is approved if its adapter says so (`Entry::approved`). The raw ciphers are native, so none is approved.
//! `docs/decisions/026-fips.md` states the limits, for example which nonces the module approves.

use crate::{KeyError, Reason};

/// Whether this build has the feature `fips`.
pub const FIPS: bool = cfg!(feature = "fips");

/// The text of errors about a computation that a build with the feature `fips` refuses.
pub const NOT_APPROVED: &str = "not approved in this FIPS build; 'sealane providers' lists what is";

/// Returns the name and version of the FIPS module that computes, or `None` in a build without the feature `fips`.
///
/// The version is that of the source code. Whether a version is validated, and for which systems, is decided by the
/// lists of NIST.
pub fn fips_module() -> Option<String> {
    module()
}

#[cfg(feature = "fips")]
fn module() -> Option<String> {
    let version = aws_lc_rs::fips_version().unwrap_or_default();
    Some(format!("AWS-LC FIPS {}, module version {version}", aws_lc_rs::awslc_version()))
}

#[cfg(not(feature = "fips"))]
fn module() -> Option<String> {
    None
}

/// Checks that the module has passed its self-tests and is in FIPS mode.
#[cfg(feature = "fips")]
pub(crate) fn module_available() -> Result<(), Reason> {
    // The text of the library says no more.
    aws_lc_rs::try_fips_mode().map_err(|_| Reason::Other("the library of AWS-LC is not in FIPS mode"))
}

/// Refuses a native cipher in a FIPS build, by its name.
pub(crate) fn check_native(cipher: &'static str) -> Result<(), KeyError> {
    if FIPS { Err(KeyError::NotApproved(cipher)) } else { Ok(()) }
}

/// Returns the reason why an algorithm cannot be used in this build, if it is not approved.
pub(crate) fn check(approved: bool) -> Result<(), Reason> {
    if FIPS && !approved { Err(Reason::NotApproved) } else { Ok(()) }
}
