//! The promises of SECURITY.md and their tests: a comment `claim: ID` above a test names the
//! promise that it attacks.

use project::{Page, pages, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Words in a row of a table, 40 and its ID, or in an item of a list.
const MAX_WORDS: usize = 41;

/// Returns the IDs in SECURITY.md, in their order.
fn promises() -> Vec<String> {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    page.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once("` |")?.0.to_owned())).collect()
}

/// Returns the name of the test below a marker: a test function, a fuzz target, a transcript, or
/// a target of a Makefile.
fn marked_test(path: &str, below: &[&str]) -> Option<String> {
    if path.starts_with("fuzz/targets/src/") {
        return Some("run".to_owned());
    }
    if path.starts_with("cli/tests/commands/") {
        return Some("transcript".to_owned());
    }
    if path.ends_with("Makefile") {
        return Some(format!("make {}", below.first()?.split_once(':')?.0));
    }
    let quoted =
        [(".cr", "it \""), (".exs", "test \"")].into_iter().find(|(ending, _)| path.ends_with(ending));
    if let Some((_, word)) = quoted {
        return Some(below.first()?.trim_start().strip_prefix(word)?.split_once('"')?.0.to_owned());
    }
    if path.ends_with(".go") {
        let test = below.iter().find_map(|line| line.strip_prefix("func "))?;
        return test.starts_with("Test").then(|| test.split('(').next().unwrap_or_default().to_owned());
    }
    let word = if path.ends_with(".py") { "def " } else { "fn " };
    let at =
        below.iter().position(|line| line.trim_start().trim_start_matches("async ").starts_with(word))?;
    let name = below[at].split_once(word)?.1.split_once('(')?.0;
    let is_test = match path.ends_with(".py") {
        // A script of `make -C tests ct` is a test as a whole.
        true => name.starts_with("test_") || name == "main",
        false => below[..at].iter().any(|line| line.trim() == "#[test]"),
    };
    is_test.then(|| name.to_owned())
}

/// Returns the tests of each promise that a marker names.
fn tests() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let endings = [".rs", ".py", ".txt", "Makefile", "_spec.cr", "_test.exs", "_test.go"];
    for page in endings.into_iter().flat_map(|ending| pages(".", ending)) {
        let lines: Vec<_> = page.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let line = line.trim_start();
            let ids = line.strip_prefix("// claim: ").or_else(|| line.strip_prefix("# claim: "));
            for id in ids.into_iter().flat_map(|ids| ids.split(", ")) {
                let test = marked_test(&page.path, &lines[at + 1..]);
                let test = test.unwrap_or_else(|| panic!("{}:{}: no test follows", page.path, at + 1));
                found.entry(id.to_owned()).or_default().push(format!("{}: `{test}`", page.path));
            }
        }
    }
    found
}

/// Writes the table of promises and tests to `target/tmp/claims.md`.
#[test]
fn every_promise_has_tests() {
    let (promises, tests) = (promises(), tests());
    assert!(promises.len() > 60);
    let mut table = String::from("| promise | tests |\n|---|---|\n");
    for (at, id) in promises.iter().enumerate() {
        assert!(!promises[..at].contains(id), "SECURITY.md has {id} twice");
        let tests = tests.get(id).unwrap_or_else(|| panic!("no test is marked with `claim: {id}`"));
        table += &format!("| `{id}` | {} |\n", tests.join("<br>"));
    }
    let unknown: Vec<_> = tests.iter().filter(|(id, _)| !promises.contains(id)).collect();
    assert!(unknown.is_empty(), "SECURITY.md has no such promise: {unknown:#?}");
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("claims.md"), table).unwrap();
}

#[test]
fn promises_and_limits_are_short() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    for entry in page.replace("\n  ", " ").lines().filter(|line| line.starts_with(['|', '-'])) {
        let words = entry.split_whitespace().filter(|word| *word != "|").count();
        assert!(words <= MAX_WORDS, "{words} words, at most {MAX_WORDS}: {entry}");
    }
}

/// A reason is in the guide or a decision, a promise in SECURITY.md, and neither in both.
#[test]
fn no_sentence_of_security_stands_twice() {
    let sentences = |text: &str| -> Vec<String> {
        let paragraphs = text.replace("\n- ", "\n\n- ").replace("\n|", "\n\n|");
        let joined = paragraphs.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        let parts: Vec<_> = joined
            .flat_map(|text| text.split(['|', '.', ':', ';']).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let words = parts.iter().map(|part| part.split_whitespace().collect::<Vec<_>>());
        words.filter(|words| words.len() >= 8).map(|words| words.join(" ").to_lowercase()).collect()
    };
    let ours = sentences(&fs::read_to_string(root().join("SECURITY.md")).unwrap());
    assert!(ours.len() > 100);
    for (at, sentence) in ours.iter().enumerate() {
        assert!(!ours[..at].contains(sentence), "SECURITY.md has this twice: {sentence}");
    }
    for page in ["docs/guide", "docs/decisions"].iter().flat_map(|folder| pages(folder, ".md")) {
        let twice: Vec<_> = sentences(&page.text).into_iter().filter(|one| ours.contains(one)).collect();
        assert!(twice.is_empty(), "{} and SECURITY.md have these: {twice:#?}", page.path);
    }
}

/// Files in which each allocation has a length that no input decides, or that a limit bounds to
/// less than a MiB.
const SHORT: [&str; 5] =
    ["keys/age/armor/encoder.rs", "keys/age/stanza.rs", "keys/age/text.rs", "keys/jwk.rs", "base/memory.rs"];

/// SECURITY.md: memory whose amount an input decides is refused with a typed error if the system
/// does not have it.
///
/// `vec![0; n]` and `with_capacity` abort the process then, so where the length is not a constant,
/// `crate::memory` allocates. Lines whose length is bounded otherwise say so by `bounded:` in a
/// comment above.
// claim: input-memory
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
    let libraries = ["base", "messages", "engine", "keys", "files", "folders"];
    for page in libraries.iter().flat_map(|library| pages(&format!("crates/{library}/src"), ".rs")) {
        let name = page.path.trim_start_matches("crates/").replacen("/src/", "/", 1);
        if SHORT.contains(&name.as_str()) || name.ends_with("/test.rs") {
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
