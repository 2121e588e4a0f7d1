//! The five laws of ARCHITECTURE.md, read off the code.

use house::{house_dependencies, pages, root};

/// 1. Arrows point down, between the crates.
#[test]
fn crates_depend_downwards() {
    let may = [
        ("crates/kernels", &[][..]),
        ("crates/providers", &["kernels"]),
        ("crates/sealane", &["providers"]),
        ("cli", &["sealane"]),
        ("bindings/python", &["sealane", "cli"]),
        ("reference", &[]),
        ("vectors", &[]),
    ];
    for (folder, may) in may {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        for dependency in house_dependencies(&manifest) {
            assert!(may.contains(&dependency.as_str()), "{folder} depends on {dependency}");
        }
    }
    let kernels = std::fs::read_to_string(root().join("crates/kernels/Cargo.toml")).unwrap();
    let own = kernels.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    assert!(!own.contains('='), "the machine floor has no dependencies");
}

/// 1. Arrows point down, inside `sealane`: a module uses only modules of a lower floor.
#[test]
fn modules_depend_downwards() {
    let floors = [
        ("error", 0),
        ("random", 0),
        ("engine", 1),
        ("lab", 1),
        ("key", 1),
        ("nonce", 1),
        ("aead", 2),
        ("asymmetric", 3),
        ("hazmat", 3),
        ("age", 4),
        ("keys", 5),
        ("file", 6),
        ("hybrid", 6),
    ];
    let floor = |name: &str| floors.iter().find(|(module, _)| *module == name).map(|(_, floor)| *floor);
    // Names that lib.rs lifts to the top of the crate.
    let home =
        [("Error", "error"), ("Misuse", "error"), ("Key", "key"), ("Aead", "aead"), ("Buffer", "aead")];
    for page in pages("crates/sealane/src", ".rs") {
        let module = page.path["crates/sealane/src/".len()..].split(['/', '.']).next().unwrap().to_owned();
        let Some(own) = floor(&module) else {
            assert_eq!(module, "lib", "{}: give the new module a floor", page.path);
            continue;
        };
        for (line, code) in page.code() {
            for used in code.split("crate::").skip(1) {
                let names = used.trim_start_matches('{').split([',', '}', ';', '(', ' ']);
                for name in names.map(|name| name.split("::").next().unwrap_or_default()) {
                    let name = home.iter().find(|(lifted, _)| *lifted == name).map_or(name, |(_, home)| home);
                    if let Some(other) = floor(name) {
                        let down = other < own || name == module;
                        assert!(down, "{}:{line}: {module} uses {name}, which is not below it", page.path);
                    }
                }
            }
        }
    }
}

/// 2. `unsafe` lives in a closed list of files.
#[test]
fn unsafe_lives_in_a_closed_list() {
    let may = |path: &str| {
        path.starts_with("crates/kernels/src/vector/")
            || [
                "crates/kernels/src/variant.rs",
                "crates/kernels/src/zero.rs",
                "bindings/python/src/buffer.rs",
            ]
            .contains(&path)
    };
    for page in pages(".", ".rs").into_iter().filter(|page| page.is_house() && !may(&page.path)) {
        for (line, code) in page.code() {
            let word = code.replace("unsafe_code", "").replace("unsafe_op_in_unsafe_fn", "");
            assert!(!word.contains("unsafe"), "{}:{line}: {code}", page.path);
        }
    }
    for library in ["crates/providers", "crates/sealane", "cli", "reference", "vectors", "tests"] {
        let text = std::fs::read_to_string(root().join(library).join("src/lib.rs")).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{library} does not forbid unsafe code");
    }
}

/// 3. A choice is a row in a table, not a branch: the processor is asked in one file only.
#[test]
fn the_processor_is_asked_once() {
    for page in pages(".", ".rs").into_iter().filter(|page| page.is_house()) {
        for (line, code) in page.code() {
            let asks = code.contains("feature_detected!") || code.contains("cfg!(target_feature");
            assert!(!asks || page.path == "crates/kernels/src/cpu.rs", "{}:{line}: {code}", page.path);
            let reads = code.contains("env::var");
            assert!(
                !reads || page.path == "crates/providers/src/environment.rs",
                "{}:{line}: {code}",
                page.path
            );
        }
    }
}

/// 4. Every fast row has a slow twin, and the tests loop over the tables.
#[test]
fn tests_loop_over_the_tables() {
    let tests: String = pages("crates/kernels/tests", ".rs").into_iter().map(|page| page.text).collect();
    assert!(tests.contains("reference::"), "the kernels are compared with their slow twins");
    for page in pages("crates/kernels/src", ".rs") {
        let tables = page.text.split("pub static ").skip(1);
        for table in tables.filter_map(|rest| rest.split(':').next()).filter(|name| !name.contains(' ')) {
            let listed = page.text.contains("pub fn variants()") || tests.contains(table);
            assert!(listed, "{}: no test loops over the table {table}", page.path);
        }
    }
    let contract: String = pages("crates/providers", ".rs")
        .into_iter()
        .filter(|page| page.path.contains("/tests/") || page.path.ends_with("contract.rs"))
        .map(|page| page.text)
        .collect();
    assert!(contract.contains("ROWS"), "the contract runs over the registry");
}

/// 5. Errors are born typed and translated once, at the door.
#[test]
fn errors_are_translated_once() {
    for page in pages("bindings/python/src", ".rs")
        .into_iter()
        .filter(|page| page.path != "bindings/python/src/error.rs")
    {
        for (line, code) in page.code() {
            let translates = code.contains("sealane::Error::") || code.contains("for PyErr");
            assert!(!translates, "{}:{line}: {code}", page.path);
        }
    }
    for page in pages("crates", ".rs").into_iter().filter(|page| page.is_house()) {
        for (line, code) in page.code() {
            let leaves =
                code.contains("process::exit") || code.contains("eprintln!") || code.contains("println!");
            assert!(!leaves, "{}:{line}: a library neither prints nor leaves: {code}", page.path);
        }
    }
}

/// A page a newcomer can read in one sitting.
#[test]
fn files_are_split_by_600_lines() {
    for ending in [".rs", ".py"] {
        for page in ["crates", "cli", "bindings", "lab", "reference", "vectors", "tests"]
            .iter()
            .flat_map(|f| try_pages(f, ending))
        {
            let lines = page.text.lines().count();
            assert!(lines <= 600, "{} has {lines} lines", page.path);
        }
    }
}

fn try_pages(folder: &str, ending: &str) -> Vec<house::Page> {
    let has_some = ending == ".rs" || matches!(folder, "bindings" | "lab" | "tests");
    if has_some { pages(folder, ending) } else { Vec::new() }
}
