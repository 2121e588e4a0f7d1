//! `sealane sign`: detached signatures of files and standard input.

use crate::args::Passphrase;
use crate::endpoints::{Pair, Source, Target};
use crate::keys::{self, Inputs};
use crate::prelude::*;
use crate::stream;
use sealane::keys::{Existing, refuse_replacing, save_public};
use sealane::os::with_suffix;
use sealane::signature::{FILE_NAMESPACE, Signing, SigningKey};

/// Sign files, or standard input
///
/// The signature is a file of its own, which 'sealane verify-signature' verifies, and 'ssh-keygen
/// -Y verify' or 'minisign -V'. It hides nothing: encrypt a file first, then sign the result.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane keygen -t ed25519 -o release.key > release.pub
  sealane sign -k release.key app.tar.gz")]
pub(crate) struct Sign {
    /// Private key: an OpenSSH Ed25519 key, or a minisign secret key. It determines the format of
    /// the signature. '-' is standard input, and env:NAME an environment variable
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    key: PathBuf,
    /// Namespace of an SSH signature, which is valid for no other
    #[arg(short, long, value_name = "NAMESPACE", default_value = FILE_NAMESPACE)]
    namespace: String,
    /// Trusted comment of a minisign signature, which is signed too. Default: the time
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// File for the signature, which it replaces; '-' is standard output. Default: FILE.sig (SSH)
    /// or FILE.minisig, and standard output for standard input
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Files to sign; '-' or none is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    asked: Passphrase,
}

impl Run for Sign {
    /// Signs every file, even after one has failed.
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let stdin = [PathBuf::from("-")];
        let inputs = if self.inputs.is_empty() { &stdin } else { &self.inputs[..] };
        if let (Some(output), [_, _, ..]) = (&self.output, inputs) {
            let output = name(output);
            return Err(Failure::misuse(format!("{output}: expected one file to sign; omit -o for several")));
        }
        let key = keys::signing_key(&self.key, &self.asked, Inputs::named(inputs), console)?;
        self.asked.refuse_unused(&name(&self.key))?;
        let pair = |input: &PathBuf| self.pair(Source::new(input), inputs, &key);
        let pairs: Vec<_> = inputs.iter().map(pair).collect::<Result<_, _>>()?;
        console.each(&pairs, &Kind::ENDING, |pair| self.sign_one(pair, &key, console)).map(drop)
    }
}

impl Sign {
    /// Returns a file and the place of its signature, which is no file to sign and not the key.
    fn pair(&self, from: Source, inputs: &[PathBuf], key: &SigningKey) -> Result<Pair> {
        let to = match (&self.output, &from) {
            (Some(path), _) => Target::new(path),
            (None, Source::Stdin) => Target::Stdout,
            (None, Source::File(path)) => Target::File(with_suffix(path, key.suffix())),
        };
        if let Target::File(path) = &to {
            let inputs = [inputs, std::slice::from_ref(&self.key)].concat();
            refuse_replacing(path, &inputs).map_err(|error| Failure::about(&name(path), error))?;
        }
        let pair = Pair { from, to };
        pair.check().map(|()| pair)
    }

    fn sign_one(&self, pair: &Pair, key: &SigningKey, console: &Console) -> Result<()> {
        let subject = pair.from.name();
        let mut signing = Signing::new(key, &self.namespace, self.comment.as_deref())
            .map_err(|error| Failure::about(&name(&self.key), error))?;
        let mut bar = console.bar(&subject, pair.from.size()).unless(pair.to.is_terminal());
        stream::read(&pair.from, |piece| signing.update(piece), &mut bar)?;
        drop(bar);
        let text = signing.finish().map_err(|error| Failure::about(&subject, error))?;
        let Target::File(path) = &pair.to else { return console.print(&text) };
        save_public(path, text.as_bytes(), Existing::Replace)
            .map_err(|error| Failure::about(&name(path), error))?;
        console.document(|| json!({"source": subject, "signature": name(path), "format": key.format()}))
    }
}
