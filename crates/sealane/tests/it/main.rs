//! Integration tests of the crate `sealane`: messages, files, keys and hybrid encryption, with
//! published vectors.

mod age;
mod age_limits;
mod age_testkit;
mod arrival;
mod asymmetric;
mod batches;
mod budget;
mod deterministic;
mod fernet;
mod fork;
mod formats;
mod freed;
mod golden;
mod hazmat;
mod hkdf;
mod hybrid;
mod hybrid_by_key;
mod inventories;
mod jobs;
mod jwe;
mod keyring;
mod keys;
mod messages;
mod ml_kem;
#[cfg(unix)]
mod names;
mod nonces;
mod paths;
mod plugins;
mod provider;
mod recipients;
mod rewrap;
mod rotate;
mod salvage;
mod secp256k1;
mod signatures;
#[cfg(unix)]
mod stack;
mod threads;
mod tink;
mod tokens;
