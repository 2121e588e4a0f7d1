//! RSA key wrapping: RSAES-OAEP (RFC 8017, section 7.1), computed by AWS-LC.
//!
//! ```text
//! private key = PKCS#8 (RFC 5208)             2048 to 8192 bits
//! public key  = SubjectPublicKeyInfo (RFC 5280, section 4.1)
//! wrapped key = as long as the modulus; it holds at most modulus - 2 * hash - 2 bytes
//! ```
//!
//! MGF1 uses the hash of the padding. Private operations are blinded and take constant time,
//! including the padding check.

use crate::prelude::*;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::error::KeyRejected;
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
    OaepAlgorithm, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};
use base::random;

/// The library's errors have no content. Here, only an allocation can have failed.
const OUT_OF_MEMORY: Error = Error::LimitExceeded("RSA could not be computed: memory is exhausted");

/// The hash function of the padding and of MGF1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Oaep {
    /// SHA-1 with MGF1-SHA-1, the default of many libraries. OAEP does not depend on collision
    /// resistance.
    Sha1,
    /// SHA-256 with MGF1-SHA-256, the default.
    #[default]
    Sha256,
    /// SHA-384 with MGF1-SHA-384.
    Sha384,
    /// SHA-512 with MGF1-SHA-512.
    Sha512,
}

impl Oaep {
    /// Returns the length of the hash in bytes.
    pub fn hash_len(self) -> usize {
        self.library().0
    }

    /// Returns the length of the hash in bytes, and the library's algorithm.
    fn library(self) -> (usize, &'static OaepAlgorithm) {
        match self {
            Self::Sha1 => (20, &OAEP_SHA1_MGF1SHA1),
            Self::Sha256 => (32, &OAEP_SHA256_MGF1SHA256),
            Self::Sha384 => (48, &OAEP_SHA384_MGF1SHA384),
            Self::Sha512 => (64, &OAEP_SHA512_MGF1SHA512),
        }
    }
}

/// A private key. AWS-LC wipes it with its last clone; `Debug` does not show it.
#[derive(Clone)]
pub struct PrivateKey {
    key: PrivateDecryptingKey,
    oaep: Arc<OaepPrivateDecryptingKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates a key of 2048, 3072 or 4096 bits; takes up to some seconds.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for another size, [`Error::Io`] if the operating system
    /// returns no random bytes, and [`Error::LimitExceeded`] if memory is exhausted.
    pub fn generate(bits: usize) -> Result<Self> {
        Computation::RsaOaep.check()?;
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            _ => {
                return Err(Error::unsuitable_key("RSA keys are generated with 2048, 3072 or 4096 bits"));
            }
        };
        random::check()?;
        // AWS-LC's error is `Unspecified`; with valid keys, only allocation can fail.
        Self::new(PrivateDecryptingKey::generate(size).map_err(|_| OUT_OF_MEMORY)?)
    }

    /// Parses a PKCS#8 key (DER) and checks that its numbers belong together.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other bytes, and [`Misuse::UnsuitableKey`] if the size is not
    /// 2048 to 8192 bits.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self> {
        Computation::RsaOaep.check()?;
        const NONE: Error = Error::Format(
            "expected an RSA private key in PKCS#8 (RFC 5208), found another key or a damaged one",
        );
        // AWS-LC ignores trailing bytes, so another parser checks the encoding first.
        pkcs8::PrivateKeyInfoRef::try_from(der).map_err(|_| NONE)?;
        Self::new(PrivateDecryptingKey::from_pkcs8(der).map_err(|why| rejected(why, NONE))?)
    }

    fn new(key: PrivateDecryptingKey) -> Result<Self> {
        // AWS-LC's error is `Unspecified`; with valid keys, only allocation can fail.
        let oaep = OaepPrivateDecryptingKey::new(key.clone()).map_err(|_| OUT_OF_MEMORY)?;
        // Encoded and parsed, because the library's public key object holds the private key as
        // well.
        let spki: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|_| OUT_OF_MEMORY)?;
        let public = PublicKey::from_spki(spki.as_ref())?;
        Ok(Self { key, oaep: Arc::new(oaep), public })
    }

    /// Encodes the key as PKCS#8 (DER), wiped on drop.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the library cannot allocate memory.
    pub fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>> {
        // The library wipes its own copy on drop.
        let der: Pkcs8V1Der<'_> = self.key.as_der().map_err(|_| OUT_OF_MEMORY)?;
        Ok(Zeroizing::new(der.as_ref().to_vec()))
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// Returns the size of the key: the bits in its modulus.
    pub fn bits(&self) -> usize {
        self.key.key_size_bits()
    }

    /// Returns the length in bytes of the modulus, and of a wrapped key.
    pub fn modulus_len(&self) -> usize {
        self.key.key_size_bytes()
    }

    /// Decrypts a secret wrapped for this key with the same `label` (RSAES-OAEP-DECRYPT).
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes (needed for blinding),
    /// and [`Error::Authentication`] for every other reason: a distinction in words or in time
    /// would be an oracle (Manger 2001).
    pub fn unwrap(&self, oaep: Oaep, label: &[u8], wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        if wrapped.len() != self.modulus_len() {
            return Err(Error::Authentication);
        }
        random::check()?;
        // bounded: at most the length of a key, 1 KiB.
        let mut secret = Zeroizing::new(vec![0; self.oaep.min_output_size()]);
        let opened = self.oaep.decrypt(oaep.library().1, wrapped, &mut secret, Some(label));
        // Details would help an attacker.
        let len = opened.map_err(|_| Error::Authentication)?.len();
        secret.truncate(len);
        Ok(secret)
    }
}

