//! From the keys, people and passphrases that were typed to what locks and unlocks files.

use crate::args;
use crate::error::{Failure, name};
use crate::passphrase;
use crate::tui::Console;
use sealane::age::{Armor, Identity, Recipient, parse_recipients};
use sealane::file::{DecryptParams, DecryptWith, EncryptParams, EncryptWith, FileKey, Keyset};
use sealane::keys::{self, Secret};
use sealane::{Error, Misuse};
use std::path::Path;

/// Builds the keys of files to encrypt. All mistakes in the arguments are found here, before any file is touched.
pub(crate) fn encrypt_with(args: &args::EncryptWith, console: &Console) -> Result<EncryptWith, Failure> {
    let (mut subject, mut params) = ("the recipients".to_owned(), EncryptParams::default());
    let passphrase;
    if let Some(path) = &args.key {
        subject = name(path);
        params.key = Some(symmetric(path, &args.identities, args.asked, console)?);
    } else if args.passphrase {
        subject = "the passphrase".to_owned();
        passphrase = passphrase::choose(args.asked, "the file")?;
        params.passphrase = Some(&passphrase);
    } else {
        params.recipients = Some(recipients(&args.recipients, &args.recipients_files)?);
    }
    params.armor = if args.armor { Armor::Ascii } else { Armor::Binary };
    // On Unix the bytes that were typed, in any encoding.
    (params.context, params.format) = (args.context.as_encoded_bytes(), args.format);
    params.build().map_err(|e| failure(&subject, e))
}

/// Builds the keys of files to decrypt.
pub(crate) fn decrypt_with(args: &args::DecryptWith, console: &Console) -> Result<DecryptWith, Failure> {
    let (mut subject, mut params) = ("the identities".to_owned(), DecryptParams::default());
    let passphrase;
    if let Some(path) = &args.key {
        subject = name(path);
        params.key = Some(symmetric(path, &args.identities, args.asked, console)?);
    } else if args.passphrase {
        passphrase = passphrase::ask(args.asked, "the file")?;
        params.passphrase = Some(&passphrase);
    } else {
        params.identities = Some(identities(&args.identities, args.asked, console)?);
    }
    (params.context, params.format) = (args.context.as_encoded_bytes(), args.format);
    params.max_work_factor = args.max_work_factor;
    params.build().map_err(|e| failure(&subject, e))
}

/// Phrases a mistake in the arguments with the names of the options.
fn failure(subject: &str, error: Error) -> Failure {
    let Error::Misuse(misuse) = &error else { return Failure::about(subject, error) };
    Failure::misuse(match misuse {
        Misuse::ContextNeedsKey => "-c requires -k; age files have no context".to_owned(),
        Misuse::FormatNeedsKey(format) => format!("--format {format} requires -k"),
        Misuse::FormatNeedsRecipients(format) => {
            format!("--format {format} requires -r, -R, -i or -p, found -k")
        }
        Misuse::KeysetHasFormat => "a Tink keyset determines its format; omit --format".to_owned(),
        Misuse::WorkFactorNeedsPassphrase => "--max-work-factor requires -p".to_owned(),
        _ => return Failure::about(subject, error),
    })
}

/// Those that were named, and those in files.
pub(crate) fn recipients(named: &[String], files: &[impl AsRef<Path>]) -> Result<Vec<Recipient>, Failure> {
    let mut all = Vec::new();
    for text in named {
        all.push(text.parse().map_err(|e| Failure::about(text, e))?);
    }
    for path in files {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::io(&name(path), &e))?;
        all.extend(parse_recipients(&text).map_err(|e| Failure::about(&name(path), e))?);
    }
    Ok(all)
}

fn symmetric(
    path: &Path,
    identity_files: &[impl AsRef<Path>],
    asked: args::Passphrase,
    console: &Console,
) -> Result<FileKey, Failure> {
    not_stdin(path, "the key")?;
    let about = |error| Failure::about(&name(path), error);
    if let Some(keyset) = keyset(path).map_err(about)? {
        warn_of_others(path, console);
        return Ok(keyset.into());
    }
    let secret = match identity_files {
        [] => secret(path, asked, console)?,
        files => Secret::load_with(path, &identities(files, asked, console)?).map_err(about)?,
    };
    secret.into_symmetric().map(FileKey::from).map_err(about)
}

/// The key in a file, which may be encrypted with a passphrase.
pub(crate) fn secret(path: &Path, asked: args::Passphrase, console: &Console) -> Result<Secret, Failure> {
    not_stdin(path, "the key")?;
    let about = |error| Failure::about(&name(path), error);
    let secret = match Secret::load(path, None) {
        Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
            let text = passphrase::ask(asked, &name(path))?;
            return Secret::load(path, Some(&text)).map_err(about);
        }
        result => result.map_err(about)?,
    };
    warn_of_others(path, console);
    Ok(secret)
}

fn identities(
    files: &[impl AsRef<Path>],
    asked: args::Passphrase,
    console: &Console,
) -> Result<Vec<Identity>, Failure> {
    let mut all = Vec::new();
    for path in files {
        let path = path.as_ref();
        not_stdin(path, "the identities")?;
        let about = |error| Failure::about(&name(path), error);
        all.extend(match keys::load_identities(path, None) {
            Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
                let text = passphrase::ask(asked, &name(path))?;
                keys::load_identities(path, Some(&text)).map_err(about)?
            }
            result => {
                let found = result.map_err(about)?;
                warn_of_others(path, console);
                found
            }
        });
    }
    Ok(all)
}

/// The keyset in a file, if it is one. Other files are left to [`Secret::load`].
fn keyset(path: &Path) -> Result<Option<Keyset>, Error> {
    not_a_pipe(path).then(|| Keyset::load(path)).transpose().map(Option::flatten)
}

fn not_stdin(path: &Path, what: &str) -> Result<(), Failure> {
    match path == Path::new("-") {
        true => Err(Failure::misuse(format!("-: standard input carries the data; name a file with {what}"))),
        false => Ok(()),
    }
}

fn warn_of_others(path: &Path, console: &Console) {
    if others_can_read(path) {
        let name = name(path);
        console.warn(&format!("{name}: others can read this key; 'chmod 600 {name}' keeps it yours"));
    }
}

/// What a pipe carries is gone once read.
fn not_a_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file())
}

#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o044 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}
