//! Private keys in PKCS#8 (RFC 5208, RFC 5958) and public keys in SubjectPublicKeyInfo (SPKI; RFC
//! 5280, section 4.1).
//!
//! | key | algorithm, parameters | private key | public key |
//! |---|---|---|---|
//! | RSA | rsaEncryption, NULL (RFC 8017 appendix A) | RSAPrivateKey | RSAPublicKey |
//! | P-256, secp256k1 | id-ecPublicKey, curve (RFC 5480) | ECPrivateKey with its public key (RFC 5915) | point |
//! | X25519 | id-X25519, none (RFC 8410) | OCTET STRING in the OCTET STRING, 32 bytes | 32 bytes |
//! | X-Wing | id-XWing, none (draft-connolly-cfrg-xwing-kem-10 section 5.8) | seed, 32 bytes | 1216 bytes |
//!
//! Curves must be named. We refuse explicit curve parameters: they can describe a different curve
//! (CVE-2020-0601).

use super::sequence::sequence;
use crate::prelude::*;
use pkcs8::der::asn1::{AnyRef, BitStringRef, OctetStringRef, UintRef};
use pkcs8::der::{Decode, Encode, SecretDocument};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use sec1::{EcParameters, EcPrivateKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rsa,
    P256,
    Secp256k1,
    X25519,
    XWing,
}

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const SECP256R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const SECP256K1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.10");
const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");
const X_WING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.62253.25722");

const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::Rsa, Algorithm::P256, Algorithm::Secp256k1, Algorithm::X25519, Algorithm::XWing];

const UNKNOWN: Error = Error::Format(
    "unsupported type or parameters of a key: RSA, P-256, secp256k1, X25519 and X-Wing are supported, curves by name",
);
const INVALID_PRIVATE: Error =
    Error::Format("expected a private key in PKCS#8 (RFC 5958), found other or damaged DER");
pub(crate) const INVALID_PUBLIC: Error =
    Error::Format("expected a public key in SPKI (RFC 5280), found other or damaged DER");
const INVALID_EC: Error =
    Error::Format("expected an ECPrivateKey with a named curve (RFC 5915), found other or damaged DER");
/// Ed25519; we support its keys in OpenSSH's format only.
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const ED25519_ELSEWHERE: Error = Error::Format(
    "unsupported type of key: Ed25519 in PKCS#8 or SPKI; give the key in the format of OpenSSH, which 'ssh-keygen -p -f \
     FILE' of OpenSSH 9.6 or newer writes",
);
/// The encoders' errors are only about lengths.
const TOO_LONG: Error = Error::LimitExceeded("the key is too long for DER");

impl Algorithm {
    fn find(found: &AlgorithmIdentifierRef<'_>) -> Result<Self> {
        let known = ALGORITHMS.into_iter().find(|known| known.identifier() == *found);
        known.ok_or(if found.oid == ED25519 { ED25519_ELSEWHERE } else { UNKNOWN })
    }

    fn of_curve(curve: ObjectIdentifier) -> Result<Self> {
        Self::find(&AlgorithmIdentifierRef { oid: EC_PUBLIC_KEY, parameters: Some(AnyRef::from(&curve)) })
    }

    fn identifier(self) -> AlgorithmIdentifierRef<'static> {
        let (oid, parameters) = match self {
            Self::Rsa => (RSA_ENCRYPTION, Some(AnyRef::NULL)),
            Self::P256 => (EC_PUBLIC_KEY, Some(AnyRef::from(&SECP256R1))),
            Self::Secp256k1 => (EC_PUBLIC_KEY, Some(AnyRef::from(&SECP256K1))),
            Self::X25519 => (X25519, None),
            Self::XWing => (X_WING, None),
        };
        AlgorithmIdentifierRef { oid, parameters }
    }
}

/// The content of a private key file in PKCS#8.
pub(crate) struct Private<'a> {
    pub(crate) algorithm: Algorithm,
    /// A number or a seed; for RSA, the whole PKCS#8.
    pub(crate) secret: &'a [u8],
    /// The public key; a file may contain it twice.
    publics: [Option<&'a [u8]>; 2],
}

impl Private<'_> {
    /// Compares the file's public keys with `public`, computed from the private key. A point is
    /// uncompressed in `public`.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if they differ: the file is damaged, or a key was exchanged.
    pub(crate) fn check(&self, public: &[u8]) -> Result<()> {
        let same = |written: &[u8]| {
            written == public || forms(public).is_some_and(|forms| forms.contains(&written.to_vec()))
        };
        match self.publics.into_iter().flatten().all(same) {
            true => Ok(()),
            false => Err(Error::Format("the public key in the file does not match its private key")),
        }
    }
}

/// Returns the compressed and the hybrid form of an uncompressed point (X9.62, section 4.3.6);
/// `None` if it is malformed.
fn forms(point: &[u8]) -> Option<[Vec<u8>; 2]> {
    match point {
        [4, xy @ ..] if xy.len() == 64 => {
            let sign = xy.last()? & 1;
            Some([[&[2 + sign], &xy[..32]].concat(), [&[6 + sign], xy].concat()])
        }
        _ => None,
    }
}

