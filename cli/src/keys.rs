//! Loads the keys, recipients and passphrases that a command's options name.

use crate::defaults;
use crate::prelude::*;
use crate::{args, endpoints, passphrase, plugins};
use sealane::age::{Armor, AskPassphrase, Identity, MAX_WORK_FACTOR, Recipient, parse_recipients};
use sealane::file::{
    DecryptParams, DecryptWith, Description, EncryptParams, EncryptWith, FileKey, NameKey, Rewrap, Rotation,
};
use sealane::keys::{self, FolderLock, KeyFile, Keyring, LoadOptions, PinnedReference, Reference, SecretKey};
use sealane::signature::{Signers, SigningKey};
use sealane::{Key, Misuse, os};
use std::fs::Metadata;

/// A command's other files; its keys are loaded beside them.
#[derive(Default)]
pub(crate) struct Inputs {
    /// Files that the command reads. No output may replace them.
    pub(crate) files: Vec<PathBuf>,
    /// Whether standard input carries data, so that no key can be read from it.
    pub(crate) stdin: bool,
}

impl Inputs {
    /// Returns the inputs with these names; "-" is standard input.
    pub(crate) fn named(paths: &[PathBuf]) -> Self {
        let (stdin, files): (Vec<_>, _) = paths.iter().cloned().partition(|path| endpoints::is_stdin(path));
        Self { files, stdin: !stdin.is_empty() }
    }
}

/// Loads the keys to encrypt with. Finds mistakes in the options before any file is opened.
pub(crate) fn encrypt_with(
    args: &args::EncryptWith,
    inputs: Inputs,
    console: &Console,
) -> Result<EncryptWith> {
    let mut loader = Loader::new(&args.asked, inputs, console);
    loader.kid.clone_from(&args.kid);
    let (mut subject, mut params) = ("the recipients".to_owned(), EncryptParams::default());
    let passphrase;
    let is_default = !args.passphrase && args.to.is_empty() && args.plugins.is_empty();
    // As in decryption, whoever says where the passphrase comes from needs no -p.
    let is_passphrase = args.passphrase || is_default && args.key.is_none() && args.asked.is_given();
    let key = match &args.key {
        None if is_default && !is_passphrase => {
            Some(defaults::key()?.ok_or_else(|| {
                Failure::misuse(
                    "expected a key, recipients or a passphrase; give --key, --recipient, --recipients-file, --plugin or \
                     --passphrase",
                )
            })?)
        }
        given => given.clone(),
    };
    if key.is_none() && !args.identities.is_empty() {
        return Err(Failure::misuse("-i requires --key, or a folder that describes itself as OUT"));
    }
    if let Some(path) = &key {
        subject = name(path);
        params.key = Some(loader.symmetric(path, &args.identities)?);
    } else if is_passphrase {
        subject = "the passphrase".to_owned();
        passphrase = passphrase::choose(&args.asked, "the file")?;
        params.passphrase = Some(&passphrase);
    } else {
        for path in &args.to.recipients_files {
            loader.takes_stdin(path, "the recipients")?;
        }
        let mut recipients = recipients(&args.to.recipients, &args.to.recipients_files, console)?;
        let identities = loader.identities(&[], &args.plugins)?;
        recipients.extend(identities.iter().map(Identity::recipient));
        params.recipients = Some(recipients);
        loader.files.extend(args.to.recipients_files.iter().cloned());
    }
    params.armor = if args.armor { Armor::Ascii } else { Armor::Binary };
    // On Unix, the bytes of the argument in any encoding.
    (params.context, params.format) = (args.context.as_encoded_bytes(), args.format);
    params.inputs = &loader.files;
    args.asked.refuse_unused(&subject)?;
    params.build().map_err(|e| failure(&subject, e))
}

