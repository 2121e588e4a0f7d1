//! `sealane providers`: lists the implementations of each algorithm on this machine.

use crate::machine::{check_environment, document, fips_document, fips_line};
use crate::prelude::*;
use clap::builder::PossibleValuesParser;
use sealane::provider::{FIPS, computations};
use sealane::{Algorithm, ListedVariant};

/// List the implementations of each algorithm on this machine
///
/// For each algorithm, provider and variant: whether it is available, why not, and which one is
/// chosen. The last lines say whether this build has the feature fips, and if so, which other
/// computations it refuses.
///
/// The environment variable SEALANE_PROVIDER requests a provider, such as ring. SEALANE_CPU
/// disables processor features: -avx512f,-vaes, for example.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane providers
  sealane providers aes-256-gcm")]
pub(crate) struct Providers {
    /// List only this algorithm
    #[arg(value_name = "ALGORITHM", value_parser = PossibleValuesParser::new(names()))]
    algorithm: Option<String>,
}

impl Run for Providers {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        check_environment()?;
        let mut entries = sealane::listing();
        if let Some(name) = &self.algorithm {
            entries.retain(|entry| entry.algorithm == name);
        }
        if console.json {
            let variants = || entries.iter().map(document).collect::<Value>();
            return console.result(|| json!({ "fips": fips_document(), "variants": variants() }), "");
        }
        console.print(&(table(&entries) + &fips_lines()))
    }
}

/// Returns the names of the algorithms and of the raw kernels. Listing them runs self-tests, so the
/// parser of every command line does not.
fn names() -> impl Iterator<Item = &'static str> {
    Algorithm::ALL.iter().map(|it| it.name()).chain(["aes-ctr", "chacha20", "poly1305", "speck"])
}

/// Returns [`fips_line`]; in a FIPS build also one line per other computation.
fn fips_lines() -> String {
    let mut text = fips_line();
    if FIPS {
        for (name, approved) in computations() {
            text += &format!("fips: {}: {name}\n", if approved { "approved" } else { "refused" });
        }
    }
    text
}

/// Returns a table aligned with spaces: easy to read, easy to grep.
fn table(entries: &[ListedVariant]) -> String {
    let row = |entry: &ListedVariant| {
        let available = match (entry.available, entry.chosen) {
            (true, true) => "yes, chosen".into(),
            (true, false) => "yes".into(),
            (false, _) => format!("no: {}", entry.reason),
        };
        [entry.algorithm.into(), entry.provider.into(), entry.variant.into(), available]
    };
    let heads = ["ALGORITHM", "PROVIDER", "VARIANT", "AVAILABLE"].map(String::from);
    let rows: Vec<_> = [heads].into_iter().chain(entries.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [first, second, third] = [0, 1, 2].map(width);
    let line = |[a, b, c, d]: &[String; 4]| {
        format!("{a:first$}  {b:second$}  {c:third$}  {d}").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod test {
    use std::collections::BTreeSet;

    #[test]
    fn the_names_are_those_of_the_list() {
        let listed: BTreeSet<_> = sealane::listing().iter().map(|entry| entry.algorithm).collect();
        assert_eq!(super::names().collect::<BTreeSet<_>>(), listed);
    }
}
