//! `rclone.conf`: sections in brackets, each a remote, with lines `key = value`.
//!
//! Passwords are obscured: encrypted with a fixed key that is public. Everybody who can read the
//! file has them.

use super::names::Encoding;
use crate::prelude::*;
use data_encoding::BASE64URL_NOPAD;

/// The key of rclone's `obscure`. It is public.
const OBSCURING: [u8; 32] = *b"\x9c\x93\x5b\x48\x73\x0a\x55\x4d\x6b\xfd\x7c\x63\xc8\x86\xa9\x2b\
    \xd3\x90\x19\x8e\xb8\x12\x8a\xfb\xf4\xde\x16\x2b\x8b\x95\xf6\x38";
/// Maximum number of remotes that stand for one another.
const MAX_ALIASES: usize = 16;

const MISSING_PASSWORD: Error = Error::Format(
    "expected a password of the rclone remote; without one, rclone encrypts with keys that are all zero",
);

const NO_VARIABLE: &str = "expected a value without %(name)s, which rclone replaces; write it out";

/// How names are stored, before the keys are known.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    Standard,
    Obfuscate,
    Off,
}

/// The options of a crypt remote.
pub(super) struct Config {
    pub(super) mode: Mode,
    pub(super) encoding: Encoding,
    /// Whether names of folders are encrypted.
    pub(super) folders: bool,
    pub(super) suffix: String,
    /// Whether contents are encrypted.
    pub(super) contents: bool,
    pub(super) password: Zeroizing<Vec<u8>>,
    /// Empty for rclone's own salt.
    pub(super) salt: Zeroizing<Vec<u8>>,
    /// The remote with the encrypted files.
    pub(super) remote: String,
    /// The same, if it is a local folder.
    pub(super) folder: Option<PathBuf>,
}

/// Returns the value of a name, if it is in the table.
fn named<T: Copy>(table: &[(&str, T)], value: &str) -> Option<T> {
    table.iter().find(|(name, _)| name.eq_ignore_ascii_case(value)).map(|(_, value)| *value)
}

const MODES: [(&str, Mode); 3] =
    [("standard", Mode::Standard), ("obfuscate", Mode::Obfuscate), ("off", Mode::Off)];
const ENCODINGS: [(&str, Encoding); 3] =
    [("base32", Encoding::Base32), ("base64", Encoding::Base64), ("base32768", Encoding::Base32768)];
const BOOLEANS: [(&str, bool); 6] =
    [("true", true), ("false", false), ("t", true), ("f", false), ("1", true), ("0", false)];

impl Config {
    /// Reads the remote `name` of a configuration.
    pub(super) fn parse(text: &str, name: &str) -> Result<Self> {
        let file = Sections::parse(text)?;
        let name = name.strip_suffix(':').unwrap_or(name);
        let Some(kind) = file.get(name, "type") else {
            return Err(Error::KeyNotFound(format!(
                "{name:?}: rclone's configuration has no such remote; 'rclone listremotes' lists them"
            )));
        };
        kind.read("expected a remote of type crypt", |value| (value == "crypt").then_some(()))?;
        let mut config = Self {
            mode: Mode::Standard,
            encoding: Encoding::Base32,
            folders: true,
            suffix: ".bin".into(),
            contents: true,
            password: Zeroizing::default(),
            salt: Zeroizing::default(),
            remote: String::new(),
            folder: None,
        };
        const BOOLEAN: &str = "expected true or false";
        for line in file.section(name) {
            match line.key {
                _ if line.value.contains("%(") => line.read(NO_VARIABLE, |_| None)?,
                "filename_encryption" => {
                    config.mode = line.read("expected standard, obfuscate or off", |v| named(&MODES, v))?;
                }
                "filename_encoding" => {
                    let expected = "expected base32, base64 or base32768";
                    config.encoding = line.read(expected, |v| named(&ENCODINGS, v))?;
                }
                "directory_name_encryption" => {
                    config.folders = line.read(BOOLEAN, |v| named(&BOOLEANS, v))?;
                }
                "no_data_encryption" => config.contents = !line.read(BOOLEAN, |v| named(&BOOLEANS, v))?,
                "suffix" => config.suffix = suffix(line.value),
                "password" => config.password = line.reveal()?,
                "password2" => config.salt = line.reveal()?,
                "remote" => config.remote = line.value.into(),
                // The others say how the tool behaves.
                _ => {}
            }
        }
        if config.password.is_empty() {
            return Err(MISSING_PASSWORD);
        }
        config.folder = file.folder(&config.remote, MAX_ALIASES);
        Ok(config)
    }
}

