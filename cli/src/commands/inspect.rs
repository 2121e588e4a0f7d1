//! `sealane inspect`

use crate::args::Inspect;
use crate::error::{Failure, name};
use crate::tui::Console;
use sealane::age::Armor;
use sealane::file;
use serde_json::json;

pub(crate) fn inspect(args: &Inspect, console: &Console) -> Result<(), Failure> {
    let name = name(&args.input);
    let info = file::inspect(&args.input, args.format).map_err(|error| Failure::about(&name, error))?;
    if console.json() {
        let document = json!({
            "file": name,
            "format": info.format,
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
    let mut lines = vec![format!("format      {}", info.format)];
    if info.armor == Armor::Ascii {
        lines.push("armor       yes: it is text".into());
    }
    if !info.recipients.is_empty() {
        lines.push(format!("recipients  {}", info.recipients.join(", ")));
    }
    lines.push(format!("plaintext   {} bytes", info.plaintext_len));
    lines.push(format!("chunks      {} of up to {} bytes", info.chunks, info.chunk_len));
    lines.push("verified    nothing: that needs the key; use 'sealane verify'".into());
    console.print(&(lines.join("\n") + "\n"))
}
