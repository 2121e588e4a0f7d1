//! The native part of `sealane/_inventory.py`.

use crate::detach::interruptible;
use crate::error::{raise, raise_among};
use crate::file::durability;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::secrets;
use pyo3::prelude::*;
use sealane::file::{Inventory, InventoryKeys, compare_inventory, write_inventory};
use sealane::keys::Reference;
use sealane::signature::{Signers, SigningKey};
use std::ffi::OsString;
use std::path::PathBuf;

/// Writes a signed inventory of the encrypted ``folder`` to ``path``; see
/// ``sealane.write_inventory``. Returns its counter and the number of files.
#[pyfunction]
pub(crate) fn write_inventory_path(
    py: Python<'_>,
    folder: PathBuf,
    path: PathBuf,
    encryption: &EncryptWith,
    sign_key: PathBuf,
    sign_passphrase: Option<&Bound<'_, PyAny>>,
    durable: bool,
) -> PyResult<(u64, usize)> {
    let passphrase = secrets::passphrase(sign_passphrase)?;
    let content = Reference::File(sign_key.clone()).read().map_err(|e| raise_among(&sign_key, e))?;
    let text = passphrase.as_ref().map(|text| text.as_str());
    let key =
        interruptible(py, || SigningKey::parse(&content, text))?.map_err(|e| raise_among(&sign_key, e))?;
    let keys = InventoryKeys { path: &path, key: &key };
    let written =
        interruptible(py, || write_inventory(&folder, &keys, encryption.core(), durability(durable)))?;
    written.map(|inventory| (inventory.counter(), inventory.len())).map_err(raise)
}

/// Path, name and text of a difference.
type Finding = (OsString, &'static str, String);

/// Compares the encrypted ``folder`` with the inventory at ``path``; see
/// ``sealane.verify_inventory``. Returns its counter, the number of files, and the differences:
/// path, name and text.
#[pyfunction]
pub(crate) fn compare_inventory_path(
    py: Python<'_>,
    folder: PathBuf,
    path: PathBuf,
    decryption: &DecryptWith,
    signer: PathBuf,
    min_counter: u64,
) -> PyResult<(u64, usize, Vec<Finding>)> {
    let content = Reference::File(signer.clone()).read().map_err(|e| raise_among(&signer, e))?;
    let signers = Signers::parse(&content).map_err(|e| raise_among(&signer, e))?;
    let found = interruptible(py, || {
        let inventory = Inventory::open(&path, decryption.core(), &signers, min_counter)?;
        let findings = compare_inventory(&folder, &inventory)?;
        Ok::<_, sealane::Error>((inventory.counter(), inventory.len(), findings))
    })?;
    let (counter, files, findings) = found.map_err(raise)?;
    let findings = findings
        .into_iter()
        .map(|found| (found.path.into_os_string(), found.difference.name(), found.difference.to_string()));
    Ok((counter, files, findings.collect()))
}
