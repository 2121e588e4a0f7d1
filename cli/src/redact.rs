//! Keeps secrets among the arguments out of all output.
//!
//! Other users of the machine can see a process's arguments, and error messages end up in logs. A
//! key as an argument is a mistake, so we refuse it before anything else looks at it. 64
//! hexadecimal digits, or base64 of 32 bytes, may be a private key or a file name, so we replace
//! them in all output unless such a file exists. We also replace the PIN in a token's reference.

use crate::error::{Failure, Result};
use sealane::keys::{TokenKey, is_secret, may_be_key};
use std::ffi::OsString;
use std::path::Path;

/// Arguments that may be private keys, and references that contain PINs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    keys: Vec<String>,
    /// References, each with its text without the PIN.
    references: Vec<(String, String)>,
}

impl Redactor {
    /// Finds the secrets among the program's arguments.
    ///
    /// # Errors
    /// Returns a failure with the position of an argument that is a secret.
    pub(crate) fn new(args: &[OsString]) -> Result<Self> {
        let mut redactor = Self::default();
        for (at, arg) in args.iter().enumerate().skip(1) {
            let arg = arg.to_string_lossy();
            if let Some(at) = arg.to_ascii_lowercase().find("pkcs11:") {
                let (reference, shown) = (&arg[at..], TokenKey::without_pin(&arg[at..]));
                redactor.references.extend((reference != shown).then(|| (reference.to_owned(), shown)));
            }
            for value in values(&arg) {
                if may_be_key(value) {
                    redactor.keys.push(value.to_owned());
                } else if is_secret(value) {
                    return Err(Failure::misuse(format!(
                        "argument {at} is a secret key, and other users can see arguments; store the key in a file \
                         and give the name of the file"
                    )));
                }
            }
        }
        Ok(redactor)
    }

    /// Replaces the secrets in a text before printing.
    pub(crate) fn redact(&self, text: &str) -> String {
        let names_no_file = |value: &&String| Path::new(value).symlink_metadata().is_err();
        let secrets = self.keys.iter().filter(names_no_file);
        let text =
            secrets.fold(text.to_owned(), |text, value| text.replace(value, "(a name that may be a key)"));
        self.references.iter().fold(text, |text, (reference, shown)| text.replace(reference, shown))
    }
}

/// Returns the texts that an argument may hold: itself, the value in `--option=VALUE` or `-oVALUE`,
/// and each of these without the scheme of a key reference.
fn values(arg: &str) -> Vec<&str> {
    let mut found = vec![arg, arg.trim_start_matches('-')];
    found.extend(arg.starts_with('-').then(|| arg.split_once('=')).flatten().map(|(_, value)| value));
    found.extend(arg.strip_prefix('-').and_then(|rest| rest.split_at_checked(1)).map(|(_, value)| value));
    let schemes = ["env:", "file:", "keyring:"];
    let names = found.iter().flat_map(|value| schemes.iter().filter_map(|scheme| value.strip_prefix(scheme)));
    let names: Vec<_> = names.collect();
    found.extend(names);
    found
}

#[cfg(test)]
mod test {
    use super::*;

    fn refused(arg: &str) -> bool {
        match Redactor::new(&["sealane".into(), arg.into()]) {
            Ok(_) => false,
            Err(failure) => {
                assert!(failure.text().starts_with("argument 1 is a secret key"));
                true
            }
        }
    }

    #[test]
    fn keys_in_all_forms_of_arguments() {
        let age = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
        let jwk = r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#;
        for secret in [age, &age.to_lowercase(), &age[..30], jwk, "-----BEGIN PRIVATE KEY-----\nMC4="] {
            for form in ["", "-r", "-k=", "--recipient=", "env:", "--key=file:", "-ikeyring:", "./"] {
                assert!(refused(&format!("{form}{secret}")), "{form}{secret}");
            }
        }
        for name in
            ["key.jwk", "-k", "--json", "age1qqqq", "ssh-ed25519 AAAA", "{\"k\":\"v\"}", "", "-", "=", "é"]
        {
            assert!(!refused(name), "{name}");
        }
    }

    #[test]
    fn pins_are_replaced() {
        for (form, scheme) in [("", "pkcs11"), ("-k", "pkcs11"), ("--key=", "pkcs11"), ("-k", "PKCS11")] {
            let reference = format!("{scheme}:object=a?pin-value=1234#keyset");
            let redactor = Redactor::new(&["sealane".into(), format!("{form}{reference}").into()]).unwrap();
            let printed = redactor.redact(&format!("sealane: {form}{reference}: no such file"));
            let shown = format!("sealane: {form}{scheme}:object=a?pin-value=***#keyset: no such file");
            assert_eq!(printed, shown);
        }
    }

    #[test]
    fn hexadecimal_digits_are_replaced_unless_they_name_a_file() {
        let keys = ["0123456789abcdef".repeat(4), "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=".into()];
        for (form, key) in ["", "-k", "--key=", "env:", "-r="]
            .iter()
            .flat_map(|form| keys.iter().map(move |key| (form, key)))
        {
            let redactor = Redactor::new(&["sealane".into(), format!("{form}{key}").into()]).unwrap();
            let printed = redactor.redact(&format!("sealane: {form}{key}: no such file"));
            assert!(!printed.contains(key), "{printed}");
        }
        let folder = std::env::temp_dir().join(format!("sealane-redactor-{}", std::process::id()));
        std::fs::write(&folder, b"").unwrap();
        let redactor = Redactor { keys: vec![folder.to_str().unwrap().to_owned()], ..Redactor::default() };
        assert!(redactor.redact(&format!("{}: done", folder.display())).contains("sealane-redactor"));
        std::fs::remove_file(&folder).unwrap();
    }
}
