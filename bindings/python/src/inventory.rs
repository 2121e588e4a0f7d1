//! The native part of `sealane/_inventory.py`.

use crate::file::durability;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::prelude::*;
use crate::secrets;
use crate::signing::{file, parsed};
use sealane::file::{Inventory, InventoryKeys, compare_inventory, write_inventory};
use sealane::signature::{Signers, SigningKey};

/// Writes a signed inventory of the encrypted ``folder`` to ``path``; see
/// ``sealane.write_inventory``. Returns its counter, the number of files, and the identifier of the
/// folder.
#[pyfunction]
pub(crate) fn write_inventory_path(
    py: Python<'_>,
    folder: PathBuf,
    path: PathBuf,
    encryption: &EncryptWith,
    sign_key: &Any<'_>,
    sign_passphrase: Option<&Any<'_>>,
    durable: bool,
    identifier: Option<&str>,
) -> PyResult<(u64, usize, Option<String>)> {
    let passphrase = secrets::passphrase(sign_passphrase)?;
    let text = passphrase.as_ref().map(|text| text.as_str());
    let key = parsed(py, "sign_key", sign_key, file, |content| SigningKey::parse(content, text))?;
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
    signer: &Any<'_>,
    min_counter: u64,
    identifier: Option<&str>,
) -> PyResult<(u64, usize, Option<String>, Vec<Finding>)> {
    let signers = parsed(py, "signer", signer, file, Signers::parse)?;
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
