//! Private keys in PKCS#8 (RFC 5208, RFC 5958) and public ones in SPKI (RFC 5280 section 4.1), in DER.
//!
//! | key | algorithm, parameters | private key | public key |
//! |---|---|---|---|
//! | RSA | rsaEncryption, NULL (RFC 8017 appendix A) | RSAPrivateKey | RSAPublicKey |
//! | P-256, secp256k1 | id-ecPublicKey, curve (RFC 5480) | ECPrivateKey with its public key (RFC 5915) | point |
//! | X25519 | id-X25519, none (RFC 8410) | OCTET STRING in the OCTET STRING, 32 bytes | 32 bytes |
//! | X-Wing | id-XWing, none (draft-connolly-cfrg-xwing-kem-10 section 5.8) | seed, 32 bytes | 1216 bytes |
//!
//! Curves have names: one that is spelt out in parameters is refused, since it may be another one (CVE-2020-0601).

use crate::Error;
use pkcs8::der::asn1::{AnyRef, BitStringRef, Null, OctetStringRef};
use pkcs8::der::{Decode, Encode, SecretDocument};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use sec1::{EcParameters, EcPrivateKey};
use zeroize::Zeroizing;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rsa,
    P256,
    Secp256k1,
    X25519,
    XWing,
}

#[derive(Clone, Copy)]
enum Parameters {
    Absent,
    Null,
    Curve(ObjectIdentifier),
}

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const SECP256R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const SECP256K1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.10");
const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");
const X_WING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.62253.25722");

static ROWS: [(Algorithm, ObjectIdentifier, Parameters); 5] = [
    (Algorithm::Rsa, RSA_ENCRYPTION, Parameters::Null),
    (Algorithm::P256, EC_PUBLIC_KEY, Parameters::Curve(SECP256R1)),
    (Algorithm::Secp256k1, EC_PUBLIC_KEY, Parameters::Curve(SECP256K1)),
    (Algorithm::X25519, X25519, Parameters::Absent),
    (Algorithm::XWing, X_WING, Parameters::Absent),
];

const UNKNOWN: Error =
    Error::Format("not a key that is used here: RSA, P-256, secp256k1, X25519 and X-Wing are");
const NO_PRIVATE: Error = Error::Format("not a private key in PKCS#8 (RFC 5958): its DER is damaged");
pub(super) const NO_PUBLIC: Error = Error::Format("not a public key in SPKI (RFC 5280): its DER is damaged");
const NO_EC: Error = Error::Format("not a private key of a named curve (RFC 5915): its DER is damaged");
const TOO_LONG: Error = Error::LimitExceeded("a key of this length");

impl Algorithm {
    fn find(found: &AlgorithmIdentifierRef<'_>) -> Result<Self, Error> {
        let fits = |parameters| match (parameters, found.parameters) {
            (Parameters::Absent, None) => true,
            (Parameters::Null, Some(found)) => found.is_null(),
            (Parameters::Curve(curve), Some(found)) => found.decode_as() == Ok(curve),
            _ => false,
        };
        let row = ROWS.iter().find(|(_, oid, parameters)| *oid == found.oid && fits(*parameters));
        row.map(|row| row.0).ok_or(UNKNOWN)
    }

    fn of_curve(curve: ObjectIdentifier) -> Result<Self, Error> {
        let row = ROWS.iter().find(|row| matches!(row.2, Parameters::Curve(known) if known == curve));
        row.map(|row| row.0).ok_or(UNKNOWN)
    }

    /// The rows name every algorithm.
    fn identifier(self) -> Result<AlgorithmIdentifierRef<'static>, Error> {
        let (_, oid, parameters) = ROWS.iter().find(|row| row.0 == self).ok_or(UNKNOWN)?;
        let parameters = match parameters {
            Parameters::Absent => None,
            Parameters::Null => Some(AnyRef::from(Null)),
            Parameters::Curve(curve) => Some(AnyRef::from(curve)),
        };
        Ok(AlgorithmIdentifierRef { oid: *oid, parameters })
    }
}

/// What a private key file holds.
pub(super) struct Private<'a> {
    pub(super) algorithm: Algorithm,
    /// A number or a seed; of RSA the whole PKCS#8.
    pub(super) secret: &'a [u8],
    /// The public key where it was written beside it, twice at most.
    publics: [Option<&'a [u8]>; 2],
}

