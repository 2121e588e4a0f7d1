//! What is made, and by what name.

use super::Secret;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::{Error, Key, Misuse, age};
use std::fmt;
use std::str::FromStr;

/// A kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// 16 bytes.
    Aes128,
    /// 24 bytes.
    Aes192,
    /// 32 bytes: for AES, and for every other cipher with keys of this length.
    Aes256,
    /// X25519, in the text of age.
    Age,
    /// ML-KEM-768 with X25519, in the text of age.
    AgePq,
    /// RSA with 2048 bits.
    Rsa2048,
    /// RSA with 3072 bits.
    Rsa3072,
    /// RSA with 4096 bits.
    Rsa4096,
    /// The curve of Bitcoin and Ethereum, for ECIES.
    Secp256k1,
    /// Curve25519, for HPKE.
    X25519,
    /// The curve of NIST, for HPKE.
    P256,
    /// ML-KEM-768 with X25519, for HPKE.
    XWing,
}

struct Row {
    kind: Kind,
    name: &'static str,
    generate: fn() -> Result<Secret, Error>,
}

const fn row(kind: Kind, name: &'static str, generate: fn() -> Result<Secret, Error>) -> Row {
    Row { kind, name, generate }
}

static ROWS: [Row; 12] = [
    row(Kind::Aes128, "aes-128", || Key::generate(16).map(Secret::Symmetric)),
    row(Kind::Aes192, "aes-192", || Key::generate(24).map(Secret::Symmetric)),
    row(Kind::Aes256, "aes-256", || Key::generate(32).map(Secret::Symmetric)),
    row(Kind::Age, "age", || age::Identity::generate(age::Kind::X25519).map(Secret::Age)),
    row(Kind::AgePq, "age-pq", || age::Identity::generate(age::Kind::Hybrid).map(Secret::Age)),
    row(Kind::Rsa2048, "rsa-2048", || rsa::PrivateKey::generate(2048).map(Secret::Rsa)),
    row(Kind::Rsa3072, "rsa-3072", || rsa::PrivateKey::generate(3072).map(Secret::Rsa)),
    row(Kind::Rsa4096, "rsa-4096", || rsa::PrivateKey::generate(4096).map(Secret::Rsa)),
    row(Kind::Secp256k1, "secp256k1", || secp256k1::PrivateKey::generate().map(Secret::Secp256k1)),
    row(Kind::X25519, "x25519", || x25519::PrivateKey::generate().map(Secret::X25519)),
    row(Kind::P256, "p-256", || p256::PrivateKey::generate().map(Secret::P256)),
    row(Kind::XWing, "x-wing", || xwing::PrivateKey::generate().map(Secret::XWing)),
];

impl Kind {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 12] = [
        Self::Aes128,
        Self::Aes192,
        Self::Aes256,
        Self::Age,
        Self::AgePq,
        Self::Rsa2048,
        Self::Rsa3072,
        Self::Rsa4096,
        Self::Secp256k1,
        Self::X25519,
        Self::P256,
        Self::XWing,
    ];

    /// As users type it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub(super) fn generate(self) -> Result<Secret, Error> {
        (self.row().generate)()
    }

    /// The rows stand in the order of the kinds.
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let row = ROWS.iter().find(|row| row.name == name);
        row.map(|row| row.kind).ok_or(Error::Misuse(Misuse::UnsuitableKey(
            "no such kind of key: there are aes-128, aes-192, aes-256, age, age-pq, rsa-2048, rsa-3072, rsa-4096, \
             secp256k1, x25519, p-256 and x-wing",
        )))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let unknown = Kind::from_str("aes-512").unwrap_err().to_string();
        for (kind, row) in Kind::ALL.into_iter().zip(&ROWS) {
            assert_eq!(kind, row.kind);
            assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
            assert!(unknown.contains(kind.name()), "{kind}");
        }
    }
}
