//! The kinds of key and their names.

use crate::prelude::*;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal;)*) => {
        /// A kind of key; it determines the algorithm and the length.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All kinds, in the order of the documentation.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Returns the name in commands and in Python, such as `"x-wing"`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A symmetric key of 16 bytes, such as for AES-128-GCM.
    Aes128 "aes-128";
    /// A symmetric key of 24 bytes, such as for AES-192-GCM.
    Aes192 "aes-192";
    /// A symmetric key of 32 bytes, for AES and all other ciphers with this key length.
    Aes256 "aes-256";
    /// A symmetric key of 64 bytes for AES-SIV: encrypted file names and searchable values.
    Aes256Siv "aes-256-siv";
    /// An X25519 key in age's encoding, for age files.
    Age "age";
    /// An X-Wing key (ML-KEM-768 and X25519) in age's encoding.
    AgePq "age-pq";
    /// An RSA key of 2048 bits.
    Rsa2048 "rsa-2048";
    /// An RSA key of 3072 bits.
    Rsa3072 "rsa-3072";
    /// An RSA key of 4096 bits.
    Rsa4096 "rsa-4096";
    /// A secp256k1 key, for ECIES.
    Secp256k1 "secp256k1";
    /// An X25519 key, for HPKE.
    X25519 "x25519";
    /// A P-256 key, for HPKE.
    P256 "p-256";
    /// An X-Wing key (ML-KEM-768 and X25519), for HPKE.
    XWing "x-wing";
}

impl Kind {
    /// Returns the kind of an RSA key with a modulus of `bits`.
    pub(super) fn of_rsa(bits: usize) -> Option<Self> {
        match bits {
            2048 => Some(Self::Rsa2048),
            3072 => Some(Self::Rsa3072),
            4096 => Some(Self::Rsa4096),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(Error::unsuitable_key(
            "unknown kind of key: expected aes-128, aes-192, aes-256, aes-256-siv, age, age-pq, rsa-2048, rsa-3072, \
             rsa-4096, secp256k1, x25519, p-256 or x-wing",
        ))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_round_trip() {
        let unknown = Kind::from_str("aes-512").unwrap_err().to_string();
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
            assert!(unknown.contains(kind.name()), "{kind}");
        }
    }
}
