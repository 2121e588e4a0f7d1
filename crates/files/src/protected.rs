//! Inputs of a call. Its outputs must not replace them.

use crate::prelude::*;
use engine::io::metadata;
use std::collections::BTreeMap;

/// Files that a call reads besides its source, such as the key file. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Protected(Option<Arc<BTreeMap<FileId, PathBuf>>>);

impl Protected {
    /// Finds the files behind all links. Ignores paths without a file: they cannot be replaced.
    pub(super) fn new(paths: &[PathBuf]) -> Self {
        let id = |path: &PathBuf| Some((FileId::at(path).ok()??, path.clone()));
        let found: BTreeMap<_, _> = paths.iter().filter_map(id).collect();
        Self((!found.is_empty()).then(|| Arc::new(found)))
    }

    /// Refuses the output path `output` if it would replace a protected file; `id` identifies the
    /// file there now.
    #[doc(hidden)]
    pub fn check(&self, id: Option<FileId>, output: &Path) -> Result<(), Misuse> {
        let Some(input) = self.0.as_ref().and_then(|inputs| inputs.get(&id?)) else { return Ok(()) };
        Err(Misuse::OutputIsInput { output: output.to_owned(), input: input.clone() })
    }

    /// Checks an open output file.
    pub(super) fn check_file(&self, output: &File, name: &Path) -> Result<()> {
        let found = metadata(output).map_err(|e| Error::io(name, e))?;
        let id = found.and_then(|found| FileId::of(output, &found));
        Ok(self.check(id, name)?)
    }
}
