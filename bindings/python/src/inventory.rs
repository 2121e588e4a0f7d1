//! The native part of `sealane/_inventory.py`.

use crate::file::durability;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::prelude::*;
use sealane::file::{Inventory, InventoryKeys, compare_inventory, write_inventory};
use sealane::keys::Reference;
use sealane::signature::{Signers, SigningKey};
use std::ffi::OsString;

/// Writes a signed inventory of the encrypted ``folder`` to ``path``; see
/// ``sealane.write_inventory``. Returns its counter, the number of files, and the identifier of the
/// folder.
#[pyfunction]
pub(crate) fn write_inventory_path(
    py: Python<'_>,
    folder: PathBuf,
    path: PathBuf,
    encryption: &EncryptWith,
    sign_key: PathBuf,
    sign_passphrase: Option<&Any<'_>>,
    durable: bool,
    identifier: Option<&str>,
) -> PyResult<(u64, usize, Option<String>)> {
    let passphrase = secrets::passphrase(sign_passphrase)?;
    let content = Reference::File(sign_key.clone()).read().map_err(|e| raise_among(&sign_key, e))?;
    let text = passphrase.as_ref().map(|text| text.as_str());
    let key =
        interruptible(py, || SigningKey::parse(&content, text))?.map_err(|e| raise_among(&sign_key, e))?;
    let keys = InventoryKeys { path: &path, key: &key, folder: identifier };
    let written = interruptible(py, || write_inventory(&folder, &keys, &encryption.0, durability(durable)))?;
    let inventory = written.map_err(raise)?;
    Ok((inventory.counter(), inventory.len(), inventory.folder().map(str::to_owned)))
}

/// Path, name and text of a difference.
type Finding = (OsString, &'static str, String);

/// Compares the encrypted ``folder`` with the inventory at ``path``; see
/// ``sealane.verify_inventory``. Returns its counter, the number of files, the identifier of the
/// folder, and the differences: path, name and text.
#[pyfunction]
pub(crate) fn compare_inventory_path(
    py: Python<'_>,
    folder: PathBuf,
    path: PathBuf,
    decryption: &DecryptWith,
    signer: PathBuf,
    min_counter: u64,
    identifier: Option<&str>,
) -> PyResult<(u64, usize, Option<String>, Vec<Finding>)> {
    let content = Reference::File(signer.clone()).read().map_err(|e| raise_among(&signer, e))?;
    let signers = Signers::parse(&content).map_err(|e| raise_among(&signer, e))?;
    let found = interruptible(py, || {
        let inventory = Inventory::open(&path, &decryption.0, &signers, min_counter, identifier)?;
        let findings = compare_inventory(&folder, &inventory)?;
        Ok::<_, Error>((inventory, findings))
    })?;
    let (inventory, findings) = found.map_err(raise)?;
    let findings = findings
        .into_iter()
        .map(|found| (found.path.into_os_string(), found.difference.name(), found.difference.to_string()));
    let folder = inventory.folder().map(str::to_owned);
    Ok((inventory.counter(), inventory.len(), folder, findings.collect()))
}
