//! `sealane cat`: prints plaintext bytes of encrypted files, and of files in vaults.

use crate::args::DecryptWith;
use crate::endpoints::{self, Source};
use crate::error::STDOUT;
use crate::keys::{self, Inputs};
use crate::prelude::*;
use crate::stream;
use crate::vault::Vaults;
use sealane::file::Reader;
use std::ops::Range;

/// Print encrypted files, or a range of their bytes
///
/// Verifies the end of a file first, then each chunk before printing its bytes. A path in a vault,
/// by its plaintext names, is a file too.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane cat -k key.jwk --range 0:1024 disk.sealed > first.bin
  sealane cat -i me.key vault/letters/2026.txt")]
pub(crate) struct Cat {
    #[command(flatten)]
    with: DecryptWith,
    /// Range of plaintext bytes of each file, such as 0:100. END is exclusive; START and END may be
    /// omitted. Bytes after the end of the file are ignored
    #[arg(long, value_name = "START:END", value_parser = range, default_value = ":", hide_default_value = true)]
    range: Range<u64>,
    /// Encrypted files, or paths in vaults. The program of the Python package also takes URLs, such
    /// as s3://bucket/vault/letter.txt
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    inputs: Vec<PathBuf>,
}

impl Run for Cat {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let mut vaults = Vaults::new(&self.with, console);
        let mut with = None;
        for input in &self.inputs {
            if let Some(place) = vaults.find(input)? {
                place.print(self.range.clone(), console)?;
                continue;
            }
            let source = Source::new(input);
            let with = match &with {
                Some(with) => with,
                None => with.insert(keys::decrypt_with(&self.with, Inputs::named(&self.inputs), console)?),
            };
            // Checked by name: opening a pipe would wait for its writer.
            let is_stream = match &source {
                Source::Stdin => true,
                // `Source::open` reports missing files and folders.
                Source::File(path) => path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()),
            };
            if is_stream {
                return Err(Failure::misuse(format!(
                    "{}: expected a regular file, from which a range can be read; use 'sealane decrypt'",
                    source.name()
                )));
            }
            let file = source.open()?;
            let out = endpoints::stdout_apart_from(&file)?;
            with.check_output(&out, Path::new(STDOUT)).map_err(|error| Failure::about(STDOUT, error))?;
            let reader = Reader::new(file, with).map_err(|error| Failure::about(&source.name(), error))?;
            stream::print(&reader, self.range.clone(), &source.name(), out, console)?;
        }
        endpoints::flush_stdout().map_err(|e| Failure::stdout(&e))
    }
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once(':').ok_or("expected START:END, START: or :END")?;
    let number = |text: &str, missing| match text {
        "" => Ok(missing),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            // Digits can only fail by overflow.
            digits.parse().map_err(|_| format!("{digits} is larger than any file"))
        }
        other => Err(format!("expected a number of bytes, found {other:?}")),
    };
    let range = number(start, 0)?..number(end, u64::MAX)?;
    if range.start > range.end {
        return Err(format!("START {} is larger than END {}", range.start, range.end));
    }
    Ok(range)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(range("3:5"), Ok(3..5));
        assert_eq!(range("5:5"), Ok(5..5));
        assert_eq!(range("3:"), Ok(3..u64::MAX));
        assert_eq!(range(":5"), Ok(0..5));
        assert_eq!(range(":"), Ok(0..u64::MAX));
        for bad in ["", "3", "5:3", "-1:3", "+1:3", "1:2:3", "a:b", " 1:2", "1:99999999999999999999"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
