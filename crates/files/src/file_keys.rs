//! The keys of files: which key goes with which format.

use super::age_file::{AgeIdentities, AgeRecipients};
use super::chunked::ChunkedFile;
use super::file_cipher::{CreateFile, OpenFile, SymmetricFile};
use super::foreign::foreign;
use super::format::Format;
use super::protected::Protected;
use super::tink::TinkFile;
use crate::prelude::*;
use engine::prefix::parse_prefix;
use keys::Purpose;
use keys::age::{self, Identity, Recipient};

/// A symmetric key for files: a plain key, or a keyring that determines the format.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FileKey {
    /// A plain key of 16 or 32 bytes.
    Key(Key),
    /// A keyring: its primary key encrypts, all enabled keys decrypt. AEAD keys use the format
    /// chunked-encryption@v1, streaming keys use Tink's.
    Keyring(Keyring),
}

/// Parameters of [`EncryptWith`]: exactly one of `key`, `recipients` and `passphrase`.
///
/// ```
/// use sealane::Key;
/// use sealane::file::{EncryptParams, Format};
///
/// let key = Key::generate(32)?;
/// let encrypt_with = EncryptParams {
///     key: Some(key.into()),
///     context: b"backup of 2026-11-22",
///     format: Some(Format::Tink1Mb),
///     ..EncryptParams::default()
/// }
/// .build()?;
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Default)]
pub struct EncryptParams<'a> {
    /// Symmetric key, for a format without recipients.
    pub key: Option<FileKey>,
    /// Recipients of an age file. Each can decrypt it.
    pub recipients: Option<Vec<Recipient>>,
    /// Passphrase of an age file; scrypt derives the key.
    pub passphrase: Option<&'a str>,
    /// Context bound to the file; pass the same bytes to decrypt. For symmetric keys only.
    pub context: &'a [u8],
    /// Format. Default: `chunked` for a plain key, `age` for recipients and passphrases.
    pub format: Option<Format>,
    /// Whether to write an age file as text (armored) or in binary.
    pub armor: Armor,
    /// Other files that the call uses, such as the key file. If the output would replace one of
    /// them, even through links, the call fails with [`Misuse::OutputIsInput`].
    pub inputs: &'a [PathBuf],
}

/// Parameters of [`DecryptWith`]: exactly one of `key`, `identities` and `passphrase`.
#[derive(Default)]
pub struct DecryptParams<'a> {
    /// Symmetric key, for a format without recipients.
    pub key: Option<FileKey>,
    /// Identities for an age file, tried in order.
    pub identities: Option<Vec<Identity>>,
    /// Passphrase of an age file; scrypt derives the key.
    pub passphrase: Option<&'a str>,
    /// Context that the file was encrypted with.
    pub context: &'a [u8],
    /// Format. Default: `chunked` for a plain key, `age` for identities and passphrases.
    pub format: Option<Format>,
    /// Base-2 logarithm of the highest scrypt work factor accepted with a passphrase. Default: 20.
    pub max_work_factor: Option<u8>,
    /// Other files that the call uses, such as an identity file. If the output would replace one of
    /// them, even through links, the call fails with [`Misuse::OutputIsInput`].
    pub inputs: &'a [PathBuf],
}

/// Keys and format for encrypting files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EncryptWith {
    file: Arc<dyn CreateFile>,
    /// Set for symmetric keys: they decrypt what they encrypt.
    inverse: Option<DecryptWith>,
    pub(super) armor: Armor,
    protected: Protected,
}

/// Keys and format for decrypting files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DecryptWith {
    file: Arc<dyn OpenFile>,
    protected: Protected,
}

