//! `sealane providers`

use crate::args::Providers;
use crate::error::Failure;
use crate::tui::Console;
use sealane::hazmat::AesCtr;
use sealane::{Aead, Algorithm, Error, Key, Listed};
use serde_json::{Value, json};

pub(crate) fn providers(args: &Providers, console: &Console) -> Result<(), Failure> {
    environment()?;
    let mut rows = sealane::listing();
    if let Some(name) = &args.algorithm {
        let mut known: Vec<_> = rows.iter().map(|row| row.algorithm).collect();
        known.dedup();
        if !known.contains(&name.as_str()) {
            return Err(Failure::misuse(format!(
                "no algorithm is named {name:?}; known: {}",
                known.join(", ")
            )));
        }
        rows.retain(|row| row.algorithm == name);
    }
    if console.json() {
        return console.result(|| rows.iter().map(document).collect(), "");
    }
    console.print(&table(&rows))
}

/// A variable that cannot be understood is a mistake to be fixed, and would leave a table in which nobody is chosen. The
/// first who needs one of them says so.
fn environment() -> Result<(), Failure> {
    let key = Key::from_bytes(&[0; 16]);
    let aead = Aead::new(Algorithm::Aes128Gcm, &key).map(drop);
    let stream = AesCtr::new(key.as_bytes(), &[0; 16]).map(drop);
    for probe in [aead, stream] {
        if let Err(error @ Error::Environment(_)) = probe {
            return Err(Failure::misuse(error.to_string()));
        }
    }
    Ok(())
}

fn document(row: &Listed) -> Value {
    json!({
        "algorithm": row.algorithm,
        "provider": row.provider,
        "variant": row.variant,
        "available": row.available,
        "reason": row.reason,
        "chosen": row.chosen,
    })
}

/// Aligned by spaces, so that it can be read, and searched with `grep`.
fn table(rows: &[Listed]) -> String {
    const HEADS: [&str; 4] = ["ALGORITHM", "PROVIDER", "VARIANT", "AVAILABLE"];
    let width = |head: usize, cell: fn(&Listed) -> &str| {
        rows.iter().map(|row| cell(row).len()).chain([HEADS[head].len()]).max().unwrap_or(0)
    };
    let (first, second, third) =
        (width(0, |row| row.algorithm), width(1, |row| row.provider), width(2, |row| row.variant));
    let line = |a: &str, b: &str, c: &str, d: &str| {
        format!("{a:first$}  {b:second$}  {c:third$}  {d}").trim_end().to_owned() + "\n"
    };
    let mut text = line(HEADS[0], HEADS[1], HEADS[2], HEADS[3]);
    for row in rows {
        let available = match (row.available, row.chosen) {
            (true, true) => "yes, chosen".into(),
            (true, false) => "yes".into(),
            (false, _) => format!("no: {}", row.reason),
        };
        text += &line(row.algorithm, row.provider, row.variant, &available);
    }
    text
}