/// Loads the keys to decrypt with. Finds mistakes in the options before any file is opened.
pub(crate) fn decrypt_with(
    args: &args::DecryptWith,
    inputs: Inputs,
    console: &Console,
) -> Result<DecryptWith> {
    let mut loader = Loader::new(&args.asked, inputs, console);
    loader.kid.clone_from(&args.kid);
    let (mut subject, mut params) = ("the identities".to_owned(), DecryptParams::default());
    let mut max_work_factor = args.max_work_factor;
    let passphrase;
    let (mut key, mut identities) = (args.key.clone(), args.identities.clone());
    let uses_defaults = args.has_passphrase() && !args.passphrase && !args.asked.is_given();
    if uses_defaults {
        key = defaults::key()?;
        identities.extend(defaults::identity()?);
        if key.is_some() && !identities.is_empty() {
            return Err(Failure::misuse(
                "there is a default key and a default identity; choose one with -k or -i",
            ));
        }
    }
    let has_passphrase = args.has_passphrase() && identities.is_empty();
    if let Some(path) = &key {
        subject = name(path);
        params.key = Some(loader.symmetric(path, &args.identities)?);
    } else if args.passphrase || has_passphrase && args.asked.is_given() {
        passphrase = passphrase::ask(&args.asked, "the file")?;
        params.passphrase = Some(&passphrase);
    } else if has_passphrase {
        if !crate::os::exists() {
            return Err(Failure::misuse("expected a key or a passphrase; use -k, -i, -j or -p"));
        }
        params.identities = Some(vec![loader.asking(max_work_factor.take())]);
    } else {
        let mut found = loader.identities(&identities, &args.plugins)?;
        if uses_defaults && crate::os::exists() {
            found.push(loader.asking(max_work_factor.take()));
        }
        params.identities = Some(found);
    }
    (params.context, params.format) = (args.context.as_encoded_bytes(), args.format);
    params.max_work_factor = max_work_factor;
    params.inputs = &loader.files;
    args.asked.refuse_unused(&subject)?;
    params.build().map_err(|e| failure(&subject, e))
}

/// Loads the old and new keys of age files; finds mistakes before any file is opened.
pub(crate) fn rewrap(args: &args::RewrapWith, inputs: Inputs, console: &Console) -> Result<Rewrap> {
    let mut loader = Loader::new(&args.asked, inputs, console);
    let old = args.old();
    loader.files.extend(old.descriptor.map(passphrase::path));
    let identities = if args.identities.is_empty() && args.plugins.is_empty() {
        let text = passphrase::ask_old(&old, "the files")?;
        let max = args.max_work_factor.unwrap_or(MAX_WORK_FACTOR);
        vec![Identity::passphrase_with_max_work_factor(&text, max)]
    } else {
        loader.identities(&args.identities, &args.plugins)?
    };
    let recipients = if args.passphrase {
        let text = passphrase::choose(&args.asked, "the files")?;
        vec![Recipient::passphrase(&text).map_err(|e| failure("the passphrase", e))?]
    } else {
        loader.files.extend(args.to.recipients_files.iter().cloned());
        recipients(&args.to.recipients, &args.to.recipients_files, console)?
    };
    args.asked.refuse_unused("the recipients")?;
    Rewrap::new(identities, recipients, &loader.files).map_err(|e| failure("the recipients", e))
}

/// Loads the keyring of files to move to its primary key.
pub(crate) fn rotation(args: &args::RotateWith, inputs: Inputs, console: &Console) -> Result<Rotation> {
    let mut loader = Loader::new(&args.asked, inputs, console);
    let key = args.key.clone().map_or_else(defaults::key, |key| Ok(Some(key)))?;
    let key = key.ok_or_else(|| Failure::misuse("expected the keyring of the files; name it with -k"))?;
    let ring = loader.keyring(&key, &args.identities)?;
    Rotation::new(&ring, args.context.as_encoded_bytes(), &loader.files)
        .map_err(|error| Failure::about(&name(&key), error))
}

/// Loads a keyring to read it.
pub(crate) fn keyring(args: &args::KeyringFile, console: &Console) -> Result<Keyring> {
    Loader::new(&args.asked, Inputs::default(), console).keyring(&args.ring, &args.identities)
}

