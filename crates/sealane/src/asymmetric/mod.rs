//! Key pairs: what a public and a private key can do, over libraries that compute it in constant time.

pub mod ed25519;
pub mod hpke;
pub mod p256;
pub mod rsa;
pub mod secp256k1;
pub mod x25519;
pub mod xwing;

use std::fmt;

/// `PublicKey(algorithm, hex)`.
fn debug_public(algorithm: &str, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "PublicKey({algorithm}, ")?;
    for byte in bytes {
        write!(f, "{byte:02x}")?;
    }
    f.write_str(")")
}