impl Private<'_> {
    /// The public key that follows from the private one (of a curve: uncompressed) must be the one in the file:
    /// otherwise the file is damaged, or one of its halves was exchanged.
    pub(super) fn check(&self, public: &[u8]) -> Result<(), Error> {
        let same = |written: &[u8]| written == public || compressed(public).as_deref() == Some(written);
        match self.publics.into_iter().flatten().all(same) {
            true => Ok(()),
            false => Err(Error::Format(
                "not a key pair: the public key in the file belongs to another private key",
            )),
        }
    }
}

/// SEC 1 section 2.3.3.
fn compressed(point: &[u8]) -> Option<Vec<u8>> {
    match point {
        [4, xy @ ..] if xy.len() == 64 => {
            let sign = 2 + (xy.last()? & 1);
            Some([&[sign], xy.get(..32)?].concat())
        }
        _ => None,
    }
}

/// Is it a PKCS#8, of whatever algorithm?
pub(super) fn is_private(der: &[u8]) -> bool {
    PrivateKeyInfoRef::from_der(der).is_ok()
}

/// A PKCS#8, of version 1 or 2.
pub(super) fn private(der: &[u8]) -> Result<Private<'_>, Error> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| NO_PRIVATE)?;
    let algorithm = Algorithm::find(&info.algorithm)?;
    let beside = info.public_key.map(|public| public.as_bytes().ok_or(NO_PRIVATE)).transpose()?;
    let inside = info.private_key.as_bytes();
    Ok(match algorithm {
        Algorithm::Rsa => match beside {
            None => Private { algorithm, secret: der, publics: [None; 2] },
            Some(_) => {
                return Err(Error::Format("not a private key of RSA in PKCS#8 of version 1 (RFC 5208)"));
            }
        },
        Algorithm::P256 | Algorithm::Secp256k1 => {
            let key = sec1(inside)?;
            match key.algorithm {
                Some(other) if other != algorithm => return Err(NO_EC),
                _ => Private { algorithm, secret: key.secret, publics: [key.public, beside] },
            }
        }
        Algorithm::X25519 => {
            let secret = <&OctetStringRef>::from_der(inside).map_err(|_| NO_PRIVATE)?.as_bytes();
            Private { algorithm, secret, publics: [beside, None] }
        }
        Algorithm::XWing => Private { algorithm, secret: inside, publics: [beside, None] },
    })
}

struct Sec1<'a> {
    algorithm: Option<Algorithm>,
    secret: &'a [u8],
    public: Option<&'a [u8]>,
}

fn sec1(der: &[u8]) -> Result<Sec1<'_>, Error> {
    let key = EcPrivateKey::from_der(der).map_err(|_| NO_EC)?;
    let curve = key.parameters.and_then(EcParameters::named_curve);
    let algorithm = curve.map(Algorithm::of_curve).transpose()?;
    Ok(Sec1 { algorithm, secret: key.private_key, public: key.public_key })
}

/// An ECPrivateKey that is not inside PKCS#8, and so names its curve itself.
pub(super) fn private_sec1(der: &[u8]) -> Result<Private<'_>, Error> {
    let Sec1 { algorithm, secret, public } = sec1(der)?;
    Ok(Private { algorithm: algorithm.ok_or(NO_EC)?, secret, publics: [public, None] })
}

/// A PKCS#8 of version 1, which everybody reads.
///
/// `secret` is a number or a seed, of RSA an RSAPrivateKey; `public` is put beside the number on a curve.
pub(super) fn to_private(
    algorithm: Algorithm,
    secret: &[u8],
    public: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let inside = match algorithm {
        Algorithm::P256 | Algorithm::Secp256k1 => {
            // The curve stands outside; OpenSSL does not repeat it either.
            let key = EcPrivateKey { private_key: secret, parameters: None, public_key: Some(public) };
            SecretDocument::try_from(key).map_err(|_| TOO_LONG)?.to_bytes()
        }
        Algorithm::X25519 => {
            let inner = OctetStringRef::new(secret).and_then(|inner| inner.to_der());
            Zeroizing::new(inner.map_err(|_| TOO_LONG)?)
        }
        Algorithm::Rsa | Algorithm::XWing => Zeroizing::new(secret.to_vec()),
    };
    let inside = OctetStringRef::new(&inside).map_err(|_| TOO_LONG)?;
    let info = PrivateKeyInfoRef::new(algorithm.identifier()?, inside);
    Ok(SecretDocument::try_from(info).map_err(|_| TOO_LONG)?.to_bytes())
}