impl EncryptParams<'_> {
    /// Checks that the parameters fit together and returns the encryption settings.
    ///
    /// # Errors
    /// Returns [`Misuse::KeySource`] unless there is exactly one source of keys;
    /// [`Misuse::KeyLength`] or [`Misuse::InvalidRecipients`] if it cannot be used; another
    /// [`Misuse`], such as [`Misuse::ContextNeedsKey`], if an option does not apply to it.
    pub fn build(self) -> Result<EncryptWith> {
        check_source(
            ["key", "recipients", "passphrase"],
            [self.key.is_some(), self.recipients.is_some(), self.passphrase.is_some()],
        )?;
        let with = match &self.key {
            Some(_) if self.armor == Armor::Ascii => return Err(Misuse::ArmorNeedsRecipients.into()),
            Some(key) => EncryptWith::symmetric(symmetric_file(key, self.format, self.context)?),
            None => {
                check_age(self.format, self.context)?;
                let recipients = match self.passphrase {
                    Some(text) => vec![Recipient::passphrase(text)?],
                    None => self.recipients.unwrap_or_default(),
                };
                age::check_recipients(&recipients)?;
                EncryptWith::age(&recipients, self.armor)
            }
        };
        Ok(EncryptWith { protected: Protected::new(self.inputs), ..with })
    }
}

impl DecryptParams<'_> {
    /// Checks that the parameters fit together and returns the decryption settings.
    ///
    /// # Errors
    /// Returns [`Misuse::KeySource`] unless there is exactly one source of keys;
    /// [`Misuse::KeyLength`] or [`Misuse::NoIdentities`] if it cannot be used; another [`Misuse`],
    /// such as [`Misuse::ContextNeedsKey`], if an option does not apply to it.
    pub fn build(self) -> Result<DecryptWith> {
        check_source(
            ["key", "identities", "passphrase"],
            [self.key.is_some(), self.identities.is_some(), self.passphrase.is_some()],
        )?;
        if self.max_work_factor.is_some() && self.passphrase.is_none() {
            return Err(Misuse::WorkFactorNeedsPassphrase.into());
        }
        if let Some(key) = &self.key {
            let file = symmetric_file(key, self.format, self.context)?;
            return Ok(DecryptWith { file, protected: Protected::new(self.inputs) });
        }
        check_age(self.format, self.context)?;
        let identities = match (self.passphrase, self.max_work_factor) {
            (Some(text), Some(max)) => vec![Identity::passphrase_with_max_work_factor(text, max)],
            (Some(text), None) => vec![Identity::passphrase(text)],
            (None, _) => self.identities.unwrap_or_default(),
        };
        if identities.is_empty() {
            return Err(Misuse::NoIdentities.into());
        }
        Ok(DecryptWith { file: Arc::new(AgeIdentities(identities)), protected: Protected::new(self.inputs) })
    }
}