/// Returns whether `der` is a PKCS#8 of any algorithm.
pub(crate) fn is_private(der: &[u8]) -> bool {
    PrivateKeyInfoRef::from_der(der).is_ok()
}

/// Parses a PKCS#8 of version 1 or 2. Returns its private key.
pub(crate) fn private(der: &[u8]) -> Result<Private<'_>> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| INVALID_PRIVATE)?;
    let algorithm = Algorithm::find(&info.algorithm)?;
    let outer = info.public_key.map(|public| public.as_bytes().ok_or(INVALID_PRIVATE)).transpose()?;
    let inner = info.private_key.as_bytes();
    Ok(match algorithm {
        Algorithm::Rsa => match outer {
            None => Private { algorithm, secret: der, publics: [None; 2] },
            Some(_) => {
                return Err(Error::Format(
                    "expected an RSA private key in PKCS#8 of version 1 (RFC 5208), found version 2",
                ));
            }
        },
        Algorithm::P256 | Algorithm::Secp256k1 => {
            let (named, key) = sec1(inner)?;
            if named.is_some_and(|named| named != algorithm) {
                return Err(INVALID_EC);
            }
            Private { algorithm, secret: key.private_key, publics: [key.public_key, outer] }
        }
        Algorithm::X25519 => {
            // The library's error does not help and could quote a secret.
            let secret = <&OctetStringRef>::from_der(inner).map_err(|_| INVALID_PRIVATE)?.as_bytes();
            Private { algorithm, secret, publics: [outer, None] }
        }
        Algorithm::XWing => Private { algorithm, secret: inner, publics: [outer, None] },
    })
}

/// Parses an ECPrivateKey. Returns it with its curve, if it names one.
fn sec1(der: &[u8]) -> Result<(Option<Algorithm>, EcPrivateKey<'_>)> {
    // The library's error does not help and could quote a secret.
    let key = EcPrivateKey::from_der(der).map_err(|_| INVALID_EC)?;
    let curve = key.parameters.and_then(EcParameters::named_curve);
    Ok((curve.map(Algorithm::of_curve).transpose()?, key))
}

/// Parses an ECPrivateKey outside PKCS#8; it must name its curve.
pub(crate) fn private_sec1(der: &[u8]) -> Result<Private<'_>> {
    let (algorithm, key) = sec1(der)?;
    let publics = [key.public_key, None];
    Ok(Private { algorithm: algorithm.ok_or(INVALID_EC)?, secret: key.private_key, publics })
}

/// Encodes a PKCS#8 of version 1, the most widely supported.
///
/// `secret` is a number, a seed or an RSAPrivateKey. For a curve, the ECPrivateKey includes
/// `public`.
pub(crate) fn to_private(algorithm: Algorithm, secret: &[u8], public: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let inner = match algorithm {
        Algorithm::P256 | Algorithm::Secp256k1 => {
            // The PKCS#8 names the curve. OpenSSL does not repeat it here either.
            let key = EcPrivateKey { private_key: secret, parameters: None, public_key: Some(public) };
            SecretDocument::try_from(key).map_err(|_| TOO_LONG)?.to_bytes()
        }
        Algorithm::X25519 => {
            let inner = OctetStringRef::new(secret).and_then(|inner| inner.to_der());
            // The library's error does not help and could quote a secret.
            Zeroizing::new(inner.map_err(|_| TOO_LONG)?)
        }
        Algorithm::Rsa | Algorithm::XWing => Zeroizing::new(secret.to_vec()),
    };
    // The library's error does not help and could quote a secret.
    let inner = OctetStringRef::new(&inner).map_err(|_| TOO_LONG)?;
    let info = PrivateKeyInfoRef::new(algorithm.identifier(), inner);
    Ok(SecretDocument::try_from(info).map_err(|_| TOO_LONG)?.to_bytes())
}

/// Encodes the PKCS#8 of an RSA key from n, e, d, p, q, dP, dQ and qInv, big-endian (RFC 8017,
/// appendix A.1.2). The parser of the result checks that they belong together.
pub(crate) fn rsa_private(numbers: [&[u8]; 8]) -> Result<Zeroizing<Vec<u8>>> {
    let [n, e, d, p, q, dp, dq, qinv] = numbers.map(UintRef::new);
    let encode = || sequence(&[&0u8, &n?, &e?, &d?, &p?, &q?, &dp?, &dq?, &qinv?]);
    to_private(Algorithm::Rsa, &encode().map_err(|_| TOO_LONG)?.0, &[])
}

/// Encodes the SPKI of an RSA key from n and e, big-endian (RFC 8017, appendix A.1.1).
pub(crate) fn rsa_public(n: &[u8], e: &[u8]) -> Result<Vec<u8>> {
    let encode = || sequence(&[&UintRef::new(n)?, &UintRef::new(e)?]);
    to_public(Algorithm::Rsa, &encode().map_err(|_| TOO_LONG)?.0)
}

