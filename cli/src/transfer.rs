//! `encrypt` and `decrypt` of single files and streams.

use crate::args::{Transfer, Writing};
use crate::console::Bar;
use crate::endpoints::{self, Pair, Source, Target};
use crate::error::STDOUT;
use crate::keys::Inputs;
use crate::prelude::*;
use crate::{signal, stream, url};
use sealane::file::job::check_target;
use sealane::file::{EncryptWith, Options, OutputFile};

/// A function of [`sealane::file`] that reads an open file and writes a path.
type ToFile<W> = fn(File, &Path, &Path, &W, Options<'_>) -> Result<(), Error>;

/// The functions that process one file with an `EncryptWith` or a `DecryptWith`.
pub(crate) struct Functions<W> {
    /// Encrypts or decrypts a source to a file that appears complete or not at all.
    pub(crate) to_file: ToFile<W>,
    /// Encrypts or decrypts a source to standard output and returns that.
    pub(crate) to_stdout: fn(&Source, &W, &mut Bar) -> Result<File>,
}

/// Processes every pair, also after one has failed.
pub(crate) fn transfer<W>(
    args: &Transfer,
    pairs: Vec<Pair>,
    functions: &Functions<W>,
    with: impl FnOnce(Inputs) -> Result<W>,
    console: &Console,
) -> Result<()> {
    // Checked before the keys are loaded, which may ask for a passphrase.
    let apart = |pair: &Pair| pair.check().map_err(|failure| console.fail(&failure)).is_ok();
    let pairs: Vec<_> = pairs.into_iter().filter(apart).collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = pairs.iter().map(|pair| pair.from.path()).collect();
    let with = with(Inputs::named(&named))?;
    console
        .each(&pairs, &[Kind::INTERRUPTED], |pair| transfer_one(args, pair, &with, functions, console))
        .map(drop)
}

fn transfer_one<W>(
    args: &Transfer,
    pair: &Pair,
    with: &W,
    functions: &Functions<W>,
    console: &Console,
) -> Result<()> {
    let size = pair.from.size();
    let name = pair.from.name();
    let mut bar = console.bar(&name, size).unless(pair.to.is_terminal());
    let Target::File(to) = &pair.to else {
        let out = (functions.to_stdout)(&pair.from, with, &mut bar)?;
        return finish_stdout(&out, &args.writing);
    };
    let mut report = |done, total| {
        if size.is_none() && total == Some(done) {
            signal::wait_for_pending_signal();
        }
        bar.at(done)
    };
    let options = args.writing.options(&mut report);
    (functions.to_file)(pair.from.open_file()?, pair.from.subject(), to, with, options)
        .map_err(|error| Failure::about(&name, error))?;
    console.made(&name, &pair.to.name(), &bar)
}

/// Encrypts files from URLs or to URLs. A file appears there complete or not at all.
pub(crate) fn encrypt_at_urls(
    args: &Transfer,
    pairs: &[Pair],
    with: impl FnOnce(Inputs) -> Result<EncryptWith>,
    console: &Console,
) -> Result<()> {
    let with = with(Inputs::named(&args.inputs))?;
    let one = |pair: &Pair| encrypt_at_url(args, pair, &with, console);
    console.each(pairs, &[Kind::INTERRUPTED], one).map(drop)
}

fn encrypt_at_url(
    args: &Transfer,
    Pair { from, to }: &Pair,
    with: &EncryptWith,
    console: &Console,
) -> Result<()> {
    let (name, target) = (from.name(), to.name());
    let about = |error| Failure::about(&target, error);
    let mut bar = console.bar(&name, from.size()).unless(to.is_terminal());
    match to {
        Target::Stdout => {
            let out = endpoints::stdout().map_err(|e| Failure::stdout(&e))?;
            with.check_output(&out, Path::new(STDOUT)).map_err(|e| stream::on_stdout(from, e))?;
            let out = stream::encrypt_any(from, out, |e| stream::on_stdout(from, e), with, &mut bar)?;
            return finish_stdout(&out, &args.writing);
        }
        Target::File(path) => match url::of(path) {
            Some(url) if from.url() == Some(url) => return Err(Failure::same_file(url)),
            Some(url) => {
                let out = stream::encrypt_any(from, url::create(url)?, about, with, &mut bar)?;
                out.commit().map_err(about)?;
            }
            None => {
                let out = OutputFile::create_for_encrypted(path, with).map_err(about)?;
                let out = stream::encrypt_any(from, out, about, with, &mut bar)?;
                out.finish(args.writing.durability()).map_err(about)?;
            }
        },
    }
    console.made(&name, &target, &bar)
}

/// Ends standard output. If it is a file, `--sync` waits for the disk.
pub(crate) fn finish_stdout(out: &File, writing: &Writing) -> Result<()> {
    if writing.sync && out.metadata().is_ok_and(|found| found.is_file()) {
        out.sync_all().map_err(|e| Failure::io(STDOUT, &e))?;
    }
    endpoints::flush_stdout().map_err(|e| Failure::stdout(&e))
}

/// Returns the sources and targets that the arguments name. Names in an output folder lose the
/// suffixes in `dropped`; without any, the files are to be encrypted.
pub(crate) fn pairs(args: &Transfer, dropped: &[&str]) -> Result<Vec<Pair>> {
    let pairs = endpoints::pairs(&args.inputs, args.output.as_deref(), dropped)?;
    for pair in &pairs {
        if let Target::File(target) = &pair.to
            && url::of(target).is_none()
        {
            let checked = check_target(target, dropped.is_empty());
            checked.map_err(|error| Failure::about(&name(target), error))?;
        }
    }
    Ok(pairs)
}
