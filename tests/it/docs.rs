//! README and guide against the code and the records: tables, links, dependencies, figures.

use project::{pages, root};
use providers::{Algorithm, Provider, entries, listing};
use std::fs;

/// The guide's table of algorithms and providers is the registry. A build without the features
/// `ring` and `aegis` does not check their columns.
#[test]
fn the_table_of_providers_is_the_registry() {
    let guide = fs::read_to_string(root().join("docs/guide/messages.md")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.strip_suffix('|').unwrap().split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = guide.lines().skip_while(|line| !line.starts_with("| algorithm | native |"));
    let header = cells(lines.next().unwrap());
    assert_eq!(header[1..], ["native", "aws-lc", "ring", "rustcrypto", "aegis"]);
    let columns = Provider::all().into_iter().map(|provider| {
        let column = header.iter().position(|name| name == provider.name());
        (provider, column.unwrap_or_else(|| panic!("{provider:?} has no column")))
    });
    let columns: Vec<_> = columns.collect();
    let (rows, mut lines) = (listing(), lines.skip(1));
    for algorithm in Algorithm::ALL {
        let line = cells(lines.next().unwrap());
        assert_eq!(line[0], format!("`{}`", algorithm.name()));
        for &(provider, column) in &columns {
            let has = rows.iter().any(|row| {
                row.algorithm == algorithm.name() && row.provider == provider.name() && row.available
            });
            assert_eq!(line[column], if has { "yes" } else { "" }, "{} by {provider:?}", algorithm.name());
        }
    }
    assert_eq!(lines.next(), Some(""), "a row for each algorithm, and no other");
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
        for line in dependencies.flat_map(|section| section.lines().skip(1)) {
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

/// Paths in code spans exist below the root or beside the document, up to a placeholder such as
/// `<name>` or `*`. Records and the changelog describe earlier trees.
#[test]
fn named_paths_exist() {
    let mut named = 0;
    for page in pages(".", ".md") {
        if page.path.starts_with("lab/record/") || page.path == "CHANGELOG.md" {
            continue;
        }
        let prose: String = page.text.split("```").step_by(2).collect();
        for span in prose.split('`').skip(1).step_by(2) {
            let path = span.split(['<', '{', '*']).next().unwrap();
            let path =
                if path == span { path } else { path.rsplit_once('/').map_or("", |(folder, _)| folder) };
            let is_path = |c: char| c.is_ascii_alphanumeric() || "./_-".contains(c);
            let Some((first, rest)) = path.split_once('/') else { continue };
            let top = root().join(first);
            let is_built = ["target", "dist"].contains(&first);
            if rest.is_empty() || !path.chars().all(is_path) || is_built || !top.is_dir() {
                continue;
            }
            let beside = root().join(&page.path).with_file_name(path);
            assert!(root().join(path).exists() || beside.exists(), "{}: nothing at `{span}`", page.path);
            named += 1;
        }
    }
    assert!(named > 100, "{named} paths");
}

/// To wrap the comments of Rust again:
/// `cargo +nightly fmt -- --config wrap_comments=true,comment_width=100`.
#[test]
fn comments_have_at_most_100_columns() {
    let mut long = Vec::new();
    for page in [".rs", ".py", ".go", ".ex", ".cr"].into_iter().flat_map(|ending| pages(".", ending)) {
        let mark = if page.path.ends_with(".rs") || page.path.ends_with(".go") { "//" } else { "#" };
        let mut fenced = false;
        for (at, line) in page.text.lines().enumerate() {
            let comment = line.trim_start().starts_with(mark);
            fenced = comment && fenced != line.contains("```");
            // Drawings, links, tables and examples in Python cannot be wrapped.
            let fixed = fenced || ["://", ">>> ", "| "].iter().any(|part| line.contains(part));
            if comment && line.chars().count() > 100 && !fixed {
                long.push(format!("{}:{}", page.path, at + 1));
            }
        }
    }
    assert!(long.is_empty(), "{} comments are longer than 100 columns: {long:#?}", long.len());
}

/// Each row of the table in the guide's page on speed, and the lines of the records that its
/// figures come from, in their order.
const FIGURES: &[(&str, &[&str])] = &[
    ("a 1 GiB file 1.18 x / 1.83 x", &["sealane encrypt 0.235 4.57 1.18", "sealane decrypt 0.142 7.58 1.83"]),
    (
        "fsspec 0.54 x / 0.42 x (0.78 and 1.09 of what reading and decrypting allow), a new RSA-3072 key 0.59 x",
        &[
            "in order 1024 KiB 35.1 65.3 0.54 60.6 51.2 0.78",
            "at random 64 KiB 4.6 10.9 0.42 6.3 11.9 1.09",
            "sealane (AWS-LC) median 164 ms, mean 187 ms: 0.59",
        ],
    ),
    (
        "each after 30 ms: `cat` 0.89 x, `get` 0.91 x, `put` 0.94 x, `pipe` 0.97 x of the plain filesystem",
        &[
            "cat, a list 32 36 1.13 1.12-1.44 0.89 100",
            "get, a list 37 40 1.10 1.08-1.11 0.91 100",
            "put, a list 34 36 1.06 1.03-1.13 0.94 100",
            "pipe 32 33 1.04 1.03-1.06 0.97 100",
        ],
    ),
    (
        "| AES-256-GCM, 64 bytes, beside the best of aws-lc, ring and RustCrypto | 3.4 x | 4.7 x |",
        &[
            "| open apart | 64 B | 26.5 ns | 0.65 | aws-lc | 90.7 ns | 3.43 |",
            "| aes-256-gcm | native | 14 ns | 14 ns | 14 ns | 17.05 GB/s",
        ],
    ),
    (
        "| AES-256-GCM, 16 KiB / 1 MiB, beside aws-lc | 1.24 x / 1.20 x | 1.06 x / 1.28 x |",
        &[
            "| open apart | 16 KiB | 12.56 GB/s | 3.39 | aws-lc | 10.10 GB/s | 1.24 |",
            "| open apart | 1 MiB | 13.02 GB/s | 3.51 | aws-lc | 10.83 GB/s | 1.20 |",
            "14 ns | 17.05 GB/s | 17.02 GB/s | 16.71 GB/s | 17.78 GB/s",
            "62 ns | 16.06 GB/s | 16.13 GB/s | 14.61 GB/s | 13.86 GB/s",
        ],
    ),
    (
        "| the same, of what the processor's units allow | 91 % / 95 % | 89 % / 94 % |",
        &[
            "64 / 17.25 = 3.71 bytes a cycle",
            "64 / 17.25 = 3.71 bytes a cycle",
            "of 4.79, 89 %",
            "of 5.19, 94 %",
        ],
    ),
    (
        "| AES-256-GCM-SIV, seal / open 16 KiB, beside aws-lc | 2.6 x / 2.4 x | 2.2 x / 2.5 x |",
        &[
            "| seal in place | 16 KiB | 9.51 GB/s | 2.57 | aws-lc | 3.62 GB/s | 2.63 |",
            "| open apart | 16 KiB | 10.94 GB/s | 2.95 | aws-lc | 4.62 GB/s | 2.37 |",
            "| aes-256-gcm-siv | native | 53 ns | 53 ns | 52 ns | 11.98 GB/s | 11.98 GB/s | 15.46 GB/s",
            "| aes-256-gcm-siv | aws-lc | 95 ns | 95 ns | 121 ns | 5.37 GB/s | 5.50 GB/s | 6.21 GB/s",
        ],
    ),
    (
        "| AES-256-CTR in place, 16 KiB, beside aws-lc | 2.0 x | 2.2 x |",
        &["AES-256 16384 vaes512 16.7 8.3 2.01", "AES-256 16384 vaes512 17.8 8.2 2.18"],
    ),
    (
        "| the same, of what the processor's AES units can do | 100 % | 100 % |",
        &["973.2 ns 4.54 B/c 16.8 GB/s 100%", "918.8 ns 4.56 B/c 17.8 GB/s 100%"],
    ),
    (
        "| ChaCha20-Poly1305, 64 bytes / 16 KiB, beside the best of aws-lc, ring and RustCrypto | 1.3 x / 1.8 x | 1.7 x / 2.1 x |",
        &[
            "| seal in place | 64 B | 134.4 ns | 0.13 | ring | 168.9 ns | 1.26 | 1 | OK |",
            "| seal in place | 16 KiB | 4.90 GB/s | 1.32 | ring | 2.67 GB/s | 1.83 | 2.8 | SHORT |",
            "| chacha20-poly1305 | native | 86 ns | 85 ns | 88 ns | 5.30 GB/s",
            "| chacha20-poly1305 | ring | 147 ns | 158 ns | 160 ns | 2.56 GB/s",
        ],
    ),
    (
        "| ChaCha20, 16 KiB, from Python, beside OpenSSL | 1.20 x | 1.12 x |",
        &["ChaCha20, 16 KiB 3.26 us 2.72 us 1.20x", "ChaCha20, 16 KiB 2.46 us 2.19 us 1.12x"],
    ),
    (
        "| Poly1305, 1 MiB, from Python, beside OpenSSL | 2.6 x | 2.6 x |",
        &["Poly1305, 1 MiB 85.2 us 32.2 us 2.65x", "Poly1305, 1 MiB 78 us 29.9 us 2.62x"],
    ),
    (
        "| XChaCha20-Poly1305, 16 KiB, from Python, beside PyNaCl | 4.2 x | 3.7 x |",
        &[
            "XChaCha20-Poly1305 encrypt, 16 KiB 15.7 us 3.76 us 4.16x",
            "XChaCha20-Poly1305 encrypt, 16 KiB 12 us 3.23 us 3.72x",
        ],
    ),
    (
        "| Speck128/256 / Speck64/128 in counter mode, 16 KiB, beside the crate `speck-cipher` | 7.0 x / 17.3 x | not measured |",
        &[
            "| speck128-256 | avx512 | 16 KiB | 4.83 GB/s | 1.30 | 0.69 GB/s | 6.96 | 10 | SHORT |",
            "| speck64-128 | avx512 | 16 KiB | 5.98 GB/s | 1.61 | 0.35 GB/s | 17.30 | 25 | SHORT |",
        ],
    ),
    (
        "| AEGIS-128L / AEGIS-256, seal 16 KiB, beside the crate `aegis` | 1.19 x / 1.16 x | 1.23 x / 1.30 x |",
        &[
            "| seal in place | 16 KiB | 19.98 GB/s | 5.43 | aegis | 16.74 GB/s | 1.19 | 1.2 | SHORT |",
            "| seal in place | 16 KiB | 11.56 GB/s | 3.12 | aegis | 9.99 GB/s | 1.16 | 1.2 | SHORT |",
            "| aegis-128l | native | 22 ns | 22 ns | 24 ns | 20.74 GB/s",
            "| aegis-256 | native | 27 ns | 27 ns | 28 ns | 13.63 GB/s",
        ],
    ),
    (
        "| a TLS 1.3 record with rustls, AES-256-GCM, encrypting 64 bytes / 16 KiB, beside aws-lc-rs and ring | not measured | 1.8 x / 1.06 x |",
        &[
            "| encrypt TLS13_AES_256_GCM_SHA384 | 64 | 63 ns | 115 ns | 113 ns | 1.81 |",
            "| encrypt TLS13_AES_256_GCM_SHA384 | 16384 | 1121 ns | 1180 ns | 1772 ns | 1.06 |",
        ],
    ),
    (
        "| `encrypt_into`, 64 bytes, from Python, beside `cryptography` 50 | 5.2 x | 5.1 x |",
        &["encrypt_into, 64 B 540 ns 103 ns 5.25x", "encrypt_into, 64 B 417 ns 81.4 ns 5.10x"],
    ),
    (
        "| `seal` with a random nonce, 64 bytes, from Python, beside `cryptography`'s `encrypt` with a given one | 5.0 x | 4.7 x |",
        &[
            "seal with automatic nonce, 64 B 625 ns 127 ns 5.04x",
            "seal with automatic nonce, 64 B 369 ns 79.3 ns 4.67x",
        ],
    ),
    (
        "| `encrypt` of 2 MiB / 256 MiB into new bytes on two cores, from Python, beside `cryptography` | 2.5 x / 3.6 to 5.9 x | 2.6 x / 2.6 to 3.0 x |",
        &[
            "| 2 MiB | 45 | 171 | 90 | 1.90 | 171 | 91 | 1.88 | 163 | 88 | 1.85 | 218 |",
            "| 256 MiB | 38.1 | 28.1 | 1.36 | 166.8 |",
            "| 2 MiB | 107 | 145 | 80 | 1.81 | 158 | 94 | 1.68 | 131 | 74 | 1.77 | 195 |",
            "seal to new bytes, 256 MiB 168 ms 55.5 ms 2.99x",
        ],
    ),
    (
        "| encrypting / decrypting a 1 GiB file, whole process, in 20 MiB of memory, beside `cp` | 0.81 to 1.15 x / 0.82 to 1.39 x | 0.87 x / 1.24 x |",
        &[
            "sealane encrypt 0.237 4.53 1.15 19.9",
            "sealane decrypt 0.189 5.69 1.39 19.9",
            "sealane encrypt 0.312 3.44 0.87 0.582",
            "sealane decrypt 0.211 5.08 1.24 0.398",
        ],
    ),
    (
        "| 4 KiB at a random place of that file | 7 microseconds | 6.5 microseconds |",
        &["random places of that file: 6.7 us each", "random places of that file: 6.5 us each"],
    ),
    (
        "| a 1 GiB age file, encrypting / decrypting, whole process, beside the program `age` | 2.9 x / 4.3 x | 2.1 x / 3.8 x |",
        &[
            "sealane program, encrypt age, encrypt 2.87x",
            "sealane program, decrypt age, decrypt 4.29x",
            "encrypts 2.13 times as fast as `age`",
            "decrypts 3.78 and 5.16 times as fast",
        ],
    ),
    (
        "| the same beside `rage` | 4.4 x / 7.5 x | 2.9 x / 5.2 x |",
        &[
            "sealane program, encrypt rage, encrypt 4.35x",
            "sealane program, decrypt rage, decrypt 7.52x",
            "2.88 times as fast as `rage`",
            "decrypts 3.78 and 5.16 times as fast",
        ],
    ),
    (
        "| a 1 GiB file in Tink's 1 MB format, from Python, beside `tink` | 8.1 x / 8.6 x | 5.8 x / 9.0 x |",
        &[
            "sealane from Python, encrypt tink, encrypt 8.07x",
            "sealane from Python, decrypt tink, decrypt 8.64x",
            "encrypted 5.81 times and decrypted 8.96 times",
            "encrypted 5.81 times and decrypted 8.96 times",
        ],
    ),
    (
        "| ECIES of 140 bytes, encrypting / decrypting, from Python, beside `eciespy` | 2.4 x / 4.5 x | 2.8 x / 5.4 x |",
        &[
            "ECIES encrypt, 140 B 172 us 73 us 2.35x",
            "ECIES decrypt, 140 B 169 us 37.1 us 4.52x",
            "ECIES encrypt, 140 B 144 us 51.7 us 2.79x",
            "ECIES decrypt, 140 B 142 us 26.2 us 5.44x",
        ],
    ),
    (
        "| ECIES of 64 MiB, the same | 12 x / 13 x | 11.0 x / 7.9 x |",
        &[
            "ECIES encrypt, 64 MiB 188 ms 14.8 ms 12.30x",
            "ECIES decrypt, 64 MiB 153 ms 12.3 ms 12.78x",
            "ECIES encrypt, 64 MiB 195 ms 17.6 ms 10.98x",
            "ECIES decrypt, 64 MiB 159 ms 20.3 ms 7.91x",
        ],
    ),
    (
        "| HPKE with X25519, 1 KiB, seal / open, from Python, beside `cryptography` | 2.2 x / 1.7 x | 2.2 x / 1.8 x |",
        &[
            "HPKE X25519 seal, 1 KiB 78 us 36.3 us 2.17x",
            "HPKE X25519 open, 1 KiB 46.5 us 27.8 us 1.67x",
            "HPKE X25519 seal, 1 KiB 61.9 us 27.9 us 2.21x",
            "HPKE X25519 open, 1 KiB 37.8 us 21.4 us 1.76x",
        ],
    ),
    (
        "| HPKE with X-Wing (post-quantum), 1 KiB, seal / open, from Python, beside `cryptography` | 1.8 x / 1.7 x | 1.7 x / 1.8 x |",
        &[
            "HPKE X-Wing seal, 1 KiB 98.5 us 56 us 1.75x",
            "HPKE X-Wing open, 1 KiB 74.1 us 44.7 us 1.66x",
            "HPKE X-Wing seal, 1 KiB 77.2 us 45.5 us 1.70x",
            "HPKE X-Wing open, 1 KiB 61.7 us 35 us 1.76x",
        ],
    ),
    (
        "| REncrypt's `encrypt` through `sealane.compat.rencrypt`, AES-256-GCM, 64 bytes / 1 MiB, beside `rencrypt` 1.2 | 1.7 x / 2.9 x | not measured |",
        &[
            "AES256GCM, 64 B, numpy, encrypt 427 ns 251 ns 1.66x",
            "AES256GCM, 1 MiB, numpy, encrypt 276 us 94.3 us 2.93x",
        ],
    ),
    (
        "| an encrypted local file through fsspec, in order by 1 MiB / at random by 64 KiB, beside a plain one | 0.71 x / 0.56 x | 0.91 x / 0.50 x |",
        &[
            "in order, 1024 KiB a read 75.5 108.9 0.71",
            "at 2000 random places, 64 KiB a read 21.9 39.4 0.56",
            "in order, 1024 KiB a read 27.4 30.5 0.91",
            "at 2000 random places, 64 KiB a read 16.3 31.6 0.50",
        ],
    ),
    (
        "| 8 million rows of encrypted Parquet through pyarrow, all columns / one, beside plain ones | 0.94 x / 0.83 x | 0.91 x / 0.93 x |",
        &[
            "scan all columns, beside Arrow's files 253.2 289.8 1.06",
            "scan price, beside Arrow's files 27.9 33.0 1.20",
            "scan all columns, against Arrow's files 164.7 184.8 1.10",
            "scan price, against Arrow's files 34.6 37.0 1.07",
        ],
    ),
    (
        "| 10,000 files of 16 KiB, two workers, on ext4 / in memory, beside `cp -r` | 2.15 x / 0.73 x | 2.45 x / not measured |",
        &[
            "encrypt_tree, threads 1.914 191.4 2.15",
            "encrypt_tree, threads 0.443 44.3 0.73",
            "encrypt_tree, threads 0.901 90.1 2.45",
        ],
    ),
    (
        "| a new RSA-3072 key, beside `cryptography` | 0.66 x | 0.77 x |",
        &[
            "RSA-3072 key, median of 101 138 ms 208 ms 0.66x",
            "RSA-3072 key, median of 101 123 ms 160 ms 0.77x",
        ],
    ),
];

/// Every figure of the page on speed stands in a record that the page links to.
#[test]
fn figures_have_a_record() {
    let speed = fs::read_to_string(root().join("docs/guide/speed.md")).unwrap();
    let records = speed.split("](../../").skip(1).filter_map(|rest| rest.split(')').next());
    let records = records.filter(|path| path.ends_with(".md"));
    let records: String = records.map(|path| fs::read_to_string(root().join(path)).unwrap()).collect();
    let record = records.split_whitespace().collect::<Vec<_>>().join(" ");
    for (row, lines) in FIGURES {
        assert!(speed.contains(row), "docs/guide/speed.md no longer says {row:?}: change this test with it");
        assert!(claims(row).len() >= lines.len(), "more lines of records than figures: {row}");
        for printed in *lines {
            assert!(record.contains(printed), "not in the record: {printed}");
        }
    }
}

/// Neither README nor the page on speed contains another figure. Another test checks the quotations
/// of the lab.
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

/// The ranks of the providers in this build are the order of the geometric means in their record.
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
                && Provider::all().iter().any(|known| known.name() == *provider)
            {
                measured.push((figures.iter().map(|cell| log_time(cell)).sum(), (*provider).to_owned()));
            }
        }
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        let measured: Vec<_> = measured.into_iter().map(|(_, provider)| provider).collect();
        assert_eq!(ranked, measured, "{}: rank them as the record does, or measure again", algorithm.name());
    }
}

