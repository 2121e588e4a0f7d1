//! Builds with the feature `fips`: the FIPS module of AWS-LC computes the approved algorithms; all
//! others are refused.
//!
//! Adapters mark approved entries (`Entry::approved`). The raw ciphers are native, so none is
//! approved. `docs/decisions/026-fips.md` states the limits, such as which nonces the module
//! approves.

use crate::{KeyError, Reason};

/// Whether this build has the feature `fips`.
pub const FIPS: bool = cfg!(feature = "fips");

/// Error text for a computation refused in a build with the feature `fips`.
pub const NOT_APPROVED: &str = "not approved in this FIPS build; 'sealane providers' lists what is";

/// Returns the name and version of the FIPS module, or `None` in a build without the feature
/// `fips`.
///
/// This is the version of the source code. NIST's lists say whether a version is validated, and for
/// which systems.
#[cfg(feature = "fips")]
pub fn fips_module() -> Option<String> {
    let version = aws_lc_rs::fips_version().unwrap_or_default();
    Some(format!("AWS-LC FIPS {}, module version {version}", aws_lc_rs::awslc_version()))
}

/// Returns the name and version of the FIPS module: `None` in this build without the feature
/// `fips`.
#[cfg(not(feature = "fips"))]
pub fn fips_module() -> Option<String> {
    None
}

/// Checks that the module has passed its self-tests and is in FIPS mode.
#[cfg(feature = "fips")]
pub(crate) fn module_available() -> Result<(), Reason> {
    // The library's text says no more.
    aws_lc_rs::try_fips_mode().map_err(|_| Reason::Other("the library of AWS-LC is not in FIPS mode"))
}

/// Refuses a native cipher, by name, in a FIPS build.
pub(crate) fn check_native(cipher: &'static str) -> Result<(), KeyError> {
    if FIPS { Err(KeyError::NotApproved(cipher)) } else { Ok(()) }
}

/// Refuses an algorithm that is not approved in this build.
pub(crate) fn check(approved: bool) -> Result<(), Reason> {
    if FIPS && !approved { Err(Reason::NotApproved) } else { Ok(()) }
}
