//! `sealane lab`

use crate::args::Lab;
use crate::error::Failure;

/// The Python package does it, and takes the word before it gets here.
pub(crate) fn lab(_: &Lab) -> Result<(), Failure> {
    Err(Failure::misuse(
        "the lab comes with the Python package: pip install 'sealane[lab]', then python -m sealane lab",
    ))
}