/// Loads what opens a folder that describes itself, and returns the key files too.
pub(crate) fn folder_lock(
    found: &Description,
    unlock: &args::Unlock<'_>,
    console: &Console,
) -> Result<(FolderLock, Vec<PathBuf>)> {
    let mut loader = Loader::new(unlock.asked, Inputs::default(), console);
    loader.kid = unlock.kid.cloned();
    let (mut key, mut identities) = (unlock.key.cloned(), unlock.identities.to_vec());
    if key.is_none() && identities.is_empty() && unlock.plugins.is_empty() && !unlock.passphrase {
        match found.is_for_identities() {
            true if found.has_passphrase() => {}
            true => identities.extend(defaults::identity()?),
            false => key = defaults::key()?,
        }
    }
    let is_locked = !found.is_write_only(); // Else it is written without a key.
    let lock = match key {
        Some(key) => loader.wrapping_key(&key, &identities)?,
        None if unlock.passphrase || is_locked && identities.is_empty() && unlock.plugins.is_empty() => {
            if !unlock.passphrase && !found.has_passphrase() {
                let needed =
                    if found.is_for_identities() { "an identity with -i or -j" } else { "the key with -k" };
                return Err(Failure::misuse(format!(
                    "{}: expected a key; give {needed}",
                    name(found.path())
                )));
            }
            FolderLock::Passphrase(passphrase::ask(unlock.asked, &name(found.path()))?)
        }
        None => FolderLock::Identities(loader.identities(&identities, unlock.plugins)?),
    };
    unlock.asked.refuse_unused(&name(found.path()))?;
    Ok((lock, loader.files))
}

/// Loads what wraps the keys of a folder from now on: another key, a new passphrase or recipients.
pub(crate) fn new_lock(
    key: Option<&Path>,
    identity_files: &[PathBuf],
    passphrase: bool,
    to: &args::Recipients,
    asked: &args::Passphrase,
    folder: &str,
    console: &Console,
) -> Result<FolderLock> {
    match key {
        Some(key) => Loader::new(asked, Inputs::default(), console).wrapping_key(key, identity_files),
        None if passphrase => passphrase::choose(asked, folder).map(FolderLock::Passphrase),
        None => recipients(&to.recipients, &to.recipients_files, console).map(FolderLock::Recipients),
    }
}

/// Returns a key file's keyring.
pub(crate) fn as_keyring(found: KeyFile, name: &str) -> Result<Keyring> {
    match found {
        KeyFile::Keyring(ring) => Ok(ring),
        _ => Err(Failure::misuse(format!(
            "{name}: expected a keyring, found a single key; make a keyring with 'sealane keygen --keyring'"
        ))),
    }
}

/// Loads a symmetric key beside another key. It may be encrypted with a passphrase.
pub(crate) fn symmetric(key: &Path, asked: &args::Passphrase, console: &Console) -> Result<Key> {
    let found = Loader::new(asked, Inputs::default(), console).load(key, &[])?;
    found.into_symmetric().map_err(|error| Failure::about(&name(key), error))
}

/// Translates an error of the key builder, naming the options.
fn failure(subject: &str, error: Error) -> Failure {
    let Error::Misuse(misuse) = &error else { return Failure::about(subject, error) };
    Failure::misuse(match misuse {
        Misuse::ContextNeedsKey => "-c requires -k; age files have no context".to_owned(),
        Misuse::FormatNeedsKey(format) => format!("--format {format} requires -k"),
        Misuse::FormatNeedsRecipients(format) => {
            format!("--format {format} requires -r, -R, -i or -p, found -k")
        }
        Misuse::KeysetHasFormat => "a keyring determines its format; omit --format".to_owned(),
        Misuse::WorkFactorNeedsPassphrase => "--max-work-factor requires -p".to_owned(),
        _ => return Failure::about(subject, error),
    })
}

/// Returns the recipients named directly and those in recipients files. Their plugins may run.
pub(crate) fn recipients(
    named: &[String],
    files: &[impl AsRef<Path>],
    console: &Console,
) -> Result<Vec<Recipient>> {
    let mut all: Vec<Recipient> = Vec::new();
    for (at, text) in named.iter().enumerate() {
        // Anything but a public key may be a secret in the wrong place, so we don't show it.
        let public = ["age1", "ssh-"].iter().any(|prefix| text.starts_with(prefix));
        let subject = || if public { text.clone() } else { format!("-r, recipient {}", at + 1) };
        all.push(text.parse().map_err(|e| Failure::about(&subject(), e))?);
    }
    for path in files {
        let path = path.as_ref();
        let content = endpoints::read_list(path)?;
        all.extend(
            parse_recipients(&keys::text_of(&content)).map_err(|e| Failure::unsuitable(path, &content, e))?,
        );
    }
    let plugins = plugins::at_terminal(console);
    Ok(all.into_iter().map(|recipient| recipient.with_plugins(&plugins)).collect())
}

