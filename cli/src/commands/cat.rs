//! `sealane cat`

use crate::args::Cat;
use crate::error::Failure;
use crate::interrupt::Watch;
use crate::places::{self, Source, Target};
use crate::tui::Console;
use crate::{keys, pour};
use sealane::file::Reader;

pub(crate) fn cat(args: &Cat, console: &Console) -> Result<(), Failure> {
    let _watch = Watch::begin(console);
    let source = Source::new(&args.input);
    let about = |error| Failure::about(&source.name(), error);
    let unlock = keys::unlock(&args.unlock, console)?;
    // Asked of the name, because opening a pipe waits for its writer.
    let plain =
        matches!(&source, Source::File(path) if path.metadata().map_or(true, |found| !is_stream(&found)));
    if !plain {
        return Err(Failure::misuse(format!(
            "{}: a range can be read of a plain file only; use 'sealane decrypt'",
            source.name()
        )));
    }
    let file = source.open()?;
    let out = places::stdout_apart_from(&file)?;
    let reader = Reader::new(file, &unlock).map_err(about)?;
    let total = args.range.end.min(reader.size()).saturating_sub(args.range.start);
    let mut bar = console.bar(&source.name(), Some(total)).unless(Target::Stdout.is_terminal());
    pour::range(&reader, args.range.clone(), &source, out, &mut bar).map(drop)
}

/// A folder is left to [`Source::open`], which has better words for it.
fn is_stream(found: &std::fs::Metadata) -> bool {
    !found.is_file() && !found.is_dir()
}
