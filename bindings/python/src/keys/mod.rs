//! The native part of `sealane.keys`: symmetric keys, private keys and public keys of all kinds.

mod classes;
mod encrypted;
mod fingerprint;
mod functions;
mod key;
mod keyring;
mod public;
mod token;

pub(crate) use {classes::*, encrypted::*, fingerprint::*, functions::*, keyring::*, token::*};
