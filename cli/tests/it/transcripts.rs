//! Runs the transcripts in `cli/tests/commands`: command lines of the program, and what they print.
//!
//! A transcript has a new folder with the key `k`, the file `plain` of 40,000 bytes, and the files
//! below `-- NAME --` at its end.
//!
//! ```text
//! # The program succeeds and prints exactly this, where `...` is any text, and no error.
//! $ sealane encrypt -k k -o sealed plain
//! $ sealane inspect sealed
//! sealed: ...
//!
//! # Each of these fails with status 1 and one line that contains the words, prints nothing else,
//! # and changes no file.
//! $ sealane decrypt -k other -o out sealed
//! $ sealane verify -k other sealed
//! ! 1 wrong key
//! ```
//!
//! `NAME=value` before the program, `< FILE` and `> FILE` after its arguments mean the same as in a
//! shell. Transcripts in `commands/unix` use a shell for all other commands.
//!
//! The crate trycmd would do half of this: it does not check that a failed command changes no file,
//! and builds snapbox, rayon and toml_edit.

use crate::common::{Outcome, Sandbox, data};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

fn transcripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).collect()
}

#[test]
fn the_program_prints_the_transcripts() {
    let folders = if cfg!(unix) { &["", "unix"][..] } else { &[""] };
    let paths: Vec<_> = folders.iter().flat_map(|folder| transcripts(folder)).collect();
    assert!(paths.len() >= folders.len());
    thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| replay(path));
        }
    });
}

fn replay(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(40_000));
    let mut parts = text.split("\n-- ");
    let script = parts.next().unwrap();
    for (name, content) in parts.map(|part| part.split_once(" --\n").unwrap()) {
        fs::create_dir_all(sandbox.path(name).parent().unwrap()).unwrap();
        sandbox.write(name, format!("{}\n", content.trim_end_matches('\n')).as_bytes());
    }
    for step in steps(script) {
        let place = format!("{}:{}", path.display(), step.line);
        let failure = step.expected.strip_prefix("! ").and_then(|rest| rest.trim_end().split_once(' '));
        for (at, command) in step.commands.iter().enumerate() {
            match failure {
                Some((status, words)) => {
                    refused(&sandbox, command, status.parse().unwrap(), words, &place);
                }
                None => {
                    let expected = if at + 1 == step.commands.len() { step.expected.as_str() } else { "" };
                    let found = execute(&sandbox, command);
                    let out = String::from_utf8_lossy(&found.out).into_owned();
                    assert_eq!((found.status, &*found.err), (Some(0), ""), "{place}: {command}");
                    assert!(
                        matches(expected, &out),
                        "{place}: {command}\nexpected:\n{expected}\nfound:\n{out}"
                    );
                }
            }
        }
    }
}

/// Commands and what the last one prints, or how each of them fails.
#[derive(Default)]
struct Step<'a> {
    line: usize,
    commands: Vec<&'a str>,
    expected: String,
}

/// Returns the steps of a script. An empty line, a comment or a command after an output begins a
/// new one.
fn steps(script: &str) -> Vec<Step<'_>> {
    let mut steps = vec![Step::default()];
    for (at, line) in script.lines().enumerate() {
        let command = line.strip_prefix("$ ");
        let step = steps.last_mut().unwrap();
        if line.is_empty() || line.starts_with('#') || (command.is_some() && !step.expected.is_empty()) {
            steps.push(Step { line: at + 1, ..Step::default() });
        }
        let step = steps.last_mut().unwrap();
        match command {
            Some(command) => step.commands.push(command),
            None if line.is_empty() || line.starts_with('#') => {}
            None => step.expected += &format!("{line}\n"),
        }
    }
    steps
}

/// Checks that a command fails, prints one line, and changes no file.
fn refused(sandbox: &Sandbox, command: &str, status: i32, words: &str, place: &str) {
    let before = sandbox.content();
    let found = execute(sandbox, command);
    let one_line = found.err.starts_with("sealane: ") && found.err.lines().count() == 1;
    let is_expected = found.status == Some(status) && one_line && found.err.contains(words);
    assert!(
        is_expected && found.out.is_empty(),
        "{place}: {command}\nexpected: {status} {words}\nfound: {found:?}"
    );
    assert!(sandbox.content() == before, "{place}: {command}: a file has changed");
}

fn execute(sandbox: &Sandbox, line: &str) -> Outcome {
    let mut words = line.split_whitespace().peekable();
    let mut program = sandbox.sealane();
    while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
        program.env(name, value);
        words.next();
    }
    let redirects = |word: &str| word.len() > 1 && word.contains(['<', '>']);
    let needs_shell =
        line.contains(['|', ';', '\'', '"', '&', '$']) || line.split_whitespace().any(redirects);
    if words.next() != Some("sealane") || needs_shell {
        return sandbox.shell(line);
    }
    let (mut input, mut output) = (Vec::new(), None);
    while let Some(word) = words.next() {
        match word {
            "<" => input = sandbox.read(words.next().unwrap()),
            ">" => output = words.next(),
            _ => _ = program.arg(word),
        }
    }
    let mut found = sandbox.run_with(&mut program, &input);
    if let Some(name) = output {
        sandbox.write(name, &std::mem::take(&mut found.out));
    }
    found
}

/// Returns whether a text is as expected, where `...` stands for any text.
fn matches(expected: &str, text: &str) -> bool {
    let parts: Vec<_> = expected.split("...").collect();
    let [first, middle @ .., last] = &parts[..] else { return expected == text };
    let rest = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    rest.is_some_and(|rest| {
        let find = |rest: &str, part: &&str| rest.find(part).map(|at| at + part.len());
        let step =
            |rest: Option<usize>, part| rest.and_then(|at| Some(at + find(&text[first.len() + at..], part)?));
        middle.iter().fold(Some(0), step).is_some_and(|end| end <= rest.len())
    })
}
