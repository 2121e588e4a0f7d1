//! A build with the feature `fips`: the lines of the listings, and errors of the program.

use serde_json::Value;
use std::process::{Command, Output};

fn sealane(arguments: &[&str], folder: &std::path::Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealane"));
    command.args(arguments).current_dir(folder).env_remove("SEALANE_PROVIDER").env_remove("SEALANE_CPU");
    command.output().unwrap()
}

#[test]
fn listings_and_refusals() {
    let folder = std::env::temp_dir().join(format!("sealane-fips-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let run = |line: &str| {
        let output = sealane(&line.split_whitespace().collect::<Vec<_>>(), &folder);
        let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), out, error)
    };
    let (status, table, _) = run("providers");
    assert_eq!(status, Some(0));
    assert!(table.contains("\nfips: on; AWS-LC FIPS "), "{table}");
    assert!(table.contains("\nfips: refused: the age format\n"), "{table}");
    let chosen: Vec<_> = table.lines().filter(|line| line.ends_with("yes, chosen")).collect();
    assert_eq!(chosen.len(), 2, "{table}");

    let (_, listing, _) = run("providers --json");
    let listing: Value = serde_json::from_str(&listing).unwrap();
    assert_eq!(listing["fips"]["enabled"], true);
    assert!(listing["fips"]["module"].as_str().unwrap().starts_with("AWS-LC FIPS "));
    let (_, report, _) = run("doctor");
    assert!(report.contains("\nfips       on; AWS-LC FIPS "), "{report}");

    std::fs::write(folder.join("plain"), b"data").unwrap();
    for (line, status, says) in [
        ("keygen -t aes-256 -o k", 0, ""),
        ("encrypt -k k -o sealed plain", 0, ""),
        ("decrypt -k k -o opened sealed", 0, ""),
        ("keygen -t age -o age", 1, "X25519: not approved in this FIPS build"),
        ("keygen -t rsa-2048 -o rsa", 1, "RSA-OAEP: not approved in this FIPS build"),
        ("keygen -t p-256 -o p256", 0, ""),
    ] {
        let (found, _, error) = run(line);
        assert_eq!(found, Some(status), "{line}: {error}");
        assert!(error.contains(says), "{line}: {error}");
    }
    assert_eq!(std::fs::read(folder.join("opened")).unwrap(), b"data");
    std::fs::remove_dir_all(&folder).unwrap();
}
