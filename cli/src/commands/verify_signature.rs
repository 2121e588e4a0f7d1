//! `sealane verify-signature`: verifies detached signatures.

use crate::endpoints::Source;
use crate::prelude::*;
use crate::{keys, stream};
use sealane::file::{open_file, open_regular};
use sealane::os::with_suffix;
use sealane::signature::{FILE_NAMESPACE, MAX_SIGNATURE_LEN, Signers, Verifying};

/// Verify the signature of a file, or of standard input
///
/// Verifies signatures of 'sealane sign', 'ssh-keygen -Y sign' and 'minisign -S', and prints the
/// signer. Exit status 0 means that one of the accepted keys signed exactly this content.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane verify-signature --signer release.pub app.tar.gz
  sealane verify-signature --signer allowed_signers -n file app.tar.gz")]
pub(crate) struct VerifySignature {
    /// Accepted public keys: SSH lines (ssh-ed25519 AAAA...), a file of allowed signers of
    /// ssh-keygen, or a minisign public key
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    signer: PathBuf,
    /// Namespace that an SSH signature must have
    #[arg(short, long, value_name = "NAMESPACE", default_value = FILE_NAMESPACE)]
    namespace: String,
    /// Public keys that are not accepted any more, in the formats of --signer
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    revoked: Option<PathBuf>,
    /// Signature. Default: FILE.sig for SSH keys, FILE.minisig for a minisign key
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    signature: Option<PathBuf>,
    /// Signed file; '-' is standard input, and requires -s
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    input: PathBuf,
}

impl Run for VerifySignature {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let signers = keys::signers(&self.signer, Signers::parse)?;
        let revoked = self.revoked.as_ref().map(|path| keys::signers(path, Signers::parse_revoked));
        let revoked = revoked.transpose()?;
        let source = Source::new(&self.input);
        let (path, file) = match (&self.signature, &source) {
            (Some(path), _) => (path.clone(), open_file(path).map_err(Error::from)),
            (None, Source::File(path)) => {
                let path = with_suffix(path, signers.suffix());
                let file = open_regular(&path);
                (path, file)
            }
            (None, Source::Stdin) => {
                return Err(Failure::misuse("standard input has no signature beside it; name one with -s"));
            }
        };
        let (mut signature, max) = (Vec::new(), MAX_SIGNATURE_LEN as u64 + 1);
        file.and_then(|file| Ok(file.take(max).read_to_end(&mut signature)?))
            .map_err(|error| Failure::about(&name(&path), error))?;
        let mut verifying = Verifying::new(&signature, &signers, &self.namespace)
            .map_err(|error| Failure::about(&name(&path), error))?;
        if let Some(revoked) = &revoked {
            verifying = verifying.revoked(revoked);
        }
        let subject = source.name();
        let mut bar = console.bar(&subject, source.size());
        stream::read(&source, |piece| verifying.update(piece), &mut bar)?;
        drop(bar);
        let found = verifying.finish().map_err(|error| Failure::about(&subject, error))?;
        let comment = match &*found.comment {
            "" => String::new(),
            comment => format!(", trusted comment: {comment}"),
        };
        let text = format!("{subject}: valid signature of {}", found.signer);
        console.result(
            || json!({"source": subject, "signer": found.signer, "comment": found.comment}),
            &format!("{text}{comment}"),
        )
    }
}
