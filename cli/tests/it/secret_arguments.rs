//! Secrets among the arguments are never printed: not in text, not in JSON, not by the parser of
//! the command line.

use crate::common::Sandbox;

/// Each argument of each command, where `SECRET` takes the place of one of them.
const LINES: [&str; 42] = [
    "encrypt -r SECRET plain",
    "encrypt -rSECRET plain",
    "encrypt --recipient=SECRET plain",
    "encrypt -R SECRET plain",
    "encrypt -k SECRET plain",
    "encrypt --key=SECRET plain",
    "encrypt -k env:SECRET plain",
    "encrypt -k file:SECRET plain",
    "encrypt -k keyring:SECRET plain",
    "encrypt -k keyring:SECRET/user plain",
    "encrypt -k k -i SECRET plain",
    "encrypt -k k SECRET",
    "encrypt -k k plain SECRET",
    "encrypt -k k -o missing/SECRET plain",
    "encrypt -k k -o SECRET/x plain",
    "encrypt -k k -c SECRET -o no/x plain",
    "encrypt -k k --format SECRET plain",
    "encrypt -k k --format=SECRET plain",
    "encrypt -k k --threads SECRET plain",
    "encrypt -k k --recursive --suffix SECRET/ -o out plain",
    "encrypt -k k --recursive --manifest no/SECRET -o out plain",
    "encrypt --passphrase-fd SECRET plain",
    "encrypt --SECRET plain",
    "encrypt -SECRET plain",
    "decrypt -i SECRET plain",
    "decrypt -iSECRET plain",
    "decrypt --identity=SECRET plain",
    "decrypt -k SECRET plain",
    "decrypt -p --max-work-factor SECRET plain",
    "cat -k k --range SECRET plain",
    "cat -k k --range : SECRET",
    "cat -i SECRET --range : plain",
    "verify -k k SECRET",
    "verify -i SECRET plain",
    "inspect SECRET",
    "inspect --format SECRET plain",
    "keygen -t SECRET",
    "keygen -o no/SECRET",
    "keygen -y SECRET",
    "keygen -r SECRET",
    "completions SECRET",
    "SECRET",
];

// claim: users-arguments
#[test]
fn no_argument_that_is_a_secret_is_printed() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"text");
    sandbox.run("keygen -t age -o age").succeeded();
    sandbox.run("keygen -t x25519 -o pem").succeeded();
    let read = |name| String::from_utf8(sandbox.read(name)).unwrap();
    let age = read("age").lines().find(|line| line.starts_with("AGE-SECRET-KEY-")).unwrap().to_owned();
    let mistyped = age.replace('1', "l");
    let hexadecimal = "1f".repeat(32);
    let secrets = [age.clone(), age.to_lowercase(), mistyped, read("k"), read("pem"), hexadecimal.clone()];
    let before = sandbox.content();
    for secret in &secrets {
        // The longest part that no message contains by chance.
        let part = secret.trim_start_matches("-----BEGIN PRIVATE KEY-----").trim();
        let part = part.get(16..40).unwrap();
        // Names of files can be digits, also as a part of a path.
        let composed = |line: &str| line.contains("/SECRET") || line.contains("SECRET/");
        let lines = LINES.iter().filter(|line| *secret != hexadecimal || !composed(line));
        for line in lines.flat_map(|line| [line.to_string(), format!("{line} --json")]) {
            let args = line.split(' ').map(|word| word.replace("SECRET", secret));
            let outcome = sandbox.run_with(sandbox.sealane().args(args), b"");
            let printed = format!("{}{}", String::from_utf8_lossy(&outcome.out), outcome.err);
            // The output of an encryption could only contain it by chance.
            assert!(!printed.to_lowercase().contains(&part.to_lowercase()), "{line}: {printed}");
            assert!(outcome.status != Some(101) && outcome.status != Some(0), "{line}: {outcome:?}");
        }
    }
    assert!(sandbox.content() == before);
}

/// Files can have such names.
#[test]
fn a_file_whose_name_is_64_digits_is_used_and_named() {
    let sandbox = Sandbox::new();
    let name = "0123456789abcdef".repeat(4);
    sandbox.write(&name, b"text");
    let out = sandbox.run(&format!("encrypt -k k --json -o sealed {name}")).text();
    assert!(out.contains(&name), "{out}");
    sandbox.refuses(&format!("decrypt -k k -o out {name}"), 1, &name);
    let out = sandbox.run(&format!("decrypt -k k --json -o {name} sealed")).text();
    assert!(out.contains(&name), "{out}");
}
