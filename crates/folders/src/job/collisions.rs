//! Refuses outputs of a job that would destroy an input or another output.
//!
//! [`Tree::walk`] refuses them among the files of folders. This module refuses them among
//! given pairs, and looks for the manifest. A path is identified by its resolved spelling and, if
//! it exists, its file number.

use super::forgotten::{check_folder, check_sources};
use super::options::JobOptions;
use crate::names::{NameKey, resolved};
use crate::prelude::*;
use crate::tree::{Tree, comparable};

/// Refuses pairs if a target has two sources, or is a source or the manifest, and folders that
/// describe themselves.
///
/// # Errors
/// Returns [`Misuse::DuplicateTarget`], [`Misuse::OutputIsInput`], [`FolderError::ManifestAmong`],
/// and the errors of [`check_sources`] and [`check_folder`].
pub(super) fn check_pairs(pairs: &[(PathBuf, PathBuf)], options: &JobOptions) -> Result<()> {
    let manifest = options.manifest.as_deref();
    // A file that cannot be looked at has no number here; opening it will be an error.
    let id = |path: &Path| FileId::at(path).ok().flatten();
    let mut spellings = Spellings::default();
    let mut sources = BTreeMap::new();
    let mut source_ids = BTreeMap::new();
    let mut folders = BTreeSet::new();
    for (source, _) in pairs {
        if options.encrypts() && folders.insert(parent(source)) {
            check_sources(std::slice::from_ref(source))?;
        }
        sources.insert(spellings.of(source), source);
        source_ids.extend(id(source).map(|id| (id, source)));
    }
    let own = manifest.map(|path| (path, spellings.of(path), id(path)));
    if let Some((path, name, id)) = &own
        && (sources.contains_key(name) || id.is_some_and(|id| source_ids.contains_key(&id)))
    {
        return Err(FolderError::ManifestAmong(path.to_path_buf()).into());
    }
    let mut targets = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for (_, target) in pairs {
        let id = id(target);
        // The file behind a link is replaced, not the link.
        let leads_to = if id.is_some() && target.is_symlink() { resolved(target) } else { None };
        let written = leads_to.as_deref().unwrap_or(target);
        if folders.insert(parent(written).to_owned()) {
            check_folder(parent(written), target)?;
        }
        let name = spellings.of(written);
        if let Some(source) = sources.get(&name).or_else(|| source_ids.get(&id?)) {
            return Err(Misuse::OutputIsInput { output: target.clone(), input: source.to_path_buf() }.into());
        }
        if let Some((path, own, own_id)) = &own
            && (*own == name || id.is_some() && id == *own_id)
        {
            return Err(FolderError::ManifestAmong(path.to_path_buf()).into());
        }
        if !targets.insert(name) {
            return Err(Misuse::DuplicateTarget(target.clone()).into());
        }
    }
    Ok(())
}

/// Refuses a manifest that is a target, lies below an input (unless allowed), or would reveal
/// encrypted names. Removes a manifest below an input from the files of `tree`. Refuses targets
/// among [`JobOptions::kept`].
///
/// # Errors
/// Returns [`FolderError::ManifestAmong`], [`FolderError::ManifestReveals`] and
/// [`Misuse::OutputIsInput`].
pub(super) fn check_tree(options: &JobOptions, tree: &mut Tree) -> Result<()> {
    for kept in &options.kept {
        let is_kept = Same::of(kept);
        if let Some((_, target)) = tree.pairs.iter().find(|(_, target)| kept.exists() && is_kept.is(target)) {
            return Err(Misuse::OutputIsInput { output: target.clone(), input: kept.clone() }.into());
        }
    }
    let Some(manifest) = &options.manifest else { return Ok(()) };
    let names = options.names.as_ref();
    let reveals = |encrypted: &Path| names.map_or(Ok(()), |_| NameKey::check_manifest(manifest, encrypted));
    if let (false, Some(output)) = (options.removes_suffix, &options.output) {
        reveals(output)?;
    }
    let own = Same::of(manifest);
    let below = |input: &PathBuf| {
        fs::canonicalize(input).is_ok_and(|input| own.real.as_ref().is_some_and(|own| own.starts_with(input)))
    };
    if tree.pairs.iter().any(|(_, target)| own.is(target))
        || !options.manifest_below_inputs && options.inputs.iter().any(below)
    {
        return Err(FolderError::ManifestAmong(manifest.clone()).into());
    }
    if options.removes_suffix {
        options.inputs.iter().try_for_each(|input| reveals(input))?;
    }
    tree.pairs.retain(|(source, _)| !own.is(source));
    tree.problems.retain(|(source, _)| !own.is(source));
    Ok(())
}

/// A file to find among many paths. Most of them have another name, so their links need not be
/// resolved.
struct Same<'a> {
    path: &'a Path,
    real: Option<PathBuf>,
}

impl<'a> Same<'a> {
    fn of(path: &'a Path) -> Self {
        Self { path, real: real(path) }
    }

    fn is(&self, other: &Path) -> bool {
        let named = |path: &Path| path.file_name() == other.file_name();
        let Some(own) = &self.real else { return false };
        (named(own) || named(self.path)) && real(other).as_ref() == Some(own)
    }
}

/// Resolves the links of a path in an existing folder. The file need not exist.
fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| Some(fs::canonicalize(parent(path)).ok()?.join(path.file_name()?)))
}

/// Texts that are equal for two spellings of a path. Resolves each folder once.
#[derive(Default)]
struct Spellings(BTreeMap<PathBuf, Option<PathBuf>>);

impl Spellings {
    fn of(&mut self, path: &Path) -> OsString {
        let Some(name) = path.file_name() else {
            return folded(resolved(path).as_deref().unwrap_or(path));
        };
        let folder = parent(path);
        if !self.0.contains_key(folder) {
            self.0.insert(folder.to_owned(), resolved(folder));
        }
        let real = self.0.get(folder).and_then(Option::as_deref).unwrap_or(folder);
        folded(&real.join(name))
    }
}

/// Returns a text that is equal for two resolved paths if they may lead to the same file.
pub fn folded(real: &Path) -> OsString {
    let text: &OsStr = real.as_os_str();
    match cfg!(target_os = "macos") {
        // A folder may be set up to distinguish case; we still refuse two such names as one.
        true => text.to_string_lossy().to_lowercase().into(),
        false => OsString::from(&comparable(real)),
    }
}
