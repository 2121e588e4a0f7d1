//! Key pairs: what a public and a private key can do, over libraries that compute it in constant time.

pub mod ed25519;
pub mod secp256k1;
