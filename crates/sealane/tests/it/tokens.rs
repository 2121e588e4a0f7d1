//! Keys of PKCS#11 tokens: what is refused before a token is asked, and SoftHSM. The tests with
//! SoftHSM need its programs. `tests/datasets/test_tokens.py` has more of them.
#![cfg(target_os = "linux")]

use project::programs;
use sealane::keys::{
    EncryptedKeyring, Keyring, MAX_KEYSET_LEN, Prefix, Reference, TokenKey, set_key_services, set_pin_prompt,
};
use sealane::{Error, Misuse};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use zeroize::Zeroizing;

fn key(uri: &str) -> TokenKey {
    TokenKey::parse(uri).unwrap()
}

/// Lengths are checked first, so an error about the module shows that the length is accepted.
#[test]
fn lengths_are_checked_before_the_token_is_asked() {
    let missing = key("pkcs11:object=a?module-name=no-such-module&pin-value=1");
    for len in [0, 1, MAX_KEYSET_LEN] {
        assert!(matches!(missing.encrypt(&vec![7; len]), Err(Error::KeyNotFound(_))), "{len}");
    }
    for len in [MAX_KEYSET_LEN + 1, 100_000] {
        assert!(matches!(missing.encrypt(&vec![7; len]), Err(Error::LimitExceeded(_))), "{len}");
    }
    for len in [0, 1, 1 << 16] {
        assert!(matches!(missing.decrypt(&vec![7; len]), Err(Error::KeyNotFound(_))), "{len}");
    }
    for len in [(1 << 16) + 1, 100_000] {
        assert!(matches!(missing.decrypt(&vec![7; len]), Err(Error::Authentication)), "{len}");
    }
    let error = missing.encrypt(b"").unwrap_err().to_string();
    assert!(error.contains("pkcs11:object=a?module-name=no-such-module&pin-value=***: "), "{error}");
    assert!(error.contains("use module-path for a module in another folder"), "{error}");
}

