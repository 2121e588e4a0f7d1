//! Keys, recipients and passphrases, loaded as the options of a command name them.

use crate::args;
use crate::error::{Failure, name};
use crate::passphrase;
use crate::tui::Console;
use sealane::age::{Armor, Identity, Recipient, parse_recipients};
use sealane::file::{DecryptParams, DecryptWith, EncryptParams, EncryptWith, FileKey, Keyset};
use sealane::keys::{self, KeyFile, LoadOptions, Reference, SecretKey};
use sealane::{Error, Misuse};
use std::path::Path;

/// Loads the keys to encrypt with. Mistakes in the options are found here, before any file is opened.
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
    // On Unix these are the bytes of the argument, in any encoding.
    (params.context, params.format) = (args.context.as_encoded_bytes(), args.format);
    params.build().map_err(|e| failure(&subject, e))
}

/// Loads the keys to decrypt with. Mistakes in the options are found here, before any file is opened.
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

/// Returns the failure for an error of the key builder, with the names of the options.
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

/// Returns the recipients that are named directly and those in recipients files.
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
    key: &Path,
    identity_files: &[impl AsRef<Path>],
    asked: args::Passphrase,
    console: &Console,
) -> Result<FileKey, Failure> {
    let about = |error| Failure::about(&name(key), error);
    let identities = match identity_files {
        [] => None,
        files => Some(identities(files, asked, console)?),
    };
    match load(key, identities.as_deref(), asked, console)? {
        KeyFile::TinkKeyset(json) => Keyset::from_json(&json).map(FileKey::from).map_err(about),
        found => found.into_symmetric().map(FileKey::from).map_err(about),
    }
}

/// Loads a private or symmetric key, which can be encrypted with a passphrase.
pub(crate) fn secret(key: &Path, asked: args::Passphrase, console: &Console) -> Result<SecretKey, Failure> {
    load(key, None, asked, console)?.into_secret().map_err(|error| Failure::about(&name(key), error))
}

/// Loads the key that a path or a reference names, for example `env:NAME`.
fn load(
    key: &Path,
    identities: Option<&[Identity]>,
    asked: args::Passphrase,
    console: &Console,
) -> Result<KeyFile, Failure> {
    not_stdin(key, "the key")?;
    let about = |error| Failure::about(&name(key), error);
    let reference = Reference::parse(key.as_os_str()).map_err(about)?;
    // Read only once, because the content of a pipe cannot be read again.
    let content = reference.read().map_err(about)?;
    let options = LoadOptions { identities, ..LoadOptions::default() };
    match KeyFile::parse(&content, options) {
        Err(Error::Misuse(Misuse::KeyPassphraseRequired)) if identities.is_none() => {
            let text = passphrase::ask(asked, &name(key))?;
            KeyFile::parse(&content, LoadOptions { passphrase: Some(&text), ..options }).map_err(about)
        }
        found => {
            let found = found.map_err(about)?;
            if let (Some(path), false) = (reference.path(), matches!(found, KeyFile::Public(_))) {
                warn_if_readable(path, console);
            }
            Ok(found)
        }
    }
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
        let reference = Reference::parse(path.as_os_str()).map_err(about)?;
        let content = reference.read().map_err(about)?;
        all.extend(match keys::parse_identity_file(&content, None) {
            Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
                let text = passphrase::ask(asked, &name(path))?;
                keys::parse_identity_file(&content, Some(&text)).map_err(about)?
            }
            result => {
                let found = result.map_err(about)?;
                if let Some(path) = reference.path() {
                    warn_if_readable(path, console);
                }
                found
            }
        });
    }
    Ok(all)
}

fn not_stdin(path: &Path, what: &str) -> Result<(), Failure> {
    match path == Path::new("-") {
        true => Err(Failure::misuse(format!("-: standard input carries the data; name a file with {what}"))),
        false => Ok(()),
    }
}

fn warn_if_readable(path: &Path, console: &Console) {
    if others_can_read(path) {
        let name = name(path);
        console.warn(&format!("{name}: others can read this key; run 'chmod 600 {name}'"));
    }
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