fn check_source(names: [&'static str; 3], given: [bool; 3]) -> Result<(), Misuse> {
    let found: Vec<_> =
        names.into_iter().zip(given).filter(|(_, given)| *given).map(|(name, _)| name).collect();
    if found.len() == 1 { Ok(()) } else { Err(Misuse::KeySource { expected: names, found }) }
}

fn symmetric_file(key: &FileKey, format: Option<Format>, context: &[u8]) -> Result<Arc<dyn SymmetricFile>> {
    match (key, format) {
        (FileKey::Keyring(keyring), None) => keyring_file(keyring, context),
        (FileKey::Keyring(keyring), Some(Format::Chunked)) if keyring.purpose() == Purpose::Messages => {
            keyring_file(keyring, context)
        }
        (FileKey::Keyring(_), Some(_)) => Err(Misuse::KeysetHasFormat.into()),
        (FileKey::Key(key), format) => {
            let entry = format.unwrap_or(Format::Chunked).entry();
            entry.with_key.ok_or(Misuse::FormatNeedsRecipients(entry.name))?(key, context)
        }
    }
}

/// Returns the files of a keyring. The use of its keys determines the format.
fn keyring_file(keyring: &Keyring, context: &[u8]) -> Result<Arc<dyn SymmetricFile>> {
    match keyring.purpose() {
        Purpose::Messages => Ok(Arc::new(ChunkedFile::keyring(keyring, context)?)),
        _ => Ok(Arc::new(TinkFile::new(keyring.clone(), context)?)),
    }
}

/// Rejects a format or a context that needs a symmetric key.
fn check_age(format: Option<Format>, context: &[u8]) -> Result<(), Misuse> {
    match format.unwrap_or(Format::Age).entry() {
        entry if entry.with_key.is_some() => Err(Misuse::FormatNeedsKey(entry.name)),
        _ if !context.is_empty() => Err(Misuse::ContextNeedsKey),
        _ => Ok(()),
    }
}

impl EncryptWith {
    /// Encrypts with a symmetric key in the format C2SP chunked-encryption@v1. An invalid key
    /// length is reported when the first file is encrypted; [`EncryptParams::build`] reports it
    /// earlier.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::symmetric(Arc::new(ChunkedFile::new(key, context)))
    }

    /// Encrypts for recipients or a passphrase in the format age v1. Recipients that cannot be
    /// combined are reported when the first file is encrypted; [`EncryptParams::build`] reports
    /// them earlier.
    pub fn age(recipients: &[Recipient], armor: Armor) -> Self {
        let file = Arc::new(AgeRecipients(recipients.to_vec()));
        Self { file, inverse: None, armor, protected: Protected::default() }
    }

    /// Encrypts with the primary key of a keyring: in chunked-encryption@v1 for AEAD keys, in
    /// Tink's AES-GCM-HKDF streaming for streaming keys.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of AES-SIV keys.
    pub fn keyring(keyring: &Keyring, context: &[u8]) -> Result<Self> {
        keyring_file(keyring, context).map(Self::symmetric)
    }

    fn symmetric(file: Arc<dyn SymmetricFile>) -> Self {
        let inverse = Some(DecryptWith::new(Arc::clone(&file) as _));
        Self { file, inverse, armor: Armor::Binary, protected: Protected::default() }
    }

    /// Returns the keys that decrypt what these encrypt; `None` for recipients and passphrases.
    pub fn to_decrypt(&self) -> Option<&DecryptWith> {
        self.inverse.as_ref()
    }

    /// Checks that an open output file, such as standard output, is not one of the inputs.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputIsInput`], naming the output `name`; [`Error::Io`].
    pub fn check_output(&self, output: &File, name: &Path) -> Result<()> {
        self.protected.check_file(output, name)
    }

    #[doc(hidden)]
    pub fn protected(&self) -> &Protected {
        &self.protected
    }

    pub(super) fn create_file(&self) -> Result<(FileCipher, Vec<u8>)> {
        self.file.create_file()
    }
}

impl DecryptWith {
    /// Decrypts with a symmetric key in the format C2SP chunked-encryption@v1.
    pub fn key(key: &Key, context: &[u8]) -> Self {
        Self::new(Arc::new(ChunkedFile::new(key, context)))
    }

    /// Decrypts with identities or a passphrase in the format age v1, armored or not.
    pub fn age(identities: &[Identity]) -> Self {
        Self::new(Arc::new(AgeIdentities(identities.to_vec())))
    }

    /// Decrypts with the enabled keys of a keyring. A file's commitment, or its first segment,
    /// tells which.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of AES-SIV keys.
    pub fn keyring(keyring: &Keyring, context: &[u8]) -> Result<Self> {
        Ok(Self { file: keyring_file(keyring, context)?, protected: Protected::default() })
    }

    fn new(file: Arc<dyn OpenFile>) -> Self {
        Self { file, protected: Protected::default() }
    }

    /// Checks that an open output file, such as standard output, is not one of the inputs.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputIsInput`], naming the output `name`; [`Error::Io`].
    pub fn check_output(&self, output: &File, name: &Path) -> Result<()> {
        self.protected.check_file(output, name)
    }

    #[doc(hidden)]
    pub fn protected(&self) -> &Protected {
        &self.protected
    }

    pub(super) fn detect_armor(&self, prefix: &[u8]) -> Option<Armor> {
        self.file.detect_armor(prefix)
    }

    pub(super) fn supports_ranges(&self) -> bool {
        self.file.supports_ranges()
    }

