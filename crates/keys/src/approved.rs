//! Which computations apart from AEADs a build with the feature `fips` may use.
//!
//! For AEADs and raw ciphers, the registry of providers says it. A computation is approved if the
//! FIPS module of AWS-LC does all of it and reports it as an approved service
//! (`docs/decisions/026-fips.md`).

use aws_lc_rs::hkdf;
use base::{Error, Result};
use providers::FIPS;

macro_rules! computations {
    ($($name:ident $approved:ident $text:literal;)*) => {
        /// A computation that a FIPS build may use or not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Computation {
            #[doc(hidden)]
            $(#[doc = $text] $name,)*
        }

        /// All computations in their order, their names, and whether each is approved.
        const TABLE: &[(Computation, &str, bool)] =
            &[$((Computation::$name, $text, computations!($approved)),)*];
    };
    (approved) => { true };
    (refused) => { false };
}

computations! {
    HkdfSha2         approved "HKDF of file formats";
    Pbkdf2           approved "PBKDF2 of key files";
    P256             approved "ECDH over P-256";
    Fernet           approved "Fernet (AES-128-CBC with HMAC-SHA-256)";
    AesKeyWrap       approved "AES Key Wrap of JWE";
    CbcHmac          approved "AES-CBC with HMAC of JWE";
    Age              refused  "the age format";
    Argon2id         refused  "Argon2id";
    AesKeyWrap192    refused  "A192KW of JWE";
    ConcatKdf        refused  "ECDH-ES of JWE";
    Ecies            refused  "ECIES";
    Ed25519          refused  "edwards25519";
    HkdfWithoutInfo  refused  "HKDF without associated data or context";
    Hpke             refused  "HPKE";
    MlKem768P256     refused  "MLKEM768-P256";
    RsaOaep          refused  "RSA-OAEP";
    Scrypt           refused  "scrypt";
    Secp256k1        refused  "secp256k1";
    Signature        refused  "signatures of SSH and minisign";
    WeakPbkdf2       refused  "PBKDF2 with a passphrase below 14 bytes, a salt below 16 bytes or less than 1000 rounds";
    X25519           refused  "X25519";
    XWing            refused  "X-Wing";
}

impl Computation {
    /// Checks that this build may use the computation.
    ///
    /// # Errors
    /// Returns [`Error::NotApproved`] with its name.
    pub fn check(self) -> Result<()> {
        let (_, name, approved) = TABLE[self as usize];
        if approved || !FIPS { Ok(()) } else { Err(Error::NotApproved(name)) }
    }
}

/// Lists the computations apart from AEADs, and whether a build with the feature `fips` may use
/// each.
pub fn computations() -> impl Iterator<Item = (&'static str, bool)> {
    TABLE.iter().map(|(_, name, approved)| (*name, *approved))
}

/// Computes the second step of HKDF (RFC 5869) with AWS-LC.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] without memory.
pub fn expand_hkdf(prk: &hkdf::Prk, info: &[&[u8]], out: &mut [u8]) -> Result<()> {
    struct Len(usize);

    impl hkdf::KeyType for Len {
        fn len(&self) -> usize {
            self.0
        }
    }

    let filled = prk.expand(info, Len(out.len())).and_then(|okm| okm.fill(out));
    // AWS-LC gives no reason. The lengths are valid, so an allocation failed.
    filled.map_err(|_| Error::LimitExceeded("HKDF failed because no memory is left"))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn only_a_fips_build_refuses() {
        for (computation, name, approved) in TABLE {
            match computation.check() {
                Ok(()) => assert!(*approved || !FIPS, "{name}"),
                Err(Error::NotApproved(found)) => assert!(FIPS && !approved && found == *name),
                Err(other) => panic!("{other}"),
            }
        }
    }
}
