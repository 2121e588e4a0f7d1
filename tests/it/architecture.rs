//! The architecture rules of ARCHITECTURE.md, checked on the sources.

use project::modules::{Graph, cycles, graph};
use project::{Page, own_dependencies, pages, root};
use std::collections::{BTreeMap, BTreeSet};

/// The crates of the product and the helper crates of its tests, with the crates of this workspace
/// that each may use.
const CRATES: [(&str, &[&str]); 17] = [
    ("crates/kernels", &[]),
    ("crates/providers", &["kernels"]),
    ("crates/base", &["providers"]),
    ("crates/messages", &["base", "providers"]),
    ("crates/engine", &["base"]),
    ("crates/keys", &["base", "engine", "messages", "providers"]),
    ("crates/files", &["base", "engine", "keys", "messages", "providers"]),
    ("crates/folders", &["base", "engine", "files", "keys", "messages"]),
    ("crates/vaults", &["base", "engine", "files", "folders", "keys", "messages", "providers"]),
    ("crates/sealane", &["base", "engine", "files", "folders", "keys", "messages", "providers", "vaults"]),
    ("cli", &["sealane"]),
    ("bindings/python", &["sealane", "cli"]),
    ("bindings/c", &["sealane"]),
    ("bindings/elixir/native", &["sealane"]),
    ("bindings/rustls", &["sealane"]),
    ("reference", &[]),
    ("vectors", &[]),
];

fn module_graph(folder: &str) -> Graph {
    graph(&root().join(folder).join("src/lib.rs"))
}

/// Rule 1: dependencies point down, between crates.
#[test]
fn crates_depend_downwards() {
    for (folder, may) in CRATES {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        for dependency in own_dependencies(&manifest) {
            assert!(may.contains(&dependency.as_str()), "{folder} depends on {dependency}");
        }
    }
    let kernels = std::fs::read_to_string(root().join("crates/kernels/Cargo.toml")).unwrap();
    let own = kernels.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    assert!(!own.contains('='), "crates/kernels has no dependencies");
}

/// Rule 1: no two source files need each other, in any crate.
#[test]
fn no_cycles_between_files() {
    let mut found = Vec::new();
    for (folder, _) in CRATES {
        let graph = module_graph(folder);
        let edges: usize = graph.values().map(|to| to.len()).sum();
        // The facade only re-exports.
        let few = graph.len() > 4 && edges <= graph.len() / 2 && folder != "crates/sealane";
        assert!(!few, "{folder}: {edges} edges are too few to be the real graph");
        found.extend(cycles(&graph).into_iter().map(|cycle| (folder, cycle)));
    }
    assert!(found.is_empty(), "files that need each other: {found:#?}");
}

/// Rule 2: `unsafe` lives in a closed list of files.
// claim: tested-unsafe
#[test]
fn unsafe_code_is_in_a_closed_list() {
    const MAY: [&str; 5] = [
        "crates/kernels/src/fork.rs",
        "crates/kernels/src/variant.rs",
        "crates/kernels/src/zero.rs",
        "bindings/python/src/buffer.rs",
        // Pointers and functions of C. All other files of that crate get types that only C can
        // create.
        "bindings/c/src/memory.rs",
    ];
    let may = |path: &str| path.starts_with("crates/kernels/src/vector/") || MAY.contains(&path);
    for page in pages(".", ".rs").into_iter().filter(|page| page.is_product() && !may(&page.path)) {
        for (line, code) in page.code() {
            let word = code.replace("unsafe_code", "").replace("unsafe_op_in_unsafe_fn", "");
            // The attribute exports a function of the C library under its own name.
            let exports = page.path.starts_with("bindings/c/src/") && code.trim() == "#[unsafe(no_mangle)]";
            // Runs a safe function before Rust's runtime.
            let runs_first =
                page.path == "cli/src/main.rs" && code.trim() == "#[unsafe(link_section = \".init_array\")]";
            let word = if exports || runs_first { String::new() } else { word };
            assert!(!word.contains("unsafe"), "{}:{line}: {code}", page.path);
        }
    }
    const FORBID: [&str; 15] = [
        "crates/providers",
        "crates/base",
        "crates/messages",
        "crates/engine",
        "crates/keys",
        "crates/files",
        "crates/folders",
        "crates/vaults",
        "crates/sealane",
        "cli",
        "bindings/elixir/native",
        "bindings/rustls",
        "reference",
        "vectors",
        "tests",
    ];
    for library in FORBID {
        let text = std::fs::read_to_string(root().join(library).join("src/lib.rs")).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{library} does not forbid unsafe code");
    }
}

