//! How `sealane.keys.Key` and `sealane.keys.Keyring` are written to a file.

use super::classes::{at_most_one, existing};
use crate::prelude::*;
use crate::{recipients, secrets};
use sealane::keys::refuse_replacing;

/// Writes a key or a keyring to a file.
pub(super) fn save(
    py: Python<'_>,
    path: &Path,
    passphrase: Option<&Any<'_>>,
    recipients: Option<&Any<'_>>,
    overwrite: bool,
    content: &KeyFile,
) -> PyResult<()> {
    at_most_one("passphrase", passphrase, "recipients", recipients)?;
    let mut files = Vec::new();
    let (passphrase, recipients) =
        (secrets::passphrase(passphrase)?, recipients::recipients(recipients, &mut files)?);
    if overwrite {
        refuse_replacing(path, &files).map_err(raise)?;
    }
    let (passphrase, existing) = (passphrase.as_ref().map(|text| text.as_str()), existing(overwrite));
    let written = interruptible(py, || match (content, recipients) {
        (KeyFile::Secret(key), Some(recipients)) => key.save_for(path, &recipients, existing).map(drop),
        (KeyFile::Secret(key), None) => key.save(path, passphrase, existing),
        (KeyFile::Keyring(ring), Some(recipients)) => ring.save_for(path, &recipients, existing).map(drop),
        (KeyFile::Keyring(ring), None) => ring.save(path, passphrase, existing),
        _ => Err(Error::Format("unsupported kind of key file")),
    })?;
    written.map_err(|e| raise_about(path, e))
}
