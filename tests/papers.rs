//! What the papers say is what the code has.

use house::{pages, root};
use providers::{Algorithm, Provider, listing};
use std::fs;

/// README's table of algorithms and providers comes from the registry.
#[test]
fn the_readme_table_is_the_registry() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut table = String::from("| algorithm |");
    for provider in Provider::ALL {
        table += &format!(" {} |", provider.name());
    }
    table += &format!("\n|---|{}", "---|".repeat(Provider::ALL.len()));
    let rows = listing();
    for algorithm in Algorithm::ALL {
        table += &format!("\n| `{}` |", algorithm.name());
        for provider in Provider::ALL {
            let has = rows.iter().any(|row| {
                row.algorithm == algorithm.name() && row.provider == provider.name() && row.available
            });
            table += if has { " yes |" } else { " |" };
        }
    }
    assert!(readme.contains(&table), "README.md should contain this table:\n\n{table}\n");
}

/// Every dependency is named with its reason.
#[test]
fn every_dependency_has_a_reason() {
    let reasons: String = pages("docs/decisions", ".md").into_iter().map(|page| page.text).collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let listed = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    for line in listed.lines().filter(|line| line.contains('=') && !line.contains("path =")) {
        let name = line.split([' ', '=']).next().unwrap();
        assert!(reasons.contains(&format!("`{name}`")), "docs/decisions says nothing of {name}");
    }
    let [tests, build] = ["python/tests/requirements.txt", "python/build-requirements.txt"]
        .map(|path| fs::read_to_string(root().join(path)).unwrap());
    for package in tests.lines().chain(build.lines()) {
        let name = package.split("==").next().unwrap().trim();
        if !name.is_empty() && !name.starts_with('#') {
            assert!(reasons.contains(&format!("`{name}`")), "docs/decisions says nothing of {name}");
            assert!(package.contains("=="), "{package} is not pinned");
        }
    }
}

/// Links between the papers lead somewhere.
#[test]
fn links_lead_somewhere() {
    for page in pages(".", ".md") {
        let folder = root().join(&page.path).parent().unwrap().to_owned();
        for target in page.text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                assert!(folder.join(target).exists(), "{}: nothing at {target}", page.path);
            }
        }
    }
}

/// A figure without a record is not a claim: what README says of speed stands in the record that it names.
#[test]
fn the_readme_figures_have_a_record() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let speed = readme.split("## Speed").nth(1).unwrap().split("\n## ").next().unwrap();
    let record = speed
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .find(|path| path.ends_with(".md"));
    let record = fs::read_to_string(root().join(record.expect("README names a record"))).unwrap();
    let record = record.split_whitespace().collect::<Vec<_>>().join(" ");
    // What README rounds, as the record prints it.
    for (said, printed) in [
        ("2.2 x aws-lc; 100 %", "AES-256 16384 vaes512 17.8 8.2 2.18"),
        ("5.2 x as fast as `cryptography` 50", "encrypt_into, 64 B 424 ns 80.6 ns 5.24x"),
        ("4.6 x as fast as `cryptography`'s", "seal with automatic nonce, 64 B 389 ns 85.4 ns 4.56x"),
        ("2.8 x as fast as `cryptography`'s", "seal to new bytes, 256 MiB 143 ms 50.3 ms 2.84x"),
        ("1.85 x one", "encrypt_into 1 MiB, 2 threads against 1 146 ms 79 ms 1.85x"),
        ("1.2 x as fast as `cp`", "sealane encrypt 0.201 5.33 1.21 19.9"),
        ("0.8 to", "sealane decrypt 0.300 3.58 0.78 19.9"),
        ("to 1.25 x", "sealane decrypt 0.180 5.96 1.25 20.0"),
        ("in 20 MiB", "sealane encrypt 0.201 5.33 1.21 19.9"),
        ("6 microseconds", "random places of that file: 6.0 us each"),
    ] {
        assert!(speed.contains(said), "README no longer says {said:?}: change this test with it");
        assert!(record.contains(printed), "not in the record: {printed}");
    }
}
