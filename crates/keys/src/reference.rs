//! Key references: strings that say where a key is. A reference is not secret.
//!
//! | reference | where the key is |
//! |---|---|
//! | `env:NAME` | the environment variable holds the text of a key file |
//! | `file:PATH` | the file; a leading `~/` is the home directory |
//! | `keyring:SERVICE/USER` | the keyring of the operating system holds the text of a key file |
//! | `aws-kms:ARN#PATH`, `vault:MOUNT/KEY#PATH` | the encrypted Tink keyset at PATH, decrypted by a key service |
//! | `pkcs11:URI#PATH` | the encrypted Tink keyset at PATH, decrypted by a token's key (RFC 7512) |
//! | any other string | it is the path of the file; write `./env:NAME` for a file of this name |
//!
//! ```
//! use sealane::keys::{KeyFile, LoadOptions, Reference};
//! use std::ffi::OsStr;
//!
//! # let path = std::env::temp_dir().join(format!("sealane-reference-{}", std::process::id()));
//! # std::fs::write(&path, r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#).unwrap();
//! let reference = Reference::parse(path.as_os_str())?;
//! let content = reference.read()?;
//! let key = KeyFile::parse(&content, LoadOptions::default())?.into_secret()?;
//! assert!(matches!(Reference::parse(OsStr::new("env:KEY"))?, Reference::Env(name) if name == "KEY"));
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), sealane::Error>(())
//! ```

use super::age::Identity;
use super::fingerprint::Fingerprint;
use super::keyring::EncryptedKeyring;
use super::token::TokenKey;
use super::{Existing, KeyFile, LoadOptions, SecretKey, known_keys, store, wrapping};
use crate::prelude::*;
use std::env;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// Where a key is, such as in a file or an environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reference {
    /// A key file at this path, absolute or relative to the working directory.
    File(PathBuf),
    /// The environment variable with this name; its value is the content of a key file.
    Env(String),
    /// An entry in the OS keyring, by its two names.
    Keyring {
        /// The service, such as the name of an application.
        service: String,
        /// The user name.
        user: String,
    },
    /// A keyring that a key service decrypts. The text is the whole reference, such as
    /// `vault:transit/sales#sales.key`.
    Service(String),
    /// A keyring that a PKCS#11 token's key decrypts.
    Token {
        /// The token's key, and the context that the keyring is bound to.
        key: Box<TokenKey>,
        /// Path of the encrypted keyset.
        keyset: String,
    },
}

/// Looks up the text of an OS keyring entry by service and user. An error is a message for the
/// user.
pub type KeyringLookup = fn(service: &str, user: &str) -> Result<Zeroizing<String>, String>;

static KEYRING: OnceLock<KeyringLookup> = OnceLock::new();

/// Sets this process's function for `keyring:` references. The first call decides; later calls
/// return `false`. There is no default, because the keyrings of Linux desktops need a D-Bus
/// library: the Python package sets a function over the Python package `keyring`.
pub fn set_keyring(lookup: KeyringLookup) -> bool {
    KEYRING.set(lookup).is_ok()
}

/// Returns the cleartext keyset, in the binary format, for a reference to a key service, or to a
/// token if the keyset is at a URL. The text of an error contains the reference, without a PIN.
pub type ServiceLookup = fn(reference: &str) -> Result<Zeroizing<Vec<u8>>>;

static SERVICES: OnceLock<ServiceLookup> = OnceLock::new();

/// Sets this process's function for `aws-kms:` and `vault:` references. The first call decides;
/// later calls return `false`. There is no default: the Python package sets a function over `boto3`
/// and `hvac`, because these know the credentials, proxies and certificates of a machine.
pub fn set_key_services(lookup: ServiceLookup) -> bool {
    SERVICES.set(lookup).is_ok()
}

