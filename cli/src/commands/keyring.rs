//! `sealane keyring`: lists and changes the keys of a keyring.

use crate::args::{KeyringFile, OutputOptions, key_types};
use crate::command::Shown;
use crate::keyring_file::OpenKeyring;
use crate::keys;
use crate::prelude::*;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sealane::keys::Keyring as Keys;
use sealane::keys::{KeyInfo, KeyType, Prefix};

/// The examples of `sealane keyring` and of its commands.
const EXAMPLES: &str = "\
Examples:
  sealane keyring add --from key.jwk ring.json
  sealane keyring rotate ring.json
  sealane keyring list ring.json";

/// List and change the keys of a keyring
///
/// A keyring is a file from 'sealane keygen --keyring', or any Tink keyset. The primary key
/// encrypts, every enabled key decrypts. A change replaces the file once the new one is complete.
/// The new file is protected as before: not at all, with the same passphrase, or for the given
/// recipients. For recipients, a change also prints the reference that pins the new keyring: FILE
/// and its fingerprint. Readers give it in place of FILE, and no other keyring is accepted.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_subcommands(|command| command.after_help(EXAMPLES)))]
pub(crate) struct Keyring {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the keys: identifier, state, type, prefix, and which one is primary
    List(Shown<KeyringFile>),
    /// Add a key that decrypts from now on. 'promote' it to encrypt with it
    Add(Shown<Added>),
    /// Make an enabled key the primary key: it encrypts
    Promote(Shown<Selected>),
    /// Enable a disabled key
    Enable(Shown<Selected>),
    /// Disable a key: it is kept, but decrypts nothing. The primary key cannot be disabled
    Disable(Shown<Selected>),
    /// Destroy a key for good: its secret is removed, and what it encrypted is lost
    Destroy(Shown<Selected>),
    /// Remove a key and its identifier, such as a destroyed one. What it encrypted is lost
    Delete(Shown<Selected>),
    /// Generate a key of the primary key's type and make it the primary key. The old one stays
    /// enabled
    Rotate(Shown<KeyringFile>),
}

#[derive(Args)]
struct Selected {
    #[command(flatten)]
    file: KeyringFile,
    /// Identifier of the key, as printed by 'sealane keyring list'
    #[arg(value_name = "ID")]
    id: u32,
}

#[derive(Args)]
struct Added {
    #[command(flatten)]
    file: KeyringFile,
    /// Type of the key. Default: the primary key's
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = key_types())]
    key_type: Option<KeyType>,
    /// Prefix of its messages. With raw, it opens messages sealed with the bare key. Default: the
    /// primary key's
    #[arg(long, value_name = "PREFIX", value_parser = prefixes())]
    prefix: Option<Prefix>,
    /// Add the symmetric key in KEYFILE instead of a new one
    #[arg(long, value_name = "KEYFILE", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,
}

impl Run for Keyring {
    fn output_options(&self) -> OutputOptions {
        match &self.action {
            Action::List(arguments) | Action::Rotate(arguments) => arguments.output_options,
            Action::Add(arguments) => arguments.output_options,
            Action::Promote(arguments)
            | Action::Enable(arguments)
            | Action::Disable(arguments)
            | Action::Destroy(arguments)
            | Action::Delete(arguments) => arguments.output_options,
        }
    }

    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        match &self.action {
            Action::List(Shown { arguments: file, .. }) => {
                let ring = keys::keyring(file, console)?;
                ring.keys().try_for_each(|key| show(&key, console))
            }
            Action::Rotate(Shown { arguments: file, .. }) => {
                let about = |error| Failure::about(&name(&file.ring), error);
                change(file, console, |ring| ring.rotate().map_err(about))
            }
            Action::Add(added) => added.arguments.run(console),
            Action::Promote(selected) => selected.arguments.run(console, Keys::promote),
            Action::Enable(selected) => selected.arguments.run(console, Keys::enable),
            Action::Disable(selected) => selected.arguments.run(console, Keys::disable),
            Action::Destroy(selected) => selected.arguments.run(console, Keys::destroy),
            Action::Delete(selected) => selected.arguments.run(console, Keys::delete),
        }
    }
}

impl Selected {
    fn run(&self, console: &Console, action: impl FnOnce(&mut Keys, u32) -> Result<(), Error>) -> Result<()> {
        let shown = name(&self.file.ring);
        change(&self.file, console, |ring| {
            if ring.keys().all(|key| key.id != self.id) {
                return Err(Failure::misuse(format!(
                    "{shown}: expected the identifier of one of its keys, found {}; 'sealane keyring list' prints them",
                    self.id
                )));
            }
            action(ring, self.id).map_err(|error| Failure::about(&shown, error))?;
            Ok(self.id)
        })
    }
}

impl Added {
    fn run(&self, console: &Console) -> Result<()> {
        let symmetric = |path| keys::symmetric(path, &self.file.asked, console);
        let given = self.from.as_deref().map(symmetric).transpose()?;
        change(&self.file, console, |ring| {
            let KeyInfo { key_type, prefix, .. } = ring.primary();
            let prefix = self.prefix.unwrap_or(prefix);
            let key_type = self.key_type.or(key_type).expect("the primary key has a type");
            match &given {
                Some(key) => {
                    KeyType::for_key(key_type.name(), key).and_then(|found| ring.add(found, prefix, key))
                }
                None => ring.add_new(key_type, prefix),
            }
            .map_err(|error| Failure::about(&name(&self.file.ring), error))
        })
    }
}

/// Changes a keyring, writes its file, and shows the changed key.
fn change(
    file: &KeyringFile,
    console: &Console,
    action: impl FnOnce(&mut Keys) -> Result<u32>,
) -> Result<()> {
    let mut open = OpenKeyring::open(file, console)?;
    let id = action(&mut open.ring)?;
    let pinned = open.save()?;
    open.ring.keys().filter(|key| key.id == id).try_for_each(|key| show(&key, console))?;
    match pinned {
        Some(pinned) => console.result(|| json!({"pinned": pinned}), &pinned),
        None => Ok(()),
    }
}

fn show(key: &KeyInfo, console: &Console) -> Result<()> {
    let (id, state, prefix, primary) = (key.id, key.state.name(), key.prefix.name(), key.primary);
    let key_type = key.key_type.map(|key_type| key_type.name());
    let document =
        || json!({"id": id, "state": state, "type": key_type, "prefix": prefix, "primary": primary});
    let text = format!(
        "{id:>10}  {state:<9}  {:<18}  {prefix:<7}{}",
        key_type.unwrap_or("-"),
        if primary { "  primary" } else { "" }
    );
    console.result(document, text.trim_end())
}

fn prefixes() -> impl TypedValueParser<Value = Prefix> {
    PossibleValuesParser::new(Prefix::ALL.map(Prefix::name)).try_map(|name| name.parse::<Prefix>())
}
