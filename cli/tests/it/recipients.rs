//! Keys of every kind, people, passphrases, and the formats of others.

use crate::common::{Room, data};
use std::fs;

/// A room with the age keys `me` and `you`, their recipients in `me.pub` and `you.pub`, and `plain`.
fn room() -> Room {
    let room = Room::new();
    for name in ["me", "you"] {
        let public = room.run(&format!("keygen -t age -o {name}")).worked();
        room.write(format!("{name}.pub"), &public);
    }
    room.write("plain", &data(200_000));
    room.write("pass", b"correct horse\n");
    room
}

#[cfg(unix)]
fn mode(room: &Room, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    room.path(name).metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn keys_of_every_kind() {
    let room = Room::new();
    let kinds = "aes-128 aes-192 aes-256 age age-pq rsa-2048 secp256k1 x25519 p-256 x-wing";
    for kind in kinds.split(' ') {
        let public = room.run(&format!("keygen --type {kind} -o {kind}")).text();
        #[cfg(unix)]
        assert_eq!(mode(&room, kind), 0o600);
        match kind.starts_with("aes") {
            true => {
                assert_eq!(public, "");
                room.refuses(
                    &format!("keygen -y {kind}"),
                    2,
                    "expected a private key, found a symmetric key",
                );
            }
            false => {
                assert_eq!(room.run(&format!("keygen --public-of {kind}")).text(), public);
                assert!(public.starts_with("age1") || public.starts_with("-----BEGIN PUBLIC KEY-----\n"));
                room.run(&format!("keygen -y {kind} -o {kind}.pub")).worked();
                assert_eq!(room.read(format!("{kind}.pub")), public.as_bytes());
            }
        }
        room.refuses(
            &format!("keygen -t {kind} -o {kind}"),
            1,
            "exists, and a key file is never overwritten",
        );
    }
    room.refuses("keygen -t dsa", 2, "dsa");
    let said = room.run("keygen -t age -o j --json").text();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(said["type"] == "age" && said["public"].as_str().unwrap().starts_with("age1"));
}

#[test]
fn keys_under_a_passphrase_and_for_people() {
    let room = room();
    for kind in ["aes-256", "age", "p-256"] {
        room.shell(&format!("$SEALANE keygen -t {kind} -p --passphrase-fd 3 -o {kind} 3<pass >/dev/null"))
            .worked();
        assert!(!String::from_utf8(room.read(kind)).unwrap().contains("\"k\""));
    }
    let key = "-k aes-256 --passphrase-fd 3";
    room.shell(&format!("$SEALANE encrypt {key} -o sealed plain 3<pass")).worked();
    room.shell(&format!("$SEALANE decrypt {key} -o back sealed 3<pass")).worked();
    assert!(room.read("back") == data(200_000));
    room.shell("echo wrong | $SEALANE decrypt -k aes-256 --passphrase-fd 0 -o x sealed")
        .failed(1, "aes-256: wrong passphrase");
    room.shell("$SEALANE keygen -y age --passphrase-fd 3 3<pass").worked();
    room.shell("printf '' | $SEALANE keygen -p --passphrase-fd 0 -o x")
        .failed(2, "expected a passphrase, found an empty one");
    room.shell("$SEALANE keygen -p --passphrase-fd 77 -o x")
        .failed(2, "--passphrase-fd 77: the file descriptor is not open");

    room.shell("$SEALANE keygen -r $(cat me.pub) -o for-me").worked();
    room.run("encrypt -k for-me -i me -o sealed plain").worked();
    room.run("decrypt -k for-me -i me -o back sealed").worked();
    assert!(room.read("back") == data(200_000));
    room.refuses("decrypt -k for-me -o x sealed", 2, "encrypted for recipients");
    room.refuses("decrypt -k for-me -i you -o x sealed", 1, "no matching key");
}

#[test]
fn for_people_and_back() {
    let room = room();
    room.shell("cat me.pub you.pub > both; echo '# friends' >> both").worked();
    for (to, from) in
        [("-r $(cat me.pub)", "me"), ("-r $(cat me.pub) -r $(cat you.pub)", "you"), ("-R both", "you")]
    {
        for armor in ["", "--armor"] {
            room.shell(&format!("$SEALANE encrypt {to} {armor} -o sealed plain")).worked();
            let text = room.read("sealed").starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n");
            assert_eq!(text, armor == "--armor");
            room.run(&format!("decrypt -i {from} -o back sealed")).worked();
            assert!(room.read("back") == data(200_000));
            assert!(
                room.shell(&format!("$SEALANE encrypt {to} {armor} < plain | $SEALANE decrypt -i {from}"))
                    .worked()
                    == data(200_000)
            );
            assert!(
                room.run(&format!("cat -i {from} --range 70000:70010 sealed")).worked()
                    == data(200_000)[70_000..70_010]
            );
            room.run(&format!("verify -q -i {from} sealed")).worked();
        }
    }
    let mixed = String::from_utf8(room.read("sealed")).unwrap().replacen('\n', "\r\n", 2);
    room.write("mixed", mixed.as_bytes());
    assert!(room.run("decrypt -i me mixed").worked() == data(200_000));
    room.refuses("cat -i me --range 0:5 mixed", 1, "decode it from its beginning");
    let told = room.run("inspect sealed").text();
    for line in [
        "format      age v1",
        "armor       yes",
        "recipients  X25519, X25519",
        "plaintext   200000 bytes",
        "chunks      4 of",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let told: serde_json::Value = serde_json::from_str(&room.run("inspect --json sealed").text()).unwrap();
    assert_eq!(told["recipients"].as_array().unwrap().len(), 2);
    assert_eq!(told["plaintext_bytes"], 200_000);
}

#[test]
fn what_is_wrong_is_said_apart() {
    let room = room();
    room.shell("$SEALANE encrypt -r $(cat me.pub) -o sealed plain").worked();
    room.refuses("decrypt -i you -o x sealed", 1, "sealed: no matching key");
    room.refuses("decrypt -i me -o x plain", 1, "plain: expected an age file");
    room.refuses(
        "decrypt -k k -o x sealed",
        1,
        "sealed: expected a file encrypted with a symmetric key, found an age file",
    );
    room.shell("$SEALANE decrypt -p --passphrase-fd 3 -o x sealed 3<pass").failed(1, "use -i");
    room.shell("head -c 100000 sealed > cut").worked();
    room.refuses("decrypt -i me -o x cut", 1, "cut: ");
    let mut damaged = room.read("sealed");
    damaged[140] ^= 1;
    room.write("damaged", &damaged);
    room.refuses("decrypt -i me -o x damaged", 1, "damaged: damaged header");
    room.write("future", b"age-encryption.org/v2\n-> X\n");
    room.refuses("decrypt -i me -o x future", 1, "unsupported version");
    room.refuses("decrypt -i plain -o x sealed", 1, "plain: ");
    room.refuses("decrypt -k k -i me -o x sealed", 2, "k: ");
    room.refuses("encrypt -r age1nonsense -o x plain", 1, "age1nonsense: expected a recipient");
    room.write("broken", b"# who\nage1nonsense\n");
    room.refuses("encrypt -R broken -o x plain", 1, "broken: line 2: ");
    room.refuses("encrypt -o x plain", 2, "--key");
    room.refuses("encrypt -k k -p -o x plain", 2, "cannot be used with");
    room.refuses("encrypt -k me -o x plain", 2, "expected a symmetric key");
    room.shell("$SEALANE encrypt -r $(cat me.pub) -c words -o x plain").failed(2, "have no context");
    room.shell("$SEALANE encrypt -r $(cat me.pub) --format tink-1mb -o x plain").failed(2, "requires -k");
    room.refuses("encrypt -k k --format age -o x plain", 2, "not for -k");
    room.refuses("decrypt -i - -o x sealed", 2, "standard input carries the data");
    room.run("keygen -t age-pq -o pq").worked();
    room.shell("$SEALANE encrypt -r $(cat me.pub) -r $($SEALANE keygen -y pq) -o x plain")
        .failed(2, "post-quantum");
    assert!(!room.path("x").exists());
}

#[test]
fn passphrases() {
    let room = room();
    room.shell("$SEALANE encrypt -p --passphrase-fd 3 -o sealed plain 3<pass").worked();
    room.shell("$SEALANE decrypt -p --passphrase-fd 3 -o back sealed 3<pass").worked();
    assert!(room.read("back") == data(200_000));
    // The line ends where the data begins.
    room.shell("(cat pass sealed) | $SEALANE decrypt -p --passphrase-fd 0 > back2").worked();
    assert!(room.read("back2") == data(200_000));
    room.shell("echo wrong | $SEALANE decrypt -p --passphrase-fd 0 -o x sealed")
        .failed(1, "sealed: wrong passphrase");
    room.shell("$SEALANE decrypt -p --passphrase-fd 3 --max-work-factor 10 -o x sealed 3<pass")
        .failed(1, "--max-work-factor");
    room.refuses("decrypt -i me -o x sealed", 1, "encrypted with a passphrase; use -p");
    // Nobody to ask: the terminal is not ours here.
    room.shell("setsid -w $SEALANE encrypt -p -o x plain </dev/null").failed(2, "use --passphrase-fd");
    assert!(!room.path("x").exists());
}

/// Files of identities that are encrypted themselves.
#[test]
fn identities_under_a_passphrase() {
    let room = room();
    room.shell("$SEALANE encrypt -p --passphrase-fd 3 -a -o me.age me 3<pass").worked();
    room.shell("$SEALANE encrypt -r $(cat me.pub) -o sealed plain").worked();
    room.shell("$SEALANE decrypt -i me.age --passphrase-fd 3 -o back sealed 3<pass").worked();
    assert!(room.read("back") == data(200_000));
}

#[test]
fn formats_of_tink() {
    let room = room();
    for format in ["tink-4kb", "tink-1mb"] {
        let key = format!("-k k -c words --format {format}");
        room.run(&format!("encrypt {key} -o sealed plain")).worked();
        room.run(&format!("decrypt {key} -o back sealed")).worked();
        assert!(room.read("back") == data(200_000));
        assert!(
            room.run(&format!("cat {key} --range 5000:5005 sealed")).worked() == data(200_000)[5000..5005]
        );
        assert!(
            room.run(&format!("inspect --format {format} sealed"))
                .text()
                .contains("plaintext   200000 bytes")
        );
        room.refuses(
            &format!("decrypt -k k -c other --format {format} -o x sealed"),
            1,
            "authentication failed",
        );
    }
    let (id, value) = (7, "EgcIgCAQEBgDGhAAAQIDBAUGBwgJCgsMDQ4P");
    let keyset = format!(
        r#"{{"primaryKeyId":{id},"key":[{{"keyData":{{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey","value":"{value}","keyMaterialType":"SYMMETRIC"}},"status":"ENABLED","keyId":{id},"outputPrefixType":"RAW"}}]}}"#
    );
    room.write("keyset.json", keyset.as_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(room.path("keyset.json"), PermissionsExt::from_mode(0o600)).unwrap();
    }
    room.run("encrypt -k keyset.json -o sealed plain").worked();
    room.run("decrypt -k keyset.json -o back sealed").worked();
    assert!(room.read("back") == data(200_000));
    room.refuses("decrypt -k keyset.json --format tink-4kb -o x sealed", 2, "omit --format");
}