impl Reference {
    /// Parses a key reference or the path of a key file.
    ///
    /// # Errors
    /// Returns [`Misuse::Reference`] if the part after the scheme is empty or malformed, and for
    /// `call:`, because it names a Python function, and for a reference with a fingerprint, which
    /// only [`PinnedReference::parse`] takes.
    pub fn parse(text: &OsStr) -> Result<Self> {
        let invalid = |expected| Err(Misuse::Reference(expected).into());
        if Fingerprint::split(&text.to_string_lossy())?.1.is_some() {
            return invalid(
                "expected no fingerprint: it pins a symmetric key or a keyring, and nothing else",
            );
        }
        // A reference is Unicode, so any other string is a path.
        let Some((scheme, rest)) = text.to_str().and_then(|text| text.split_once(':')) else {
            return Ok(Self::File(text.into()));
        };
        match (scheme, rest) {
            ("file", "") => invalid("expected file:PATH, found no path"),
            ("file", path) => Ok(Self::File(expand_home(path.into()))),
            ("env", "") => invalid("expected env:NAME, found no name"),
            ("env", name) => Ok(Self::Env(name.to_owned())),
            ("keyring", entry) => match entry.split_once('/') {
                Some((service, user)) if !service.is_empty() && !user.is_empty() => {
                    Ok(Self::Keyring { service: service.to_owned(), user: user.to_owned() })
                }
                _ => invalid("expected keyring:SERVICE/USER"),
            },
            ("aws-kms" | "vault", rest) => match rest.split_once('#') {
                Some((key, place)) if !key.is_empty() && !place.is_empty() => {
                    Ok(Self::Service(format!("{scheme}:{rest}")))
                }
                _ => {
                    invalid("expected aws-kms:ARN#PATH or vault:MOUNT/KEY#PATH; PATH is an encrypted keyset")
                }
            },
            ("pkcs11", _) => match text.to_str().and_then(|text| text.split_once('#')) {
                Some((uri, keyset)) if !keyset.is_empty() => {
                    let key = TokenKey::parse(uri)?;
                    if keyset.contains('#') && key.to_string() != uri {
                        return invalid("expected one '#', before the path; write %23 in a PIN");
                    }
                    Ok(Self::Token { key: Box::new(key), keyset: keyset.to_owned() })
                }
                _ => invalid("expected pkcs11:URI#PATH; PATH is an encrypted keyset"),
            },
            // As a path it would be shown, and with it a PIN.
            _ if scheme.eq_ignore_ascii_case("pkcs11") => invalid("expected pkcs11: in lower case"),
            ("call", _) => invalid("call: references name Python functions, and work in Python only"),
            ("age", _) => invalid(
                "age: references name keys of sealane:: paths; here, give the path of the key file, and its identity",
            ),
            _ => Ok(Self::File(text.into())),
        }
    }

    /// Returns the path, if the key is in a file.
    pub fn path(&self) -> Option<&Path> {
        if let Self::File(path) = self { Some(path) } else { None }
    }

    /// Returns the path of the encrypted keyset, if a key service or a token decrypts it. The
    /// keyset contains no secret, but replacing it with an output would make data unreadable.
    pub fn keyset_path(&self) -> Option<&Path> {
        match self {
            Self::Service(text) => text.split_once('#').map(|(_, place)| Path::new(place)),
            Self::Token { keyset, .. } => Some(Path::new(keyset)),
            _ => None,
        }
    }

