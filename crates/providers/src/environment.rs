//! The two variables that sealane reads, each once per process.
//!
//! `SEALANE_CPU=-avx512f,-vaes` takes processor features away from native rows; it cannot add any, so it can make
//! things slower and nothing else. Foreign libraries look at the processor themselves and do not hear it.
//!
//! `SEALANE_PROVIDER=ring` names who computes where neither the call nor the application does. All rows of an
//! algorithm give the same bytes and none takes a time that depends on secrets, so it changes speed and nothing else.
//!
//! An empty variable is as good as none; one that cannot be understood fails every choice.

use crate::{BadVariable, Malformed, Provider};
use kernels::cpu::Features;
use std::env::{self, VarError};
use std::sync::OnceLock;

const CPU: &str = "SEALANE_CPU";
const PROVIDER: &str = "SEALANE_PROVIDER";

/// What native rows may use of this processor: all it has, without what `SEALANE_CPU` takes away.
///
/// # Errors
/// [`BadVariable`] where any item is not a minus sign and the name of a feature.
pub fn features() -> Result<Features, BadVariable> {
    static ONCE: OnceLock<Result<Features, BadVariable>> = OnceLock::new();
    ONCE.get_or_init(|| match read(CPU)? {
        Some(value) => subtract(Features::detect(), &value),
        None => Ok(Features::detect()),
    })
    .clone()
}

/// The provider that `SEALANE_PROVIDER` names.
pub(crate) fn provider() -> Result<Option<Provider>, BadVariable> {
    static ONCE: OnceLock<Result<Option<Provider>, BadVariable>> = OnceLock::new();
    ONCE.get_or_init(|| read(PROVIDER)?.map(|value| named(&value)).transpose()).clone()
}

fn read(variable: &'static str) -> Result<Option<String>, BadVariable> {
    match env::var(variable) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(BadVariable { variable, malformed: Malformed::NotUnicode }),
    }
}

fn subtract(all: Features, value: &str) -> Result<Features, BadVariable> {
    let bad = |malformed| BadVariable { variable: CPU, malformed };
    value.split(',').try_fold(all, |left, item| {
        let name = item.strip_prefix('-').ok_or_else(|| bad(Malformed::OnlySubtracts(item.into())))?;
        left.without(name).ok_or_else(|| bad(Malformed::UnknownFeature(name.into())))
    })
}

fn named(value: &str) -> Result<Provider, BadVariable> {
    Provider::from_name(value).ok_or_else(|| BadVariable {
        variable: PROVIDER,
        malformed: Malformed::UnknownProvider(value.into()),
    })
}
