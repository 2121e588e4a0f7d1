//! RSA for wrapping keys: RSAES-OAEP (RFC 8017, section 7.1), over AWS-LC.
//!
//! ```text
//! private key = PKCS#8 (RFC 5208)             2048 to 8192 bits
//! public key  = SubjectPublicKeyInfo (RFC 5280, section 4.1)
//! capsule     = as long as the modulus; it holds up to modulus - 2 * hash - 2 bytes
//! ```
//!
//! MGF1 uses the hash of the padding. Private operations are blinded and take constant time, padding included.

use crate::{Error, Misuse};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::error::KeyRejected;
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
    OaepAlgorithm, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

const FAILED: Error = Error::LimitExceeded("RSA could not be computed: there is no memory left");

/// The hash of the padding, and of its mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Oaep {
    /// What many libraries still default to. Its collisions do no harm here.
    Sha1,
    /// For all that is new.
    #[default]
    Sha256,
    /// The same, longer.
    Sha384,
    /// The same, longer still.
    Sha512,
}

impl Oaep {
    /// Bytes of the hash.
    pub fn hash_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    fn algorithm(self) -> &'static OaepAlgorithm {
        match self {
            Self::Sha1 => &OAEP_SHA1_MGF1SHA1,
            Self::Sha256 => &OAEP_SHA256_MGF1SHA256,
            Self::Sha384 => &OAEP_SHA384_MGF1SHA384,
            Self::Sha512 => &OAEP_SHA512_MGF1SHA512,
        }
    }
}

/// A private key. AWS-LC wipes it when the last clone is dropped; never shown.
#[derive(Clone)]
pub struct PrivateKey {
    key: PrivateDecryptingKey,
    oaep: Arc<OaepPrivateDecryptingKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// A fresh key of 2048, 3072 or 4096 bits; takes up to seconds.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] for another size.
    pub fn generate(bits: usize) -> Result<Self, Error> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            _ => return Err(Misuse::UnsuitableKey("RSA keys are made with 2048, 3072 or 4096 bits").into()),
        };
        Self::of(PrivateDecryptingKey::generate(size).map_err(|_| FAILED)?)
    }

    /// The key in this PKCS#8 (DER). Its numbers are checked against each other.
    ///
    /// # Errors
    /// [`Error::Format`]; [`Misuse::UnsuitableKey`] for a size that is not read.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, Error> {
        const NONE: Error = Error::Format("not an RSA private key in PKCS#8");
        // AWS-LC does not look at what comes after it.
        pkcs8::PrivateKeyInfoRef::try_from(der).map_err(|_| NONE)?;
        Self::of(PrivateDecryptingKey::from_pkcs8(der).map_err(|why| rejected(why, NONE))?)
    }

    fn of(key: PrivateDecryptingKey) -> Result<Self, Error> {
        let oaep = OaepPrivateDecryptingKey::new(key.clone()).map_err(|_| FAILED)?;
        // By way of its encoding: the library's own answer would hold the private key as well.
        let spki: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|_| FAILED)?;
        let public = PublicKey::from_spki(spki.as_ref())?;
        Ok(Self { key, oaep: Arc::new(oaep), public })
    }

    /// The key as PKCS#8 (DER).
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] where there is no memory left.
    pub fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        // The library wipes its own copy.
        let der: Pkcs8V1Der<'_> = self.key.as_der().map_err(|_| FAILED)?;
        Ok(Zeroizing::new(der.as_ref().to_vec()))
    }

    /// The public side.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.key.key_size_bits()
    }

    /// Bytes of the modulus, and of a capsule.
    pub fn modulus_len(&self) -> usize {
        self.key.key_size_bytes()
    }

    /// What was wrapped for this key under the same `label`.
    ///
    /// # Errors
    /// [`Error::Authentication`] for whatever reason: any other word, or time, would be an oracle (Manger 2001).
    pub fn unwrap(&self, oaep: Oaep, label: &[u8], capsule: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        if capsule.len() != self.modulus_len() {
            return Err(Error::Authentication);
        }
        let mut secret = Zeroizing::new(vec![0; self.oaep.min_output_size()]);
        let opened = self.oaep.decrypt(oaep.algorithm(), capsule, &mut secret, Some(label));
        let len = opened.map_err(|_| Error::Authentication)?.len();
        secret.truncate(len);
        Ok(secret)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey(RSA, {} bits)", self.bits())
    }
}

/// A public key.
#[derive(Clone)]
pub struct PublicKey {
    spki: Arc<[u8]>,
    oaep: Arc<OaepPublicEncryptingKey>,
}

impl PublicKey {
    /// The key in this SubjectPublicKeyInfo (DER).
    ///
    /// # Errors
    /// [`Error::Format`]; [`Misuse::UnsuitableKey`] for a size that is not read.
    pub fn from_spki(der: &[u8]) -> Result<Self, Error> {
        const NONE: Error = Error::Format("not an RSA public key in a SubjectPublicKeyInfo");
        pkcs8::spki::SubjectPublicKeyInfoRef::try_from(der).map_err(|_| NONE)?;
        let key = PublicEncryptingKey::from_der(der).map_err(|why| rejected(why, NONE))?;
        // As the library writes it, so that equal keys are equal bytes.
        let written: PublicKeyX509Der<'_> = key.as_der().map_err(|_| FAILED)?;
        let spki = written.as_ref().into();
        let oaep = OaepPublicEncryptingKey::new(key).map_err(|_| FAILED)?;
        Ok(Self { spki, oaep: Arc::new(oaep) })
    }

