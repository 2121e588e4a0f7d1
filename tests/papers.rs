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
    for package in fs::read_to_string(root().join("python/tests/requirements.txt")).unwrap().lines() {
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
