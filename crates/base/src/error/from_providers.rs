//! Conversions of the errors of providers.

use super::{Error, Misuse};

impl From<providers::AuthenticationError> for Error {
    fn from(_: providers::AuthenticationError) -> Self {
        Self::Authentication
    }
}

impl From<providers::Unavailable> for Error {
    fn from(error: providers::Unavailable) -> Self {
        match error.reason {
            providers::Reason::Environment(error) => Self::Environment(error),
            _ => Self::ProviderUnavailable(error),
        }
    }
}

impl From<providers::KeyError> for Error {
    fn from(error: providers::KeyError) -> Self {
        match error {
            providers::KeyError::InvalidLength { found, expected } => {
                Misuse::KeyLength { got: found, want: expected }.into()
            }
            providers::KeyError::SelfTestFailed(cipher) => Self::SelfTest(cipher),
            providers::KeyError::NotApproved(cipher) => Self::NotApproved(cipher),
            providers::KeyError::Environment(error) => Self::Environment(error),
            _ => Self::ProviderRefused("the provider refused the key"),
        }
    }
}

impl From<providers::MessageError> for Error {
    fn from(error: providers::MessageError) -> Self {
        match error {
            providers::MessageError::TooLong { part, found, limit } => {
                Self::MessageLength { part, found, limit }
            }
            providers::MessageError::InvalidNonceLength { found, expected } => {
                Misuse::NonceLength { got: found, want: expected }.into()
            }
            providers::MessageError::PartialBlock { found, block_len } => {
                Misuse::BlockLength { got: found, block: block_len }.into()
            }
            providers::MessageError::LateAssociatedData => Misuse::AadAfterData.into(),
        }
    }
}

impl From<providers::SealError> for Error {
    fn from(error: providers::SealError) -> Self {
        match error {
            providers::SealError::Message(error) => error.into(),
            providers::SealError::Key(error) => error.into(),
            _ => Self::ProviderRefused("the provider refused the message"),
        }
    }
}
