//! `sealane inspect`

use crate::args::Inspect;
use crate::error::{Failure, name};
use crate::tui::Console;
use sealane::file;
use serde_json::json;

pub(crate) fn inspect(args: &Inspect, console: &Console) -> Result<(), Failure> {
    let name = name(&args.input);
    let info = file::inspect(&args.input).map_err(|error| Failure::about(&name, error))?;
    if console.json() {
        let document = json!({
            "file": name,
            "format": info.format,
            "file_bytes": info.file_len,
            "plaintext_bytes": info.plaintext_len,
            "chunks": info.chunks,
            "chunk_bytes": info.chunk_len,
            "verified": false,
        });
        return console.result(|| document, "");
    }
    console.print(&format!(
        "format     {} (Cobblestone-128 or -256)\n\
         plaintext  {} bytes\n\
         chunks     {} of {} bytes each, the last one shorter\n\
         verified   nothing: this is what the size of the file says; 'sealane verify' needs the key\n",
        info.format, info.plaintext_len, info.chunks, info.chunk_len,
    ))
}
