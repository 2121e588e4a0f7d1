//! From the keys, people and passphrases that were typed to what locks and unlocks files.

use crate::args;
use crate::error::{Failure, name};
use crate::passphrase;
use crate::tui::Console;
use sealane::age::{Armor, Identity, Recipient, parse_recipients};
use sealane::file::{DecryptWith, EncryptWith, Format, Keyset};
use sealane::keys::{self, Secret};
use sealane::{Error, Key, Misuse};
use std::ffi::OsStr;
use std::path::Path;

/// What files are encrypted with. Whatever can be wrong with it is found here, before any file is touched.
pub(crate) fn lock(args: &args::EncryptWith, console: &Console) -> Result<EncryptWith, Failure> {
    if let Some(path) = &args.key {
        let key = symmetric(path, &args.identities, args.asked, console)?;
        return keyed(&key, path, args.format, &args.context, EncryptWith::of_key, EncryptWith::tink);
    }
    plainly_age(args.format, &args.context)?;
    let recipients = match args.passphrase {
        true => {
            let text = passphrase::choose(args.asked, "the file")?;
            vec![Recipient::passphrase(&text).map_err(|e| Failure::about("the passphrase", e))?]
        }
        false => recipients(&args.recipients, &args.recipients_files)?,
    };
    let armor = if args.armor { Armor::Ascii } else { Armor::Binary };
    let lock = EncryptWith::age(&recipients, armor);
    if !args.passphrase {
        // Some recipients cannot be together. (A passphrase would take its second; it can be alone.)
        sealane::file::encrypt(b"", &lock).map_err(|e| Failure::about("the recipients", e))?;
    }
    Ok(lock)
}

/// What opens files.
pub(crate) fn unlock(args: &args::DecryptWith, console: &Console) -> Result<DecryptWith, Failure> {
    if let Some(path) = &args.key {
        let key = symmetric(path, &args.identities, args.asked, console)?;
        return keyed(&key, path, args.format, &args.context, DecryptWith::of_key, DecryptWith::tink);
    }
    plainly_age(args.format, &args.context)?;
    let identities = match args.passphrase {
        true => {
            let text = passphrase::ask(args.asked, "the file")?;
            vec![match args.max_work_factor {
                Some(most) => Identity::passphrase_with_max_work_factor(&text, most),
                None => Identity::passphrase(&text),
            }]
        }
        false => identities(&args.identities, args.asked, console)?,
    };
    Ok(DecryptWith::age(&identities))
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

/// A key that is used as it is.
enum Symmetric {
    Key(Key),
    Tink(Keyset),
}

fn symmetric(
    path: &Path,
    identity_files: &[impl AsRef<Path>],
    asked: args::Passphrase,
    console: &Console,
) -> Result<Symmetric, Failure> {
    not_stdin(path, "the key")?;
    let about = |error| Failure::about(&name(path), error);
    if let Some(keyset) = keyset(path).map_err(about)? {
        warn_of_others(path, console);
        return Ok(Symmetric::Tink(keyset));
    }
    let secret = match identity_files {
        [] => secret(path, asked, console)?,
        files => Secret::load_with(path, &identities(files, asked, console)?).map_err(about)?,
    };
    secret.into_symmetric().map(Symmetric::Key).map_err(about)
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

fn keyed<L>(
    key: &Symmetric,
    path: &Path,
    format: Option<Format>,
    context: &OsStr,
    plain: fn(&Key, Format, &[u8]) -> Result<L, Error>,
    tink: fn(&Keyset, &[u8]) -> L,
) -> Result<L, Failure> {
    let about = |e| Failure::about(&name(path), e);
    // On Unix the bytes that were typed, whatever their encoding.
    let context = context.as_encoded_bytes();
    match (key, format) {
        (_, Some(Format::Age)) => Err(Failure::misuse("age files are for -r, -R, -i and -p, not for -k")),
        (Symmetric::Key(key), format) => {
            let format = format.unwrap_or(Format::Chunked);
            // The format knows which keys it takes: ask it to encrypt nothing.
            EncryptWith::of_key(key, format, context)
                .and_then(|lock| sealane::file::encrypt(b"", &lock))
                .and_then(|_| plain(key, format, context))
                .map_err(about)
        }
        (Symmetric::Tink(keyset), None) => Ok(tink(keyset, context)),
        (Symmetric::Tink(_), _) => {
            Err(Failure::misuse("a keyset says its format itself; leave out --format"))
        }
    }
}

/// age files have neither.
fn plainly_age(format: Option<Format>, context: &OsStr) -> Result<(), Failure> {
    match format {
        None | Some(Format::Age) if context.is_empty() => Ok(()),
        None | Some(Format::Age) => Err(Failure::misuse("age files have no context; -c goes with -k")),
        Some(_) => Err(Failure::misuse("this format needs a key: -k")),
    }
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
