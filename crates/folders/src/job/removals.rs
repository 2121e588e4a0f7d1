//! What a job removes: encrypted files whose sources are gone, and folders that received nothing.

use super::Job;
use super::events::{Event, JobResult, Listener, send};
use crate::prelude::*;
use crate::removal::{Stale, remove_folder};

impl Job {
    /// Returns the files to remove, as it is now.
    pub(super) fn find_stale(&self, operation: &Operation) -> Result<Stale> {
        let now = self.options.roots();
        let Self { options, tree, tally, .. } = self;
        match self.roots.iter().zip(&now).filter(|(then, now)| then != now).count() {
            0 => {}
            problems => return Err(FolderError::IncompleteListing { problems }.into()),
        }
        let proof = (tally.manifest.as_ref(), &*tally.problems);
        let stale = Stale::find(tree, &options.inputs, &options.suffix, operation, proof)?;
        if !options.delete_all {
            stale.check_source()?;
        }
        Ok(stale)
    }

    pub(super) fn remove_stale(&mut self, operation: &Operation, listen: &mut Listener<'_>) -> JobResult {
        let mut stale = match self.find_stale(operation) {
            Ok(stale) => stale,
            Err(error) => return send(listen, vec![Event::NothingRemoved(error)]),
        };
        self.fail(mem::take(&mut stale.problems), listen)?;
        let stays = stale.unproven.iter().map(|path| Event::Unproven(path));
        send(listen, stays.chain(stale.unknown.iter().map(|path| Event::Unknown(path))).collect())?;
        let results = match self.options.dry_run {
            true => Vec::new(),
            false => stale.remove(&self.tree, &self.options.inputs),
        };
        self.tally.removed(&stale, results, listen)
    }

    /// Removes the folders that the job has created, as far as they are empty.
    pub(super) fn remove_folders(&self) {
        let Some(root) = &self.tree.root else { return };
        for folder in self.tree.folders.iter().rev() {
            // Something may be in it.
            let _ = remove_folder(root, folder);
        }
        let _ = fs::remove_dir(root);
    }
}
