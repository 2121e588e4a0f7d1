//! Why a token call failed. The caller adds the reference.

use base::Error;
use std::fmt::Display;

/// Why a call failed. No text contains a PIN or a key.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such module, token or key.
    NotFound(String),
    /// The token refuses the PIN or the key.
    Refused(String),
    /// The module or the token failed.
    Service(String),
    /// An error that is not about the token, such as [`Error::Authentication`]
    Other(Error),
}

impl Failure {
    /// Returns the error; its text begins with the reference.
    pub(super) fn about(self, reference: &impl Display) -> Error {
        match self {
            Self::NotFound(text) => Error::KeyNotFound(format!("{reference}: {text}")),
            Self::Refused(text) => Error::KeyRefused(format!("{reference}: {text}")),
            Self::Service(text) => Error::KeyService(format!("{reference}: {text}")),
            Self::Other(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}