    /// Reads the content of the key file, for [`super::KeyFile::parse`].
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be read, [`Error::Format`] if it is too long for a
    /// key, [`Error::KeyNotFound`] if the variable or the entry does not exist, or [`set_keyring`]
    /// was not called, [`Error::KeyService`] if a key service or a token does not decrypt the key,
    /// or [`set_key_services`] was not called, and [`Error::KeyRefused`] if a token refuses the PIN
    /// or the key.
    pub fn read(&self) -> Result<Zeroizing<Vec<u8>>> {
        match self {
            Self::File(path) => store::read(path),
            Self::Env(name) => match env::var_os(name) {
                Some(text) => Ok(Zeroizing::new(text.into_encoded_bytes())),
                None => Err(Error::KeyNotFound(format!("{self}: the environment variable is not set"))),
            },
            Self::Keyring { service, user } => {
                let lookup = KEYRING.get().ok_or_else(|| {
                    Error::KeyNotFound(format!(
                        "{self}: this program has no access to the keyring; use the program of the Python package, \
                         installed with 'pip install sealane[keyring]'"
                    ))
                })?;
                let found = lookup(service, user).map_err(|why| Error::KeyNotFound(format!("{self}: {why}")));
                Ok(Zeroizing::new(std::mem::take(&mut *found?).into_bytes()))
            }
            Self::Service(text) => SERVICES.get().ok_or_else(|| wrapping::missing(self))?(text),
            Self::Token { key, keyset } if keyset.contains("://") => match SERVICES.get() {
                Some(lookup) => lookup(&Zeroizing::new(format!("{}#{keyset}", key.with_pin()))),
                None => Err(Error::KeyService(format!(
                    "{self}: this program reads keysets from files only; use the program of the Python package for a \
                     URL"
                ))),
            },
            Self::Token { key, keyset } => {
                let content = store::read(Path::new(keyset))?;
                match key.decrypt(EncryptedKeyring::parse(&content)?.ciphertext()) {
                    // As for a key service, the error names the reference.
                    Err(Error::Authentication) => Err(Error::KeyService(format!(
                        "{self}: authentication failed: the encrypted keyset belongs to another wrapping key or \
                         context, or was changed"
                    ))),
                    found => found,
                }
            }
        }
    }

    /// Returns where somebody else can write this key, with an absolute path; `None` if the key is
    /// in an environment variable or the OS keyring. The user's file of known keys has this name.
    fn place(&self) -> Option<String> {
        let absolute = |path: &Path| {
            let is_url = path.to_string_lossy().contains("://");
            let path =
                if is_url { path.to_owned() } else { std::path::absolute(path).unwrap_or(path.into()) };
            path.display().to_string()
        };
        match self {
            Self::File(path) => Some(format!("age:{}", absolute(path))),
            Self::Service(text) => {
                let (key, keyset) = text.split_once('#')?;
                Some(format!("{key}#{}", absolute(Path::new(keyset))))
            }
            Self::Token { key, keyset } => Some(format!("{key}#{}", absolute(Path::new(keyset)))),
            Self::Env(_) | Self::Keyring { .. } => None,
        }
    }

    /// Returns whether a later run finds the same file here: what a descriptor or a pipe leads to
    /// is not remembered.
    fn is_kept(&self) -> bool {
        let Self::File(path) = self else { return true };
        let passing = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/proc"];
        !passing.iter().any(|folder| path.starts_with(folder)) && path.is_file()
    }
}

/// Loads a key file of any kind, and checks that it is the one that this user knows; see
/// [`PinnedReference::check`]. See [the table](crate).
///
/// # Errors
/// Returns the errors of [`PinnedReference::load`].
///
/// # Example
/// ```
/// use sealane::keys::{Existing, KeyFile, Kind, LoadOptions, SecretKey, load};
///
/// let path = std::env::temp_dir().join(format!("sealane-load-{}.key", std::process::id()));
/// SecretKey::generate(Kind::Age)?.save(&path, None, Existing::Refuse)?;
/// assert!(matches!(load(&path, LoadOptions::default())?, KeyFile::Secret(_)));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn load(path: &Path, options: LoadOptions<'_>) -> Result<KeyFile> {
    PinnedReference::file(path).load(options).map(|(key, _)| key)
}

impl SecretKey {
    /// Loads a private or symmetric key from a file.
    ///
    /// # Errors
    /// Returns the errors of [`load`] and [`KeyFile::into_secret`].
    pub fn load(path: &Path, passphrase: Option<&str>) -> Result<Self> {
        load(path, LoadOptions::passphrase(passphrase))?.into_secret()
    }

    /// Loads a private or symmetric key from an age file encrypted for one of `identities`.
    ///
    /// # Errors
    /// Returns the errors of [`load`] and [`KeyFile::into_secret`].
    pub fn load_with(path: &Path, identities: &[Identity]) -> Result<Self> {
        load(path, LoadOptions { identities: Some(identities), ..LoadOptions::default() })?.into_secret()
    }
}

