//! `sealane init`: makes a folder that describes itself.

use crate::args::{Passphrase, Recipients};
use crate::prelude::*;
use crate::{keys, url};
use sealane::file::{DescribedFolder, NewFolder};

/// Make an encrypted folder that describes itself
///
/// Writes the small public file .sealane into FOLDER: its options, and new keys for its files and
/// names, encrypted with KEYFILE or for the recipients. From then on 'encrypt -o FOLDER', 'decrypt
/// FOLDER', 'verify FOLDER', 'rotate FOLDER' and 'rewrap FOLDER' need this key, or an identity of a
/// recipient, and no other option. Keep the file with the folder: without it, nothing decrypts.
/// 'encrypt --manifest' skips files that have not changed.
///
/// The options cannot be changed afterwards. Who writes can read, except with --write-only: then
/// writing needs no key.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane init -k key.jwk --encrypt-names archive
  sealane init -R team.txt --preserve vault
  sealane encrypt -i me.key -o vault home
  sealane init --write-only -R team.txt --suffix .age backup")]
pub(crate) struct Init {
    #[command(flatten)]
    with: WrapWith,
    /// Encrypt names of files and folders, and the paths in links. Lengths of names and the shape
    /// of the tree stay visible. A name has at most 139 bytes then
    #[arg(long)]
    encrypt_names: bool,
    /// Suffix of encrypted files; may be empty
    #[arg(long, value_name = "SUFFIX", default_value = ".sealed")]
    suffix: String,
    /// Keep modes, modification times and symbolic links of files and folders
    #[arg(long)]
    preserve: bool,
    /// Make each file an age file for the recipients: 'encrypt -o FOLDER' needs no key, and only an
    /// identity reads. The first use remembers the description. Names are not encrypted
    #[arg(long, conflicts_with_all = ["key", "passphrase"])]
    write_only: bool,
    /// With --write-only: sign the description with KEY. 'encrypt --sign-key' and 'verify --signer'
    /// check the signature
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath, requires = "write_only")]
    sign_key: Option<PathBuf>,
    /// New or empty folder
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

/// The key of the folder.
#[derive(Args)]
#[group(required = true, multiple = true, args = ["key", "recipients", "recipients_files", "passphrase"])]
pub(crate) struct WrapWith {
    /// Symmetric key: a file from 'sealane keygen', or a reference, such as env:NAME. Or a key of a
    /// key service or a token: aws-kms:ARN, vault:MOUNT/KEY, pkcs11:URI
    #[arg(
        short,
        long,
        visible_alias = "wrapping-key",
        value_name = "KEYFILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["recipients", "recipients_files", "passphrase"]
    )]
    pub(crate) key: Option<PathBuf>,
    /// File with private keys that decrypt KEYFILE, if it is encrypted for recipients; may be
    /// repeated
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath, requires = "key")]
    pub(crate) identities: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) to: Recipients,
    /// Encrypt the keys with a passphrase, asked for twice at the terminal. An empty answer makes
    /// one and shows it
    #[arg(short, long)]
    pub(crate) passphrase: bool,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

impl Run for Init {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let shown = name(&self.folder);
        let about = |error| Failure::about(&shown, error);
        url::refuse([&self.folder])?;
        let WrapWith { key, identities, to, passphrase, asked } = &self.with;
        let lock = keys::new_lock(key.as_deref(), identities, *passphrase, to, asked, &shown, console)?;
        let sign = |path| keys::signing_key(path, asked, keys::Inputs::default(), console);
        let sign_key = self.sign_key.as_deref().map(sign).transpose()?;
        asked.refuse_unused(&shown)?;
        let Self { ref suffix, encrypt_names: names, preserve, write_only, .. } = *self;
        let new = NewFolder { suffix, names, preserve, write_only, sign_key: sign_key.as_ref() };
        let made = DescribedFolder::create(&self.folder, &new, &lock).map_err(about)?;
        let fingerprint = made.fingerprint().map_err(about)?;
        let folder = made.description().identifier();
        let what = if self.write_only { "description" } else { "keys" };
        console.result(
            || json!({"path": shown, "folder": folder, "fingerprint": fingerprint.to_string()}),
            &format!("{shown}: folder {folder} with the {what} {fingerprint}"),
        )
    }
}