super::equal_by!(PrivateKey: public());

debug_text!(PrivateKey; |it| "PrivateKey(RSA, {} bits)", it.bits());

/// A public key of RSA; it may be published.
#[derive(Clone)]
pub struct PublicKey {
    spki: Arc<[u8]>,
    oaep: Arc<OaepPublicEncryptingKey>,
}

impl PublicKey {
    /// Parses a SubjectPublicKeyInfo (DER), as in X.509 certificates.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other bytes, and [`Misuse::UnsuitableKey`] if the size is not
    /// 2048 to 8192 bits.
    pub fn from_spki(der: &[u8]) -> Result<Self> {
        Computation::RsaOaep.check()?;
        const NONE: Error = Error::Format(
            "expected an RSA public key in a SubjectPublicKeyInfo (RFC 5280), found another key or a damaged one",
        );
        // The library tells positions of bytes; NONE says what is wrong with the file.
        pkcs8::spki::SubjectPublicKeyInfoRef::try_from(der).map_err(|_| NONE)?;
        let key = PublicEncryptingKey::from_der(der).map_err(|why| rejected(why, NONE))?;
        // Encoded again by the library, so that equal keys have equal bytes.
        let written: PublicKeyX509Der<'_> = key.as_der().map_err(|_| OUT_OF_MEMORY)?;
        let spki = written.as_ref().into();
        let oaep = OaepPublicEncryptingKey::new(key).map_err(|_| OUT_OF_MEMORY)?;
        Ok(Self { spki, oaep: Arc::new(oaep) })
    }

    /// Returns the key as SubjectPublicKeyInfo (DER), as in X.509 certificates.
    pub fn to_spki(&self) -> &[u8] {
        &self.spki
    }

    /// Returns the size of the key: the bits in its modulus.
    pub fn bits(&self) -> usize {
        self.oaep.key_size_bits()
    }

    /// Returns the length in bytes of the modulus, and of a wrapped key.
    pub fn modulus_len(&self) -> usize {
        self.oaep.key_size_bytes()
    }

    /// Returns the maximum length of a secret in bytes.
    pub fn max_secret_len(&self, oaep: Oaep) -> usize {
        self.modulus_len().saturating_sub(2 * oaep.hash_len() + 2)
    }

    /// Encrypts `secret` for the holder of the private key (RSAES-OAEP-ENCRYPT). Returns
    /// [`Self::modulus_len`] bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::SecretLength`] above [`Self::max_secret_len`], and [`Error::Io`] if the
    /// operating system returns no random bytes.
    pub fn wrap(&self, oaep: Oaep, label: &[u8], secret: &[u8]) -> Result<Vec<u8>> {
        let max = self.max_secret_len(oaep);
        if secret.len() > max {
            return Err(Misuse::SecretLength { got: secret.len(), max }.into());
        }
        random::check()?;
        // bounded: the length of a key, at most 1 KiB.
        let mut wrapped = vec![0; self.oaep.ciphertext_size()];
        let written = self.oaep.encrypt(oaep.library().1, secret, &mut wrapped, Some(label));
        // AWS-LC's error is `Unspecified`; with valid keys, only allocation can fail.
        let len = written.map_err(|_| OUT_OF_MEMORY)?.len();
        wrapped.truncate(len);
        Ok(wrapped)
    }
}

super::equal_by!(PublicKey: spki);

debug_text!(PublicKey; |it| "PublicKey(RSA, {} bits)", it.bits());

