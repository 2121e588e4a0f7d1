//! The native part of `sealane.keys`: symmetric keys, private keys and public keys of all kinds.

mod classes;
mod encrypted;
mod fingerprint;
mod functions;
mod key;
mod keyring;
mod public;
mod saving;
mod token;

pub(crate) use classes::{Key, PublicKey, at_most_one, extract, never_pickle};
pub(crate) use encrypted::{
    duplicate_keyring, encrypted_keyset, keyset_ciphertext, keyset_of_service, replace_keyset_ciphertext,
};
pub(crate) use fingerprint::{
    accept_key, check_key, cleartext_keyset, new_dataset_key, remember_key, rewrap_dataset_key,
    split_reference, warn,
};
pub(crate) use functions::{
    derive, generate, is_secret, keyring_text, kinds, load, load_reference, parse_key, read_reference,
};
pub(crate) use keyring::{Keyring, KeyringKey};
pub(crate) use token::{check_token_key, shown_token_key, token_decrypt, token_encrypt};