/// Rule 3: a choice is an entry in a table, so that one file detects processor features and few
/// read the environment.
#[test]
fn features_and_environment_are_read_in_one_file() {
    const DETECTS: &str = "crates/kernels/src/cpu.rs";
    const READS: &[&str] = &[
        // A build script, which runs on the machine of the build.
        "cli/build.rs",
        // The default keys, which are references.
        "cli/src/defaults.rs",
        // Where rclone has its configuration.
        "crates/vaults/src/rclone/mod.rs",
        "crates/providers/src/environment.rs",
        "crates/keys/src/age/plugin/program.rs",
        "crates/keys/src/known_keys.rs",
        "crates/keys/src/reference.rs",
        "crates/keys/src/token/modules.rs",
        "crates/keys/src/token/pin.rs",
    ];
    for page in pages(".", ".rs").into_iter().filter(Page::is_product) {
        for (line, code) in page.code() {
            let detects = code.contains("feature_detected!") || code.contains("cfg!(target_feature");
            assert!(!detects || page.path == DETECTS, "{}:{line}: {code}", page.path);
            let reads = code.contains("env::var");
            assert!(!reads || READS.contains(&page.path.as_str()), "{}:{line}: {code}", page.path);
        }
    }
}

/// Rule 4: every variant has a reference implementation, and tests loop over the tables.
// claim: tested-kernels
#[test]
fn tests_loop_over_the_tables() {
    let tests: String = pages("crates/kernels/tests", ".rs").into_iter().map(|page| page.text).collect();
    assert!(tests.contains("reference::"), "the kernels are compared with the reference implementations");
    for page in pages("crates/kernels/src/tables", ".rs") {
        let tables = page.text.matches("\nvariants! {").count();
        let name = page.path.rsplit('/').next().and_then(|file| file.strip_suffix(".rs")).unwrap();
        let listed = tests.contains(&format!("{name}::variants()"));
        assert!(tables == 0 || listed, "{}: no test loops over {name}::variants()", page.path);
    }
    let contract: String = pages("crates/providers", ".rs")
        .into_iter()
        .filter(|page| page.path.contains("/tests/") || page.path.ends_with("contract.rs"))
        .map(|page| page.text)
        .collect();
    assert!(
        contract.contains("entries()") || contract.contains("ENTRIES"),
        "the contract tests loop over the registry"
    );
}

/// Rule 5: errors are typed where they arise and translated once, at the binding.
#[test]
fn errors_are_translated_once() {
    const TRANSLATE: [&str; 3] =
        ["bindings/python/src/error.rs", "bindings/c/src/error.rs", "bindings/elixir/native/src/error.rs"];
    for page in pages("bindings", ".rs").into_iter().filter(|page| !TRANSLATE.contains(&page.path.as_str())) {
        for (line, code) in page.code() {
            let translates = code.contains("sealane::Error::") || code.contains("for PyErr");
            assert!(!translates, "{}:{line}: {code}", page.path);
        }
    }
    for page in pages("crates", ".rs").into_iter().filter(Page::is_product) {
        for (line, code) in page.code() {
            let prints = ["process::exit", "eprintln!", "println!"].iter().any(|call| code.contains(call));
            assert!(!prints, "{}:{line}: a library neither prints nor ends the process: {code}", page.path);
        }
    }
}

/// Rule 5: the table of kinds names classes of Python and reasons of Elixir that exist.
#[test]
fn the_names_of_errors_exist() {
    let source = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let kinds = source("crates/base/src/error/kind.rs");
    let table = kinds.split("match self {").nth(1).and_then(|rest| rest.split("};").next()).unwrap();
    let names: Vec<_> = table.split('"').skip(1).step_by(2).collect();
    assert_eq!(names.len(), 3 * table.matches("=>").count(), "{names:?}");
    let classes = source("bindings/python/sealane/exceptions.py");
    let reasons = source("bindings/elixir/lib/sealane/error.ex");
    for row in names.chunks(3) {
        let builtin = ["MemoryError", "OSError", "ValueError"].contains(&row[2]);
        assert!(builtin || classes.contains(&format!("class {}(", row[2])), "{row:?}");
        assert!(row[1].is_empty() || reasons.contains(&format!("  | `:{}` | ", row[1])), "{row:?}");
    }
}