/// A reference, and the fingerprint of the key that it must lead to, as in
/// `vault:transit/sales#sales.key#key-sha256:…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedReference {
    /// Where the key is.
    pub reference: Reference,
    /// The fingerprint of the right key, if the reference has one.
    pub fingerprint: Option<Fingerprint>,
}

impl PinnedReference {
    /// Parses a key reference, or the path of a key file, with or without a fingerprint.
    ///
    /// # Errors
    /// Returns the errors of [`Reference::parse`] and [`Fingerprint::split`].
    pub fn parse(text: &OsStr) -> Result<Self> {
        let (rest, fingerprint) = match text.to_str() {
            Some(text) => Fingerprint::split(text)?,
            None => return Ok(Self { reference: Reference::parse(text)?, fingerprint: None }),
        };
        Ok(Self { reference: Reference::parse(OsStr::new(rest))?, fingerprint })
    }

    /// Refers to a key file, without a fingerprint.
    pub fn file(path: &Path) -> Self {
        Self { reference: Reference::File(path.to_owned()), fingerprint: None }
    }

    /// Saves `key`, as the text of a key file, and returns its reference. It becomes the key that
    /// the user knows here; a plain one only if another is known. The fingerprint is there if data
    /// is encrypted with such keys.
    pub(super) fn save(
        path: &Path,
        key: &KeyFile,
        text: &str,
        existing: Existing,
        is_encrypted: bool,
    ) -> Result<Self> {
        let saved = Self { fingerprint: Fingerprint::of(key).ok(), ..Self::file(path) };
        let place = saved.reference.place();
        let known = place.as_ref().zip(saved.fingerprint.as_ref());
        if let Some((place, key)) = known.filter(|_| saved.reference.is_kept()) {
            known_keys::accept_key(place, key)?;
        }
        store::save_secret(path, text, existing)?;
        // Asked again, because a new file is there now.
        if let Some((place, key)) = known.filter(|_| saved.reference.is_kept())
            && (is_encrypted || known_keys::is_known(place))
        {
            known_keys::remember_key(place, key);
        }
        Ok(saved)
    }

    /// Reads the key and checks it. Returns the warning of [`Self::check`] too.
    ///
    /// # Errors
    /// Returns the errors of [`Reference::read`], [`KeyFile::parse`] and [`Self::check`].
    pub fn load(&self, options: LoadOptions<'_>) -> Result<(KeyFile, Option<String>)> {
        let key = KeyFile::parse(&self.reference.read()?, options)?;
        let warning = self.check(&key, options)?;
        Ok((key, warning))
    }

    /// Checks that `key`, read from the reference with `options`, is the right one: by the
    /// fingerprint, or else by the user's file of known keys. Returns a warning for the user, once
    /// per process, if neither is possible.
    ///
    /// Without a fingerprint, a key is remembered if others can have made its file: if a service or
    /// a token decrypted it, or an identity did. One that a passphrase decrypted is believed, and
    /// remembered too. A plain key must be the known one, if there is one: an attacker can leave
    /// the encryption out.
    ///
    /// # Errors
    /// Returns the errors of [`check_key`](crate::check_key), and [`Misuse::UnsuitableKey`] if a
    /// fingerprint is given for a private or public key.
    pub fn check(&self, key: &KeyFile, options: LoadOptions<'_>) -> Result<Option<String>> {
        let service = matches!(self.reference, Reference::Service(_) | Reference::Token { .. });
        let is_kept = self.reference.is_kept();
        let found = match (Fingerprint::of(key), self.fingerprint) {
            // Not a key that data is encrypted with.
            (Err(_), None) => return Ok(None),
            (found, _) => found?,
        };
        match (self.reference.place(), self.fingerprint) {
            (None, None) => Ok(None),
            (Some(place), None) if options.passphrase.is_some() => {
                if is_kept {
                    known_keys::remember_key(&place, &found);
                }
                Ok(None)
            }
            (Some(place), None) if !(service || options.identities.is_some() && is_kept) => {
                known_keys::check_own_key(&place, &found).map(|()| None)
            }
            (place, fingerprint) => {
                let place = place.unwrap_or_else(|| self.reference.to_string());
                known_keys::check_key(&place, fingerprint.as_ref(), &found)
            }
        }
    }
}