/// Translates the library's reasons that a caller can act on.
fn rejected(why: KeyRejected, otherwise: Error) -> Error {
    match why.description_() {
        "TooSmall" => {
            Error::unsuitable_key("the RSA key has less than 2048 bits, which is too short to be secure")
        }
        "TooLarge" => Error::unsuitable_key("the RSA key has more than 8192 bits"),
        _ => otherwise,
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::OnceLock;

    /// Generated once for all tests, because it takes some seconds.
    fn key() -> &'static PrivateKey {
        static KEY: OnceLock<PrivateKey> = OnceLock::new();
        KEY.get_or_init(|| PrivateKey::generate(2048).unwrap())
    }

    const ALL: [Oaep; 4] = [Oaep::Sha1, Oaep::Sha256, Oaep::Sha384, Oaep::Sha512];

    #[test]
    fn wrapped_keys_round_trip() {
        let public = key().public();
        for oaep in ALL {
            for (len, label) in [(0, &b""[..]), (32, b""), (32, b"label"), (public.max_secret_len(oaep), b"")]
            {
                let secret = vec![7; len];
                let wrapped = public.wrap(oaep, label, &secret).unwrap();
                assert_eq!(wrapped.len(), public.modulus_len());
                assert_eq!(*key().unwrap(oaep, label, &wrapped).unwrap(), secret, "{oaep:?} {len}");
            }
        }
    }

    #[test]
    fn rejects_longer_secrets_and_states_the_limit() {
        let public = key().public();
        for (oaep, max) in ALL.into_iter().zip([214, 190, 158, 126]) {
            assert_eq!(public.max_secret_len(oaep), max);
            let refused = public.wrap(oaep, b"", &vec![0; max + 1]).unwrap_err();
            assert!(
                matches!(refused, Error::Misuse(Misuse::SecretLength { got, max: m }) if (got, m) == (max + 1, max))
            );
            assert!(refused.to_string().contains(&max.to_string()));
        }
    }

    // claim: public-key-time
    #[test]
    fn all_unwrap_failures_are_the_same() {
        let public = key().public();
        let wrapped = public.wrap(Oaep::Sha256, b"label", b"secret").unwrap();
        let mut changed = wrapped.clone();
        changed[100] ^= 1;
        let past = [&wrapped[..], &[0]].concat();
        let above = vec![0xff; wrapped.len()];
        for (oaep, label, wrapped) in [
            (Oaep::Sha1, &b"label"[..], &wrapped),
            (Oaep::Sha256, b"", &wrapped),
            (Oaep::Sha256, b"label", &changed),
            (Oaep::Sha256, b"label", &past),
            (Oaep::Sha256, b"label", &above),
            (Oaep::Sha256, b"label", &vec![]),
        ] {
            assert!(matches!(key().unwrap(oaep, label, wrapped), Err(Error::Authentication)));
        }
    }

    #[test]
    fn keys_round_trip() {
        let der = key().to_pkcs8().unwrap();
        let again = PrivateKey::from_pkcs8(&der).unwrap();
        let public = key().public();
        assert_eq!(again.public(), public);
        assert_eq!(PublicKey::from_spki(public.to_spki()).unwrap(), public);
        assert_eq!((key().bits(), public.bits(), public.modulus_len()), (2048, 2048, 256));
        for len in 0..der.len() {
            assert!(matches!(PrivateKey::from_pkcs8(&der[..len]), Err(Error::Format(_))), "{len} bytes");
        }
        let spki = public.to_spki();
        let mut other = spki.to_vec();
        other[100] ^= 1; // in the modulus
        assert_ne!(PublicKey::from_spki(&other).unwrap(), public);
        for len in 0..spki.len() {
            assert!(matches!(PublicKey::from_spki(&spki[..len]), Err(Error::Format(_))), "{len} bytes");
        }
        assert!(matches!(PrivateKey::from_pkcs8(&[&der[..], &[0]].concat()), Err(Error::Format(_))));
        assert!(matches!(PublicKey::from_spki(&[spki, &[0]].concat()), Err(Error::Format(_))));
        assert!(matches!(PrivateKey::from_pkcs8(spki), Err(Error::Format(_))));
    }

    #[test]
    fn rejects_other_sizes() {
        for bits in [0, 512, 1024, 2047, 2049, 8192, usize::MAX] {
            assert!(matches!(PrivateKey::generate(bits), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", key()), "PrivateKey(RSA, 2048 bits)");
        assert_eq!(format!("{:?}", key().public()), "PublicKey(RSA, 2048 bits)");
    }
}
