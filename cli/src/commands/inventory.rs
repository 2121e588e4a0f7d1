//! `--inventory`: the signed list of an encrypted folder, written by `encrypt` and compared by `verify`.

use crate::args::ReadInventory;
use crate::console::Console;
use crate::error::{Failure, name};
use crate::keys;
use sealane::file::bulk::{Operation, Plan};
use sealane::file::{
    DecryptWith, Durability, EncryptWith, FileMark, Inventory, InventoryDraft, InventoryKeys, Tree,
};
use sealane::{Error, FolderError};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The inventory that `encrypt` writes.
pub(super) struct NewInventory<'a> {
    keys: &'a InventoryKeys<'a>,
    with: EncryptWith,
    draft: InventoryDraft,
}

impl<'a> NewInventory<'a> {
    /// Reads the inventory of the job before. One that is damaged is replaced, because the job lists every file again; one that
    /// another key signed or encrypted is refused.
    pub(super) fn begin(
        keys: &'a InventoryKeys<'a>,
        operation: &Operation,
        console: &Console,
    ) -> Result<Self, Failure> {
        let Operation::Encrypt(with) = operation else {
            return Err(Failure::misuse("--inventory belongs to the command encrypt"));
        };
        let previous = match keys.previous(with) {
            Err(
                error
                @ Error::Folder(FolderError::SignatureMissing(_) | FolderError::SignatureInvalid { .. }),
            ) => {
                console.warn(&format!("{error}; a new inventory without former versions begins"));
                None
            }
            found => found.map_err(|error| Failure::about(&name(keys.path), error))?,
        };
        Ok(Self { keys, with: with.clone(), draft: InventoryDraft::after(previous) })
    }

    /// Adds all files of the job, of which some could not be written. Returns the number of those that were exchanged since the inventory before, or cannot be read.
    pub(super) fn add_all(
        &mut self,
        tree: &Tree,
        plan: &Plan,
        marks: Vec<OnceLock<FileMark>>,
        not_written: &BTreeSet<usize>,
        console: &Console,
    ) -> usize {
        let Some(root) = &tree.root else { return 0 };
        let mut failed = 0;
        for (at, (job, mark)) in plan.jobs.iter().zip(marks).enumerate() {
            let path = &job.target;
            let added = match mark.into_inner() {
                _ if not_written.contains(&at) => self.draft.add_failed(root, path),
                Some(mark) => self.draft.add(root, path, mark),
                // An armored file, or one that was read like a pipe.
                None => FileMark::of(path).and_then(|mark| self.draft.add(root, path, mark)),
            };
            if let Err(error) = added {
                console.fail(&Failure::about(&name(path), error));
                failed += 1;
            }
        }
        for (_, path) in &plan.finished {
            let added = FileMark::of(path).and_then(|mark| self.draft.add_unchanged(root, path, mark));
            match added {
                Ok(true) => {}
                Ok(false) => {
                    console.fail(&Failure::exchanged(&name(path)));
                    failed += 1;
                }
                Err(error) => {
                    console.fail(&Failure::about(&name(path), error));
                    failed += 1;
                }
            }
        }
        for link in &tree.links {
            if let Err(error) = self.draft.add_link(root, &link.target, &link.text) {
                console.fail(&Failure::about(&name(&link.target), error));
                failed += 1;
            }
        }
        failed
    }

    pub(super) fn save(self, tree: &Tree, deletes: bool, durability: Durability) -> Result<(), Failure> {
        let Some(root) = &tree.root else { return Ok(()) };
        let saved = self.keys.save(self.draft, root, deletes, &self.with, durability);
        saved.map(drop).map_err(|error| Failure::about(&name(self.keys.path), error))
    }
}

/// Opens the inventory of `verify` after its signature is verified.
pub(super) fn open(args: &ReadInventory, with: &DecryptWith) -> Result<Option<Inventory>, Failure> {
    let (Some(path), Some(signer)) = (&args.file, &args.signer) else { return Ok(None) };
    let signers = keys::signers(signer)?;
    let opened = Inventory::open(path, with, &signers, args.min_counter);
    opened.map(Some).map_err(|error| Failure::about(&name(path), error))
}

/// Reports every difference of a folder from its inventory. Returns their number.
pub(super) fn compare(
    inventory: &Inventory,
    root: &Path,
    tree: &Tree,
    is_excluded: impl Fn(&Path) -> bool,
    console: &Console,
) -> Result<usize, Failure> {
    let mut failed = 0;
    let mut files: Vec<(PathBuf, FileMark)> = Vec::new();
    for (path, _) in &tree.pairs {
        match FileMark::of(path) {
            Ok(mark) => files.push((path.clone(), mark)),
            Err(error) => {
                console.fail(&Failure::about(&name(path), error));
                failed += 1;
            }
        }
    }
    let mut links = Vec::new();
    for link in &tree.links {
        let text = fs::read_link(&link.source).map_err(|e| Failure::io(&name(&link.source), &e))?;
        links.push((link.source.clone(), text));
    }
    let findings = inventory
        .compare(root, files, links, is_excluded)
        .map_err(|error| Failure::about("--inventory", error))?;
    for finding in &findings {
        console.fail(&Failure::differs(&name(&root.join(&finding.path)), &finding.difference));
    }
    failed += findings.len();
    let (counter, count) = (inventory.counter(), inventory.len());
    let text = format!("inventory with counter {counter}: {count} files listed, {failed} differences");
    console.result(
        || json!({"inventory": true, "counter": counter, "files": count, "differences": failed}),
        &text,
    )?;
    Ok(failed)
}
