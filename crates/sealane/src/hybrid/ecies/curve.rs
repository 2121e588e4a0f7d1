//! The curves of ECIES, and the names that eciespy uses in its configuration.

use crate::Error;
use std::str::FromStr;

/// The curve of the key agreement between the sender and the recipient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Curve {
    /// secp256k1, the curve that is used by Bitcoin and Ethereum.
    #[default]
    Secp256k1,
    /// Curve25519 in Montgomery form (RFC 7748).
    X25519,
    /// Curve25519 in Edwards form (RFC 8032).
    Ed25519,
}

const CURVES: [(&str, Curve); 3] =
    [("secp256k1", Curve::Secp256k1), ("x25519", Curve::X25519), ("ed25519", Curve::Ed25519)];

impl FromStr for Curve {
    type Err = Error;

    /// Parses the name that eciespy uses in its configuration.
    fn from_str(text: &str) -> Result<Self, Error> {
        named(&CURVES, text).ok_or(Error::Format("expected a curve of ECIES: secp256k1, x25519 or ed25519"))
    }
}

pub(super) fn named<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}
