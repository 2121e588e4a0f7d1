//! `sealane keygen`: generates keys and prints the public key of a private key.

use crate::args::{Passphrase, key_types};
use crate::error;
use crate::prelude::*;
use crate::{keys, passphrase};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sealane::age::Recipient;
use sealane::keys::{
    Existing, KeyInfo, KeyType, Keyring, Kind, PinnedReference, Prefix, PublicKey, SecretKey, save_secret,
};
use sealane::signature::NewSigningKey;

/// Generate a key
///
/// A symmetric key is one line of JSON (JWK "oct", RFC 7517); an age key is one line of text after
/// a comment with its public key; other keys are PEM (PKCS #8). If a key pair is saved to a file,
/// its public key is printed. If a symmetric key or a keyring is encrypted for recipients, the
/// reference that pins it is printed: FILE and its fingerprint.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane keygen -o key.jwk
  sealane keygen -t age -o me.key
  sealane keygen --keyring -o ring.json")]
pub(crate) struct Keygen {
    /// Type of the key; ed25519 is an SSH key that signs files and inventories
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = kinds(), default_value = "aes-256")]
    kind: KeyKind,
    /// Identifier of a symmetric key, stored as the member "kid" of its JWK. It selects the key in
    /// a JWK Set
    #[arg(long, value_name = "KID", conflicts_with_all = ["keyring", "public_of"])]
    kid: Option<String>,
    /// Generate a keyring of one key of TYPE instead of a single key; see 'sealane keyring --help'.
    /// Default TYPE: aes-256-gcm
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = key_types(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "aes-256-gcm",
        conflicts_with_all = ["kind", "public_of"]
    )]
    keyring: Option<KeyType>,
    /// New file for the key, readable only by its owner. Never overwrites a file. Default: standard
    /// output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Encrypt the key with a passphrase
    #[arg(short = 'p', long)]
    passphrase: bool,
    /// Encrypt the key for a recipient (see 'sealane encrypt --help'); may be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with = "passphrase")]
    recipients: Vec<String>,
    /// Print or save the public key of the private key in FILE, instead of generating a key
    #[arg(
        short = 'y',
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["kind", "passphrase", "recipients"]
    )]
    public_of: Option<PathBuf>,
    #[command(flatten)]
    asked: Passphrase,
}

impl Run for Keygen {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        if let Some(path) = &self.public_of {
            let public = keys::secret(path, &self.asked, console)?.public();
            let none = || {
                Failure::misuse(format!(
                    "{}: expected a private key, found a symmetric key or one of an age plugin",
                    name(path)
                ))
            };
            return self.show(&public.ok_or_else(none)?, console);
        }
        let recipients = keys::recipients(&self.recipients, &[] as &[&Path], console)?;
        let is_chosen = self.passphrase || self.asked.is_given();
        let chosen = is_chosen.then(|| passphrase::choose(&self.asked, "the key")).transpose()?;
        let chosen = chosen.as_ref().map(|text| text.as_str());
        let failed = |e| Failure::about("a new key", e);
        let key = match (self.keyring, self.kind.0) {
            (Some(key_type), _) => {
                Keyring::generate(key_type, Prefix::default_for(&key_type)).map(Generated::Keyring)
            }
            (None, Some(kind)) => SecretKey::generate(kind).map(Generated::Key),
            (None, None) if !recipients.is_empty() => {
                return Err(Failure::misuse("an ed25519 key is encrypted with -p; omit -r"));
            }
            (None, None) => NewSigningKey::generate(chosen).map(Generated::Signing),
        };
        let mut key = key.map_err(failed)?;
        if self.kid.is_some() {
            let Generated::Key(SecretKey::Symmetric(jwk)) = &mut key else {
                return Err(Failure::misuse("--kid requires a symmetric key, such as -t aes-256"));
            };
            jwk.kid = self.kid.clone();
        }
        match self.output() {
            Some(path) => {
                let saved = key.save(path, chosen, &recipients).map_err(|error| save_failure(path, error))?;
                let public = key.public()?;
                if let (Some(public), false) = (&public, console.quiet || console.json) {
                    console.print(public)?;
                }
                let mut document = match &key {
                    Generated::Keyring(ring) => {
                        let KeyInfo { id, key_type, .. } = ring.primary();
                        json!({"key": name(path), "type": key_type.map(|kind| kind.name()), "primary": id})
                    }
                    _ => {
                        let public = public.as_deref().map(str::trim_end);
                        json!({"key": name(path), "type": self.kind.name(), "public": public})
                    }
                };
                let pinned = saved.filter(|it| it.fingerprint.is_some()).map(|pinned| pinned.to_string());
                match &pinned {
                    Some(pinned) => document["pinned"] = pinned.as_str().into(),
                    None if !console.json => return Ok(()),
                    None => {}
                }
                console.result(|| document, &pinned.unwrap_or_default())
            }
            // The key itself is the output, even with --json.
            None => console.print(&key.text(chosen, &recipients).map_err(failed)?),
        }
    }
}

