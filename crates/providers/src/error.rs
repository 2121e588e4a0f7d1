//! Every way in which a choice or a message fails.
//!
//! A message fails without a reason. Everything else is the caller's or the environment's to fix, and says so.

use crate::{Algorithm, Provider};
use kernels::{cpu::Needs, error::KeyError, variant::Refusal};
use std::fmt;

/// The provider refused: a key, nonce or tag of a wrong length, or a message past a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// The tag does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

/// Nobody can compute what was asked for, in the way it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What was to be computed.
    pub algorithm: Algorithm,
    /// Who was to compute it, and who said so.
    pub asked: Asked,
    /// Why that is not possible.
    pub reason: Reason,
    /// Who can compute it here.
    pub have: Vec<Provider>,
}

/// Who asked for a provider; the first that speaks is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The argument of the call.
    Call(Provider),
    /// The process default, see [`set_default`](crate::set_default).
    Default(Provider),
    /// The variable `SEALANE_PROVIDER`, which names a provider.
    Variable(Provider),
    /// Nobody: any provider will do.
    Nobody,
}

/// Why a provider does not compute an algorithm here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The library has no such algorithm.
    Lacks(Provider, Algorithm),
    /// This project has not written it.
    NotBuilt,
    /// The processor, or what `SEALANE_CPU` left of it, does not have these features.
    Processor(Needs),
    /// The variant computed something else than a known answer when it was first wanted, so it is not used.
    WrongAnswer,
    /// The variant is for another kind of processor.
    Architecture(&'static str),
    /// A variable of the environment cannot be understood.
    Variable(BadVariable),
}

/// A variable of the environment that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadVariable {
    /// Its name.
    pub variable: &'static str,
    /// What is wrong with it.
    pub malformed: Malformed,
}

/// What is wrong with a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// It is not Unicode text.
    NotUnicode,
    /// An item of `SEALANE_CPU` does not begin with a minus sign.
    OnlySubtracts(String),
    /// No processor feature has this name.
    UnknownFeature(String),
    /// No provider has this name.
    UnknownProvider(String),
}

/// Why there is no native AES with this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAes {
    /// A key of another length than 16, 24 or 32 bytes.
    KeyLength(usize),
    /// Every variant that may run here computed a wrong answer to its self-test.
    NoRow,
    /// `SEALANE_CPU` cannot be understood.
    Variable(BadVariable),
}

/// The process default was set before, to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultAlreadySet {
    /// What it is.
    pub now: Option<Provider>,
}

/// Names with commas between them.
struct Names<'a>(&'a [Provider]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, provider) in self.0.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, provider.name())?;
        }
        Ok(())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the provider refused: a wrong length, or a message past a limit")
    }
}

impl fmt::Display for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("authentication failed")
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.name())?;
        match self.asked {
            Asked::Call(provider) => write!(f, " from {}", provider.name())?,
            Asked::Default(provider) => write!(f, " from {} (the process default)", provider.name())?,
            Asked::Variable(provider) => write!(f, " from {} (SEALANE_PROVIDER)", provider.name())?,
            Asked::Nobody => {}
        }
        write!(f, ": {}; ", self.reason)?;
        match &self.have[..] {
            [] => f.write_str("nobody else has it here"),
            have => write!(f, "available from: {}", Names(have)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks(provider, algorithm) => {
                write!(f, "{} has no {}", provider.name(), algorithm.name())
            }
            Self::NotBuilt => f.write_str("not built yet"),
            Self::Processor(needs) => write!(f, "needs {needs}"),
            Self::WrongAnswer => f.write_str("computed a wrong answer to its self-test"),
            Self::Architecture(architecture) => write!(f, "for {architecture} processors"),
            Self::Variable(bad) => bad.fmt(f),
        }
    }
}

impl fmt::Display for BadVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "environment variable {}: ", self.variable)?;
        match &self.malformed {
            Malformed::NotUnicode => f.write_str("not Unicode text"),
            Malformed::OnlySubtracts(item) => {
                write!(
                    f,
                    "{item:?} does not begin with '-'; features can only be taken away, as in -avx512f,-vaes"
                )
            }
            Malformed::UnknownFeature(name) => write!(f, "no processor feature is named {name:?}"),
            Malformed::UnknownProvider(name) => {
                write!(f, "no provider is named {name:?}; known: {}", Names(Provider::ALL))
            }
        }
    }
}

impl fmt::Display for NoAes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength(got) => write!(f, "an AES key has 16, 24 or 32 bytes, not {got}"),
            Self::NoRow => write!(f, "native AES: {}", Reason::WrongAnswer),
            Self::Variable(bad) => bad.fmt(f),
        }
    }
}

impl fmt::Display for DefaultAlreadySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.now.map_or("none", Provider::name);
        write!(f, "the process default is set once, by the application; it is {now}")
    }
}

impl std::error::Error for Failed {}
impl std::error::Error for Forged {}
impl std::error::Error for Unavailable {}
impl std::error::Error for BadVariable {}
impl std::error::Error for NoAes {}
impl std::error::Error for DefaultAlreadySet {}

impl From<BadVariable> for NoAes {
    fn from(bad: BadVariable) -> Self {
        Self::Variable(bad)
    }
}

impl From<KeyError> for NoAes {
    fn from(why: KeyError) -> Self {
        match why {
            KeyError::InvalidLength(got) => Self::KeyLength(got),
            KeyError::SelfTestFailed => Self::NoRow,
        }
    }
}

impl From<Refusal> for Reason {
    fn from(why: Refusal) -> Self {
        match why {
            Refusal::Missing(needs) => Self::Processor(needs),
            Refusal::WrongAnswer => Self::WrongAnswer,
        }
    }
}

impl From<BadVariable> for Reason {
    fn from(bad: BadVariable) -> Self {
        Self::Variable(bad)
    }
}
