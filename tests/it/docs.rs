//! README and guide against the code and the records: tables, links, dependencies, figures.

use project::{pages, root};
use providers::{Algorithm, Provider, entries, listing};
use std::fs;

/// The guide's table of algorithms and providers is the registry.
#[test]
fn the_table_of_providers_is_the_registry() {
    let guide = fs::read_to_string(root().join("docs/guide/messages.md")).unwrap();
    let mut table = String::from("| algorithm |");
    for provider in Provider::all() {
        table += &format!(" {} |", provider.name());
    }
    table += &format!("\n|---|{}", "---|".repeat(Provider::all().len()));
    let rows = listing();
    for algorithm in Algorithm::ALL {
        table += &format!("\n| `{}` |", algorithm.name());
        for provider in Provider::all() {
            let has = rows.iter().any(|row| {
                row.algorithm == algorithm.name() && row.provider == provider.name() && row.available
            });
            table += if has { " yes |" } else { " |" };
        }
    }
    assert!(guide.contains(&table), "docs/guide/messages.md should contain this table:\n\n{table}\n");
}

/// Every dependency is named with its reason.
#[test]
fn every_dependency_has_a_reason() {
    let reasons: String = pages("docs/decisions", ".md").into_iter().map(|page| page.text).collect();
    let mut named = 0;
    for manifest in pages(".", "Cargo.toml") {
        let dependencies = manifest.text.split("\n[").filter(|section| {
            section.split(']').next().is_some_and(|header| header.ends_with("dependencies"))
        });
        for line in dependencies.flat_map(str::lines) {
            // A dependency of the workspace is named where it has its version.
            let internal = line.contains("path =") || line.contains(".workspace =");
            if line.contains('=') && !line.starts_with('#') && !internal {
                let name = line.split([' ', '=']).next().unwrap();
                assert!(reasons.contains(&format!("`{name}`")), "docs/decisions says nothing of {name}");
                named += 1;
            }
        }
    }
    assert!(named > 40, "{named} dependencies");
    const REQUIREMENTS: [&str; 7] = [
        ".ci/requirements.txt",
        "bindings/python/tests/requirements.txt",
        "bindings/python/build-requirements.txt",
        "docs/site/requirements.txt",
        "release/requirements.txt",
        "tests/datasets/engines/requirements.txt",
        "tests/datasets/stores/requirements.txt",
    ];
    let requirements = REQUIREMENTS.map(|path| fs::read_to_string(root().join(path)).unwrap());
    for package in requirements.iter().flat_map(|text| text.lines()) {
        let name = package.split("==").next().unwrap().trim();
        if !name.is_empty() && !name.starts_with('#') {
            assert!(reasons.contains(&format!("`{name}`")), "docs/decisions says nothing of {name}");
            assert!(package.contains("=="), "{package} is not pinned");
        }
    }
}

/// Relative links in documents point at existing files.
#[test]
fn links_point_at_files() {
    for page in pages(".", ".md") {
        let folder = root().join(&page.path).parent().unwrap().to_owned();
        for target in page.text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                assert!(folder.join(target).exists(), "{}: nothing at {target}", page.path);
            }
        }
    }
}

