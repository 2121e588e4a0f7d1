//! The keys that are used if no option names one: `$SEALANE_KEY` and `$SEALANE_IDENTITY`, or else
//! the lines `key` and `identity` of `~/.config/sealane/config.toml`:
//!
//! ```text
//! # references, never secrets
//! key = "keyring:backup/home"
//! identity = "~/.config/sealane/me.key"
//! ```
//!
//! The file is TOML, but only these two lines are read, with plain strings.

use crate::prelude::*;
use sealane::keys::{Reference, is_secret, may_be_key};
use std::env;
use std::io::ErrorKind;

/// Maximum length of the configuration in bytes.
const MAX_LEN: u64 = 64 << 10;

/// A default, and where it was found.
pub(crate) struct Found {
    pub(crate) reference: PathBuf,
    pub(crate) place: String,
}

impl Found {
    /// Returns the path, if the reference is one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match Reference::parse(self.reference.as_os_str()) {
            Ok(Reference::File(path)) => Some(path),
            _ => None,
        }
    }

    /// Returns the reference, unless it names a file that is missing.
    fn checked(self) -> Result<PathBuf> {
        match self.path().map(|path| path.metadata().map_err(|e| (path, e))) {
            Some(Err((path, e))) if e.kind() == ErrorKind::NotFound => {
                Err(Failure::io(&format!("{}: {}", self.place, name(&path)), &e))
            }
            _ => Ok(self.reference),
        }
    }
}

/// Returns the default of `-k`, unless it names a file that is missing.
pub(crate) fn key() -> Result<Option<PathBuf>> {
    find("key")?.map(Found::checked).transpose()
}

/// Returns the default of `-i`, unless it names a file that is missing.
pub(crate) fn identity() -> Result<Option<PathBuf>> {
    find("identity")?.map(Found::checked).transpose()
}

/// Returns the default `key` or `identity`, and where it was found.
pub(crate) fn find(member: &str) -> Result<Option<Found>> {
    let variable = format!("SEALANE_{}", member.to_uppercase());
    if let Some(value) = set(&variable) {
        return found(value, variable).map(Some);
    }
    let Some(path) = config() else { return Ok(None) };
    let text = match read(&path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(Failure::io(&name(&path), &e)),
    };
    let mut value = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // The line may be a secret, so it is not shown.
        let (key, text) = parse(line).ok_or_else(|| {
            Failure::misuse(format!(
                "{}, line {}: expected key = \"REFERENCE\" or identity = \"REFERENCE\", found other text",
                name(&path),
                at + 1
            ))
        })?;
        if key == member {
            if value.is_some() {
                let text =
                    format!("{}, line {}: expected one line for {key}, found a second", name(&path), at + 1);
                return Err(Failure::misuse(text));
            }
            value = Some(found(text.into(), format!("{}, line {}", name(&path), at + 1))?);
        }
    }
    match value.as_ref().and_then(|found: &Found| Some((&found.place, found.path()?))) {
        Some((place, path)) if path.is_relative() => Err(Failure::misuse(format!(
            "{place}: expected a path that begins with '/' or '~/', found {}, which depends on the current folder",
            name(&path)
        ))),
        _ => Ok(value),
    }
}

/// Reads the file; a pipe would wait, and a device may not end.
fn read(path: &Path) -> io::Result<String> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() || found.len() > MAX_LEN {
        return Err(io::Error::other("expected a text file of at most 64 KiB, found something else"));
    }
    // Another user who can write this file could choose the key. ssh has the same rule.
    if sealane::os::others_can_change(&found) {
        let text = "other users can change it, so its keys are not used; own it and run 'chmod go-w'";
        return Err(io::Error::other(text));
    }
    let text = String::from_utf8(std::fs::read(path)?);
    // Which byte is wrong does not help.
    text.map_err(|_| io::Error::other("expected text in UTF-8, found other bytes"))
}

/// Splits a line `key = "text"`.
fn parse(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let text = value.trim().strip_prefix('"')?.strip_suffix('"')?;
    let key = key.trim();
    (matches!(key, "key" | "identity") && !text.is_empty() && !text.contains(['"', '\\']))
        .then_some((key, text))
}

fn found(value: OsString, place: String) -> Result<Found> {
    let text = value.to_string_lossy();
    if is_secret(&text) || may_be_key(&text) {
        return Err(Failure::misuse(format!(
            "{place}: expected a reference to a key, such as file:PATH, found a secret key; store the key in a file and \
             name that"
        )));
    }
    let reference = match (text.strip_prefix("~/"), env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => value.into(),
    };
    Ok(Found { reference, place })
}

fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

/// Returns the path of the user's configuration; `None` without a home.
fn config() -> Option<PathBuf> {
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(folder.or_else(|| Some(env::home_dir()?.join(".config")))?.join("sealane").join("config.toml"))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn lines_of_the_configuration() {
        assert_eq!(parse("key = \"env:KEY\""), Some(("key", "env:KEY")));
        assert_eq!(parse("identity=\"~/a b\""), Some(("identity", "~/a b")));
        for other in [
            "key",
            "key = a",
            "key = \"a",
            "key = \"\"",
            "keys = \"a\"",
            "key = \"a\\n\"",
            "[key]",
            "key = \"a\" # b\"",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn secrets_are_refused_and_not_shown() {
        let secret = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
        for secret in [secret, &"0123456789abcdef".repeat(4), r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#]
        {
            let failure = found(secret.into(), "SEALANE_KEY".into()).err().unwrap();
            assert!(failure.text().starts_with("SEALANE_KEY: expected a reference"), "{}", failure.text());
            assert!(!failure.text().contains(&secret[..20]));
        }
        assert_eq!(found("env:KEY".into(), String::new()).unwrap().reference, PathBuf::from("env:KEY"));
    }
}
