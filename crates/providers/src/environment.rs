//! The two environment variables of sealane, each read once per process.
//!
//! `SEALANE_CPU=-avx512f,-vaes` removes processor features from the native kernels. It cannot add
//! any, so it can only slow them down. If it leaves only their portable variants, another provider
//! becomes the default. Foreign libraries ignore the variable and inspect the processor themselves.
//!
//! `SEALANE_PROVIDER=ring` names the provider for calls and applications that name none. It changes
//! the speed and no result: all entries of an algorithm compute the same bytes, and none is known
//! to take a time that depends on secrets. A selection fails if the provider lacks the algorithm.
//!
//! An empty variable counts as unset. An invalid `SEALANE_CPU` fails every selection. An invalid
//! `SEALANE_PROVIDER` fails those that neither the call nor the process default decides.

use crate::{VariableError, VariableProblem};
use kernels::cpu::Features;
use std::env::{self, VarError};
use std::sync::OnceLock;

const CPU: &str = "SEALANE_CPU";
pub(crate) const PROVIDER: &str = "SEALANE_PROVIDER";

/// Returns the processor features for native kernels: the detected ones without those in
/// `SEALANE_CPU`.
///
/// # Errors
/// Returns a [`VariableError`] if the variable is not Unicode, or an item is not a minus sign and a
/// feature.
pub fn features() -> Result<Features, VariableError> {
    static ONCE: OnceLock<Result<Features, VariableError>> = OnceLock::new();
    ONCE.get_or_init(|| match read(CPU)? {
        Some(value) => subtract(Features::detect(), &value),
        None => Ok(Features::detect()),
    })
    .clone()
}

/// Returns the value of `SEALANE_PROVIDER`, unless it is unset or empty.
pub(crate) fn provider() -> Result<Option<&'static str>, VariableError> {
    static ONCE: OnceLock<Result<Option<String>, VariableError>> = OnceLock::new();
    ONCE.get_or_init(|| read(PROVIDER)).as_ref().map(Option::as_deref).map_err(Clone::clone)
}

fn read(variable: &'static str) -> Result<Option<String>, VariableError> {
    match env::var(variable) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(VariableError { variable, problem: VariableProblem::NotUnicode }),
    }
}

fn subtract(all: Features, value: &str) -> Result<Features, VariableError> {
    let error = |problem| VariableError { variable: CPU, problem };
    value.split(',').try_fold(all, |left, item| {
        let name = item.strip_prefix('-').ok_or_else(|| error(VariableProblem::MissingMinus(item.into())))?;
        left.without(name).ok_or_else(|| error(VariableProblem::UnknownFeature(name.into())))
    })
}