    pub(super) fn open_file(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<FileCipher>> {
        self.file.open_file(prefix, extent).map_err(|error| match (error, foreign(prefix)) {
            (Error::Authentication, Some(found)) => Error::Foreign(found),
            (error, _) => error,
        })
    }

    /// Derives the cipher of a file in a source.
    pub(super) fn open_source(&self, source: &dyn ReadAt, size: u64) -> Result<FileCipher> {
        parse_prefix(source, size, |prefix, extent| self.open_file(prefix, extent))
    }

    /// Derives a cipher with each key for a file with a damaged header. Nothing is verified.
    pub(super) fn open_damaged(&self, source: &dyn ReadAt, size: u64) -> Result<Vec<FileCipher>> {
        parse_prefix(source, size, |prefix, extent| self.file.open_damaged(prefix, extent))
    }
}

impl From<Key> for FileKey {
    fn from(key: Key) -> Self {
        Self::Key(key)
    }
}

impl From<Keyring> for FileKey {
    fn from(keyring: Keyring) -> Self {
        Self::Keyring(keyring)
    }
}

// Shows only the format: other parameters are secret.
debug_fields!(EncryptParams<'_>; |it| format: it.format);

// Shows only the format: other parameters are secret.
debug_fields!(DecryptParams<'_>; |it| format: it.format);

#[cfg(test)]
mod test {
    use super::*;
    use keys::Prefix as KeyPrefix;
    use keys::age::Kind;

    fn encrypt_error(params: EncryptParams<'_>) -> Misuse {
        match params.build() {
            Err(Error::Misuse(misuse)) => misuse,
            other => panic!("{other:?}"),
        }
    }

    fn decrypt_error(params: DecryptParams<'_>) -> Misuse {
        match params.build() {
            Err(Error::Misuse(misuse)) => misuse,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rejects_parameters_that_do_not_fit_together() {
        let key = |len| Some(FileKey::Key(Key::from_bytes(&vec![7; len])));
        let keyset = || {
            Some(FileKey::Keyring(Keyring::generate("tink-4kb".parse().unwrap(), KeyPrefix::Raw).unwrap()))
        };
        let identity = Identity::generate(Kind::X25519).unwrap();
        let recipients = || Some(vec![identity.recipient()]);
        let default = EncryptParams::default;
        for (params, expected) in [
            (default(), Misuse::KeySource { expected: ["key", "recipients", "passphrase"], found: vec![] }),
            (
                EncryptParams { key: key(32), passphrase: Some("x"), ..default() },
                Misuse::KeySource {
                    expected: ["key", "recipients", "passphrase"],
                    found: vec!["key", "passphrase"],
                },
            ),
            (EncryptParams { key: key(24), ..default() }, Misuse::KeyLength { got: 24, want: &[16, 32] }),
            (
                EncryptParams { key: key(32), format: Some(Format::Age), ..default() },
                Misuse::FormatNeedsRecipients("age"),
            ),
            (
                EncryptParams { key: keyset(), format: Some(Format::Tink4Kb), ..default() },
                Misuse::KeysetHasFormat,
            ),
            (EncryptParams { key: key(32), armor: Armor::Ascii, ..default() }, Misuse::ArmorNeedsRecipients),
            (
                EncryptParams { recipients: recipients(), format: Some(Format::Tink1Mb), ..default() },
                Misuse::FormatNeedsKey("tink-1mb"),
            ),
            (EncryptParams { recipients: recipients(), context: b"c", ..default() }, Misuse::ContextNeedsKey),
        ] {
            assert_eq!(encrypt_error(params), expected);
        }
        let empty = EncryptParams { recipients: Some(vec![]), ..default() };
        assert!(matches!(encrypt_error(empty), Misuse::InvalidRecipients(_)));
        let default = DecryptParams::default;
        for (params, expected) in [
            (DecryptParams { identities: Some(vec![]), ..default() }, Misuse::NoIdentities),
            (
                DecryptParams { key: key(32), max_work_factor: Some(20), ..default() },
                Misuse::WorkFactorNeedsPassphrase,
            ),
            (DecryptParams { passphrase: Some("x"), context: b"c", ..default() }, Misuse::ContextNeedsKey),
        ] {
            assert_eq!(decrypt_error(params), expected);
        }
    }
}