/// Loads a private or symmetric key. It may be encrypted with a passphrase.
pub(crate) fn secret(key: &Path, asked: &args::Passphrase, console: &Console) -> Result<SecretKey> {
    let found = Loader::new(asked, Inputs::default(), console).load(key, &[])?;
    asked.refuse_unused(&name(key))?;
    found.into_secret().map_err(|error| Failure::about(&name(key), error))
}

/// Loads a private key that signs, beside other keys. It may be encrypted with a passphrase.
pub(crate) fn signing_key(
    path: &Path,
    asked: &args::Passphrase,
    inputs: Inputs,
    console: &Console,
) -> Result<SigningKey> {
    let about = |error| Failure::about(&name(path), error);
    let mut loader = Loader::new(asked, inputs, console);
    let (content, file) = loader.read(path, "the signing key")?;
    match SigningKey::parse(&content, None) {
        Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
            let text = passphrase::ask(asked, &name(path))?;
            SigningKey::parse(&content, Some(&text)).map_err(about)
        }
        found => {
            let found = found.map_err(about)?;
            loader.warn_if_readable(file.as_deref());
            Ok(found)
        }
    }
}

/// The name key, and the file it was loaded from.
pub(crate) type Names = (NameKey, Option<PathBuf>);

/// Loads the name key, if one is given; `identity_files` decrypt one for recipients.
pub(crate) fn names(
    folders: &args::Folders,
    asked: &args::Passphrase,
    identity_files: &[PathBuf],
    console: &Console,
) -> Result<Option<Names>> {
    let Some(path) = &folders.encrypt_names else { return Ok(None) };
    let about = |error| Failure::about(&name(path), error);
    if path == Path::new("-") {
        return Err(Failure::misuse(
            "--encrypt-names reads a file or a reference, not standard input; name one",
        ));
    }
    let mut loader = Loader::new(asked, Inputs::default(), console);
    let (content, pinned) = loader.read_pinned(path, "the key of the names")?;
    let file = pinned.as_ref().and_then(|pinned| pinned.reference.path().map(Path::to_owned));
    let (text, identities);
    let mut options = LoadOptions::default();
    let found = match KeyFile::parse(&content, options) {
        Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
            text = passphrase::ask(asked, &name(path))?;
            options.passphrase = Some(&text);
            KeyFile::parse(&content, options)
        }
        Err(Error::Misuse(Misuse::KeyIdentityRequired)) if !identity_files.is_empty() => {
            identities = loader.identities(identity_files, &[])?;
            options.identities = Some(&identities);
            KeyFile::parse(&content, options)
        }
        found => found,
    };
    let found = found.map_err(about)?;
    check_pin(pinned.as_ref(), &found, options, console).map_err(about)?;
    let found = match found {
        KeyFile::Keyring(ring) => NameKey::keyring(&ring),
        found => found.into_symmetric().and_then(|key| NameKey::new(&key)),
    };
    let found = found.map_err(|error| match error {
        Error::Misuse(Misuse::KeyLength { got, .. }) => Failure::misuse(format!(
            "{}: expected a key of 64 bytes, found {got}; make one with 'sealane keygen -t aes-256-siv'",
            name(path)
        )),
        other => about(other),
    })?;
    loader.warn_if_readable(file.as_deref());
    Ok(Some((found, file)))
}

/// Loads the public keys of accepted or revoked signers.
pub(crate) fn signers(path: &Path, parse: impl FnOnce(&[u8]) -> Result<Signers, Error>) -> Result<Signers> {
    let content = Reference::File(path.to_owned()).read();
    content.and_then(|content| parse(&content)).map_err(|error| Failure::about(&name(path), error))
}

