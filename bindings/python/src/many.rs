//! Many files in one call: what a small file costs is the system's calls, and no more than those.

use crate::error::raise_among;
use crate::file::durability;
use crate::file_keys::{DecryptWith, EncryptWith};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use sealane::Error;
use sealane::file::{self, Options};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// To attach to the interpreter may mean to wait for other threads' turns.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

type Answers = Vec<Option<Py<PyBaseException>>>;

/// Encrypts each source to its target, one after the other, on this thread. One answer a pair, in their order: nothing,
/// or the exception. An exception that a signal brings ends it at once and is raised.
#[pyfunction]
pub(crate) fn encrypt_paths(
    py: Python<'_>,
    pairs: Vec<(PathBuf, PathBuf)>,
    lock: &EncryptWith,
    durable: bool,
) -> PyResult<Answers> {
    each(py, &pairs, durable, |src, dst, options| file::encrypt_file(src, dst, lock.core(), options))
}

/// Decrypts each source to its target, as ``encrypt_paths`` encrypts.
#[pyfunction]
pub(crate) fn decrypt_paths(
    py: Python<'_>,
    pairs: Vec<(PathBuf, PathBuf)>,
    unlock: &DecryptWith,
    durable: bool,
) -> PyResult<Answers> {
    each(py, &pairs, durable, |src, dst, options| file::decrypt_file(src, dst, unlock.core(), options))
}

fn each(
    py: Python<'_>,
    pairs: &[(PathBuf, PathBuf)],
    durable: bool,
    work: impl Fn(&Path, &Path, Options<'_>) -> Result<(), Error> + Sync,
) -> PyResult<Answers> {
    let mut raised = None;
    let mut errors = Vec::new();
    py.detach(|| {
        let mut looked = Instant::now();
        let mut hook = |_, _| {
            if looked.elapsed() < BETWEEN_SIGNALS {
                return ControlFlow::Continue(());
            }
            let said = Python::attach(|py| py.check_signals());
            looked = Instant::now();
            match said {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        for (at, (src, dst)) in pairs.iter().enumerate() {
            let options = Options {
                threads: Some(NonZeroUsize::MIN),
                progress: Some(&mut hook),
                durability: durability(durable),
            };
            match work(src, dst, options) {
                Ok(()) => {}
                Err(Error::Cancelled) => return,
                Err(error) => errors.push((at, error)),
            }
        }
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let mut answers: Answers = pairs.iter().map(|_| None).collect();
    for (at, error) in errors {
        answers[at] = Some(raise_among(&pairs[at].0, error).into_value(py));
    }
    Ok(answers)
}
