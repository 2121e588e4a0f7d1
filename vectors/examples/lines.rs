//! Writes `vectors/lines.txt`: the vectors for languages without a JSON reader.

use std::path::Path;

fn main() -> std::io::Result<()> {
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("lines.txt"), vectors::lines())
}