    /// The key as SubjectPublicKeyInfo (DER).
    pub fn to_spki(&self) -> &[u8] {
        &self.spki
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.oaep.key_size_bits()
    }

    /// Bytes of the modulus, and of a capsule.
    pub fn modulus_len(&self) -> usize {
        self.oaep.key_size_bytes()
    }

    /// The longest secret that one capsule holds, in bytes.
    pub fn max_secret_len(&self, oaep: Oaep) -> usize {
        self.modulus_len().saturating_sub(2 * oaep.hash_len() + 2)
    }

    /// Wraps `secret` for the holder of the private key: a capsule of [`Self::modulus_len`] bytes.
    ///
    /// # Errors
    /// [`Misuse::SecretLength`] past [`Self::max_secret_len`].
    pub fn wrap(&self, oaep: Oaep, label: &[u8], secret: &[u8]) -> Result<Vec<u8>, Error> {
        let most = self.max_secret_len(oaep);
        if secret.len() > most {
            return Err(Misuse::SecretLength { got: secret.len(), max: most }.into());
        }
        let mut capsule = vec![0; self.oaep.ciphertext_size()];
        let written = self.oaep.encrypt(oaep.algorithm(), secret, &mut capsule, Some(label));
        let len = written.map_err(|_| FAILED)?.len();
        capsule.truncate(len);
        Ok(capsule)
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey(RSA, {} bits)", self.bits())
    }
}

/// The library's reason, as far as it is one that a caller can mend.
fn rejected(why: KeyRejected, otherwise: Error) -> Error {
    match why.description_() {
        "TooSmall" => Misuse::UnsuitableKey("the RSA key has less than 2048 bits: it can be broken").into(),
        "TooLarge" => Misuse::UnsuitableKey("the RSA key has more than 8192 bits").into(),
        _ => otherwise,
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::OnceLock;

    /// Made once: it takes a while.
    fn key() -> &'static PrivateKey {
        static KEY: OnceLock<PrivateKey> = OnceLock::new();
        KEY.get_or_init(|| PrivateKey::generate(2048).unwrap())
    }

    const ALL: [Oaep; 4] = [Oaep::Sha1, Oaep::Sha256, Oaep::Sha384, Oaep::Sha512];

    #[test]
    fn what_was_wrapped_is_unwrapped() {
        let public = key().public();
        for oaep in ALL {
            for (len, label) in [(0, &b""[..]), (32, b""), (32, b"label"), (public.max_secret_len(oaep), b"")]
            {
                let secret = vec![7; len];
                let capsule = public.wrap(oaep, label, &secret).unwrap();
                assert_eq!(capsule.len(), public.modulus_len());
                assert_eq!(*key().unwrap(oaep, label, &capsule).unwrap(), secret, "{oaep:?} {len}");
            }
        }
    }

    #[test]
    fn too_long_a_secret_says_the_limit() {
        let public = key().public();
        for (oaep, most) in ALL.into_iter().zip([214, 190, 158, 126]) {
            assert_eq!(public.max_secret_len(oaep), most);
            let refused = public.wrap(oaep, b"", &vec![0; most + 1]).unwrap_err();
            assert!(
                matches!(refused, Error::Misuse(Misuse::SecretLength { got, max: m }) if (got, m) == (most + 1, most))
            );
            assert!(refused.to_string().contains(&most.to_string()));
        }
    }

    #[test]
    fn every_failure_to_unwrap_is_the_same() {
        let public = key().public();
        let capsule = public.wrap(Oaep::Sha256, b"label", b"secret").unwrap();
        let mut changed = capsule.clone();
        changed[100] ^= 1;
        let past = [&capsule[..], &[0]].concat();
        let above = vec![0xff; capsule.len()];
        for (oaep, label, capsule) in [
            (Oaep::Sha1, &b"label"[..], &capsule),
            (Oaep::Sha256, b"", &capsule),
            (Oaep::Sha256, b"label", &changed),
            (Oaep::Sha256, b"label", &past),
            (Oaep::Sha256, b"label", &above),
            (Oaep::Sha256, b"label", &vec![]),
        ] {
            assert!(matches!(key().unwrap(oaep, label, capsule), Err(Error::Authentication)));
        }
    }

    #[test]
    fn keys_there_and_back() {
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
        for len in 0..spki.len() {
            assert!(matches!(PublicKey::from_spki(&spki[..len]), Err(Error::Format(_))), "{len} bytes");
        }
        assert!(matches!(PrivateKey::from_pkcs8(&[&der[..], &[0]].concat()), Err(Error::Format(_))));
        assert!(matches!(PublicKey::from_spki(&[spki, &[0]].concat()), Err(Error::Format(_))));
        assert!(matches!(PrivateKey::from_pkcs8(spki), Err(Error::Format(_))));
    }

    #[test]
    fn other_sizes_are_not_made() {
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
