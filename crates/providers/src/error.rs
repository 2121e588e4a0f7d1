//! Errors of provider selection, key expansion and messages.
//!
//! An authentication failure is opaque. The other errors give the provider's reason, if there is
//! one.

use crate::{Algorithm, Provider};
use kernels::cpu::Needs;
use kernels::error::MessageError;
use kernels::variant::Refusal;

/// Why the selected provider could not expand a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Invalid key length.
    #[error("expected a key of {} bytes, found {found}", alternatives(.expected))]
    InvalidLength {
        /// Given length in bytes.
        found: usize,
        /// Accepted lengths in bytes.
        expected: &'static [usize],
    },
    /// Every variant of the native cipher that runs on this machine failed its self-test.
    #[error("native {} {}", .0, Reason::SelfTestFailed)]
    SelfTestFailed(&'static str),
    /// The cipher is not approved, or not computed by the FIPS module, in this build with the
    /// feature `fips`.
    #[error("{} is {}", .0, Reason::NotApproved)]
    NotApproved(&'static str),
    /// `SEALANE_CPU` has an invalid value.
    #[error(transparent)]
    Environment(#[from] VariableError),
    /// The library refused the key and gives no reason.
    #[error("the provider refused the key")]
    Unspecified,
}

/// Why a message could not be encrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The algorithm does not allow such a message: the nonce has the wrong length, or a part is
    /// too long.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The subkey of the message could not be expanded.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The library refused the message and gives no reason; usually, the message is too long.
    #[error("the provider refused the message; it may be too long")]
    Unspecified,
}

/// The tag does not match: the key, the nonce, the associated data or the message is wrong. It does
/// not say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("authentication failed")]
pub struct AuthenticationError;

/// The result of sealing a message.
pub type SealResult = Result<(), SealError>;

/// The result of opening a message.
pub type OpenResult = Result<(), AuthenticationError>;

/// The requested provider, or every provider, cannot compute an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {reason}; {}", .algorithm.name(), origin(*.request), others(.available))]
pub struct Unavailable {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The request and its origin, such as an environment variable.
    pub request: Request,
    /// Why it cannot be fulfilled in this process.
    pub reason: Reason,
    /// Providers that can compute the algorithm on this machine.
    pub available: Vec<Provider>,
}

/// Origin of a request for a provider, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The argument of the call.
    Argument(Provider),
    /// The process default, see [`set_default`](crate::set_default).
    ProcessDefault(Provider),
    /// The environment variable `SEALANE_PROVIDER`.
    Environment(Provider),
    /// No request: any available provider may be selected.
    Any,
}

/// Why a provider cannot compute an algorithm on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The provider does not have the algorithm, or does not exist.
    #[error("{} has no {}", .0.name(), .1.name())]
    Unsupported(Provider, Algorithm),
    /// No provider of this build implements the algorithm.
    #[error("no provider has it")]
    NoImplementation,
    /// The processor lacks these features, or `SEALANE_CPU` removed them.
    #[error("needs {0}")]
    MissingFeatures(Needs),
    /// The variant failed its self-test.
    #[error("failed its self-test")]
    SelfTestFailed,
    /// The build has the feature `fips`, but its module does not approve this algorithm.
    #[error("not approved in this FIPS build")]
    NotApproved,
    /// The variant is for another architecture.
    #[error("for {0} processors")]
    WrongArchitecture(&'static str),
    /// An environment variable has an invalid value.
    #[error(transparent)]
    Environment(#[from] VariableError),
    /// The reason of a provider from another crate.
    #[error("{0}")]
    Other(&'static str),
}

/// An environment variable has an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment variable {variable}: {problem}")]
pub struct VariableError {
    /// Name of the variable, such as `SEALANE_PROVIDER`.
    pub variable: &'static str,
    /// What is wrong with its value.
    pub problem: VariableProblem,
}

/// What is wrong with the value of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableProblem {
    /// It is not Unicode.
    #[error("not Unicode text")]
    NotUnicode,
    /// An item of `SEALANE_CPU` does not begin with a minus sign.
    #[error("{0:?} does not begin with '-'; features can only be removed, for example -avx512f,-vaes")]
    MissingMinus(String),
    /// This is not the name of a processor feature.
    #[error("no processor feature is named {0:?}")]
    UnknownFeature(String),
    /// The named provider does not exist.
    #[error("no provider is named {name:?}; known: {}", names(.known))]
    UnknownProvider {
        /// The value of the variable.
        name: String,
        /// Existing providers.
        known: Vec<Provider>,
    },
}

/// The process default is set to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the process default can be set once, by the application; it is {}",
    .current.map_or("none", Provider::name)
)]
pub struct DefaultAlreadySet {
    /// The current process default, or `None` if it is settled that there is none.
    pub current: Option<Provider>,
}

/// Why entries could not be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is empty or contains anything but lowercase letters, digits and hyphens.
    #[error("a provider name has lowercase letters, digits and hyphens, found {:?}", .0.name())]
    InvalidName(Provider),
    /// The name belongs to a built-in provider; its entries cannot be replaced.
    #[error("{} is a built-in provider; register under another name", .0.name())]
    BuiltIn(Provider),
    /// The provider already has an entry for this algorithm.
    #[error("{} from {} has been registered already", .1.name(), .0.name())]
    AlreadyRegistered(Provider, Algorithm),
}

fn origin(request: Request) -> String {
    match request {
        Request::Argument(provider) => format!(" from {}", provider.name()),
        Request::ProcessDefault(provider) => format!(" from {} (the process default)", provider.name()),
        Request::Environment(provider) => format!(" from {} (SEALANE_PROVIDER)", provider.name()),
        Request::Any => String::new(),
    }
}

fn others(available: &[Provider]) -> String {
    match available {
        [] => "no other provider is available".into(),
        available => format!("available from: {}", names(available)),
    }
}

fn names(providers: &[Provider]) -> String {
    providers.iter().map(|provider| provider.name()).collect::<Vec<_>>().join(", ")
}

/// Joins lengths, as in "16 or 32".
pub fn alternatives(lengths: &[usize]) -> String {
    lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
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
