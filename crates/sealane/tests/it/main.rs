//! Integration tests of the crate `sealane`: messages, files, keys and hybrid encryption, with published vectors.

mod age;
mod age_limits;
mod age_testkit;
mod arrival;
mod asymmetric;
mod batches;
mod budget;
mod deterministic;
mod fork;
mod formats;
mod golden;
mod hazmat;
mod hkdf;
mod hybrid;
mod hybrid_by_key;
mod keys;
mod messages;
mod ml_kem;
mod nonces;
mod paths;
mod provider;
mod recipients;
mod secp256k1;
mod stack;
mod threads;
mod tink;
