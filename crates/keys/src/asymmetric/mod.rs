//! Key pairs: public and private operations, over libraries that compute them in constant time.

pub mod ed25519;
pub mod hpke;
mod hybrid_kem;
pub mod mlkem768_p256;
pub mod p256;
pub mod rsa;
pub mod secp256k1;
pub mod x25519;
pub mod xwing;

/// Implements `Debug` for an algorithm's keys, as `PrivateKey(algorithm)` and
/// `PublicKey(algorithm, hex)`.
macro_rules! debug_keys {
    ($algorithm:literal) => {
        base::debug_text!(PrivateKey; |_it| concat!("PrivateKey(", $algorithm, ")"));
        base::debug_text!(
            PublicKey; |it| concat!("PublicKey(", $algorithm, ", {:x})"), base16ct::HexDisplay(it.as_bytes())
        );
    };
}
use debug_keys;

/// Compares keys by a public part: private keys by their public keys, because one determines the
/// other, and the comparison reads no secret.
macro_rules! equal_by {
    ($key:ident: $($part:tt)+) => {
        impl PartialEq for $key {
            fn eq(&self, other: &Self) -> bool {
                self.$($part)+ == other.$($part)+
            }
        }

        impl Eq for $key {}
    };
}
pub(crate) use equal_by;

/// Implements what a scheme's enums `PrivateKey` and `PublicKey` (a key of one of several
/// algorithms) have in common: conversions, the public key, and a method that returns the
/// algorithm.
macro_rules! key_enums {
    ($(#[$doc:meta])* $algorithm:ident -> $Algorithm:ident; $($variant:ident: $module:ident;)*) => {
        impl PrivateKey {
            $(#[$doc])*
            pub fn $algorithm(&self) -> $Algorithm {
                match self {
                    $(Self::$variant(_) => $Algorithm::$variant,)*
                }
            }

            /// Returns the public key; it may be published.
            pub fn public(&self) -> PublicKey {
                match self {
                    $(Self::$variant(key) => key.public().into(),)*
                }
            }
        }

        impl PublicKey {
            $(#[$doc])*
            pub fn $algorithm(&self) -> $Algorithm {
                match self {
                    $(Self::$variant(_) => $Algorithm::$variant,)*
                }
            }
        }

        $(
            impl From<$module::PrivateKey> for PrivateKey {
                fn from(key: $module::PrivateKey) -> Self {
                    Self::$variant(key)
                }
            }

            impl From<$module::PublicKey> for PublicKey {
                fn from(key: $module::PublicKey) -> Self {
                    Self::$variant(key)
                }
            }
        )*
    };
}
pub(crate) use key_enums;
