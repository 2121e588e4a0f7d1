//! `sealane ls`: lists a vault by its plaintext names.

use crate::args::DecryptWith;
use crate::prelude::*;
use crate::signal;
use crate::vault::{Place, Vaults};
use sealane::os::path_of;
use sealane::vault::{Entry, EntryKind, Walk};
use std::time::{SystemTime, UNIX_EPOCH};

/// List the files of a vault by their plaintext names
///
/// A vault is a folder that 'sealane init', gocryptfs or Cryptomator made, or rclone's with
/// --rclone. Lengths are those of the plaintext. They follow from the lengths of the encrypted
/// files: 'sealane verify' reads the files.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane ls -i me.key vault
  sealane ls -l -R vault/letters")]
pub(crate) struct Ls {
    #[command(flatten)]
    with: DecryptWith,
    /// Also print length, time of change in UTC, and where links lead
    #[arg(short, long)]
    long: bool,
    /// Also list everything below, by paths
    #[arg(short = 'R', long)]
    recursive: bool,
    /// A vault, or a path in one. The program of the Python package also takes URLs, such as
    /// s3://bucket/vault
    #[arg(value_name = "FOLDER", default_value = ".")]
    input: PathBuf,
}

impl Run for Ls {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let place = Vaults::new(&self.with, console).expect(&self.input)?;
        let walk = Walk::new(&*place.vault, &place.path);
        let mut walk = walk.map_err(|error| place.about(error))?;
        // Names are printed relative to the folder that was asked for.
        let folder = place.path.len() + usize::from(!place.path.is_empty());
        while let Some((path, found)) = walk.next() {
            if signal::requested() {
                return Err(Failure::interrupted());
            }
            let here = at(&place, &path);
            let listed = found.map_err(|error| Failure::about(&here.name(), error));
            match listed {
                Ok(entry) => {
                    if !self.recursive {
                        walk.skip_content();
                    }
                    let shown = path.get(folder..).unwrap_or(&entry.name);
                    self.print(&name(&path_of(shown)), &entry, &here, console)?;
                    // A file that cannot be whole has this length too.
                    let is_empty = entry.kind == EntryKind::File && entry.len == 0;
                    if is_empty
                        && (self.long || console.json)
                        && let Err(error) = here.vault.open(&here.path)
                        && !matches!(error, Error::Misuse(_))
                    {
                        console.fail(&here.about(error));
                    }
                }
                Err(failure) => console.fail(&failure),
            }
        }
        Ok(())
    }
}

fn at(place: &Place, path: &[u8]) -> Place {
    Place { path: path.to_vec(), ..place.clone() }
}

impl Ls {
    fn print(&self, shown: &str, entry: &Entry, place: &Place, console: &Console) -> Result<()> {
        let (letter, kind, end) = match entry.kind {
            EntryKind::File => ('-', "file", ""),
            EntryKind::Folder => ('d', "folder", "/"),
            EntryKind::Link => ('l', "link", ""),
            EntryKind::Special => ('?', "special", ""),
        };
        let target = match entry.kind {
            EntryKind::Link if self.long || console.json => match place.vault.read_link(&place.path) {
                Ok(text) => Some(name(&path_of(&text))),
                Err(error) => {
                    console.fail(&Failure::about(&place.name(), error));
                    None
                }
            },
            _ => None,
        };
        let modified = entry.modified.and_then(utc);
        let mut text = format!("{shown}{end}");
        if self.long {
            let (len, time) = (entry.len, modified.as_deref().unwrap_or("-"));
            text = format!("{letter} {len:>13} {time:20} {text}");
        }
        if let Some(target) = &target {
            text += &format!(" -> {target}");
        }
        let document = || json!({"path": shown, "kind": kind, "bytes": entry.len, "modified": modified, "target": target});
        console.result(document, &text)
    }
}

/// Returns a time in UTC, such as `2026-11-27T03:50:00Z`; `None` before 1970.
///
/// Days are counted from 1 March of the year 0, so that the leap day is the last of its year: the
/// algorithm `civil_from_days` of Howard Hinnant (chrono-Compatible Low-Level Date Algorithms).
fn utc(time: SystemTime) -> Option<String> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + u64::from(month <= 2);
    let [hour, minute, second] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    Some(format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

#[cfg(test)]
mod test {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)).as_deref(), Some(text));
        }
        assert_eq!(utc(UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
