//! What a job removes: encrypted files whose sources are gone, and folders that received nothing.

use super::Job;
use super::events::{Event, JobResult, Listener, send};
use crate::manifest::change;
use crate::prelude::*;
use crate::removal::{Removal, Stale, remove_folder};
use crate::tree::is_unfinished;
use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long a file is unfinished before it is certainly left over, in nanoseconds: a day. No lock
/// shows that on every file system, and a job on another machine may write the file.
const ABANDONED_NS: i128 = 86_400_000_000_000;

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

    /// Removes unfinished files that killed jobs have left in the folders of the targets.
    pub(super) fn remove_unfinished(&self) {
        let suffix = self.options.unfinished.as_deref().filter(|_| self.options.encrypts());
        let (Some(suffix), Some(root)) = (suffix, &self.tree.root) else { return };
        for folder in &self.tree.folders {
            // A folder that cannot be listed is a problem where its files are written.
            for (name, kind) in Folder::list(folder).unwrap_or_default() {
                let path = folder.join(&name);
                let is_file = matches!(kind, Ok(EntryKind::File)) && is_unfinished(&name, suffix);
                if is_file
                    && path.symlink_metadata().is_ok_and(|found| is_abandoned(&found, SystemTime::now()))
                {
                    // It is skipped if it stays.
                    let _ = Removal::new(&path, PathBuf::new()).and_then(|found| found.remove(root));
                }
            }
        }
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

/// Returns whether a file was left by a killed job. Its time of modification does not tell: a
/// complete file has its source's.
fn is_abandoned(found: &Metadata, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
    change(found).is_some_and(|(changed, _)| now - changed > ABANDONED_NS)
}

#[cfg(all(test, unix))]
mod test {
    use super::*;
    use std::time::Duration;

    #[test]
    fn files_of_the_last_day_may_be_in_use() {
        let path = std::env::temp_dir().join(format!("sealane-abandoned-{}", std::process::id()));
        fs::write(&path, "x").unwrap();
        let found = path.metadata().unwrap();
        let after = |hours: u64| SystemTime::now() + Duration::from_secs(hours * 3600);
        assert!(!is_abandoned(&found, after(0)) && !is_abandoned(&found, after(23)));
        assert!(is_abandoned(&found, after(25)));
        fs::remove_file(&path).unwrap();
    }
}
