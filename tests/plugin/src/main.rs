//! An age plugin on the crate `age-plugin`, with which tests exchange files.
//!
//! `age-plugin-sealanetest BYTE FLAGS` prints an identity and its recipient. Both contain a
//! symmetric key, 32 times BYTE, and FLAGS: letters that say what the plugin does before it uses
//! the key.
//!
//! | flag | effect |
//! |---|---|
//! | `m` | shows a message |
//! | `s` | asks for a secret, which must be 1234 |
//! | `p` | asks for a public text, which must be slot |
//! | `c`, `o` | asks for a confirmation with two choices, with one |
//! | `q` | has the label of post-quantum recipients |
//! | `e` | reports an error |
//! | `l` | reports an error that contains its key and the identity |
#![forbid(unsafe_code)]

use age_core::format::{FileKey, Stanza};
use age_core::primitives::{aead_decrypt, aead_encrypt, bech32_encode};
use age_core::secrecy::ExposeSecret;
use age_plugin::identity::{self, IdentityPluginV1};
use age_plugin::recipient::{self, RecipientPluginV1};
use age_plugin::{Callbacks, PluginHandler, run_state_machine};
use bech32::Hrp;
use std::collections::{HashMap, HashSet};
use std::io;

const NAME: &str = "sealanetest";

/// A symmetric key and its flags.
struct Key {
    key: [u8; 32],
    flags: String,
}

impl Key {
    fn parse(name: &str, bytes: &[u8]) -> Option<Self> {
        let (key, flags) = bytes.split_first_chunk().filter(|_| name == NAME)?;
        Some(Self { key: *key, flags: String::from_utf8(flags.to_vec()).ok()? })
    }

    fn bytes(&self) -> Vec<u8> {
        [&self.key[..], self.flags.as_bytes()].concat()
    }

    fn identity(&self) -> String {
        bech32_encode(Hrp::parse_unchecked(&format!("age-plugin-{NAME}-")), &self.bytes()).to_uppercase()
    }

    fn recipient(&self) -> String {
        bech32_encode(Hrp::parse_unchecked(&format!("age1{NAME}")), &self.bytes())
    }

    /// Does what the flags say, and returns the text of an error.
    fn interact<E>(&self, callbacks: &mut impl Callbacks<E>) -> Option<String> {
        for flag in self.flags.chars() {
            let done = match flag {
                'm' => matches!(callbacks.message("Please touch the key"), Ok(Ok(()))),
                's' => {
                    matches!(callbacks.request_secret("PIN"), Ok(Ok(pin)) if pin.expose_secret() == "1234")
                }
                'p' => matches!(callbacks.request_public("Name of the slot"), Ok(Ok(text)) if text == "slot"),
                'c' => matches!(callbacks.confirm("Use the key?", "use it", Some("skip it")), Ok(Ok(true))),
                'o' => matches!(callbacks.confirm("Insert the key", "inserted", None), Ok(Ok(true))),
                'e' => return Some("the key is locked\n\u{1b}[31mfor ever".into()),
                'l' => return Some(format!("cannot use {}", self.identity().to_lowercase())),
                _ => true,
            };
            if !done {
                return Some(format!("no success with the flag {flag}"));
            }
        }
        None
    }
}

#[derive(Default)]
struct Recipients(Vec<Key>);

impl RecipientPluginV1 for Recipients {
    fn add_recipient(&mut self, index: usize, name: &str, bytes: &[u8]) -> Result<(), recipient::Error> {
        let message = "unknown recipient".to_owned();
        self.0.push(Key::parse(name, bytes).ok_or(recipient::Error::Recipient { index, message })?);
        Ok(())
    }

    fn add_identity(&mut self, index: usize, name: &str, bytes: &[u8]) -> Result<(), recipient::Error> {
        let message = "unknown identity".to_owned();
        self.0.push(Key::parse(name, bytes).ok_or(recipient::Error::Identity { index, message })?);
        Ok(())
    }

    fn labels(&mut self) -> HashSet<String> {
        match self.0.iter().any(|key| key.flags.contains('q')) {
            true => HashSet::from(["postquantum".to_owned()]),
            false => HashSet::new(),
        }
    }

    fn wrap_file_keys(
        &mut self,
        file_keys: Vec<FileKey>,
        mut callbacks: impl Callbacks<recipient::Error>,
    ) -> io::Result<Result<Vec<Vec<Stanza>>, Vec<recipient::Error>>> {
        for key in &self.0 {
            if let Some(message) = key.interact(&mut callbacks) {
                return Ok(Err(vec![recipient::Error::Internal { message }]));
            }
        }
        let wrap = |file_key: &FileKey, key: &Key| Stanza {
            tag: NAME.to_owned(),
            args: Vec::new(),
            body: aead_encrypt(&key.key, file_key.expose_secret()),
        };
        let stanzas = file_keys.iter().map(|file_key| self.0.iter().map(|key| wrap(file_key, key)).collect());
        Ok(Ok(stanzas.collect()))
    }
}

#[derive(Default)]
struct Identities(Vec<Key>);

impl IdentityPluginV1 for Identities {
    fn add_identity(&mut self, index: usize, name: &str, bytes: &[u8]) -> Result<(), identity::Error> {
        let message = "unknown identity".to_owned();
        self.0.push(Key::parse(name, bytes).ok_or(identity::Error::Identity { index, message })?);
        Ok(())
    }

    fn unwrap_file_keys(
        &mut self,
        files: Vec<Vec<Stanza>>,
        mut callbacks: impl Callbacks<identity::Error>,
    ) -> io::Result<HashMap<usize, Result<FileKey, Vec<identity::Error>>>> {
        let mut found = HashMap::new();
        for (number, stanzas) in files.iter().enumerate() {
            let ours = stanzas.iter().filter(|stanza| stanza.tag == NAME && stanza.args.is_empty());
            for (stanza, key) in ours.flat_map(|stanza| self.0.iter().map(move |key| (stanza, key))) {
                let Ok(bytes) = aead_decrypt(&key.key, 16, &stanza.body) else { continue };
                let result = match key.interact(&mut callbacks) {
                    Some(message) => Err(vec![identity::Error::Internal { message }]),
                    None => Ok(FileKey::init_with_mut(|file_key| file_key.copy_from_slice(&bytes))),
                };
                found.insert(number, result);
                break;
            }
        }
        Ok(found)
    }
}

struct Handler;

impl PluginHandler for Handler {
    type RecipientV1 = Recipients;
    type IdentityV1 = Identities;

    fn recipient_v1(self) -> io::Result<Recipients> {
        Ok(Recipients::default())
    }

    fn identity_v1(self) -> io::Result<Identities> {
        Ok(Identities::default())
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [option] if option.starts_with("--age-plugin=") => {
            run_state_machine(option.trim_start_matches("--age-plugin="), Handler)
        }
        [byte, ref flags @ ..] => {
            let byte = byte.parse().map_err(|_| io::Error::other("expected a byte, found other text"))?;
            let key = Key { key: [byte; 32], flags: flags.concat() };
            println!("# recipient: {}\n{}", key.recipient(), key.identity());
            Ok(())
        }
        [] => Err(io::Error::other("expected a byte and flags, found nothing")),
    }
}