/// Rules 1 and 5: in Elixir, one module calls the native functions. It removes arguments from stack
/// traces.
#[test]
fn one_elixir_module_calls_the_native_functions() {
    const CALLS: [&str; 2] =
        ["bindings/elixir/lib/sealane/native.ex", "bindings/elixir/lib/sealane/native/functions.ex"];
    for page in
        pages("bindings/elixir/lib", ".ex").into_iter().filter(|page| !CALLS.contains(&page.path.as_str()))
    {
        for call in ["Native.Functions", "load_nif", "Keyword.validate!("] {
            assert!(
                !page.text.contains(call),
                "{}: {call}: use Sealane.Native and Sealane.Options",
                page.path
            );
        }
    }
}

/// Rules 1 and 5: in Crystal, the names of rfc8439.cr stand on the package, and one file translates
/// errors.
#[test]
fn the_crystal_package_has_layers() {
    let mut translating = Vec::new();
    for page in pages("bindings/crystal/src", ".cr") {
        let above = page.path.starts_with("bindings/crystal/src/rfc8439");
        assert!(!above || !page.text.contains("LibSealane"), "{} calls the C library itself", page.path);
        if page.text.contains("LibSealane::NO_MATCHING_KEY") {
            translating.push(page.path);
        }
    }
    assert_eq!(translating, ["bindings/crystal/src/sealane/errors.cr"]);
}

/// Rule 5: a failing system call is an error. The replacements of these parts of the standard
/// library panic.
#[test]
fn no_system_call_panics() {
    const PANICS: [(&str, &str); 4] = [
        ("fs::read_dir", "`Folder::list`: the library panics if the folder cannot be closed"),
        ("HashSet", "`BTreeSet`: the library panics if there are no random bytes"),
        ("HashMap::new", "`BTreeMap`, or `RandomHasher` where memory can be exhausted"),
        ("HashMap::default", "`BTreeMap`, or `RandomHasher` where memory can be exhausted"),
    ];
    // Windows has no other list.
    let may = |page: &Page| page.path == "crates/engine/src/os/windows/folder.rs";
    for folder in ["crates", "cli", "bindings"] {
        for page in pages(folder, ".rs").into_iter().filter(|page| page.is_product() && !may(page)) {
            let product = page.text.split("#[cfg(test)]\nmod test").next().unwrap_or_default();
            let lines = product.lines().count();
            for (number, code) in page.code().take_while(|(number, _)| *number <= lines) {
                for (part, instead) in PANICS {
                    assert!(!code.contains(part), "{}:{number}: {code}: use {instead}", page.path);
                }
            }
        }
    }
}

/// The program's signal handlers run on no thread that the library starts.
#[test]
fn threads_start_without_signals() {
    let starts = ["thread::spawn(", "thread::Builder::new()", "ThreadPoolBuilder::new()"];
    for folder in ["crates", "bindings"] {
        for page in pages(folder, ".rs").into_iter().filter(Page::is_product) {
            let product = page.text.split("\nmod test {").next().unwrap_or_default();
            let lines: Vec<_> = product.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let statement = lines[at..].iter().take(12);
                let allowed = statement
                    .filter(|line| line.contains("without_signals(") || line.contains("use_current_thread"))
                    .count()
                    > 0;
                let starts = starts.iter().any(|start| line.contains(start));
                assert!(allowed || !starts, "{}:{}: {line}: use without_signals", page.path, at + 1);
            }
        }
    }
}