/// Returns the suffix of files whose names are not encrypted.
fn suffix(value: &str) -> String {
    match value {
        "" => ".bin".into(),
        value if value.eq_ignore_ascii_case("none") => String::new(),
        value if value.starts_with('.') => value.into(),
        value => format!(".{value}"),
    }
}

/// All lines of a configuration.
struct Sections<'a>(Vec<Line<'a>>);

struct Line<'a> {
    number: usize,
    section: &'a str,
    key: &'a str,
    value: &'a str,
}

impl<'a> Sections<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let (mut lines, mut section) = (Vec::new(), None);
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let line = line.trim();
            let problem = |problem| Error::Line { number, source: Box::new(Error::Format(problem)) };
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            } else if line.starts_with("RCLONE_ENCRYPT_V") && section.is_none() {
                return Err(problem(
                    "the configuration of rclone is encrypted as a whole, and cannot be read; write a plain copy with \
                     'rclone config show', or remove its password with 'rclone config encryption remove'",
                ));
            } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = Some(name.trim());
            } else if let (Some(section), Some((key, value))) = (section, line.split_once(['=', ':'])) {
                lines.push(Line {
                    number,
                    section,
                    key: key.trim().trim_matches(['"', '`']),
                    value: value.trim(),
                });
            } else {
                return Err(problem("expected the name of a remote in brackets, or 'key = value' after one"));
            }
        }
        Ok(Self(lines))
    }

    fn section(&self, name: &str) -> impl Iterator<Item = &Line<'a>> {
        self.0.iter().filter(move |line| line.section == name)
    }

    /// Returns the last line with this key.
    fn get(&self, section: &str, key: &str) -> Option<&Line<'a>> {
        self.section(section).filter(|line| line.key == key).last()
    }

    /// Returns the local folder that a remote stands for.
    fn folder(&self, remote: &str, max_aliases: usize) -> Option<PathBuf> {
        let Some((name, path)) = remote.split_once(':').filter(|(name, _)| !name.contains('/')) else {
            return (!remote.is_empty()).then(|| remote.into());
        };
        let path = path.strip_prefix("local:").filter(|_| name.is_empty()).unwrap_or(path);
        if name.is_empty() {
            return remote.starts_with(":local:").then(|| path.into());
        }
        match self.get(name, "type")?.value {
            "local" => Some(path.into()),
            "alias" => {
                Some(self.folder(self.get(name, "remote")?.value, max_aliases.checked_sub(1)?)?.join(path))
            }
            _ => None,
        }
    }
}

impl Line<'_> {
    /// Returns the value if `of` accepts it.
    fn read<T>(&self, expected: &'static str, of: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        of(self.value).ok_or(Error::Line { number: self.number, source: Box::new(Error::Format(expected)) })
    }

    /// Returns a password that was obscured.
    fn reveal(&self) -> Result<Zeroizing<Vec<u8>>> {
        let expected = "expected a password as 'rclone obscure' writes it";
        self.read(expected, |value| {
            if value.is_empty() {
                return Some(Zeroizing::default());
            }
            // The dropped errors say where in the text they are.
            let mut bytes = BASE64URL_NOPAD.decode(value.as_bytes()).map(Zeroizing::new).ok()?;
            let (iv, password) = bytes.split_first_chunk_mut()?;
            raw::aes(&OBSCURING).ok()?.xor_at(iv, 0, InOut::in_place(password)).ok()?;
            Some(Zeroizing::new(password.to_vec()))
        })
    }
}
