//! Integration tests of the crate `sealane`: messages, files, keys and hybrid encryption, with
//! published vectors.

mod age;
mod arrival;
mod asymmetric;
mod batches;
mod budget;
mod deterministic;
mod fernet;
mod folders;
mod fork;
mod formats;
mod freed;
mod golden;
mod hazmat;
mod hkdf;
mod hybrid;
mod jwe;
mod keyring;
mod keys;
mod messages;
mod minisign;
mod nonces;
mod paths;
mod plugins;
mod provider;
mod rewrap;
mod rotate;
mod salvage;
mod signatures;
#[cfg(unix)]
mod stack;
mod threads;
mod tink;
mod tokens;
