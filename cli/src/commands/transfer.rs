//! What `encrypt` and `decrypt` share: one job after the other, each with its bar and its result.

use crate::args::Transfer;
use crate::error::{Failure, Kind, STDOUT};
use crate::interrupt::{self, Watch};
use crate::places::{self, Pair, Source, Target};
use crate::tui::{Bar, Console};
use sealane::Error;
use sealane::file::{Durability, Options};
use serde_json::json;
use std::fs::File;
use std::path::Path;

/// A call of [`sealane::file`] with a `EncryptWith` or an `DecryptWith`.
type ToFile<L> = fn(File, &Path, &Path, &L, Options<'_>) -> Result<(), Error>;

/// The two ways of doing a job.
pub(super) struct Ways<L> {
    /// To a file that appears whole or not at all.
    pub(super) to_file: ToFile<L>,
    /// To standard output.
    pub(super) to_stdout: fn(&Source, &L, &mut Bar) -> Result<File, Failure>,
}

/// Does every job; one that fails does not keep the others from being done.
pub(super) fn transfer<L>(
    args: &Transfer,
    pairs: Vec<Pair>,
    ways: &Ways<L>,
    lock: impl FnOnce() -> Result<L, Failure>,
    console: &Console,
) -> Result<(), Failure> {
    let _watch = Watch::begin(console);
    let lock = lock()?;
    for pair in pairs {
        match one(args, &pair, &lock, ways, console) {
            Err(failure) if failure.kind() == Kind::Interrupted => return Err(failure),
            Err(failure) => console.fail(&failure),
            Ok(()) => {}
        }
    }
    Ok(())
}

fn one<L>(args: &Transfer, pair: &Pair, lock: &L, ways: &Ways<L>, console: &Console) -> Result<(), Failure> {
    let size = pair.from.size();
    let mut bar = console.bar(&pair.from.name(), size).unless(pair.to.is_terminal());
    let Target::File(to) = &pair.to else {
        let out = (ways.to_stdout)(&pair.from, lock, &mut bar)?;
        return if args.sync { sync(&out) } else { Ok(()) };
    };
    let options = Options {
        threads: args.effort.threads,
        progress: Some(&mut |done, total| {
            if size.is_none() && total == Some(done) {
                interrupt::settle();
            }
            bar.at(done)
        }),
        durability: if args.sync { Durability::Synced } else { Durability::Cached },
    };
    let name = pair.from.name();
    (ways.to_file)(pair.from.open_file()?, Path::new(&name), to, lock, options)
        .map_err(|error| Failure::about(&name, error))?;
    match console.json() {
        true => {
            let (bytes, seconds) = (bar.done(), bar.seconds());
            let (source, target) = (pair.from.name(), pair.to.name());
            console.result(
                || json!({"source": source, "target": target, "bytes": bytes, "seconds": seconds}),
                "",
            )
        }
        false => Ok(()),
    }
}

/// Waits for the disk, where standard output leads to one.
fn sync(out: &File) -> Result<(), Failure> {
    let result = match out.metadata() {
        Ok(found) if found.is_file() => out.sync_all(),
        _ => Ok(()),
    };
    result.map_err(|e| Failure::io(STDOUT, &e))
}

/// The jobs that were meant.
pub(super) fn pairs(args: &Transfer) -> Result<Vec<Pair>, Failure> {
    places::pairs(&args.inputs, args.output.as_deref())
}