/// What a public key file holds: a point or the bytes of a key; of RSA the whole SPKI.
pub(super) fn public(der: &[u8]) -> Result<(Algorithm, &[u8]), Error> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| NO_PUBLIC)?;
    let algorithm = Algorithm::find(&info.algorithm)?;
    match algorithm {
        Algorithm::Rsa => Ok((algorithm, der)),
        _ => Ok((algorithm, info.subject_public_key.as_bytes().ok_or(NO_PUBLIC)?)),
    }
}

/// An SPKI. Of RSA, `public` is an RSAPublicKey.
pub(super) fn to_public(algorithm: Algorithm, public: &[u8]) -> Result<Vec<u8>, Error> {
    let subject_public_key = BitStringRef::from_bytes(public).map_err(|_| TOO_LONG)?;
    let info = SubjectPublicKeyInfoRef { algorithm: algorithm.identifier()?, subject_public_key };
    info.to_der().map_err(|_| TOO_LONG)
}

#[cfg(test)]
mod test {
    use super::*;

    fn written(algorithm: Algorithm, inside: &[u8], public: Option<&[u8]>) -> Vec<u8> {
        let public_key = public.map(|bytes| BitStringRef::from_bytes(bytes).unwrap());
        let private_key = OctetStringRef::new(inside).unwrap();
        PrivateKeyInfoRef { algorithm: algorithm.identifier().unwrap(), private_key, public_key }
            .to_der()
            .unwrap()
    }

    /// RFC 5958 section 2: version 2 has the public key beside the private one.
    #[test]
    fn version_2() {
        let inside = [&[4, 32][..], &[7; 32]].concat();
        let der = written(Algorithm::X25519, &inside, Some(&[9; 32]));
        assert_eq!(der[..5], [0x30, 81, 2, 1, 1]);
        let key = private(&der).unwrap();
        assert_eq!((key.algorithm, key.secret), (Algorithm::X25519, &[7; 32][..]));
        key.check(&[9; 32]).unwrap();
        assert!(matches!(key.check(&[8; 32]), Err(Error::Format(_))));
        assert!(matches!(private(&written(Algorithm::Rsa, &[], Some(&[9]))), Err(Error::Format(_))));
        assert!(private(&written(Algorithm::Rsa, &[], None)).is_ok());
    }

    #[test]
    fn points_are_compared_in_both_encodings() {
        let (mut even, mut odd) = ([1; 65], [1; 65]);
        (even[0], odd[0], even[64]) = (4, 4, 2);
        let private =
            |public| Private { algorithm: Algorithm::P256, secret: &[], publics: [None, Some(public)] };
        let (two, three) = ([&[2][..], &[1; 32]].concat(), [&[3][..], &[1; 32]].concat());
        for (public, is) in [(&even[..], &even), (&odd, &odd), (&two, &even), (&three, &odd)] {
            private(public).check(is).unwrap();
        }
        for (public, is) in
            [(&even[..], &odd), (&two, &odd), (&three, &even), (&[], &even), (&even[..64], &even)]
        {
            assert!(private(public).check(is).is_err());
        }
    }

    /// RFC 8410 section 3, RFC 5480 section 2.1.1, RFC 8017 appendix A.1.
    #[test]
    fn parameters_are_what_they_must_be() {
        let null = Some(AnyRef::from(Null));
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
        for row in &ROWS {
            assert_eq!(Algorithm::find(&row.0.identifier().unwrap()).unwrap(), row.0);
        }
    }

    #[test]
    fn a_curve_inside_must_be_the_one_outside() {
        let key = |parameters| {
            EcPrivateKey { private_key: &[1; 32], parameters, public_key: None }.to_der().unwrap()
        };
        for (curve, fits) in
            [(None, true), (Some(SECP256R1), true), (Some(SECP256K1), false), (Some(X25519), false)]
        {
            let inside = key(curve.map(EcParameters::NamedCurve));
            assert_eq!(private(&written(Algorithm::P256, &inside, None)).is_ok(), fits, "{curve:?}");
            assert_eq!(
                private_sec1(&inside).is_ok(),
                curve.is_some_and(|curve| curve != X25519),
                "{curve:?}"
            );
        }
    }
}