/// The logarithm of the time behind a cell such as "20 ns" or "14.98 GB/s", up to a constant for
/// each column.
fn log_time(cell: &str) -> f64 {
    let (figure, unit) = cell.split_once(' ').unwrap();
    let figure: f64 = figure.parse().unwrap();
    if unit == "ns" { figure.ln() } else { -figure.ln() }
}

/// The package's links are those of the workspace's address.
#[test]
fn the_packages_name_one_address() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = text("Cargo.toml");
    let address = manifest.lines().find_map(|line| line.strip_prefix("repository = ")).unwrap();
    let address = address.trim_matches('"');
    let package = text("pyproject.toml");
    let urls = package.split("[project.urls]").nth(1).unwrap().split("\n\n").next().unwrap();
    let urls: Vec<_> = urls.lines().filter(|line| line.contains(" = ")).collect();
    assert!(urls.len() >= 4 && urls.iter().all(|line| line.contains(&format!("\"{address}"))), "{urls:?}");
}

/// Code in a page fits beside the site's menu and in half a screen.
#[test]
fn code_in_pages_has_at_most_84_columns() {
    let mut pages: Vec<_> = [("docs", ".md"), ("bindings", "README.md")]
        .iter()
        .flat_map(|(folder, ending)| pages(folder, ending))
        .collect();
    pages.push(project::Page {
        path: "README.md".into(),
        text: fs::read_to_string(root().join("README.md")).unwrap(),
    });
    // Examples of SpeckEx stay as they are there.
    let quoted = fs::read_to_string(root().join("bindings/elixir/test/speckex_readme.md")).unwrap();
    for page in &pages {
        let mut in_code = false;
        for (line, number) in page.text.lines().zip(1..) {
            in_code ^= line.starts_with("```");
            let width = line.chars().count();
            let fits = width <= 84 || quoted.lines().any(|other| other == line);
            assert!(!in_code || fits, "{}:{number}: {width} columns, at most 84 fit", page.path);
        }
    }
}
