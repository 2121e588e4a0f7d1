//! `sealane keygen`

use crate::args::Keygen;
use crate::error::{Failure, name};
use crate::interrupt::Watch;
use crate::tui::Console;
use crate::{keys, passphrase};
use sealane::Error;
use sealane::keys::{Existing, Kind, Public, Secret};
use serde_json::json;
use std::io;
use std::path::Path;

pub(crate) fn keygen(args: &Keygen, console: &Console) -> Result<(), Failure> {
    let _watch = Watch::begin(console);
    if let Some(path) = &args.public_of {
        let public = keys::secret(path, args.asked, console)?.public();
        let none = || Failure::misuse(format!("{}: a symmetric key has no public side", name(path)));
        return show(&public.ok_or_else(none)?, args, console);
    }
    let recipients = keys::recipients(&args.recipients, &[] as &[&Path])?;
    let chosen = match args.passphrase || args.asked.descriptor.is_some() {
        true => Some(passphrase::choose(args.asked, "the key")?),
        false => None,
    };
    let chosen = chosen.as_ref().map(|text| text.as_str());
    let failed = |e| Failure::about("a new key", e);
    let key = Secret::generate(args.kind).map_err(failed)?;
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => {
            let saved = match &recipients[..] {
                [] => key.save(path, chosen, Existing::Refuse),
                recipients => key.save_for(path, recipients, Existing::Refuse),
            };
            saved.map_err(|error| match error {
                Error::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                    Failure::key_exists(&name(path))
                }
                other => Failure::about(&name(path), other),
            })?;
            report(&key, args.kind, path, console)
        }
        // A document for machines already.
        _ => {
            let text = match &recipients[..] {
                [] => key.to_text(chosen),
                recipients => key.to_text_for(recipients),
            };
            console.print(&text.map_err(failed)?)
        }
    }
}

/// The secret lies in its file; what others need of it is the result.
fn report(key: &Secret, kind: Kind, path: &Path, console: &Console) -> Result<(), Failure> {
    let public = key.public().map(|public| text(&public)).transpose()?;
    match (console.json(), public) {
        (true, public) => console
            .result(|| json!({"key": path.to_string_lossy(), "type": kind.name(), "public": public}), ""),
        (false, Some(public)) if !console.quiet() => console.print(&public),
        (false, Some(_)) => Ok(()),
        (false, None) => Ok(()),
    }
}

/// On standard output, or in a file that is no secret.
fn show(public: &Public, args: &Keygen, console: &Console) -> Result<(), Failure> {
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => {
            public.save(path, Existing::Refuse).map_err(|e| Failure::about(&name(path), e))
        }
        _ => console.print(&text(public)?),
    }
}

fn text(public: &Public) -> Result<String, Failure> {
    public.to_text().map_err(|e| Failure::about("the public key", e))
}