/// Loads a command's keys and remembers their files.
pub(crate) struct Loader<'a> {
    asked: args::Passphrase,
    console: &'a Console,
    /// Files that no output may replace.
    files: Vec<PathBuf>,
    /// What standard input is used for: only one thing can be read from it.
    stdin: Option<&'static str>,
    /// Selects a key of a JSON Web Key Set.
    kid: Option<String>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(asked: &args::Passphrase, inputs: Inputs, console: &'a Console) -> Self {
        let mut files = inputs.files;
        files.extend(asked.descriptor.map(passphrase::path));
        Self {
            asked: asked.clone(),
            console,
            files,
            stdin: inputs.stdin.then_some("carries the data"),
            kid: None,
        }
    }

    /// Returns whether the path of a file with `what` is standard input, and refuses a second
    /// reader: the system opens a pipe again, and one of the two gets nothing.
    fn takes_stdin(&mut self, path: &Path, what: &str) -> Result<bool> {
        // In a reference, "-" is the name of a file.
        let file = path.to_str().and_then(|path| path.strip_prefix("file:")).filter(|file| *file != "-");
        let file = file.map_or(path, Path::new);
        let is_stdin = endpoints::is_stdin(file);
        match self.stdin.filter(|_| is_stdin) {
            Some(user) => {
                let name = name(path);
                Err(Failure::misuse(format!("{name}: standard input {user}; name a file with {what}")))
            }
            None => {
                self.stdin = self.stdin.or(is_stdin.then_some("was read already"));
                Ok(is_stdin)
            }
        }
    }

    fn symmetric(&mut self, key: &Path, identity_files: &[PathBuf]) -> Result<FileKey> {
        match self.load(key, identity_files)? {
            KeyFile::Keyring(keyring) => Ok(keyring.into()),
            found => found.into_symmetric().map(FileKey::from).map_err(|e| Failure::about(&name(key), e)),
        }
    }

    fn wrapping_key(&mut self, key: &Path, identity_files: &[PathBuf]) -> Result<FolderLock> {
        if let Some(lock) = key.to_str().and_then(FolderLock::service) {
            return Ok(lock);
        }
        match self.load(key, identity_files)? {
            KeyFile::Keyring(ring) => Ok(FolderLock::Keyring(ring)),
            found => {
                let lock = found.into_symmetric().and_then(|key| FolderLock::key(&key));
                lock.map_err(|error| Failure::about(&name(key), error))
            }
        }
    }

    fn keyring(&mut self, path: &Path, identity_files: &[PathBuf]) -> Result<Keyring> {
        let found = self.load(path, identity_files)?;
        self.asked.refuse_unused(&name(path))?;
        as_keyring(found, &name(path))
    }

    /// Loads the key that a path or a reference names, for example `env:NAME`.
    fn load(&mut self, key: &Path, identity_files: &[PathBuf]) -> Result<KeyFile> {
        let about = |error| Failure::about(&name(key), error);
        let identities = match identity_files {
            [] => None,
            files => Some(self.identities(files, &[])?),
        };
        // Read only once, because the content of a pipe cannot be read again.
        let (content, pinned) = self.read_pinned(key, "the key")?;
        let kid = self.kid.clone();
        let text;
        let mut options =
            LoadOptions { identities: identities.as_deref(), kid: kid.as_deref(), passphrase: None };
        let found = match KeyFile::parse(&content, options) {
            Err(Error::Misuse(Misuse::KeyPassphraseRequired)) if identities.is_none() => {
                text = passphrase::ask(&self.asked, &name(key))?;
                options.passphrase = Some(&text);
                KeyFile::parse(&content, options).map_err(about)?
            }
            found => {
                let found = found.map_err(about)?;
                // A public key may be readable by all users.
                if !matches!(found, KeyFile::Public(_)) {
                    self.warn_if_readable(pinned.as_ref().and_then(|pinned| pinned.reference.path()));
                }
                found
            }
        };
        check_pin(pinned.as_ref(), &found, options, self.console).map_err(about)?;
        Ok(found)
    }

    pub(crate) fn identities(&mut self, files: &[PathBuf], plugins: &[String]) -> Result<Vec<Identity>> {
        let mut all: Vec<Identity> = Vec::new();
        for path in files {
            let about = |error| Failure::about(&name(path), error);
            let (content, file) = self.read(path, "the identities")?;
            let found = keys::parse_identity_file(&content, None);
            let encrypted = matches!(found, Err(Error::Misuse(Misuse::KeyPassphraseRequired)));
            let text = keys::text_of(&content);
            all.extend(
                match Some(&text).filter(|text| encrypted && text.contains(" OPENSSH PRIVATE KEY-")) {
                    Some(text) => {
                        vec![Identity::from_ssh_asking(text, self.ask_later(name(path))).map_err(about)?]
                    }
                    None if encrypted => {
                        let text = passphrase::ask(&self.asked, &name(path))?;
                        keys::parse_identity_file(&content, Some(&text)).map_err(about)?
                    }
                    None => {
                        let found = found.map_err(|e| Failure::unsuitable(path, &content, e))?;
                        self.warn_if_readable(file.as_deref());
                        found
                    }
                },
            );
        }
        for name in plugins {
            all.push(Identity::from_plugin(name).map_err(|e| Failure::about(&format!("-j {name}"), e))?);
        }
        let plugins = plugins::at_terminal(self.console);
        Ok(all.into_iter().map(|identity| identity.with_plugins(&plugins)).collect())
    }

    /// Returns an identity that asks for the passphrase of a file that needs one.
    fn asking(&self, max_work_factor: Option<u8>) -> Identity {
        let ask = self.ask_later("the file".into());
        Identity::passphrase_asking(ask, max_work_factor.unwrap_or(MAX_WORK_FACTOR))
    }

    /// Asks for the passphrase of `name` when a file that needs it is decrypted.
    fn ask_later(&self, name: String) -> AskPassphrase {
        self.asked.used.store(true, Ordering::Relaxed);
        let asked = self.asked.clone();
        Arc::new(move || {
            passphrase::ask(&asked, &name).map_err(|failure| match failure.kind() {
                Kind::INTERRUPTED => Error::Cancelled,
                _ => io::Error::other(failure).into(),
            })
        })
    }

    /// Reads a key that no fingerprint pins; returns the file it is in.
    fn read(&mut self, path: &Path, what: &'static str) -> Result<(Zeroizing<Vec<u8>>, Option<PathBuf>)> {
        let (content, pinned) = self.read_pinned(path, what)?;
        match pinned {
            Some(PinnedReference { fingerprint: Some(_), .. }) => Err(Failure::misuse(format!(
                "{}: expected no fingerprint: only symmetric keys and keyrings have one",
                name(path)
            ))),
            pinned => Ok((content, pinned.and_then(|pinned| pinned.reference.path().map(Path::to_owned)))),
        }
    }

    /// Reads the key named by a path, a reference or "-", for [`check_pin`].
    pub(crate) fn read_pinned(
        &mut self,
        path: &Path,
        what: &'static str,
    ) -> Result<(Zeroizing<Vec<u8>>, Option<PinnedReference>)> {
        let about = |error| Failure::about(&name(path), error);
        if self.takes_stdin(path, what)? {
            self.files.push("/dev/stdin".into());
            let stdin = endpoints::stdin().map_err(|e| Failure::io(&name(path), &e))?;
            return Ok((keys::read_content(stdin, path).map_err(about)?, None));
        }
        let pinned = PinnedReference::parse(path.as_os_str()).map_err(about)?;
        self.files.extend(pinned.reference.path().map(Path::to_owned));
        self.files.extend(pinned.reference.keyset_path().map(Path::to_owned));
        Ok((pinned.reference.read().map_err(about)?, Some(pinned)))
    }

    fn warn_if_readable(&self, path: Option<&Path>) {
        if let Some(path) = path.filter(|path| others_can_read(path)) {
            let name = name(path);
            self.console.warn(&format!("{name}: others can read this key; run 'chmod 600 {name}'"));
        }
    }
}

/// Checks that a key is the right one; one from standard input has no place to remember.
pub(crate) fn check_pin(
    pinned: Option<&PinnedReference>,
    key: &KeyFile,
    options: LoadOptions<'_>,
    console: &Console,
) -> Result<(), Error> {
    if let Some(warning) = pinned.map(|pinned| pinned.check(key, options)).transpose()?.flatten() {
        console.warn(&warning);
    }
    Ok(())
}

fn others_can_read(path: &Path) -> bool {
    let found = path.metadata().ok().filter(Metadata::is_file);
    found.and_then(|found| os::mode(&found)).is_some_and(|mode| mode & 0o044 != 0)
}
