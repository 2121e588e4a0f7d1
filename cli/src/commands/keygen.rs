//! `sealane keygen`

use crate::args::Keygen;
use crate::error::{Failure, name};
use crate::tui::Console;
use sealane::keys::{Existing, Secret};
use sealane::{Error, Key};
use serde_json::json;
use std::io;
use std::path::Path;

pub(crate) fn keygen(args: &Keygen, console: &Console) -> Result<(), Failure> {
    let fresh = |e| Failure::about("a new key", e);
    let key = Secret::Symmetric(Key::generate(args.kind.key_len()).map_err(fresh)?);
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => {
            key.save(path, None, Existing::Refuse).map_err(|error| match error {
                Error::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                    Failure::key_exists(&name(path))
                }
                other => Failure::about(&name(path), other),
            })?;
            match console.json() {
                true => {
                    console.result(|| json!({"key": path.to_string_lossy(), "type": args.kind.name()}), "")
                }
                false => Ok(()),
            }
        }
        // A document for machines already.
        _ => console.print(&key.to_text(None).map_err(fresh)?),
    }
}