/// Writes the reference for [`PinnedReference::parse`].
impl fmt::Display for PinnedReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)?;
        self.fingerprint.map_or(Ok(()), |fingerprint| write!(f, "#{fingerprint}"))
    }
}

/// Writes the reference for [`Reference::parse`]: a file as its path, a token without the PIN.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::Keyring { service, user } => write!(f, "keyring:{service}/{user}"),
            Self::Service(text) => f.write_str(text),
            Self::Token { key, keyset } => write!(f, "{key}#{keyset}"),
        }
    }
}

fn expand_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn parse(text: &str) -> Result<Reference> {
        Reference::parse(OsStr::new(text))
    }

    #[test]
    fn schemes() {
        for (text, found) in [
            ("env:KEY", Reference::Env("KEY".into())),
            ("file:a/b", Reference::File("a/b".into())),
            ("file:env:KEY", Reference::File("env:KEY".into())),
            ("./env:KEY", Reference::File("./env:KEY".into())),
            ("key.json", Reference::File("key.json".into())),
            ("C:\\key", Reference::File("C:\\key".into())),
            ("aws-kms:arn?context=a#b", Reference::Service("aws-kms:arn?context=a#b".into())),
            ("vault:a/b#c#d", Reference::Service("vault:a/b#c#d".into())),
            (
                "pkcs11:object=a#b",
                Reference::Token {
                    key: Box::new(TokenKey::parse("pkcs11:object=a").unwrap()),
                    keyset: "b".into(),
                },
            ),
            ("keyring:a/b/c", Reference::Keyring { service: "a".into(), user: "b/c".into() }),
        ] {
            assert_eq!(parse(text).unwrap(), found, "{text}");
        }
        let home = parse("file:~/key").unwrap();
        assert_eq!(home.path().unwrap(), env::home_dir().unwrap().join("key"));
        assert_eq!(parse("vault:a/b#c#d").unwrap().keyset_path(), Some(Path::new("c#d")));
        let invalid =
            ["env:", "file:", "keyring:", "keyring:a", "keyring:/b", "keyring:a/", "call:a:b", "age:a"];
        for text in
            invalid.into_iter().chain(["aws-kms:", "aws-kms:arn", "aws-kms:arn#", "vault:#a", "vault:a/b"])
        {
            assert!(matches!(parse(text), Err(Error::Misuse(Misuse::Reference(_)))), "{text}");
        }
        let pins = ["PKCS11:object=a?pin-value=1#b", "pkcs11:object=a?pin-value=1#2#b"];
        let malformed = ["pkcs11:", "pkcs11:object=a", "pkcs11:object=a#", "pkcs11:#a", "pkcs11:color=red#a"];
        for text in malformed.into_iter().chain(pins) {
            assert!(matches!(parse(text), Err(Error::Misuse(Misuse::Reference(_)))), "{text}");
        }
        let token = parse("pkcs11:object=a?pin-value=1234#b").unwrap();
        assert_eq!(token.keyset_path(), Some(Path::new("b")));
        assert_eq!(token.to_string(), "pkcs11:object=a?pin-value=***#b");
        assert!(!format!("{token:?}").contains("1234"));
    }

    #[test]
    fn unresolved_references_are_named() {
        let said = |text| parse(text).unwrap().read().unwrap_err().to_string();
        assert_eq!(said("env:SEALANE_NO_KEY"), "env:SEALANE_NO_KEY: the environment variable is not set");
        assert_eq!(said("env:A=B"), "env:A=B: the environment variable is not set");
        assert!(said("keyring:a/b").starts_with("keyring:a/b: "));
        assert!(said("vault:a/b#c").starts_with("vault:a/b#c: this program has no access"));
        // Cargo sets it.
        let name = parse("env:CARGO_PKG_NAME").unwrap().read().unwrap();
        assert_eq!(name[..], *env!("CARGO_PKG_NAME").as_bytes());
    }
}
