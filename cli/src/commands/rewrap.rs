//! `sealane rewrap`: changes the recipients or the passphrase of age files.

use crate::args::{RewrapWith, Writing, first};
use crate::described::{self, Described};
use crate::endpoints::{self, Source, Target};
use crate::folder_job::{Recursive, SAME_FILE_KEYS};
use crate::keys::{self, Inputs};
use crate::prelude::*;
use crate::url;
use sealane::file::bulk::Operation;
use sealane::file::{self, Rewrap as Keys};

/// Change the recipients or the passphrase of age files, without decrypting their content
///
/// Replaces the header and copies the rest, so it takes as long as copying the file. Without -o,
/// FILE is replaced. The new files have exactly the given recipients.
///
/// The key of the content stays the same: anyone who could decrypt a file before can decrypt old
/// copies of it, and with an old copy's key the new file too. To exclude them, decrypt and encrypt
/// the file again. For a folder that describes itself, only its file .sealane changes. To exclude
/// those who have an old copy of it, run 'sealane rotate' then.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane rewrap -i me.key -R team.txt notes.age
  sealane rewrap -i me.key -R team.txt vault")]
pub(crate) struct Rewrap {
    #[command(flatten)]
    with: RewrapWith,
    /// Age files, binary or armored. The program of the Python package also takes URLs, such as
    /// s3://bucket/file.age: S3 copies the content itself
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// Destination: a file, or a folder where files keep their names. Default: FILE itself,
    /// replaced once the new file is complete
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Process whole folders: every file below FILE. With -o to the same place below the folder
    /// OUT, otherwise in place
    #[arg(long)]
    recursive: bool,
    /// With --recursive and -o: list finished files in MANIFEST. After an interruption, the same
    /// command continues
    #[arg(long, value_name = "MANIFEST", value_hint = ValueHint::FilePath, requires_all = ["recursive", "output"])]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

/// The warning for a folder that describes itself, as [`SAME_FILE_KEYS`] for files.
const SAME_FOLDER_KEYS: &str = "the keys of the folder are still the same: anyone who could open it before can open it with \
    an old copy of the description; to exclude them, run 'sealane rotate'";

impl Run for Rewrap {
    /// Rewraps every file, even after one has failed.
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        if let Some(found) = described::find_whole(&self.inputs)? {
            let opened = Described::open(found, &self.with.unlock(&self.with.old()), console)?;
            return self.rewrap_folder(opened, console);
        }
        if self.with.key.is_some() || self.with.wrapping_key.is_some() {
            return Err(Failure::misuse(
                "-k and --wrapping-key are for a folder that describes itself, see 'sealane init'",
            ));
        }
        let with = |inputs| keys::rewrap(&self.with, inputs, console);
        let is_url = |path: &Path| url::of(path).is_some();
        if self.recursive {
            if let Some(found) = self.inputs.iter().chain(&self.output).find(|path| is_url(path)) {
                return Err(Failure::misuse(format!(
                    "{}: --recursive is for folders of this machine, found a URL",
                    name(found)
                )));
            }
            let (output, manifest) = (self.output.as_deref(), self.manifest.as_ref());
            let recursive = Recursive::replacing(&self.inputs, output, manifest, &self.writing, console);
            return recursive.run(|inputs| with(inputs).map(Operation::Rewrap), self.with.has_passphrase());
        }
        let pairs = self.pairs()?;
        let with = with(Inputs::named(&self.inputs))?;
        let rewrap = |(from, to): &(PathBuf, PathBuf)| self.rewrap_one(from, to, &with, console);
        if console.each(&pairs, &[Kind::INTERRUPTED], rewrap)? > 0 {
            console.warn(SAME_FILE_KEYS);
        }
        Ok(())
    }
}

impl Rewrap {
    /// Wraps the keys of a folder that describes itself for others. Its files stay as they are.
    fn rewrap_folder(&self, mut opened: Described, console: &Console) -> Result<()> {
        let RewrapWith { to, passphrase, wrapping_key, asked, .. } = &self.with;
        let given = [("-o", self.output.is_some()), ("--manifest", self.manifest.is_some())];
        if let Some(option) = first(given) {
            return Err(Failure::misuse(format!(
                "{option} contradicts {}: rewrapping changes this file alone; leave the option out",
                opened.name()
            )));
        }
        let (key, name) = (wrapping_key.as_deref(), opened.name());
        let lock = keys::new_lock(key, &[], *passphrase, to, asked, &name, console)?;
        asked.refuse_unused(&name)?;
        opened.folder.rewrap(&lock).map_err(|error| Failure::about(&opened.name(), error))?;
        console.warn(SAME_FOLDER_KEYS);
        Ok(())
    }

    /// Returns each file with its destination.
    fn pairs(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        if self.inputs.iter().any(|input| input == Path::new("-")) {
            return Err(Failure::misuse("rewrap reads files, not standard input; name a file"));
        }
        let Some(output) = &self.output else {
            return Ok(self.inputs.iter().map(|input| (input.clone(), input.clone())).collect());
        };
        if self.inputs.iter().chain([output]).any(|path| url::of(path).is_some()) {
            return match &self.inputs[..] {
                [input] => Ok(vec![(input.clone(), output.clone())]),
                _ => Err(Failure::misuse(
                    "with a URL, expected one file and one destination, found several files",
                )),
            };
        }
        let pairs = endpoints::pairs(&self.inputs, Some(output), &[])?;
        let pair = |pair: endpoints::Pair| match (pair.from, pair.to) {
            (Source::File(from), Target::File(to)) => Ok((from, to)),
            _ => Err(Failure::misuse("rewrap writes files, not standard output; name a file with -o")),
        };
        pairs.into_iter().map(pair).collect()
    }

    fn rewrap_one(&self, from: &Path, to: &Path, with: &Keys, console: &Console) -> Result<()> {
        let source = name(from);
        if url::of(from).or(url::of(to)).is_some() {
            let target = name(to);
            url::rewrap(&source, &target, with)?;
            return console.document(|| json!({"source": source, "target": target}));
        }
        let mut bar = console.bar(&source, from.metadata().ok().map(|found| found.len()));
        let mut report = |done, _| bar.at(done);
        let options = self.writing.options(&mut report);
        file::rewrap_file(from, to, with, options).map_err(|error| match from.is_dir() {
            true => Failure::about(&source, error).and("or add --recursive"),
            false => Failure::about(&source, error),
        })?;
        console.made(&source, &name(to), &bar)
    }
}