/// Each rounded figure of the guide's page on speed, and the line of its record that it comes from.
const FIGURES: &[(&str, &str)] = &[
    ("3.4 x the best", "| open apart | 64 B | 26.5 ns | 0.65 | aws-lc | 90.7 ns | 3.43 |"),
    ("1.24 x / ", "| open apart | 16 KiB | 12.56 GB/s | 3.39 | aws-lc | 10.10 GB/s | 1.24 |"),
    ("/ 1.20 x aws-lc", "| open apart | 1 MiB | 13.02 GB/s | 3.51 | aws-lc | 10.83 GB/s | 1.20 |"),
    ("91 / 95 %", "64 / 17.25 = 3.71 bytes a cycle"),
    ("2.6 x / ", "| seal in place | 16 KiB | 9.51 GB/s | 2.57 | aws-lc | 3.62 GB/s | 2.63 |"),
    ("2.4 x aws-lc", "| open apart | 16 KiB | 10.94 GB/s | 2.95 | aws-lc | 4.62 GB/s | 2.37 |"),
    ("2.0 x aws-lc", "AES-256 16384 vaes512 16.7 8.3 2.01"),
    ("100 % of what the processor's AES", "973.2 ns 4.54 B/c 16.8 GB/s 100%"),
    ("5.2 x as fast as `cryptography` 50", "encrypt_into, 64 B 540 ns 103 ns 5.25x"),
    ("5.0 x as fast as `cryptography`'s", "seal with automatic nonce, 64 B 625 ns 127 ns 5.04x"),
    ("2.5 x / ", "| 2 MiB | 45 | 171 | 90 | 1.90 | 171 | 91 | 1.88 | 163 | 88 | 1.85 | 218 |"),
    ("3.6 to 5.9 x as fast as `cryptography`", "| 256 MiB | 38.1 | 28.1 | 1.36 | 166.8 |"),
    ("1.8 x / 1.7 x as fast as `cryptography`", "HPKE X-Wing seal, 1 KiB 98.5 us 56 us 1.75x"),
    ("1.8 x / 1.7 x as fast as `cryptography`", "HPKE X-Wing open, 1 KiB 74.1 us 44.7 us 1.66x"),
    ("1.84 x one", "encrypt_into 1 MiB, 2 threads against 1 172 ms 93.2 ms 1.84x"),
    ("0.81 to 1.15 x / ", "sealane encrypt 0.351 3.06 0.81 0.603"),
    ("1.15 x / ", "sealane encrypt 0.237 4.53 1.15 19.9"),
    ("0.82 to 1.39 x as fast as `cp`", "sealane decrypt 0.327 3.28 0.82 0.556"),
    ("1.39 x as fast as `cp`", "sealane decrypt 0.189 5.69 1.39 19.9"),
    ("in 20 MiB", "sealane encrypt 0.237 4.53 1.15 19.9"),
    (
        "1.3 x / 1.8 x the best of aws-lc, ring and RustCrypto",
        "| seal in place | 64 B | 134.4 ns | 0.13 | ring | 168.9 ns | 1.26 | 1 | OK |",
    ),
    (
        "1.8 x the best of aws-lc, ring",
        "| seal in place | 16 KiB | 4.90 GB/s | 1.32 | ring | 2.67 GB/s | 1.83 | 2.8 | SHORT |",
    ),
    ("1.20 x as fast as OpenSSL", "ChaCha20, 16 KiB 3.26 us 2.72 us 1.20x"),
    ("2.6 x as fast as OpenSSL", "Poly1305, 1 MiB 85.2 us 32.2 us 2.65x"),
    ("4.2 x as fast as PyNaCl", "XChaCha20-Poly1305 encrypt, 16 KiB 15.7 us 3.76 us 4.16x"),
    ("7.0 x / ", "| speck128-256 | avx512 | 16 KiB | 4.83 GB/s | 1.30 | 0.69 GB/s | 6.96 | 10 | SHORT |"),
    (
        "17.3 x the crate `speck-cipher`",
        "| speck64-128 | avx512 | 16 KiB | 5.98 GB/s | 1.61 | 0.35 GB/s | 17.30 | 25 | SHORT |",
    ),
    ("1.19 x / ", "| seal in place | 16 KiB | 19.98 GB/s | 5.43 | aegis | 16.74 GB/s | 1.19 | 1.2 | SHORT |"),
    (
        "1.16 x the crate `aegis`",
        "| seal in place | 16 KiB | 11.56 GB/s | 3.12 | aegis | 9.99 GB/s | 1.16 | 1.2 | SHORT |",
    ),
    ("2.9 x / ", "sealane program, encrypt age, encrypt 2.87x"),
    ("4.3 x as fast as the program `age`", "sealane program, decrypt age, decrypt 4.29x"),
    ("4.4 x / ", "sealane program, encrypt rage, encrypt 4.35x"),
    ("7.5 x `rage`", "sealane program, decrypt rage, decrypt 7.52x"),
    ("8.1 x / ", "sealane from Python, encrypt tink, encrypt 8.07x"),
    ("8.6 x as fast as `tink`", "sealane from Python, decrypt tink, decrypt 8.64x"),
    ("2.4 x / ", "ECIES encrypt, 140 B 172 us 73 us 2.35x"),
    ("4.5 x as fast as `eciespy`", "ECIES decrypt, 140 B 169 us 37.1 us 4.52x"),
    ("of 64 MiB 12 x", "ECIES encrypt, 64 MiB 188 ms 14.8 ms 12.30x"),
    ("2.2 x / ", "HPKE X25519 seal, 1 KiB 78 us 36.3 us 2.17x"),
    ("1.7 x as fast as `cryptography`", "HPKE X25519 open, 1 KiB 46.5 us 27.8 us 1.67x"),
    ("0.66 x as fast as `cryptography`", "RSA-3072 key, median of 101 138 ms 208 ms 0.66x"),
    ("1.7 x / 2.9 x as fast as `rencrypt`", "AES256GCM, 64 B, numpy, encrypt 427 ns 251 ns 1.66x"),
    ("2.9 x as fast as `rencrypt`", "AES256GCM, 1 MiB, numpy, encrypt 276 us 94.3 us 2.93x"),
    ("0.71 x / ", "in order, 1024 KiB a read 75.5 108.9 0.71"),
    ("0.56 x as fast as a plain one", "at 2000 random places, 64 KiB a read 21.9 39.4 0.56"),
    ("1.06 x / ", "scan all columns, beside Arrow's files 253.2 289.8 1.06"),
    ("1.20 x the time of plain", "scan price, beside Arrow's files 27.9 33.0 1.20"),
    ("2.15 x / ", "encrypt_tree, threads 1.914 191.4 2.15"),
    ("0.73 x as fast as `cp -r`", "encrypt_tree, threads 0.443 44.3 0.73"),
    ("7 microseconds", "random places of that file: 6.7 us each"),
];

