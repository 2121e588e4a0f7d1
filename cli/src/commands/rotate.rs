//! `sealane rotate`: moves files to the primary key of a keyring.

use crate::args::{RotateWith, Writing};
use crate::described::{self, Described};
use crate::folder_job::Recursive;
use crate::keys;
use crate::prelude::*;
use sealane::file::Rotation;
use sealane::file::bulk::Operation;

/// Encrypt files again that are under retired keys of a keyring
///
/// Every file below IN under another enabled key is encrypted with the primary key. Files under the
/// primary key are left alone. A file is replaced once the new one is complete, so you can
/// interrupt and repeat the command. Do not modify the files during the call.
///
/// If it ends without errors, nothing below IN needs the retired keys: disable them with 'sealane
/// keyring disable'. A folder that describes itself gets a new primary key first, unless an earlier
/// call was interrupted, and its retired keys are disabled at the end. Other users and machines
/// that opened it refuse the new key, until they remove the line that their error names.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane rotate -k ring.json vault
  sealane rotate -i me.key described")]
pub(crate) struct Rotate {
    #[command(flatten)]
    with: RotateWith,
    /// Files or folders (recursively)
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

impl Run for Rotate {
    /// Processes every file, even after one has failed.
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        if let Some(found) = described::find_whole(&self.inputs)? {
            return self.rotate(Described::open(found, &self.with.unlock(), console)?, console);
        }
        let recursive = Recursive::replacing(&self.inputs, None, None, &self.writing, console);
        recursive.run(|inputs| keys::rotation(&self.with, inputs, console).map(Operation::Rotate), false)
    }
}

impl Rotate {
    /// Moves a folder that describes itself to a new key.
    fn rotate(&self, mut opened: Described, console: &Console) -> Result<()> {
        let lock = opened.lock.clone();
        opened.folder.reserve().map_err(|error| opened.about(error))?;
        if opened.folder.is_rotated().map_err(|error| opened.about(error))? {
            opened.folder.rotate(&lock).map_err(|error| Failure::about(&opened.name(), error))?;
        }
        let ring = opened.folder.content_keys().map_err(|error| opened.about(error))?;
        let mut recursive = Recursive::replacing(&self.inputs, None, None, &self.writing, console)
            .described(&opened, None)?;
        // Files keep their stored names, which are neither encrypted nor decrypted.
        (recursive.options.suffix, recursive.options.names) = Default::default();
        let rotation = |inputs: keys::Inputs| Rotation::new(&ring, b"", &inputs.files);
        let operation = |inputs| rotation(inputs).map(Operation::Rotate).map_err(|error| opened.about(error));
        recursive.run(operation, false)?;
        if console.status() != 0 {
            return Ok(());
        }
        opened.folder.retire(&lock).map_err(|error| Failure::about(&opened.name(), error))?;
        match opened.inventory() {
            Ok(list) if list.exists() => console.warn(&format!(
                "{}: lists files that were replaced, and is under a retired key; write a new one with \
                 'encrypt --sign-key'",
                name(&list)
            )),
            _ => {}
        }
        Ok(())
    }
}