/// Parses an SPKI. Returns a point or the bytes of a key; for RSA, the whole SPKI.
pub(crate) fn public(der: &[u8]) -> Result<(Algorithm, &[u8])> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| INVALID_PUBLIC)?;
    let algorithm = Algorithm::find(&info.algorithm)?;
    match algorithm {
        Algorithm::Rsa => Ok((algorithm, der)),
        _ => Ok((algorithm, info.subject_public_key.as_bytes().ok_or(INVALID_PUBLIC)?)),
    }
}

/// Encodes an SPKI. For RSA, `public` is an RSAPublicKey.
pub(crate) fn to_public(algorithm: Algorithm, public: &[u8]) -> Result<Vec<u8>> {
    let subject_public_key = BitStringRef::from_bytes(public).map_err(|_| TOO_LONG)?;
    let info = SubjectPublicKeyInfoRef { algorithm: algorithm.identifier(), subject_public_key };
    info.to_der().map_err(|_| TOO_LONG)
}

#[cfg(test)]
mod test {
    use super::*;

    fn pkcs8(algorithm: Algorithm, inner: &[u8], public: Option<&[u8]>) -> Vec<u8> {
        let public_key = public.map(|bytes| BitStringRef::from_bytes(bytes).unwrap());
        let private_key = OctetStringRef::new(inner).unwrap();
        PrivateKeyInfoRef { algorithm: algorithm.identifier(), private_key, public_key }.to_der().unwrap()
    }

    /// Version 2 contains the public key (RFC 5958, section 2).
    #[test]
    fn version_2() {
        let inner = [&[4, 32][..], &[7; 32]].concat();
        let der = pkcs8(Algorithm::X25519, &inner, Some(&[9; 32]));
        assert_eq!(der[..5], [0x30, 81, 2, 1, 1]);
        let key = private(&der).unwrap();
        assert_eq!((key.algorithm, key.secret), (Algorithm::X25519, &[7; 32][..]));
        key.check(&[9; 32]).unwrap();
        assert!(matches!(key.check(&[8; 32]), Err(Error::Format(_))));
        assert!(matches!(private(&pkcs8(Algorithm::Rsa, &[], Some(&[9]))), Err(Error::Format(_))));
        assert!(private(&pkcs8(Algorithm::Rsa, &[], None)).is_ok());
    }

    #[test]
    fn points_are_compared_in_all_forms() {
        let (mut even, mut odd) = ([1; 65], [1; 65]);
        (even[0], odd[0], even[64]) = (4, 4, 2);
        let private =
            |public| Private { algorithm: Algorithm::P256, secret: &[], publics: [None, Some(public)] };
        let (two, three) = ([&[2][..], &[1; 32]].concat(), [&[3][..], &[1; 32]].concat());
        let (six, seven) = ([&[6][..], &even[1..]].concat(), [&[7][..], &odd[1..]].concat());
        for (public, is) in
            [(&even[..], &even), (&odd, &odd), (&two, &even), (&three, &odd), (&six, &even), (&seven, &odd)]
        {
            private(public).check(is).unwrap();
        }
        for (public, is) in
            [(&even[..], &odd), (&two, &odd), (&three, &even), (&six, &odd), (&seven, &even), (&[], &even)]
        {
            assert!(private(public).check(is).is_err());
        }
        // Other keys have one encoding, even if they begin with the byte of an uncompressed point.
        let xwing = [4; 1216];
        private(&xwing).check(&xwing).unwrap();
        assert!(private(&[&[2][..], &[4; 32]].concat()).check(&xwing).is_err());
    }

    /// See RFC 8410, section 3, RFC 5480, section 2.1.1, and RFC 8017, appendix A.1.
    #[test]
    fn rejects_wrong_parameters() {
        let null = Some(AnyRef::NULL);
        for (oid, parameters) in [
            (X25519, null),
            (X_WING, null),
            (RSA_ENCRYPTION, None),
            (RSA_ENCRYPTION, Some(AnyRef::from(&SECP256R1))),
            (EC_PUBLIC_KEY, None),
            (EC_PUBLIC_KEY, null),
            (SECP256R1, None),
        ] {
            assert!(Algorithm::find(&AlgorithmIdentifierRef { oid, parameters }).is_err(), "{oid}");
        }
        for algorithm in ALGORITHMS {
            assert_eq!(Algorithm::find(&algorithm.identifier()).unwrap(), algorithm);
        }
    }

    #[test]
    fn rejects_a_different_inner_curve() {
        let key = |parameters| {
            EcPrivateKey { private_key: &[1; 32], parameters, public_key: None }.to_der().unwrap()
        };
        for (curve, fits) in
            [(None, true), (Some(SECP256R1), true), (Some(SECP256K1), false), (Some(X25519), false)]
        {
            let inner = key(curve.map(EcParameters::NamedCurve));
            assert_eq!(private(&pkcs8(Algorithm::P256, &inner, None)).is_ok(), fits, "{curve:?}");
            assert_eq!(private_sec1(&inner).is_ok(), curve.is_some_and(|curve| curve != X25519), "{curve:?}");
        }
    }
}
