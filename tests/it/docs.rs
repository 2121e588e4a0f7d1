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

/// Outside the tables that `docs/site/speed.py` writes from a record, README and the page on speed
/// state a figure only beside a link to the record that contains it. Another test checks the
/// quotations of the lab.
#[test]
fn there_are_no_figures_without_a_record() {
    for page in ["README.md", "docs/guide/speed.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let (before, rest) = text.split_once("<!-- from the record -->").expect("a table from the record");
        let (_, after) = rest.split_once("<!-- end -->").expect("the end of the table");
        for paragraph in [before, after].iter().flat_map(|part| part.split("\n\n")) {
            let unrecorded = unrecorded(paragraph, &linked_records(page, paragraph));
            assert!(unrecorded.is_empty(), "{page}: no record behind {unrecorded:?}");
        }
    }
    assert_eq!(claims("faster: 9.9 x and 3x, 50 %, 4.53 GB/s, 12GB/s; in 7 ms").len(), 6);
    assert_eq!(claims("XChaCha20, 2^32 messages, `cryptography` 50, 16 KiB, x 3").len(), 0);
    assert_eq!(unrecorded("1.5 x, 20x and 2\nms, 3 s", "| 1.5 | 120x |\n32, 3."), ["20x", "2 ms"]);
    assert!(unrecorded("> encrypt: 1.5 x", "").is_empty());
}

/// The records that a paragraph links to.
fn linked_records(page: &str, paragraph: &str) -> String {
    let targets = paragraph.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let records = targets.filter(|path| path.contains("lab/record/") && path.ends_with(".md"));
    records.map(|path| fs::read_to_string(root().join(page).with_file_name(path)).unwrap()).collect()
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
            found.push(if apart { format!("{word} {}", words[index + 1]) } else { word.clone() });
        }
    }
    found
}

/// The claims of a paragraph whose numbers a record does not contain.
fn unrecorded(paragraph: &str, record: &str) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let numbers: Vec<&str> =
        record.split(|c| !is_digit(c)).map(|number| number.trim_end_matches(['.', ','])).collect();
    let lines: Vec<&str> = paragraph.lines().filter(|line| !line.starts_with("> ")).collect();
    let recorded =
        |claim: &String| numbers.contains(&claim.split(|c| !is_digit(c)).next().unwrap_or_default());
    claims(&lines.join(" ")).into_iter().filter(|claim| !recorded(claim)).collect()
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
    for path in ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(path)).unwrap();
        pages.push(project::Page { path: path.into(), text });
    }
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