/// Every figure of the page on speed stands in a record that the page links to.
#[test]
fn figures_have_a_record() {
    let speed = fs::read_to_string(root().join("docs/guide/speed.md")).unwrap();
    let records = speed.split("](../../").skip(1).filter_map(|rest| rest.split(')').next());
    let records = records.filter(|path| path.ends_with(".md"));
    let records: String = records.map(|path| fs::read_to_string(root().join(path)).unwrap()).collect();
    let record = records.split_whitespace().collect::<Vec<_>>().join(" ");
    for (said, printed) in FIGURES {
        assert!(
            speed.contains(said),
            "docs/guide/speed.md no longer says {said:?}: change this test with it"
        );
        assert!(record.contains(printed), "not in the record: {printed}");
    }
}

/// Neither README nor the page on speed contains another figure. Another test checks the quotations of the lab.
#[test]
fn there_are_no_figures_without_a_record() {
    for page in ["README.md", "docs/guide/speed.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let mut unknown = text.clone();
        for (said, _) in FIGURES {
            // Searched in the original text, because two figures may share words.
            if let Some(at) = text.find(said) {
                unknown.replace_range(at..at + said.len(), &"-".repeat(said.len()));
            }
        }
        let unrecorded: Vec<_> =
            unknown.lines().filter(|line| !line.starts_with("> ")).flat_map(claims).collect();
        assert!(unrecorded.is_empty(), "{page}: no record behind {unrecorded:?}");
    }
    assert_eq!(claims("faster: 9.9 x and 3x, 50 %, 4.53 GB/s, 12GB/s; in 7 ms").len(), 6);
    assert_eq!(claims("XChaCha20, 2^32 messages, `cryptography` 50, 16 KiB, x 3").len(), 0);
}

/// The words of a line that state a speed, a ratio or a time.
fn claims(line: &str) -> Vec<String> {
    const UNITS: &str = "x % GB/s MB/s ns µs us ms s microseconds milliseconds seconds times";
    let bare = |word: &str| word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '%').to_owned();
    let words: Vec<String> = line.split_whitespace().map(bare).collect();
    let number = |word: &str| !word.is_empty() && word.replace(',', "").parse::<f64>().is_ok();
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1);
        let apart = number(word) && next.is_some_and(|next| UNITS.split(' ').any(|unit| unit == next));
        if apart || UNITS.split(' ').any(|unit| word.strip_suffix(unit).is_some_and(number)) {
            found.push(format!("{word} {}", next.map_or("", String::as_str)));
        }
    }
    found
}

/// The ranks of the providers are the order of the geometric means in their record.
#[test]
fn the_ranks_have_a_record() {
    for &algorithm in Algorithm::ALL {
        let mut rows: Vec<_> = entries().filter(|row| row.algorithm == algorithm).collect();
        rows.sort_by_key(|row| row.rank);
        let ranked: Vec<_> = rows.iter().map(|row| row.provider.name().to_owned()).collect();
        let record = fs::read_to_string(root().join(rows[0].record)).unwrap();
        let mut measured: Vec<(f64, String)> = Vec::new();
        for line in record.lines() {
            let cells: Vec<_> = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
            if let [name, provider, figures @ ..] = &cells[..]
                && *name == algorithm.name()
            {
                measured.push((figures.iter().map(|cell| log_time(cell)).sum(), (*provider).to_owned()));
            }
        }
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        let measured: Vec<_> = measured.into_iter().map(|(_, provider)| provider).collect();
        assert_eq!(ranked, measured, "{}: rank them as the record does, or measure again", algorithm.name());
    }
}

/// The logarithm of the time behind a cell such as "20 ns" or "14.98 GB/s", up to a constant for each column.
fn log_time(cell: &str) -> f64 {
    let (figure, unit) = cell.split_once(' ').unwrap();
    let figure: f64 = figure.parse().unwrap();
    if unit == "ns" { figure.ln() } else { -figure.ln() }
}
