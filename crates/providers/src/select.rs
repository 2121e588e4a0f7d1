//! Which row is taken.

use crate::registry::{self, Row};
use crate::{Algorithm, Asked, DefaultAlreadySet, Provider, Reason, Unavailable, environment};
use std::sync::OnceLock;

static DEFAULT: OnceLock<Option<Provider>> = OnceLock::new();

/// Settles who computes in this process where a call does not say. Applications set it, once; libraries never do.
///
/// `None` settles that there is no process default: `SEALANE_PROVIDER` and the ranks decide.
///
/// # Errors
/// [`DefaultAlreadySet`] where it was set before to something else.
pub fn set_default(provider: Option<Provider>) -> Result<(), DefaultAlreadySet> {
    match *DEFAULT.get_or_init(|| provider) {
        now if now == provider => Ok(()),
        now => Err(DefaultAlreadySet { now }),
    }
}

/// Who computes `algorithm`. The first that speaks is heard: `provider`, the process default, `SEALANE_PROVIDER`, the
/// ranks of the registry.
///
/// # Errors
/// [`Unavailable`] where the provider that was asked for cannot do it. There is no falling back: who names a provider
/// has a reason (a certificate, a measurement, a bug to keep away from) that a silent substitute would defeat, and
/// would find out last. For the same reason `SEALANE_PROVIDER` has to hold for every algorithm that is used; leave it
/// empty and name the provider in the call where it does not.
pub fn choose(algorithm: Algorithm, provider: Option<Provider>) -> Result<&'static Row, Unavailable> {
    let unavailable =
        |asked, reason| Unavailable { algorithm, asked, reason, have: registry::have(algorithm) };
    // A variable with a slip of the pen in it is told, whether this row would have listened to it or not.
    let asked = environment::features().and_then(|_| asked(provider));
    let asked = asked.map_err(|bad| unavailable(Asked::Nobody, Reason::Variable(bad)))?;
    let found = match asked {
        Asked::Call(provider) | Asked::Default(provider) | Asked::Variable(provider) => {
            registry::find(algorithm, provider)
        }
        Asked::Nobody => registry::best(algorithm),
    };
    found.map_err(|reason| unavailable(asked, reason))
}

fn asked(provider: Option<Provider>) -> Result<Asked, crate::BadVariable> {
    if let Some(provider) = provider {
        return Ok(Asked::Call(provider));
    }
    if let Some(&Some(provider)) = DEFAULT.get() {
        return Ok(Asked::Default(provider));
    }
    Ok(environment::provider()?.map_or(Asked::Nobody, Asked::Variable))
}
