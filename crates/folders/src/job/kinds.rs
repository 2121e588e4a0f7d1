//! Targets whose source has become a folder, or is no longer one.

use super::Job;
use super::events::{JobResult, Listener, send};
use super::tally::JobFile;
use crate::prelude::*;
use crate::removal::{Removal, Search, Stale, is_ours, remove_folder};
use crate::tree::Links;
use engine::folder::refused_link;

/// Something of another kind in the place of a target.
struct Conflict {
    source: PathBuf,
    target: PathBuf,
    found: EntryKind,
}

impl Job {
    /// With `delete`, removes files, links and folders in the places of targets of another kind, as
    /// far as an earlier job wrote them. A place that stays taken is a problem, and nothing is
    /// written there or below.
    pub(super) fn make_way(&mut self, operation: Option<&Operation>, listen: &mut Listener<'_>) -> JobResult {
        let Some(root) = self.tree.root.clone() else { return Ok(()) };
        for conflict in self.conflicts(&root) {
            if self.options.delete {
                self.clear(&root, &conflict, operation, listen)?;
            }
            let Conflict { source, target, found } = conflict;
            if kind_at(&target) != Some(found) {
                continue;
            }
            let error = match found {
                EntryKind::Link => refused_link(),
                EntryKind::Folder => io::Error::new(ErrorKind::AlreadyExists, self.taken("folder")),
                _ => io::Error::new(ErrorKind::AlreadyExists, self.taken("file")),
            };
            let is_below = |path: &Path| path.starts_with(&target);
            let (dropped, kept) =
                mem::take(&mut self.files).into_iter().partition(|file| is_below(&file.target));
            let dropped: Vec<JobFile> = dropped;
            self.tally.ended += dropped.iter().map(|file| file.fingerprint.len()).sum::<u64>();
            self.files = kept;
            self.tree.folders.retain(|folder| !is_below(folder));
            self.tree.folder_pairs.retain(|(_, folder)| !is_below(folder));
            self.tree.links.retain(|link| !is_below(&link.target));
            let event = self.tally.failed(&source, Error::io(&target, error));
            send(listen, vec![event])?;
        }
        Ok(())
    }

    /// Returns why a place stays taken.
    fn taken(&self, found: &str) -> String {
        let advice = match self.options.delete {
            true => ", and nothing shows that sealane wrote all of it; move it away",
            false => "; move it away, or use --delete, which removes what sealane wrote",
        };
        format!("found a {found} of another kind than the source{advice}")
    }

    /// Returns the conflicts, those of folders first and parents before their content.
    fn conflicts(&self, root: &Path) -> Vec<Conflict> {
        let links = self.options.links() == Links::Keep;
        let folders = self.tree.folder_pairs.iter().map(|(source, target)| (source, target, true));
        let files = self.files.iter().map(|file| (&file.source, &file.target, false));
        let copied = self.tree.links.iter().map(|link| (&link.source, &link.target, false));
        let all = folders.chain(files).chain(copied).filter(|(_, target, _)| **target != *root);
        let conflict = |(source, target, is_folder): (&PathBuf, &PathBuf, bool)| {
            let found = kind_at(target)?;
            let is_conflict = match found {
                EntryKind::Folder => !is_folder,
                // Linked files replace nothing but files.
                EntryKind::Link => is_folder || !links,
                EntryKind::File => is_folder,
                EntryKind::Special => false,
            };
            is_conflict.then(|| Conflict { source: source.clone(), target: target.clone(), found })
        };
        all.filter_map(conflict).collect()
    }

    /// Removes what an earlier job wrote in the place of a target.
    fn clear(
        &mut self,
        root: &Path,
        Conflict { target, found, .. }: &Conflict,
        operation: Option<&Operation>,
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let Self { options, tree, tally, .. } = self;
        let manifest = tally.manifest.as_ref();
        let below = target.strip_prefix(root).unwrap_or(target);
        let Ok(plain) = tree.names.as_ref().map_or(Ok(below.to_owned()), |key| key.decrypt_path(below))
        else {
            return Ok(());
        };
        let mut stale = Stale::default();
        if *found == EntryKind::Folder {
            let sources: Vec<_> = options.inputs.iter().map(|input| &**input).collect();
            let search = Search::new(tree, &sources, &options.suffix, operation, manifest, &tally.problems);
            search.walk(target.clone(), plain, &mut stale);
        } else if is_ours(target, &plain, *found, (operation, tree.names.as_ref()), manifest) {
            stale.removals.extend(Removal::new(target, plain).ok());
        }
        let remove = |removal: &Removal| removal.remove(root).map_err(|e| Error::io(&removal.path, e));
        let results = stale.removals.iter().map(remove).collect();
        for folder in stale.folders.iter().rev() {
            // What stays in it is told in its place.
            let _ = remove_folder(root, folder);
        }
        tally.removed(&stale, results, listen)
    }
}

fn kind_at(path: &Path) -> Option<EntryKind> {
    Some(path.symlink_metadata().ok()?.file_type().into())
}
