//! Options of encryption that were forgotten at decryption, as far as names show it, and sources
//! and outputs in folders with other keys.
//!
//! A folder without a description does not say how its names were made. Restoring encrypted names,
//! or names with the suffix of encrypted files, is a mistake that nobody would notice in time.

use super::options::JobOptions;
use crate::description::{Description, is_public};
use crate::names::resolved;
use crate::prelude::*;
use crate::tree::Tree;
use base::os::path_of;
use files::{Rewrap, Salvaged};
use std::fs::{File, Metadata};

/// Suffixes of encrypted files that have no other use.
const SUFFIXES: [&str; 4] = [".sealed", ".age", ".enc", ".encrypted"];
/// Length of the shortest encrypted name: a byte and the tag of AES-SIV in base32.
const MIN_LEN: usize = 28;

/// Files in vaults of other tools.
const VAULTS: [&str; 3] = ["gocryptfs.conf", "vault.cryptomator", "masterkey.cryptomator"];

/// Refuses to encrypt what is at or in a folder that describes itself: source and output may have
/// been swapped, and with equal names the plaintext would be lost. Any other file can have the name
/// of a description.
///
/// # Errors
/// Returns [`FolderError::SourceDescribed`] and the errors of [`Description::find_above`].
pub fn check_sources(sources: &[PathBuf]) -> Result<()> {
    for source in sources {
        match find_above(source) {
            Ok(None) | Err(Error::Io { .. } | Error::Folder(FolderError::DescriptionInvalid(_))) => {}
            Ok(Some(_)) => return Err(FolderError::SourceDescribed(source.clone()).into()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the description of the folder that a path is in, or leads into by links.
fn find_above(path: &Path) -> Result<Option<(Description, PathBuf)>> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io(path, e))?;
    match (Description::find_above(&absolute)?, resolved(&absolute)) {
        (None, Some(real)) if real != absolute => Description::find_above(&real),
        (found, _) => Ok(found),
    }
}

/// Refuses an output at or in a folder that describes itself, unless the job encrypts for it, in a
/// vault of another tool, and plaintext names beside encrypted ones.
///
/// # Errors
/// Returns [`FolderError::OutputDescribed`], [`FolderError::OutputIsVault`],
/// [`FolderError::NamesEncrypted`] and the errors of [`check_sources`].
pub(super) fn check_output(options: &JobOptions) -> Result<()> {
    let Some(output) = &options.output else { return Ok(()) };
    if !options.removes_suffix {
        check_sources(&options.inputs)?;
    }
    let is_vault = |it: &Path| !is_public(it) && VAULTS.iter().any(|mark| it.join(mark).is_file());
    if resolved(output).is_some_and(|real| real.ancestors().any(is_vault)) {
        return Err(FolderError::OutputIsVault(output.clone()).into());
    }
    let Some((found, _)) = find_above(output)? else {
        let is_plain = !options.removes_suffix && options.names.is_none() && !options.keeps_names;
        return match is_plain && Folder::list(output).is_ok_and(|it| are_of_others(options, &names(&it))) {
            true => Err(FolderError::NamesEncrypted(output.clone()).into()),
            false => Ok(()),
        };
    };
    let is_own = |own: &PathBuf| fs::canonicalize(own).ok() == fs::canonicalize(found.path()).ok();
    match !options.removes_suffix && options.description.as_ref().is_some_and(is_own) {
        true => Ok(()),
        false => Err(FolderError::OutputDescribed(output.clone()).into()),
    }
}

/// Refuses one file as an output in a folder that describes itself, and an encrypted file with a
/// plaintext name beside encrypted names only.
///
/// # Errors
/// Returns [`FolderError::OutputDescribed`], [`FolderError::NamesEncrypted`], [`Error::Io`] for the
/// name of a description, and the errors of [`Description::find_above`].
pub fn check_target(target: &Path, encrypts: bool) -> Result<()> {
    let folder = parent(target);
    check_folder(folder, target)?;
    if encrypts && target.file_name().is_some_and(|name| name.eq_ignore_ascii_case(Description::NAME)) {
        let text = "the name is reserved for the description of an encrypted folder; choose another name";
        return Err(Error::io(target, io::Error::new(ErrorKind::InvalidFilename, text)));
    }
    let found = target.symlink_metadata();
    // The file behind a link is written, not the link.
    if found.as_ref().is_ok_and(Metadata::is_symlink)
        && let Some(real) = resolved(target)
    {
        check_folder(parent(&real), target)?;
    }
    let is_encrypted = |name: &OsStr| is_encrypted(name.as_encoded_bytes(), b"");
    // An existing file is in the list itself, so that the check below could not refuse it.
    let Some(name) = target.file_name().filter(|_| encrypts && found.is_err()) else { return Ok(()) };
    // In most folders, the first name decides.
    let names = Folder::list_while(folder, is_encrypted).unwrap_or_default();
    let is_last = names.last().is_some_and(|(last, _)| is_encrypted(last));
    match is_last && !is_encrypted(name) {
        true => Err(FolderError::NamesEncrypted(folder.into()).into()),
        false => Ok(()),
    }
}

/// Refuses an output in a folder that describes itself, also through links.
///
/// # Errors
/// Returns [`FolderError::OutputDescribed`] and the errors of [`Description::find_above`].
pub fn check_folder(folder: &Path, target: &Path) -> Result<()> {
    match find_above(folder)? {
        Some(_) => Err(FolderError::OutputDescribed(target.to_owned()).into()),
        None => Ok(()),
    }
}

/// Encrypts one file by path, as [`files::encrypt_file`] does, but never into or out of a folder
/// that describes itself: a job does that.
///
/// # Errors
/// Returns the errors of [`check_target`], [`check_sources`] and [`files::encrypt_file`].
pub fn encrypt_file(from: &Path, to: &Path, with: &EncryptWith, options: Options<'_>) -> Result<()> {
    check_target(to, true)?;
    // The folder of the target has been checked, and most sources are in it.
    if from.parent() != to.parent() {
        check_sources(&[from.into()])?;
    }
    files::encrypt_file(from, to, with, options)
}

/// Decrypts one file by path, as [`files::decrypt_file`] does, but never into a folder that
/// describes itself.
///
/// # Errors
/// Returns the errors of [`check_target`] and [`files::decrypt_file`].
pub fn decrypt_file(from: &Path, to: &Path, with: &DecryptWith, options: Options<'_>) -> Result<()> {
    check_target(to, false)?;
    files::decrypt_file(from, to, with, options)
}

/// Gives one age file other recipients, as [`files::rewrap_file`] does, but never into a folder
/// that describes itself.
///
/// # Errors
/// Returns the errors of [`check_target`] and [`files::rewrap_file`].
pub fn rewrap_file(from: &Path, to: &Path, with: &Rewrap, options: Options<'_>) -> Result<()> {
    // A file of a write-only folder is replaced in it.
    if from != to {
        check_target(to, true)?;
    }
    files::rewrap_file(from, to, with, options)
}

/// Salvages one file by path, as [`files::salvage_file`] does, but never into a folder that
/// describes itself.
///
/// # Errors
/// Returns the errors of [`check_target`] and [`files::salvage_file`].
pub fn salvage_file(from: &Path, to: &Path, with: &DecryptWith, options: Options<'_>) -> Result<Salvaged> {
    check_target(to, false)?;
    files::salvage_file(from, to, with, options)
}

/// Salvages an open file, as [`files::salvage_opened`] does, but never into a folder that describes
/// itself.
///
/// # Errors
/// Returns the errors of [`check_target`] and [`files::salvage_opened`].
pub fn salvage_opened(
    from: File,
    name: &Path,
    to: &Path,
    with: &DecryptWith,
    options: Options<'_>,
) -> Result<Salvaged> {
    check_target(to, false)?;
    files::salvage_opened(from, name, to, with, options)
}

/// Refuses to restore names if all of them are still encrypted, or all end with a known suffix.
///
/// # Errors
/// Returns [`FolderError::NamesEncrypted`] and [`FolderError::SuffixForgotten`].
pub(super) fn check(options: &JobOptions, tree: &Tree) -> Result<()> {
    let restores = options.removes_suffix && options.output.is_some() && options.description.is_none();
    let Some(folder) = options.inputs.first().filter(|_| restores && !options.keeps_names) else {
        return Ok(());
    };
    let folder = folder.clone();
    let suffix = options.suffix.as_encoded_bytes();
    let name = |path: &Path| path.file_name().unwrap_or_default().as_encoded_bytes().to_owned();
    let mut files = tree.pairs.iter().map(|(source, _)| name(source)).collect::<Vec<_>>();
    let is_refused = |error: &Error| matches!(error, Error::Folder(FolderError::NameNotAuthentic));
    files.extend(tree.problems.iter().filter(|(_, error)| is_refused(error)).map(|(path, _)| name(path)));
    if let Some(suffix) = known_suffix(&files).filter(|_| suffix.is_empty()) {
        return Err(FolderError::SuffixForgotten { folder, suffix }.into());
    }
    if options.names.is_some() {
        return Ok(());
    }
    // Without a place below the folder, it is the folder itself.
    let below = tree.folder_pairs.iter().filter(|(source, _)| !options.inputs.contains(source));
    files.extend(below.map(|(source, _)| name(source)));
    if are_encrypted(&files, suffix) { Err(FolderError::NamesEncrypted(folder).into()) } else { Ok(()) }
}

/// Returns whether a folder without a description looks as if it had lost one: by the names in it,
/// or by an inventory in its default place.
pub fn may_lack_description(folder: &Path) -> bool {
    let Ok(mut entries) = Folder::list(folder) else { return false };
    let mut inventory = folder.as_os_str().to_owned();
    inventory.push(".inventory");
    let all = names(&entries);
    entries.retain(|(_, kind)| matches!(kind, Ok(EntryKind::File)));
    Path::new(&inventory).is_file() || known_suffix(&names(&entries)).is_some() || are_encrypted(&all, b"")
}

/// Returns whether all names in an output are encrypted, and none is one of an input: files may
/// have such names from the beginning.
fn are_of_others(options: &JobOptions, names: &[Vec<u8>]) -> bool {
    let suffix = options.suffix.as_encoded_bytes();
    let is_input = |name: &Vec<u8>| {
        let name = path_of(name.strip_suffix(suffix).unwrap_or(name));
        options.inputs.iter().any(|input| input.join(&name).symlink_metadata().is_ok())
    };
    are_encrypted(names, suffix) && !names.iter().any(is_input)
}

fn names(entries: &[(OsString, io::Result<EntryKind>)]) -> Vec<Vec<u8>> {
    entries.iter().map(|(name, _)| name.as_encoded_bytes().to_owned()).collect()
}

/// Returns the suffix of encrypted files that all names have.
fn known_suffix(names: &[Vec<u8>]) -> Option<&'static str> {
    let is_end = |end: &&str| names.iter().all(|name| name.ends_with(end.as_bytes()));
    SUFFIXES.into_iter().find(is_end).filter(|_| !names.is_empty())
}

fn are_encrypted(names: &[Vec<u8>], suffix: &[u8]) -> bool {
    !names.is_empty() && names.iter().all(|name| is_encrypted(name, suffix))
}

fn is_encrypted(name: &[u8], suffix: &[u8]) -> bool {
    let mut ends = SUFFIXES.map(str::as_bytes).into_iter().chain([suffix]);
    looks_encrypted(ends.find_map(|end| name.strip_suffix(end)).unwrap_or(name))
}

/// Returns whether a name is written as encrypted names are. Of 28 hexadecimal digits, none is
/// above f, and of as many digits in base32, half are. Words have no decimal digits.
fn looks_encrypted(name: &[u8]) -> bool {
    let is_digit = |c: &u8| matches!(c, b'0'..=b'9' | b'a'..=b'v');
    let has_all = name.iter().any(u8::is_ascii_digit) && name.iter().any(|c| *c > b'f');
    name.len() >= MIN_LEN && has_all && name.iter().all(is_digit)
}

#[cfg(test)]
mod test {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn names_that_look_encrypted() {
        let key = crate::NameKey::new(&keys::Key::generate(64).unwrap()).unwrap();
        for name in ["a", "letter.txt", &"x".repeat(100)] {
            let encrypted = key.encrypt(OsStr::new(name), Path::new(""), OsStr::new("")).unwrap();
            assert!(looks_encrypted(encrypted.as_encoded_bytes()), "{encrypted:?}");
        }
        let hash = "0123456789abcdef".repeat(4);
        for name in [
            "letter.txt",
            "",
            "archive",
            &hash,
            &hash[..40],
            "0123456789-abcdefghijklmnopqrstuv",
            "internationalisationandlocalisation",
        ] {
            assert!(!looks_encrypted(name.as_bytes()), "{name}");
        }
    }
}
