//! `sealane inspect`: describes an encrypted file without a key.

use crate::args::formats;
use crate::console::escaped;
use crate::prelude::*;
use crate::{described, url, vault};
use sealane::age::Armor;
use sealane::file::{self, Description, Format};
use serde_json::Map;

/// Show what an encrypted file, folder or vault is, without a key
///
/// Format, recipients and size of a file; options of a folder or a vault. Nothing is verified. Only
/// age files name their format and recipients. Text, archives and other files with a mark of their
/// own are refused.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane inspect notes.age
  sealane inspect --json notes.sealed")]
pub(crate) struct Inspect {
    /// Format of the file. Default: age if the file is one, else chunked
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Encrypted file, a folder of 'sealane init' or of a vault; or the URL of a file or vault
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    input: PathBuf,
}

/// Shows the options in a folder's description.
fn show_described(folder: &str, found: &Description, console: &Console) -> Result<()> {
    let format = if found.is_write_only() { Format::Age } else { Format::Chunked };
    let recipients = found.recipients().len();
    if console.json {
        let document = json!({
            "file": folder,
            "format": format.name(),
            "folder": found.identifier(),
            "suffix": found.suffix(),
            "encrypt_names": found.names(),
            "preserve": found.preserve(),
            "write_only": found.is_write_only(),
            "recipients": recipients,
            "verified": false,
        });
        return console.result(|| document, "");
    }
    let yes = |is: bool| if is { "yes" } else { "no" };
    console.print(&format!(
        "format      {}\nfolder      {}\nsuffix      {}\nnames       {}\npreserve    {}\nwrite-only  {}\n\
         recipients  {recipients}\nverified    no; 'sealane verify' does that with the key\n",
        format.name(),
        found.identifier(),
        escaped(found.suffix()),
        if found.names() { "encrypted" } else { "plain" },
        yes(found.preserve()),
        yes(found.is_write_only()),
    ))
}

impl Run for Inspect {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        if self.input == Path::new("-") {
            return Err(Failure::misuse(
                "standard input is a stream, which has no size; inspect a regular file",
            ));
        }
        let url = url::of(&self.input);
        if url.is_none() && self.input.is_dir() {
            let found = Description::find(&self.input);
            if let Some(found) = found.map_err(|error| Failure::about(&name(&self.input), error))? {
                return show_described(&name(&self.input), &found, console);
            }
        }
        if (url.is_some() || self.input.is_dir())
            && let Some((tool, facts)) = vault::describe(&self.input)?
        {
            let (file, not_verified) = (name(&self.input), "no; 'sealane verify' does that");
            let mut lines = vec![format!("{:19} {tool}", "tool")];
            lines.extend(facts.iter().map(|(name, value)| format!("{name:19} {}", escaped(value))));
            lines.push(format!("{:19} {not_verified} with the passphrase\n", "verified"));
            let facts: Map<_, _> =
                facts.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
            return match console.json {
                true => console
                    .result(|| json!({"file": file, "tool": tool, "options": facts, "verified": false}), ""),
                false => console.print(&lines.join("\n")),
            };
        }
        let name = name(&self.input);
        let info = match url.map(url::file).transpose()? {
            None => file::inspect(&self.input, self.format),
            Some(found) => found
                .size()
                .map_err(Error::from)
                .and_then(|size| file::inspect_source(&*found, size, self.format)),
        };
        let is_plain = !self.input.exists() && described::contains(&self.input);
        let info = info.map_err(|error| match Failure::about(&name, error).or_lost(&self.input) {
            failure if is_plain => {
                failure.and("without a key, a file is found by the path it is stored under")
            }
            failure => failure,
        })?;
        if console.json {
            let document = json!({
                "file": name,
                "format": info.format,
                "recognized": info.recognized,
                "armor": info.armor == Armor::Ascii,
                "recipients": info.recipients,
                "file_bytes": info.file_len,
                "plaintext_bytes": info.plaintext_len,
                "chunks": info.chunks,
                "chunk_bytes": info.chunk_len,
                "verified": false,
            });
            return console.result(|| document, "");
        }
        let mut lines = vec![match info.recognized || self.format.is_some() {
            true => format!("format      {}", info.format),
            false => format!("format      none known; could be {}, which has no mark", info.format),
        }];
        if info.armor == Armor::Ascii {
            lines.push("armor       yes".into());
        }
        if !info.recipients.is_empty() {
            lines.push(format!("recipients  {}", info.recipients.join(", ")));
        }
        lines.push(format!("plaintext   {} bytes", info.plaintext_len));
        lines.push(format!("chunks      {} of up to {} bytes", info.chunks, info.chunk_len));
        lines.push("verified    no; 'sealane verify' does that with the key".into());
        console.print(&(lines.join("\n") + "\n"))
    }
}
