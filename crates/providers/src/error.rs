//! Errors of the selection of a provider, of the expansion of keys, and of messages.
//!
//! An authentication failure is opaque. The other errors name the reason, as far as the provider gives one.

use crate::{Algorithm, Provider};
use kernels::cpu::Needs;
use kernels::error::{KeyError as KernelKeyError, MessageError};
use kernels::variant::Refusal;
use std::fmt;

/// The reason why a key could not be expanded by the selected provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key has a length that the cipher does not accept.
    #[error("expected a key of {} bytes, found {found}", alternatives(.expected))]
    InvalidLength {
        /// Length in bytes of the key that was given.
        found: usize,
        /// All lengths in bytes that a key of the algorithm may have.
        expected: &'static [usize],
    },
    /// Every variant of the named native cipher that this machine can run failed its self-test.
    #[error("native {} {}", .0, Reason::SelfTestFailed)]
    SelfTestFailed(&'static str),
    /// The named cipher is not approved, or not computed by the FIPS module, in this build with the feature `fips`.
    #[error("{} is {}", .0, Reason::NotApproved)]
    NotApproved(&'static str),
    /// The environment variable `SEALANE_CPU` has an invalid value.
    #[error(transparent)]
    Environment(#[from] VariableError),
    /// The library refused the key and gives no reason.
    #[error("the provider refused the key")]
    Unspecified,
}

/// The reason why a message could not be encrypted, for example its length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The algorithm does not define such a message: the nonce has the wrong length, or a part is too long.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The key that is derived for each message could not be expanded.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The library refused the message and gives no reason. The usual one is a message that is too long for it.
    #[error("the provider refused the message; it may be too long")]
    Unspecified,
}

/// The tag does not match: the key, the nonce, the associated data or the message differs. The cases are not
/// distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("authentication failed")]
pub struct AuthenticationError;

/// The requested provider cannot compute an algorithm, or no provider can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The algorithm for which a provider was requested.
    pub algorithm: Algorithm,
    /// The request for a provider, with its origin, for example an environment variable.
    pub request: Request,
    /// The reason why the request cannot be fulfilled in this process.
    pub reason: Reason,
    /// The providers that can compute the algorithm on this machine.
    pub available: Vec<Provider>,
}

/// The origin of a request for a provider, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The argument of the call names the provider.
    Argument(Provider),
    /// The process default names the provider, see [`set_default`](crate::set_default).
    ProcessDefault(Provider),
    /// The environment variable `SEALANE_PROVIDER` names the provider.
    Environment(Provider),
    /// Nothing names a provider, so any available one may be selected.
    Any,
}

/// The reason why a provider cannot compute an algorithm on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The provider does not have the algorithm, or there is no such provider.
    #[error("{} has no {}", .0.name(), .1.name())]
    Unsupported(Provider, Algorithm),
    /// No provider of this build implements the algorithm that was requested.
    #[error("no provider has it")]
    NoImplementation,
    /// The processor lacks these features, or `SEALANE_CPU` removed them.
    #[error("needs {0}")]
    MissingFeatures(Needs),
    /// The variant computed a wrong result in its self-test, so it is not used.
    #[error("failed its self-test")]
    SelfTestFailed,
    /// The build has the feature `fips`, and its module does not compute this algorithm as an approved one.
    #[error("not approved in this FIPS build")]
    NotApproved,
    /// The variant is for processors of another architecture.
    #[error("for {0} processors")]
    WrongArchitecture(&'static str),
    /// An environment variable of sealane has an invalid value.
    #[error("{0}")]
    Environment(VariableError),
    /// A reason of a provider from another crate.
    #[error("{0}")]
    Other(&'static str),
}

/// An environment variable of sealane has an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment variable {variable}: {problem}")]
pub struct VariableError {
    /// The name of the environment variable, for example `SEALANE_PROVIDER`.
    pub variable: &'static str,
    /// The problem with the value that the variable has.
    pub problem: VariableProblem,
}

/// The problem with the value of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableProblem {
    /// The value of the variable is not valid Unicode text.
    #[error("not Unicode text")]
    NotUnicode,
    /// An item of `SEALANE_CPU` does not begin with a minus sign.
    #[error("{0:?} does not begin with '-'; features can only be removed, for example -avx512f,-vaes")]
    MissingMinus(String),
    /// The value contains this name, which is not that of a processor feature.
    #[error("no processor feature is named {0:?}")]
    UnknownFeature(String),
    /// The value of the variable names a provider that does not exist.
    #[error("no provider is named {name:?}; known: {}", names(.known))]
    UnknownProvider {
        /// The value of the variable.
        name: String,
        /// The providers that exist, for the text of the error.
        known: Vec<Provider>,
    },
}

/// The process default has been set to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the process default can be set once, by the application; it is {}",
    .current.map_or("none", Provider::name)
)]
pub struct DefaultAlreadySet {
    /// The provider that is the process default now, or `None` if there is none.
    pub current: Option<Provider>,
}

/// The reason why entries could not be registered as providers of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is empty or contains something else than lowercase letters, digits and hyphens.
    #[error("a provider name has lowercase letters, digits and hyphens, found {:?}", .0.name())]
    InvalidName(Provider),
    /// The name belongs to a built-in provider, whose entries cannot be replaced.
    #[error("{} is a built-in provider; register under another name", .0.name())]
    BuiltIn(Provider),
    /// The provider has an entry for this algorithm already.
    #[error("{} from {} has been registered already", .1.name(), .0.name())]
    AlreadyRegistered(Provider, Algorithm),
}

fn names(providers: &[Provider]) -> String {
    providers.iter().map(|provider| provider.name()).collect::<Vec<_>>().join(", ")
}

/// Lists lengths, as "16 or 32".
fn alternatives(lengths: &[usize]) -> String {
    lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.name())?;
        match self.request {
            Request::Argument(provider) => write!(f, " from {}", provider.name())?,
            Request::ProcessDefault(provider) => {
                write!(f, " from {} (the process default)", provider.name())?
            }
            Request::Environment(provider) => write!(f, " from {} (SEALANE_PROVIDER)", provider.name())?,
            Request::Any => {}
        }
        write!(f, ": {}; ", self.reason)?;
        match &self.available[..] {
            [] => f.write_str("no other provider is available"),
            available => write!(f, "available from: {}", names(available)),
        }
    }
}

impl std::error::Error for Unavailable {}

impl KeyError {
    /// Adds the cipher and its key lengths to an error of its kernel.
    pub(crate) fn of_kernel(error: KernelKeyError, cipher: &'static str, expected: &'static [usize]) -> Self {
        match error {
            KernelKeyError::InvalidLength(found) => Self::InvalidLength { found, expected },
            KernelKeyError::SelfTestFailed => Self::SelfTestFailed(cipher),
        }
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::MissingFeatures(needs) => Self::MissingFeatures(needs),
            Refusal::SelfTestFailed => Self::SelfTestFailed,
            Refusal::OtherArchitecture(architecture) => Self::WrongArchitecture(architecture),
        }
    }
}

impl From<VariableError> for Reason {
    fn from(error: VariableError) -> Self {
        Self::Environment(error)
    }
}