/// Rule 5: an error that is dropped is dropped for a reason, which stands beside it.
#[test]
fn discarded_errors_have_a_reason() {
    for folder in ["crates", "cli", "bindings"] {
        for page in pages(folder, ".rs").into_iter().filter(Page::is_product) {
            let lines: Vec<_> = page.text.lines().collect();
            let tests = lines.iter().position(|line| line.trim() == "#[cfg(test)]").unwrap_or(lines.len());
            for (at, line) in
                lines[..tests].iter().enumerate().filter(|(_, line)| line.contains("map_err(|_|"))
            {
                let reason = lines[at.saturating_sub(4)..=at].iter().any(|line| line.contains("//"));
                assert!(reason, "{}:{}: {line}: why is the error dropped?", page.path, at + 1);
            }
        }
    }
}

/// What differs between Unix and Windows is in the modules `os` of three crates, and in a few files
/// that are about names, rights or processes themselves.
#[test]
fn systems_differ_in_a_closed_list() {
    const MAY: [&str; 9] = [
        "cli/src/os/mod.rs",
        "crates/base/src/os.rs",
        "crates/engine/src/os/mod.rs",
        "crates/folders/src/manifest.rs",
        "crates/folders/src/name.rs",
        "crates/folders/src/tree.rs",
        "crates/keys/src/age/plugin/mod.rs",
        "crates/keys/src/known_keys.rs",
        "crates/keys/src/token/modules.rs",
    ];
    let mut found = BTreeSet::new();
    for folder in ["crates", "cli", "bindings"] {
        let is_test = |page: &Page| page.path.ends_with("test.rs");
        for page in pages(folder, ".rs").into_iter().filter(|page| page.is_product() && !is_test(page)) {
            let product = page.text.split("#[cfg(test)]").next().unwrap_or_default();
            let chooses = |line: &str| {
                line.split_once("cfg").is_some_and(|(_, condition)| {
                    condition.starts_with(['(', '!', '_'])
                        && !condition.contains("test")
                        && ["unix", "windows"].iter().any(|system| condition.contains(system))
                })
            };
            if product.lines().any(chooses) {
                found.insert(page.path);
            }
        }
    }
    assert_eq!(found, MAY.into_iter().map(str::to_owned).collect());
}

/// Rule 2: only one package of the Go module calls C. The other one that mentions it has the
/// library as an object file.
#[test]
fn one_go_package_calls_c() {
    const MAY: [&str; 2] = ["bindings/go/internal/c/", "bindings/go/internal/static/"];
    for page in pages("bindings/go", ".go").into_iter().chain(pages("lab/go", ".go")) {
        let calls = page.text.contains("import \"C\"") || page.text.contains("\"unsafe\"");
        assert!(!calls || MAY.iter().any(|folder| page.path.starts_with(folder)), "{}", page.path);
        // Rule 5: codes of errors are translated once.
        let translates = page.text.contains("C.SEALANE_FORMAT");
        assert!(!translates || page.path == "bindings/go/internal/c/error.go", "{}", page.path);
    }
}

/// Only commands stand under `cli/src/commands`, and what two of them need stands elsewhere.
#[test]
fn commands_are_apart() {
    for page in pages("cli/src/commands", ".rs") {
        let code = page.text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_table = page.path.ends_with("/mod.rs");
        assert!(is_table || code.contains("\nimpl Run for "), "{}: expected a command", page.path);
        let shared = code.lines().find(|line| line.contains("super::") || line.contains("pub(super)"));
        assert!(shared.is_none(), "{}: {shared:?}: code for several commands belongs in cli/src", page.path);
    }
}

/// A folder can be read at one look.
#[test]
fn folders_have_at_most_30_sources() {
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    let rust = CRATES.iter().flat_map(|(folder, _)| pages(folder, ".rs"));
    let python = [".py", ".pyi"].into_iter().flat_map(|ending| pages("bindings/python/sealane", ending));
    for page in rust.chain(python).filter(Page::is_product) {
        let (folder, _) = page.path.rsplit_once('/').unwrap();
        *sources.entry(folder.to_owned()).or_default() += 1;
    }
    let long: Vec<_> = sources.iter().filter(|(_, files)| **files > 30).collect();
    assert!(long.is_empty(), "{long:?}");
}

/// A file can be read in one sitting.
#[test]
fn files_have_at_most_600_lines() {
    for page in
        [".rs", ".py", ".c", ".h", ".go", ".ex", ".exs", ".cr"].iter().flat_map(|ending| pages(".", ending))
    {
        let lines = page.text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", page.path);
    }
}