/// A new key, or a new keyring.
enum Generated {
    Key(SecretKey),
    Keyring(Keyring),
    Signing(NewSigningKey),
}

/// A type of key; `None` for an Ed25519 key of SSH.
#[derive(Clone, Copy)]
struct KeyKind(Option<Kind>);

impl KeyKind {
    const ED25519: &str = "ed25519";

    fn name(self) -> &'static str {
        self.0.map_or(Self::ED25519, Kind::name)
    }
}

impl Generated {
    /// Returns the text of the public key, if there is one.
    fn public(&self) -> Result<Option<String>> {
        match self {
            Self::Key(key) => key.public().map(|public| text(&public)).transpose(),
            Self::Signing(key) => Ok(Some(key.public().into())),
            Self::Keyring(_) => Ok(None),
        }
    }

    /// Saves the key. Returns the reference to one for recipients.
    fn save(
        &self,
        path: &Path,
        passphrase: Option<&str>,
        recipients: &[Recipient],
    ) -> Result<Option<PinnedReference>, Error> {
        const NEW: Existing = Existing::Refuse;
        match (self, recipients) {
            (Self::Key(key), []) => key.save(path, passphrase, NEW).map(|()| None),
            (Self::Key(key), recipients) => key.save_for(path, recipients, NEW).map(Some),
            (Self::Keyring(ring), []) => ring.save(path, passphrase, NEW).map(|()| None),
            (Self::Keyring(ring), recipients) => ring.save_for(path, recipients, NEW).map(Some),
            (Self::Signing(key), _) => save_secret(path, key.text(), NEW).map(|()| None),
        }
    }

    fn text(&self, passphrase: Option<&str>, recipients: &[Recipient]) -> Result<Zeroizing<String>, Error> {
        match (self, recipients) {
            (Self::Key(key), []) => key.to_text(passphrase),
            (Self::Key(key), recipients) => key.to_text_for(recipients),
            (Self::Keyring(ring), []) => ring.to_text(passphrase),
            (Self::Keyring(ring), recipients) => ring.to_text_for(recipients),
            (Self::Signing(key), _) => Ok(Zeroizing::new(key.text().to_owned())),
        }
    }
}

impl Keygen {
    /// Returns the output file; `None` for standard output.
    fn output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Prints a public key, or saves it to the output file.
    fn show(&self, public: &PublicKey, console: &Console) -> Result<()> {
        match self.output() {
            Some(path) => public.save(path, Existing::Refuse).map_err(|error| save_failure(path, error)),
            None => console.print(&text(public)?),
        }
    }
}

fn save_failure(path: &Path, error: Error) -> Failure {
    match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            let text = "the file exists, and a key file is never overwritten; choose another name";
            Failure::new(error::Kind::IO, format!("{}: {text}", name(path)))
        }
        other => Failure::about(&name(path), other),
    }
}

fn text(public: &PublicKey) -> Result<String> {
    public.to_text().map_err(|e| Failure::about("the public key", e))
}

fn kinds() -> impl TypedValueParser<Value = KeyKind> {
    let names = Kind::ALL.iter().map(|kind| kind.name()).chain([KeyKind::ED25519]);
    PossibleValuesParser::new(names).map(|name| KeyKind(name.parse().ok()))
}
