//! `sealane verify`

use super::tree;
use crate::args::Verify;
use crate::error::{Failure, Kind};
use crate::interrupt::Watch;
use crate::keys;
use crate::places::Source;
use crate::tui::Console;
use sealane::file::{self, DecryptWith, Options};
use serde_json::json;
use std::path::Path;

/// Verifies every file; one that fails does not keep the others from being verified.
pub(crate) fn verify(args: &Verify, console: &Console) -> Result<(), Failure> {
    let _watch = Watch::begin(console);
    if args.folders.recursive {
        return tree::verify(args, console);
    }
    let unlock = keys::unlock(&args.unlock, console)?;
    for input in &args.inputs {
        match one(args, &Source::new(input), &unlock, console) {
            Err(failure) if matches!(failure.kind(), Kind::Interrupted | Kind::ReaderLeft) => {
                return Err(failure);
            }
            Err(failure) => console.fail(&failure),
            Ok(()) => {}
        }
    }
    Ok(())
}

fn one(args: &Verify, source: &Source, unlock: &DecryptWith, console: &Console) -> Result<(), Failure> {
    let name = source.name();
    let mut bar = console.bar(&name, source.size());
    let options = Options {
        threads: args.effort.threads,
        progress: Some(&mut |done, _| bar.at(done)),
        ..Options::default()
    };
    file::verify_opened(source.open_file()?, Path::new(&name), unlock, options)
        .map_err(|error| Failure::about(&name, error))?;
    let bytes = bar.done();
    drop(bar);
    console.result(
        || json!({"file": name, "verified": true, "bytes": bytes}),
        &format!("{name}: verified, {bytes} bytes"),
    )
}
