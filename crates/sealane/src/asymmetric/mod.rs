//! Key pairs: the operations of public and private keys, over libraries that compute them in constant time.

pub mod ed25519;
pub mod hpke;
pub mod p256;
pub mod rsa;
pub mod secp256k1;
pub mod x25519;
pub mod xwing;

use std::fmt;

/// Writes `PublicKey(algorithm, hex)`.
fn debug_public(algorithm: &str, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "PublicKey({algorithm}, {:x})", base16ct::HexDisplay(bytes))
}

/// Compares private keys by their public keys: one determines the other, and the comparison reads no secret.
macro_rules! equal_if_public_keys_are {
    ($key:ident) => {
        impl PartialEq for $key {
            fn eq(&self, other: &Self) -> bool {
                self.public() == other.public()
            }
        }

        impl Eq for $key {}
    };
}
use equal_if_public_keys_are;