#[test]
fn modules_that_cannot_be_loaded() {
    let folder = std::env::temp_dir().join(format!("sealane-modules-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("libtext.so"), "no library").unwrap();
    let error = |uri: String| match key(&uri).encrypt(b"") {
        Err(Error::KeyNotFound(text)) => text,
        other => panic!("{uri}: {other:?}"),
    };
    let shown = folder.display();
    let text = error(format!("pkcs11:object=a?module-path={shown}/none.so"));
    assert!(text.contains(&format!("the PKCS#11 module {shown}/none.so cannot be loaded: ")), "{text}");
    assert!(!text.contains("use module-path") && !text.contains("name one with"), "{text}");
    // A name in a folder stands for libNAME.so and NAME.so; the file that exists is named.
    let text = error(format!("pkcs11:object=a?module-path={shown}&module-name=text"));
    assert!(text.contains(&format!("the PKCS#11 module {shown}/libtext.so cannot be loaded: ")), "{text}");
    let libc = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"];
    if let Some(libc) = libc.into_iter().find(|path| fs::exists(path).unwrap()) {
        let text = error(format!("pkcs11:object=a?module-path={libc}"));
        assert!(text.contains("is a library, but no PKCS#11 module"), "{text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Runs the rest of a test in a process of its own, whose tokens are in a new folder.
fn child(test: &str, pin: Option<&str>, inner: fn(&SoftHsm)) {
    if programs::missing(&["libsofthsm2.so", "softhsm2-util", "pkcs11-tool"]) {
        return;
    }
    const MARK: &str = "SEALANE_TEST_TOKENS";
    if let Some(folder) = std::env::var_os(MARK) {
        return inner(&SoftHsm(folder.into()));
    }
    let folder = std::env::temp_dir().join(format!("sealane-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("tokens")).unwrap();
    let config = format!(
        "directories.tokendir = {}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n",
        folder.display()
    );
    fs::write(folder.join("conf"), config).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("tokens::{test}"), "--exact"])
        .env(MARK, &folder)
        .env("SOFTHSM2_CONF", folder.join("conf"))
        .env_remove("SEALANE_PKCS11_PIN")
        .envs(pin.map(|pin| ("SEALANE_PKCS11_PIN", pin)))
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    // A name that matches no test runs nothing and succeeds.
    assert!(output.status.success() && printed.contains("1 passed"), "{test}:\n{printed}");
}

/// A folder of tokens of SoftHSM.
struct SoftHsm(PathBuf);

const PIN: &str = "1234";

fn module() -> String {
    programs::find("libsofthsm2.so").unwrap().display().to_string()
}

impl SoftHsm {
    fn run(&self, program: &str, arguments: &[&str]) {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    }

    fn token(&self, label: &str) {
        let arguments = ["--init-token", "--free", "--label", label, "--pin", PIN, "--so-pin", "5678"];
        self.run("softhsm2-util", &arguments);
    }

    fn key(&self, token: &str, kind: &[&str], label: &str, id: &str) {
        let arguments = ["--module", &module(), "--token-label", token, "--login", "--pin", PIN];
        let named = ["--label", label, "--id", id, "--sensitive"];
        self.run("pkcs11-tool", &[&arguments, kind, &named].concat());
    }

    fn uri(&self, path: &str, query: &str) -> TokenKey {
        key(&format!("pkcs11:{path}?module-path={}{query}", module()))
    }
}

const AES: [&str; 4] = ["--keygen", "--key-type", "AES:32", "--usage-decrypt"];
const RSA: [&str; 4] = ["--keypairgen", "--key-type", "rsa:2048", "--usage-decrypt"];
const EC: [&str; 4] = ["--keypairgen", "--key-type", "EC:prime256v1", "--usage-sign"];

fn refused<T>(found: Result<T, Error>) -> String {
    match found {
        Err(Error::KeyRefused(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

fn not_found<T>(found: Result<T, Error>) -> String {
    match found {
        Err(Error::KeyNotFound(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn keys_of_a_token_wrap_keyrings() {
    child("keys_of_a_token_wrap_keyrings", None, |hsm| {
        hsm.token("backup");
        hsm.key("backup", &AES, "sales", "01");
        hsm.key("backup", &RSA, "pair", "02");
        hsm.key("backup", &EC, "curve", "03");
        let with_pin = format!("&pin-value={PIN}");
        for (object, len) in [("sales", 12 + 16), ("pair", 4 + 256 + 12 + 16)] {
            let key = hsm.uri(&format!("token=backup;object={object}"), &format!("{with_pin}&context=a"));
            for plain in [&b""[..], b"x", &[7; MAX_KEYSET_LEN]] {
                let sealed = key.encrypt(plain).unwrap();
                assert_eq!(sealed.len(), plain.len() + len);
                assert_eq!(*key.decrypt(&sealed).unwrap(), plain);
                assert_ne!(key.encrypt(plain).unwrap(), sealed, "the nonce is random");
            }
            let sealed = key.encrypt(b"keyring").unwrap();
            let other = hsm.uri(&format!("token=backup;object={object}"), &format!("{with_pin}&context=b"));
            assert!(matches!(other.decrypt(&sealed), Err(Error::Authentication)));
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert!(key.decrypt(&changed).is_err(), "{at}");
            }
            for cut in [0, 1, 11, 12, 27, sealed.len() - 1] {
                let found = key.decrypt(&sealed[..cut]);
                assert!(matches!(found, Err(Error::Authentication)), "{cut}: {found:?}");
            }
        }
        let sales = hsm.uri("object=sales", &with_pin).encrypt(b"keyring").unwrap();
        for path in ["id=%01", "object=sales;type=secret-key", "manufacturer=SoftHSM%20project;object=sales"]
        {
            assert_eq!(*hsm.uri(path, &with_pin).decrypt(&sales).unwrap(), b"keyring", "{path}");
        }
        for path in [
            "object=none",
            "object=sales;id=%02",
            "object=sales;type=private",
            "object=pair;type=secret-key",
            "token=other;object=sales",
            "serial=0;object=sales",
            "model=none;object=sales",
            "manufacturer=none;object=sales",
            "slot-id=99;object=sales",
        ] {
            not_found(hsm.uri(path, &with_pin).decrypt(&sales));
        }
        let text = refused(hsm.uri("object=curve", &with_pin).encrypt(b""));
        assert!(text.contains("expected an AES or RSA key, found a key of another type"), "{text}");
        hsm.key("backup", &[&RSA[..], &["--always-auth"]].concat(), "always", "07");
        let text = refused(hsm.uri("object=always", &with_pin).encrypt(b""));
        assert!(text.contains("asks for the PIN at each use of this key"), "{text}");
        // Several threads wait for each other.
        let key = hsm.uri("object=sales", &with_pin);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..5).for_each(|_| assert_eq!(*key.decrypt(&sales).unwrap(), b"keyring")));
            }
        });
        // Two tokens, and two keys of one name.
        hsm.key("backup", &AES, "twice", "04");
        hsm.key("backup", &AES, "twice", "05");
        let text = not_found(hsm.uri("object=twice", &with_pin).encrypt(b""));
        assert!(text.contains("several keys of the token have these attributes"), "{text}");
        assert!(hsm.uri("object=twice;id=%05", &with_pin).encrypt(b"").is_ok());
        hsm.token("second");
        let text = not_found(hsm.uri("object=sales", &with_pin).encrypt(b""));
        assert!(text.contains("2 tokens have these attributes"), "{text}");
    });
}

#[test]
fn pins() {
    child("pins", None, |hsm| {
        hsm.token("backup");
        hsm.key("backup", &AES, "sales", "01");
        let file = hsm.0.join("pin");
        let from_file = hsm.uri("object=sales", &format!("&pin-source={}", file.display()));
        for content in ["1234", "1234\n", "1234\r\n"] {
            fs::write(&file, content).unwrap();
            assert!(from_file.encrypt(b"").is_ok(), "{content:?}");
        }
        for content in [&b"12\n34"[..], b"1234\n\n", b"1\0", b"\xff"] {
            fs::write(&file, content).unwrap();
            let text = refused(from_file.encrypt(b""));
            assert!(text.contains("expected one line of text in UTF-8 in the file of pin-source"), "{text}");
        }
        for content in ["", "\n"] {
            fs::write(&file, content).unwrap();
            let text = refused(from_file.encrypt(b""));
            assert!(text.contains("expected a PIN, found an empty one"), "{text}");
        }
        fs::remove_file(&file).unwrap();
        let text = refused(from_file.encrypt(b""));
        assert!(text.contains("the PIN cannot be read from"), "{text}");

        // A wrong PIN is tried once.
        let wrong = hsm.uri("object=sales", "&pin-value=9999");
        let text = refused(wrong.encrypt(b""));
        assert!(text.contains("the token refuses the PIN; it was tried once"), "{text}");
        let text = refused(wrong.encrypt(b""));
        assert!(text.contains("the token backup has refused this PIN before"), "{text}");
        let right = hsm.uri("object=sales", &format!("&pin-value={PIN}"));
        assert!(right.encrypt(b"").is_ok());
        assert!(right != wrong && right == right.clone());

        let without = hsm.uri("object=sales", "");
        let text = refused(without.encrypt(b""));
        assert!(text.contains("the token backup needs a PIN; use pin-source=FILE"), "{text}");
        assert!(set_pin_prompt(|token| {
            assert_eq!(token, "backup");
            Ok(Some(Zeroizing::new(PIN.to_owned())))
        }));
        assert!(!set_pin_prompt(|_| Ok(None)), "the first call decides");
        assert!(without.encrypt(b"").is_ok());
    });
}

#[test]
fn the_pin_of_the_environment() {
    child("the_pin_of_the_environment", Some(PIN), |hsm| {
        hsm.token("backup");
        hsm.key("backup", &AES, "sales", "01");
        assert!(hsm.uri("object=sales", "").encrypt(b"").is_ok());
    });
}

#[test]
fn references() {
    assert!(matches!(TokenKey::parse("object=a"), Err(Error::Misuse(Misuse::Reference(_)))));
    let shown = key("pkcs11:object=a?pin-value=1&context=b");
    assert_eq!(format!("{shown:?}"), "TokenKey(pkcs11:object=a?pin-value=***&context=b)");
}

/// The function for key services gets the reference with its PIN. No error shows it.
#[test]
fn keyrings_that_references_name() {
    child("keyrings_that_references_name", None, |hsm| {
        hsm.token("backup");
        hsm.key("backup", &AES, "sales", "01");
        let path = hsm.0.join("keyset");
        let uri = |context: &str| {
            format!("pkcs11:object=sales?module-path={}&pin-value={PIN}&context={context}", module())
        };
        let read = |text: String| Reference::parse(text.as_ref()).unwrap().read();
        let sealed = key(&uri("a")).encrypt(b"keyring").unwrap();
        let ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
        fs::write(&path, EncryptedKeyring::new(&ring, &sealed).to_json()).unwrap();
        assert_eq!(**read(format!("{}#{}", uri("a"), path.display())).unwrap(), *b"keyring");
        let Err(Error::KeyService(text)) = read(format!("{}#{}", uri("b"), path.display())) else {
            panic!("the context differs")
        };
        assert!(text.contains("authentication failed") && !text.contains(PIN), "{text}");
        let url = format!("{}#https://example.com/keyset", uri("a"));
        let Err(Error::KeyService(text)) = read(url.clone()) else { panic!("no function is set") };
        assert!(text.contains("reads keysets from files only") && !text.contains(PIN), "{text}");
        assert!(set_key_services(|reference| Ok(Zeroizing::new(reference.as_bytes().to_vec()))));
        assert_eq!(**read(url.clone()).unwrap(), *url.as_bytes());
        assert_eq!(**read("vault:transit/key#path".to_owned()).unwrap(), *b"vault:transit/key#path");
        assert!(!set_key_services(|_| Err(Error::Authentication)), "the first call decides");
    });
}
