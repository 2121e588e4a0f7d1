//! Keys of every type, recipients, passphrases and the Tink formats.

use crate::common::{Sandbox, data};
#[cfg(unix)]
use std::fs;

/// Returns a sandbox with the age keys `me` and `you`, their recipients in `me.pub` and `you.pub`,
/// and `plain`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["me", "you"] {
        let public = sandbox.run(&format!("keygen -t age -o {name}")).succeeded();
        sandbox.write(format!("{name}.pub"), &public);
    }
    sandbox.write("plain", &data(200_000));
    sandbox.write("pass", b"correct horse\n");
    sandbox
}

#[cfg(unix)]
fn mode(sandbox: &Sandbox, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    sandbox.path(name).metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn keys_of_every_type() {
    let sandbox = Sandbox::new();
    let kinds = "aes-128 aes-192 aes-256 aes-256-siv age age-pq rsa-2048 secp256k1 x25519 p-256 x-wing";
    for kind in kinds.split(' ') {
        let public = sandbox.run(&format!("keygen --type {kind} -o {kind}")).text();
        #[cfg(unix)]
        assert_eq!(mode(&sandbox, kind), 0o600);
        match kind.starts_with("aes") {
            true => {
                assert_eq!(public, "");
                sandbox.refuses(
                    &format!("keygen -y {kind}"),
                    2,
                    "expected a private key, found a symmetric key",
                );
            }
            false => {
                assert_eq!(sandbox.run(&format!("keygen --public-of {kind}")).text(), public);
                assert!(public.starts_with("age1") || public.starts_with("-----BEGIN PUBLIC KEY-----\n"));
                sandbox.run(&format!("keygen -y {kind} -o {kind}.pub")).succeeded();
                assert_eq!(sandbox.read(format!("{kind}.pub")), public.as_bytes());
            }
        }
        sandbox.refuses(
            &format!("keygen -t {kind} -o {kind}"),
            1,
            "exists, and a key file is never overwritten",
        );
    }
    sandbox.refuses("keygen -t dsa", 2, "dsa");
    let outcome = sandbox.run("keygen -t age -o j --json").text();
    let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
    assert!(outcome["type"] == "age" && outcome["public"].as_str().unwrap().starts_with("age1"));
}

#[cfg(unix)]
#[test]
fn files_for_recipients_round_trip() {
    let sandbox = sandbox();
    sandbox.shell("cat me.pub you.pub > both; echo '# friends' >> both").succeeded();
    for (to, from) in
        [("-r $(cat me.pub)", "me"), ("-r $(cat me.pub) -r $(cat you.pub)", "you"), ("-R both", "you")]
    {
        for armor in ["", "--armor"] {
            sandbox.shell(&format!("$SEALANE encrypt {to} {armor} -o sealed plain")).succeeded();
            let text = sandbox.read("sealed").starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n");
            assert_eq!(text, armor == "--armor");
            sandbox.run(&format!("decrypt -i {from} -o back sealed")).succeeded();
            assert!(sandbox.read("back") == data(200_000));
            assert!(
                sandbox
                    .shell(&format!("$SEALANE encrypt {to} {armor} < plain | $SEALANE decrypt -i {from}"))
                    .succeeded()
                    == data(200_000)
            );
            assert!(
                sandbox.run(&format!("cat -i {from} --range 70000:70010 sealed")).succeeded()
                    == data(200_000)[70_000..70_010]
            );
            sandbox.run(&format!("verify -q -i {from} sealed")).succeeded();
        }
    }
    let mixed = String::from_utf8(sandbox.read("sealed")).unwrap().replacen('\n', "\r\n", 2);
    sandbox.write("mixed", mixed.as_bytes());
    assert!(sandbox.run("decrypt -i me mixed").succeeded() == data(200_000));
    sandbox.refuses("cat -i me --range 0:5 mixed", 1, "decode it sequentially");
    let inspected = sandbox.run("inspect sealed").text();
    for line in [
        "format      age v1",
        "armor       yes",
        "recipients  X25519, X25519",
        "plaintext   200000 bytes",
        "chunks      4 of",
    ] {
        assert!(inspected.contains(line), "{inspected}");
    }
    let inspected: serde_json::Value =
        serde_json::from_str(&sandbox.run("inspect --json sealed").text()).unwrap();
    assert_eq!(inspected["recipients"].as_array().unwrap().len(), 2);
    assert_eq!(inspected["plaintext_bytes"], 200_000);
}

#[test]
fn tink_formats_and_keysets() {
    let sandbox = sandbox();
    for format in ["tink-4kb", "tink-1mb"] {
        let key = format!("-k k -c words --format {format}");
        sandbox.run(&format!("encrypt {key} -o sealed plain")).succeeded();
        sandbox.run(&format!("decrypt {key} -o back sealed")).succeeded();
        assert!(sandbox.read("back") == data(200_000));
        assert!(
            sandbox.run(&format!("cat {key} --range 5000:5005 sealed")).succeeded()
                == data(200_000)[5000..5005]
        );
        assert!(
            sandbox
                .run(&format!("inspect --format {format} sealed"))
                .text()
                .contains("plaintext   200000 bytes")
        );
        sandbox.refuses(
            &format!("decrypt -k k -c other --format {format} -o x sealed"),
            1,
            "authentication failed",
        );
    }
    let (id, value) = (7, "EgcIgCAQEBgDGhAAAQIDBAUGBwgJCgsMDQ4P");
    let keyset = format!(
        r#"{{"primaryKeyId":{id},"key":[{{"keyData":{{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey","value":"{value}","keyMaterialType":"SYMMETRIC"}},"status":"ENABLED","keyId":{id},"outputPrefixType":"RAW"}}]}}"#
    );
    sandbox.write("keyset.json", keyset.as_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(sandbox.path("keyset.json"), PermissionsExt::from_mode(0o600)).unwrap();
    }
    sandbox.run("encrypt -k keyset.json -o sealed plain").succeeded();
    sandbox.run("decrypt -k keyset.json -o back sealed").succeeded();
    assert!(sandbox.read("back") == data(200_000));
    sandbox.refuses("decrypt -k keyset.json --format tink-4kb -o x sealed", 2, "omit --format");
}
