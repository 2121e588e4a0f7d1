//! Keys, and what they do apart from messages: key files, recipients, hybrid encryption and
//! signatures.
#![forbid(unsafe_code)]

pub mod age;
pub mod approved;
pub mod asymmetric;
mod derive;
mod encoding;
pub mod fernet;
mod fingerprint;
mod folder;
pub mod hybrid;
mod identities;
mod is_secret;
pub mod jwe;
mod jwk;
mod key_file;
pub mod keyring;
mod kind;
mod known_keys;
mod openssh;
mod passphrase;
mod prelude;
mod public_key;
mod reference;
mod scrypt;
mod secret;
mod secret_key;
pub mod signature;
mod store;
mod token;
mod wrapping;
mod write;

pub use derive::{Cost, derive};
#[doc(hidden)]
pub use encoding::text::text_of;
pub use engine::staged::Existing;
pub use fingerprint::Fingerprint;
pub use folder::files_in;
pub use identities::{load_identities, parse_identity_file};
pub use is_secret::{is_hexadecimal_key, is_secret, may_be_key};
pub use jwk::Jwk;
pub use key_file::{KeyFile, LoadOptions};
pub use keyring::{
    EncryptedKeyring, FolderKeys, FolderLock, KeyInfo, KeyState, KeyType, Keyring, KeyringAead,
    KeyringDeterministicAead, Prefix, Purpose,
};
pub use kind::Kind;
pub use known_keys::{accept_key, check_key, forget_earlier_keys, known_line, remember_key, state_folder};
pub use messages::Key;
#[doc(hidden)]
pub use passphrase::{MAX_PASSPHRASE_LEN, check_passphrase, parse_passphrase};
pub use public_key::PublicKey;
pub use reference::{
    KeyringLookup, PinnedReference, Reference, ServiceLookup, load, set_key_services, set_keyring,
};
#[doc(hidden)]
pub use scrypt::Params as ScryptParams;
pub use secret::wipe_stack;
pub use secret_key::SecretKey;
pub use store::{read_content, refuse_replacing, save_public, save_secret};
pub use token::{MAX_KEYSET_LEN, PinPrompt, TokenKey, set_pin_prompt};
pub use wrapping::{Unwrap, WrappingServices, set_wrapping_services};
