//! The table of claims: each sentence of SECURITY.md is in `docs/claims.md`, and each test named there exists.

use project::{Page, pages, root};
use std::collections::BTreeSet;
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns `[text](link)` as `text`.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        match after.split_once("](").and_then(|(inner, link)| Some((inner, link.split_once(')')?.1))) {
            Some((inner, later)) => {
                out.push_str(&format!("{before}{inner}"));
                rest = later;
            }
            None => {
                out.push_str(&format!("{before}["));
                rest = after;
            }
        }
    }
    out + rest
}

/// Splits a paragraph into sentences: after a full stop comes a capital letter, bold text or code.
fn split(paragraph: &str) -> Vec<String> {
    let text = without_links(paragraph);
    let mut sentences = vec![String::new()];
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let sentence = sentences.last_mut().expect("one at least");
        *sentence = format!("{sentence} {word}").trim().to_owned();
        let begins =
            |next: &str| next.starts_with(|c: char| c.is_ascii_uppercase() || matches!(c, '*' | '`'));
        if word.ends_with(['.', '!', '?']) && words.peek().is_some_and(|next| begins(next)) {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Returns all sentences of a page. Those of the table of promises begin with the first cell of their line.
fn sentences(page: &str) -> Vec<String> {
    let (mut found, mut paragraph) = (Vec::new(), String::new());
    for line in page.lines().chain([""]) {
        let text = line.trim();
        let ends = text.is_empty() || text.starts_with(['#', '|']) || line.starts_with("- ");
        if ends {
            found.extend(split(&std::mem::take(&mut paragraph)));
        }
        if let Some(row) = text.strip_prefix('|') {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            if cells[0] != "boundary" && !cells[0].starts_with('-') {
                found.extend(split(cells[2]).into_iter().map(|sentence| format!("{}: {sentence}", cells[0])));
            }
        } else if !text.starts_with('#') {
            paragraph.push_str(&format!(" {}", text.strip_prefix("- ").unwrap_or(text)));
        }
    }
    found
}

/// A sentence of the table with its tests, which are lines of a list.
struct Claim {
    sentence: String,
    tests: Vec<String>,
}

fn claims(section: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for line in section.lines() {
        if let Some(sentence) = line.strip_prefix("> ") {
            claims.push(Claim { sentence: sentence.to_owned(), tests: Vec::new() });
        } else if let Some(test) = line.strip_prefix("- ") {
            claims.last_mut().expect("a sentence before its tests").tests.push(test.to_owned());
        }
    }
    claims
}

fn table() -> [Vec<Claim>; 2] {
    let page = read("docs/claims.md");
    let (promises, others) = page.split_once("## Sentences that promise nothing").expect("two sections");
    [claims(promises), claims(others)]
}

#[test]
fn every_sentence_is_in_the_table() {
    let listed: Vec<String> = table().into_iter().flatten().map(|claim| claim.sentence).collect();
    let unique: BTreeSet<_> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a sentence of docs/claims.md is there twice");
    let security: BTreeSet<_> = sentences(&read("SECURITY.md")).into_iter().collect();
    assert!(security.len() > 50);
    let missing: Vec<_> = security.iter().filter(|sentence| !unique.contains(sentence)).collect();
    assert!(
        missing.is_empty(),
        "docs/claims.md has no line for these sentences of SECURITY.md: {missing:#?}"
    );
    let gone: Vec<_> = listed.iter().filter(|sentence| !security.contains(*sentence)).collect();
    assert!(gone.is_empty(), "SECURITY.md has no such sentences as docs/claims.md: {gone:#?}");
}

#[test]
fn every_promise_has_tests_that_exist() {
    let [promises, others] = table();
    assert!(others.iter().all(|claim| claim.tests.is_empty()));
    for claim in promises {
        assert!(!claim.tests.is_empty(), "no test for: {}", claim.sentence);
        for line in &claim.tests {
            let names: Vec<_> = line.split('`').skip(1).step_by(2).collect();
            let [place, tests @ ..] = &names[..] else { panic!("no test in: {line}") };
            if let Some(target) = place.strip_prefix("make ") {
                let (folder, target) = target
                    .strip_prefix("-C ")
                    .and_then(|rest| rest.split_once(' '))
                    .map_or((String::new(), target), |(folder, target)| (format!("{folder}/"), target));
                let makefile = read(&format!("{folder}Makefile"));
                assert!(makefile.contains(&format!("\n{target}:")), "{folder}Makefile has no {target}");
                continue;
            }
            let source = read(place);
            assert!(!tests.is_empty() || place.starts_with("fuzz/"), "{place}: which test?");
            for test in tests {
                let exists = ["fn", "def"].iter().any(|word| source.contains(&format!("{word} {test}(")));
                assert!(exists, "{place} has no test {test}, which attacks: {}", claim.sentence);
            }
        }
    }
}

/// Files in which each allocation has a length that no input decides, or that a limit bounds to less than a MiB.
const SHORT: [&str; 5] = ["age/armor/encoder.rs", "age/stanza.rs", "age/text.rs", "keys/jwk.rs", "memory.rs"];

/// SECURITY.md: memory whose amount an input decides is refused with a typed error if the system does not have it.
///
/// `vec![0; n]` and `with_capacity` abort the process then, so where the length is not a constant, `crate::memory`
/// allocates. Lines whose length is bounded otherwise say so by `bounded:` in a comment above.
#[test]
fn allocations_of_any_length_can_fail() {
    let aborts = ["vec![0; ", "with_capacity(", ".resize("];
    let constant = |code: &str| {
        let length =
            aborts.iter().find_map(|call| code.split_once(call)).map(|(_, rest)| rest).unwrap_or_default();
        let length = length.split([']', ')']).next().unwrap_or_default();
        length.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || " _+<*(,".contains(c))
    };
    let mut found = Vec::new();
    for page in pages("crates/sealane/src", ".rs") {
        let name = page.path.trim_start_matches("crates/sealane/src/");
        if SHORT.contains(&name) || name.ends_with("/test.rs") {
            continue;
        }
        let lines: Vec<_> = without_tests(&page).lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let fallible = line.contains("memory::");
            if aborts.iter().any(|call| line.contains(call)) && !fallible && !constant(line) {
                let reason = lines[at.saturating_sub(3)..at].iter().any(|line| line.contains("bounded:"));
                if !reason {
                    found.push(format!("{}:{}: {}", page.path, at + 1, line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "use crate::memory, or say why the length is bounded: {found:#?}");
}

fn without_tests(page: &Page) -> &str {
    page.text.split("#[cfg(test)]\nmod test").next().unwrap_or_default()
}
