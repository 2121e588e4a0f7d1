//! Selection of a provider.

use crate::registry;
use crate::{
    Algorithm, DefaultAlreadySet, Entry, Provider, Reason, Request, Unavailable, VariableError,
    VariableProblem, environment,
};
use std::sync::OnceLock;

static DEFAULT: OnceLock<Option<Provider>> = OnceLock::new();

/// Sets the provider of this process for calls that name none. An application calls this once, a
/// library never.
///
/// With `None`, there is no process default and none can be set later: `SEALANE_PROVIDER` and the
/// ranks decide.
///
/// # Errors
/// Returns [`DefaultAlreadySet`] if the default is set to something else.
pub fn set_default(provider: Option<Provider>) -> Result<(), DefaultAlreadySet> {
    let current = *DEFAULT.get_or_init(|| provider);
    if current == provider { Ok(()) } else { Err(DefaultAlreadySet { current }) }
}

/// Selects the entry that computes `algorithm`. The first of these to name one decides: `provider`,
/// the process default, `SEALANE_PROVIDER`, the ranks.
///
/// # Errors
/// Returns [`Unavailable`] if the requested provider (or every provider) cannot compute the
/// algorithm, or if an environment variable is invalid. There is no fallback: you name a provider
/// for a reason (a certificate, a measurement, a bug to avoid), and a silent substitute would
/// defeat it. So `SEALANE_PROVIDER` applies to every algorithm in use; where it should not, leave
/// it empty and name the provider in the call.
pub fn choose(algorithm: Algorithm, provider: Option<Provider>) -> Result<&'static Entry, Unavailable> {
    let unavailable = |request, reason| Unavailable {
        algorithm,
        request,
        reason,
        available: registry::available(algorithm),
    };
    // Report an invalid `SEALANE_CPU` even if the selected entry would ignore it.
    let request = environment::features().and_then(|_| request(provider));
    let request = request.map_err(|error| unavailable(Request::Any, Reason::Environment(error)))?;
    let found = match request {
        Request::Argument(provider) | Request::ProcessDefault(provider) | Request::Environment(provider) => {
            registry::find(algorithm, provider)
        }
        Request::Any => registry::best(algorithm),
    };
    found.map_err(|reason| unavailable(request, reason))
}

fn request(argument: Option<Provider>) -> Result<Request, VariableError> {
    if let Some(provider) = argument {
        return Ok(Request::Argument(provider));
    }
    if let Some(&Some(provider)) = DEFAULT.get() {
        return Ok(Request::ProcessDefault(provider));
    }
    let Some(name) = environment::provider()? else { return Ok(Request::Any) };
    // Looked up at each selection: the provider may be registered after the first one.
    let provider = Provider::from_name(name).ok_or_else(|| VariableError {
        variable: environment::PROVIDER,
        problem: VariableProblem::UnknownProvider { name: name.into(), known: Provider::all() },
    })?;
    Ok(Request::Environment(provider))
}
