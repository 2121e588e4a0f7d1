//! `decrypt --salvage`: recovers the parts of damaged files that verify.

use crate::args::Transfer;
use crate::endpoints::{self, Pair, Source, Target};
use crate::keys::Inputs;
use crate::prelude::*;
use crate::vault::Place;
use sealane::file::{self, DecryptWith, FileEnd, FileHeader, Salvaged};
use sealane::os::path_of;
use sealane::vault::EntryKind;

/// What `--salvage` says about a folder.
pub(crate) const FOLDER: &str = "--salvage reads files, found a folder; name its files";

/// Salvages every file, even after one has failed.
pub(crate) fn run(
    args: &Transfer,
    pairs: &[Pair],
    with: impl FnOnce(Inputs) -> Result<DecryptWith>,
    console: &Console,
) -> Result<()> {
    let named: Vec<_> = pairs.iter().map(|pair| pair.from.path()).collect();
    let with = with(Inputs::named(&named))?;
    let one = |pair: &Pair| salvage_one(args, pair, &pair.from.name(), &with, console);
    console.each(pairs, &Kind::ENDING, one).map(drop)
}

/// Salvages a file of a folder that describes itself.
pub(crate) fn run_vault(args: &Transfer, place: &Place, console: &Console) -> Result<()> {
    if place.kind()? != EntryKind::File {
        return Err(Failure::misuse(FOLDER));
    }
    let (name, stored) = (place.name(), place.vault.stored_path(&place.path));
    let (Some(own), Some(stored)) = (&place.own, stored) else {
        return Err(Failure::misuse(format!(
            "{name}: --salvage reads files of sealane; in another tool's vault, 'sealane cat --range' prints what verifies"
        )));
    };
    let stored = place.root.join(path_of(&stored));
    let with = own.decrypt_with(Inputs::named(std::slice::from_ref(&stored)))?;
    let plain = place.root.join(path_of(&place.path));
    for pair in endpoints::pairs(&[plain], args.output.as_deref(), &[])? {
        let pair = Pair { from: Source::File(stored.clone()), ..pair };
        salvage_one(args, &pair, &name, &with, console)?;
    }
    Ok(())
}

fn salvage_one(
    args: &Transfer,
    pair: &Pair,
    name: &str,
    with: &DecryptWith,
    console: &Console,
) -> Result<()> {
    pair.check()?;
    let Target::File(to) = &pair.to else {
        return Err(Failure::misuse("--salvage writes a file that may have holes; name it with -o"));
    };
    let mut bar = console.bar(name, pair.from.size());
    let mut report = |done, _| bar.at(done);
    let options = args.writing.options(&mut report);
    let found = file::salvage_opened(pair.from.open_file()?, pair.from.subject(), to, with, options)
        .map_err(|error| nothing(name, error))?;
    drop(bar);
    let target = pair.to.name();
    console.result(|| document(name, &target, &found), &text(&target, &found))?;
    if found.header == FileHeader::Damaged {
        console.warn(&format!("{name}: the header is damaged; the chunks verify with this key nevertheless"));
    }
    if found.is_complete() {
        return Ok(());
    }
    let lost = found.len - found.verified_len();
    let end = match found.end {
        FileEnd::Verified => "",
        FileEnd::Damaged => "; the last chunk is damaged, or the file was cut within it",
        FileEnd::Cut => "; the file was cut, so its end is missing and its length is not known",
    };
    let said = format!(
        "{name}: {lost} of {} bytes are not recovered, in {}{end}; {target} has zeros in their place; take another copy",
        found.len,
        holes(&found)
    );
    let kind = if found.end == FileEnd::Cut { Kind::TRUNCATED } else { Kind::AUTHENTICATION };
    Err(Failure::new(kind, said))
}

/// Adds to an error that nothing was written: usually a salvaged file is.
fn nothing(name: &str, error: Error) -> Failure {
    let failure = Failure::about(name, error);
    match failure.kind().name() {
        "authentication" | "truncated" | "format" => failure.and("no chunk verifies, so nothing was written"),
        _ => failure,
    }
}

fn holes(found: &Salvaged) -> String {
    match found.holes.len() {
        1 => "1 hole".into(),
        count => format!("{count} holes"),
    }
}

fn document(source: &str, target: &str, found: &Salvaged) -> Value {
    let hole = |hole: &file::Hole| {
        json!({
            "start": hole.plain.start,
            "end": hole.plain.end,
            "file_start": hole.sealed.start,
            "file_end": hole.sealed.end,
            "first_chunk": hole.chunks.start,
            "chunks": hole.chunks.end - hole.chunks.start,
        })
    };
    let header = match found.header {
        FileHeader::Verified => "verified",
        FileHeader::Damaged => "damaged",
    };
    let end = match found.end {
        FileEnd::Verified => "verified",
        FileEnd::Damaged => "damaged",
        FileEnd::Cut => "cut",
    };
    json!({
        "source": source,
        "target": target,
        "bytes": found.len,
        "verified": found.verified_len(),
        "complete": found.is_complete(),
        "header": header,
        "end": end,
        "holes": found.holes.iter().map(hole).collect::<Vec<_>>(),
    })
}

/// Returns one line with the holes. Only the first few: `--json` lists all.
fn text(target: &str, found: &Salvaged) -> String {
    const SHOWN: usize = 8;
    let mut text = format!("{target}: {} of {} bytes verified", found.verified_len(), found.len);
    for (at, hole) in found.holes.iter().enumerate().take(SHOWN) {
        let before = if at == 0 { "; holes at bytes" } else { "," };
        text += &format!("{before} {}..{}", hole.plain.start, hole.plain.end);
    }
    if found.holes.len() > SHOWN {
        text += &format!(" and {} more, which --json lists", found.holes.len() - SHOWN);
    }
    text
}
