//! Encrypted PKCS#8 (RFC 5958, section 3): PBES2 (RFC 8018, section 6.2) with scrypt (RFC 7914,
//! section 7) or PBKDF2, and AES-CBC.
//!
//! ```text
//! EncryptedPrivateKeyInfo = { { PBES2, { { scrypt | PBKDF2, parameters }, { AES-CBC, iv[16] } } }, ciphertext }
//! ```
//!
//! AES-CBC does not authenticate: only the padding and the structure of the decrypted key reveal a
//! wrong passphrase. CBC is what other software supports.
//!
//! The crate `pkcs5` reads and writes PBES2 too, but we do not use it: version 0.8.1 panics if a
//! salt has more than 32 bytes or if N = 0, and it leaves the derived key in memory. A key file is
//! untrusted input, so this module checks the limits of the parameters before any work.

use super::sequence::sequence;
use crate::prelude::*;
use crate::scrypt;
use aws_lc_rs::cipher::{self, DecryptionContext, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::pbkdf2;
use base::random;
use pkcs8::ObjectIdentifier;
use pkcs8::der::asn1::{AnyRef, OctetStringRef};
use pkcs8::der::{self, Decode, SliceReader, Tag};
use pkcs8::spki::AlgorithmIdentifierRef;
use std::num::NonZeroU32;

const PBES2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.13");
const PBKDF2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.12");
const SCRYPT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.11591.4.11");

const AES_256_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");

/// AES-CBC, with the length of its keys in bytes (NIST, Computer Security Objects Register).
static CIPHERS: [(ObjectIdentifier, &cipher::Algorithm, usize); 3] = [
    (ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2"), &cipher::AES_128, 16),
    (ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22"), &cipher::AES_192, 24),
    (AES_256_CBC, &cipher::AES_256, 32),
];

/// Pseudorandom functions of PBKDF2 (RFC 8018, appendix B.1).
static HASHES: [(ObjectIdentifier, pbkdf2::Algorithm); 4] = [
    (HMAC_SHA1, pbkdf2::PBKDF2_HMAC_SHA1),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.2.9"), pbkdf2::PBKDF2_HMAC_SHA256),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.2.10"), pbkdf2::PBKDF2_HMAC_SHA384),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.2.11"), pbkdf2::PBKDF2_HMAC_SHA512),
];

/// The default pseudorandom function of PBKDF2's parameters.
const HMAC_SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.7");

/// Parameters of new files: 16 MiB and p = 5, 0.1 to 0.2 s. The OWASP Password Storage Cheat Sheet
/// lists them as equivalent to 128 MiB with p = 1. OpenSSL refuses more than 32 MiB.
const WRITTEN: scrypt::Params = scrypt::Params { log_n: 14, r: 8, p: 5 };

const MAX_ROUNDS: u32 = 10_000_000;

const EXPECTED: Error =
    Error::Format("expected an encrypted private key in PKCS#8 (RFC 5958), found other or damaged DER");
const UNKNOWN: Error = Error::Format(
    "unsupported encryption of a private key: expected PBES2 with scrypt or PBKDF2 and AES-CBC; convert it with \
     'openssl pkcs8 -topk8 -v2 aes-256-cbc -in OLD -out NEW'",
);
const TOO_MANY_ROUNDS: Error =
    Error::LimitExceeded("the key file requests more than 10 million rounds of PBKDF2");

/// Decrypts an encrypted PKCS#8 (DER) with a key derived from `passphrase`.
///
/// # Errors
/// Returns [`Error::WrongPassphrase`] if the padding is wrong (also if the ciphertext was changed),
/// [`Error::Format`] for malformed DER and other algorithms, and [`Error::LimitExceeded`] if the
/// parameters request too much work.
pub(crate) fn open(der: &[u8], passphrase: &str) -> Result<Zeroizing<Vec<u8>>> {
    let encrypted = Encrypted::read(der)?;
    let key = encrypted.kdf.derive(passphrase.as_bytes(), encrypted.key_len)?;

    // The library's error does not help and could quote a secret.
    let key = UnboundCipherKey::new(encrypted.cipher, &key).map_err(|_| UNKNOWN)?;
    let key = cipher::PaddedBlockDecryptingKey::cbc_pkcs7(key).map_err(|_| UNKNOWN)?;
    let iv = DecryptionContext::Iv128(FixedLength::from(encrypted.iv));
    let mut data = Zeroizing::new(memory::copy(encrypted.ciphertext)?);
    // Details would help an attacker.
    let len = key.decrypt(&mut data, iv).map_err(|_| Error::WrongPassphrase)?.len();
    data.truncate(len);
    Ok(data)
}

/// Encrypts a PKCS#8 (DER) with a key derived from `passphrase`.
///
/// # Errors
/// Returns [`Error::Io`] if the operating system returns no random bytes.
pub(crate) fn seal(pkcs8: &[u8], passphrase: &str) -> Result<Vec<u8>> {
    let (salt, iv): ([u8; 16], [u8; 16]) = (random::array()?, random::array()?);
    let key = WRITTEN.derive(passphrase.as_bytes(), &salt, 32)?;

    // Capacity for the padding: a growing vector leaves copies behind. bounded: our own key.
    let mut data = Zeroizing::new(Vec::with_capacity(pkcs8.len() + 16));
    data.extend_from_slice(pkcs8);
    let failed = |_| Error::LimitExceeded("the key is too long for PKCS#8");
    let key = UnboundCipherKey::new(&cipher::AES_256, &key).map_err(failed)?;
    let key = cipher::PaddedBlockEncryptingKey::cbc_pkcs7(key).map_err(failed)?;
    let context = EncryptionContext::Iv128(FixedLength::from(iv));
    key.less_safe_encrypt(&mut *data, context).map_err(failed)?;
    // The library's error does not help and could quote a secret.
    written(&salt, &iv, &data).map_err(|_| Error::LimitExceeded("the key is too long for PKCS#8"))
}

/// Encodes a ciphertext with the parameters that we write.
fn written(salt: &[u8], iv: &[u8], ciphertext: &[u8]) -> der::Result<Vec<u8>> {
    let scrypt::Params { log_n, r, p } = WRITTEN;
    let scrypt = sequence(&[&OctetStringRef::new(salt)?, &(1u64 << log_n), &r, &p])?;
    let kdf = sequence(&[&SCRYPT, &scrypt])?;
    let cipher = sequence(&[&AES_256_CBC, &OctetStringRef::new(iv)?])?;
    let parameters = sequence(&[&kdf, &cipher])?;
    let algorithm = sequence(&[&PBES2, &parameters])?;
    Ok(sequence(&[&algorithm, &OctetStringRef::new(ciphertext)?])?.0.to_vec())
}

/// The key derivation function of an encrypted PKCS#8, and its parameters.
#[derive(Clone, Copy)]
enum Kdf<'a> {
    Pbkdf2 { salt: &'a [u8], rounds: NonZeroU32, hash: pbkdf2::Algorithm },
    Scrypt { salt: &'a [u8], params: scrypt::Params },
}

impl<'a> Kdf<'a> {
    /// Parses the parameters, and refuses those above the limits.
    fn read(algorithm: &AlgorithmIdentifierRef<'a>, key_len: usize) -> Result<Self> {
        let parameters = algorithm.parameters.ok_or(EXPECTED)?;
        match algorithm.oid {
            PBKDF2 => {
                let (salt, rounds, len, hash) =
                    // The library's error does not help and could quote a secret.
                    parameters.sequence(pbkdf2_parameters).map_err(|_| EXPECTED)?;
                let rounds = u32::try_from(rounds).ok().filter(|rounds| *rounds <= MAX_ROUNDS);
                let rounds = rounds.ok_or(TOO_MANY_ROUNDS)?;
                let rounds = NonZeroU32::new(rounds).ok_or(EXPECTED)?;
                let (_, hash) = HASHES.iter().find(|(oid, _)| *oid == hash).ok_or(UNKNOWN)?;
                check_key_len(len, key_len)?;
                Ok(Self::Pbkdf2 { salt, rounds, hash: *hash })
            }
            SCRYPT => {
                // The library's error does not help and could quote a secret.
                let (salt, [n, r, p], len) = parameters.sequence(scrypt_parameters).map_err(|_| EXPECTED)?;
                if !n.is_power_of_two() || n < 2 || r == 0 || p == 0 {
                    return Err(EXPECTED);
                }
                let params = scrypt::Params::from_file(n.trailing_zeros() as u8, r, p)?;
                check_key_len(len, key_len)?;
                Ok(Self::Scrypt { salt, params })
            }
            _ => Err(UNKNOWN),
        }
    }

    /// Derives a key of `len` bytes.
    fn derive(&self, passphrase: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        match *self {
            Self::Pbkdf2 { salt, rounds, hash } => pbkdf2(hash, rounds, passphrase, (b"", salt), len),
            Self::Scrypt { salt, params } => params.derive(passphrase, salt, len),
        }
    }
}

/// Computes a key of `len` bytes with PBKDF2 (RFC 8018, section 5.2), whose salt is both parts.
pub(crate) fn pbkdf2(
    hash: pbkdf2::Algorithm,
    rounds: NonZeroU32,
    passphrase: &[u8],
    (label, salt): (&[u8], &[u8]),
    len: usize,
) -> Result<Zeroizing<Vec<u8>>> {
    Computation::Pbkdf2.check()?;
    // The FIPS module's bounds (SP 800-132).
    if passphrase.len() < 14 || salt.len() < 16 || rounds.get() < 1000 {
        Computation::WeakPbkdf2.check()?;
    }
    let (passphrase, salt) = (Zeroizing::new(passphrase.to_vec()), [label, salt].concat());
    interruptible(move || {
        let mut key = Zeroizing::new(memory::zeroed(len)?);
        pbkdf2::derive(hash, rounds, &salt, &passphrase, &mut key);
        Ok(key)
    })
}

/// Checks the optional key length in the parameters against the cipher's.
fn check_key_len(announced: Option<u16>, key_len: usize) -> Result<()> {
    if announced.is_none_or(|len| usize::from(len) == key_len) { Ok(()) } else { Err(EXPECTED) }
}

type Pbkdf2Parameters<'a> = (&'a [u8], u64, Option<u16>, ObjectIdentifier);

/// Parses the parameters of PBKDF2 (RFC 8018, appendix A.2). The salt's alternative `otherSource`
/// is not supported.
fn pbkdf2_parameters<'a>(fields: &mut SliceReader<'a>) -> der::Result<Pbkdf2Parameters<'a>> {
    let salt = <&OctetStringRef>::decode(fields)?.as_bytes();
    let rounds = u64::decode(fields)?;
    let len = Option::<u16>::decode(fields)?;
    let hash = match Option::<AlgorithmIdentifierRef<'_>>::decode(fields)? {
        Some(hash) if hash.parameters.is_none_or(AnyRef::is_null) => hash.oid,
        Some(_) => return Err(Tag::Null.value_error().into()),
        None => HMAC_SHA1,
    };
    Ok((salt, rounds, len, hash))
}

/// Parses the parameters of scrypt (RFC 7914, section 7): salt, N, r, p and an optional length.
fn scrypt_parameters<'a>(fields: &mut SliceReader<'a>) -> der::Result<(&'a [u8], [u64; 3], Option<u16>)> {
    let salt = <&OctetStringRef>::decode(fields)?.as_bytes();
    let numbers = [u64::decode(fields)?, u64::decode(fields)?, u64::decode(fields)?];
    Ok((salt, numbers, Option::<u16>::decode(fields)?))
}

/// The fields needed to decrypt a PKCS#8.
struct Encrypted<'a> {
    kdf: Kdf<'a>,
    cipher: &'static cipher::Algorithm,
    key_len: usize,
    iv: [u8; 16],
    ciphertext: &'a [u8],
}

impl<'a> Encrypted<'a> {
    fn read(der: &'a [u8]) -> Result<Self> {
        let parts = |fields: &mut SliceReader<'a>| {
            let algorithm = AlgorithmIdentifierRef::decode(fields)?;
            der::Result::Ok((algorithm, <&OctetStringRef>::decode(fields)?.as_bytes()))
        };
        // The library's error does not help and could quote a secret.
        let (algorithm, ciphertext) =
            AnyRef::from_der(der).and_then(|key| key.sequence(parts)).map_err(|_| EXPECTED)?;
        if algorithm.oid != PBES2 {
            return Err(UNKNOWN);
        }
        let parameters = algorithm.parameters.ok_or(EXPECTED)?;
        let both = |fields: &mut SliceReader<'a>| {
            let kdf = AlgorithmIdentifierRef::decode(fields)?;
            der::Result::Ok((kdf, AlgorithmIdentifierRef::decode(fields)?))
        };
        // The library's error does not help and could quote a secret.
        let (kdf, cipher) = parameters.sequence(both).map_err(|_| EXPECTED)?;
        let (_, algorithm, key_len) = CIPHERS.iter().find(|row| row.0 == cipher.oid).ok_or(UNKNOWN)?;
        // No passphrase makes the padding of another length right.
        if ciphertext.is_empty() || ciphertext.len() % 16 != 0 {
            return Err(EXPECTED);
        }
        let iv = cipher.parameters.ok_or(EXPECTED)?.decode_as::<&OctetStringRef>().map_err(|_| EXPECTED)?;
        Ok(Self {
            kdf: Kdf::read(&kdf, *key_len)?,
            cipher: algorithm,
            key_len: *key_len,
            // The conversion fails only if the length is wrong.
            iv: iv.as_bytes().try_into().map_err(|_| EXPECTED)?,
            ciphertext,
        })
    }
}

#[cfg(test)]
mod test {
    use super::super::sequence::Sequence;
    use super::*;
    use pkcs8::der::asn1::OctetString;
    use vectors::{KdfHash, KdfPart};

    /// RFC 6070 and RFC 7914, sections 11 and 12. Two cases are expensive: 16 million rounds, and 1
    /// GiB.
    #[test]
    fn published_derivations() {
        let mut cases = [0; 2];
        for case in vectors::kdf() {
            let salt = &case.salt[..];
            let kdf = match case.part {
                KdfPart::Pbkdf2 { hash, rounds } => {
                    let hash = match hash {
                        KdfHash::Sha1 => HASHES[0].1,
                        KdfHash::Sha256 => HASHES[1].1,
                    };
                    cases[0] += 1;
                    Kdf::Pbkdf2 { salt, rounds: NonZeroU32::new(rounds).unwrap(), hash }
                }
                KdfPart::Scrypt { log_n, r, p } => {
                    cases[1] += 1;
                    Kdf::Scrypt { salt, params: scrypt::Params { log_n, r, p } }
                }
                KdfPart::Argon2 { .. } | KdfPart::Hkdf { .. } => continue,
            };
            let key = kdf.derive(&case.secret, case.output.len()).unwrap();
            assert_eq!(*key, case.output, "{} {}", case.file, case.id);
        }
        assert_eq!(cases, [8, 4]);
    }

    /// Returns an encrypted key with this key derivation.
    fn encrypted(kdf: Sequence) -> Vec<u8> {
        let cipher = sequence(&[&AES_256_CBC, &OctetString::new([0; 16]).unwrap()]).unwrap();
        let parameters = sequence(&[&kdf, &cipher]).unwrap();
        let algorithm = sequence(&[&PBES2, &parameters]).unwrap();
        sequence(&[&algorithm, &OctetString::new([0; 32]).unwrap()]).unwrap().0.to_vec()
    }

    fn scrypt_of(salt: &[u8], [n, r, p]: [u64; 3]) -> Vec<u8> {
        let parameters = sequence(&[&OctetString::new(salt).unwrap(), &n, &r, &p]).unwrap();
        encrypted(sequence(&[&SCRYPT, &parameters]).unwrap())
    }

    fn pbkdf2_of(salt: &[u8], rounds: u64) -> Vec<u8> {
        let parameters = sequence(&[&OctetString::new(salt).unwrap(), &rounds]).unwrap();
        encrypted(sequence(&[&PBKDF2, &parameters]).unwrap())
    }

    // claim: key-file
    #[test]
    fn rejects_hostile_parameters() {
        const HUGE: u64 = 1 << 62;
        for numbers in [
            [1 << 20, 8, 5],
            [1 << 21, 8, 1],
            [1 << 40, 1, 1],
            [2, 1 << 30, 1],
            [2, 1, 1 << 40],
            // Little memory for the table, and much for the blocks of all lanes.
            [2, 1 << 22, 4],
            [2, 1, 1 << 24],
            [1 << 10, 1, 1 << 23],
            // Little memory, and much work for PBKDF2.
            [2, 8, 1 << 20],
            [HUGE, HUGE, HUGE],
            [1 << 63, u64::MAX, u64::MAX],
        ] {
            let refused = open(&scrypt_of(b"salt", numbers), "x");
            assert!(matches!(refused, Err(Error::LimitExceeded(_))), "{numbers:?}");
        }
        for numbers in [
            [0, 8, 1],
            [1, 8, 1],
            [1000, 8, 1],
            [1024, 0, 1],
            [1024, 8, 0],
            [0; 3],
            [HUGE, 0, 1],
            [u64::MAX; 3],
        ] {
            assert!(matches!(open(&scrypt_of(b"salt", numbers), "x"), Err(Error::Format(_))), "{numbers:?}");
        }
        for rounds in [10_000_001, u64::from(u32::MAX), u64::MAX] {
            assert!(
                matches!(open(&pbkdf2_of(b"salt", rounds), "x"), Err(Error::LimitExceeded(_))),
                "{rounds}"
            );
        }
        assert!(matches!(open(&pbkdf2_of(b"salt", 0), "x"), Err(Error::Format(_))));
        // Salts of any length are accepted: the error is about the passphrase.
        for salt in [&[][..], &[7; 33], &[7; 1000]] {
            assert!(matches!(open(&scrypt_of(salt, [2, 1, 1]), "x"), Err(Error::WrongPassphrase)));
            assert!(matches!(open(&pbkdf2_of(salt, 1), "x"), Err(Error::WrongPassphrase)));
        }
    }

    /// Only parsed, because the work at the limits takes seconds.
    #[test]
    fn accepts_parameters_at_the_limits() {
        let reads = |der: Vec<u8>| Encrypted::read(&der).is_ok();
        // 128 * r * (N + p + 1) is 1 GiB and 1 MiB; 128 * r * p * (N + 4) is 4 GiB.
        for [n, r, p] in [[2, 1_679_360, 2], [4, 1, 1 << 22]] {
            assert!(reads(scrypt_of(b"salt", [n, r, p])));
            assert!(!reads(scrypt_of(b"salt", [n, r + 1, p])));
            assert!(!reads(scrypt_of(b"salt", [n, r, p + 1])));
        }
        assert!(reads(pbkdf2_of(b"salt", 10_000_000)));
    }

    /// If the parameters name a key length, it must be AES-256's.
    #[test]
    fn rejects_other_key_lengths() {
        let salt = OctetString::new(*b"salt").unwrap();
        for len in [0u16, 16, 24, 31, 32, 33, 288] {
            let pbkdf2 = sequence(&[&PBKDF2, &sequence(&[&salt, &1u64, &len]).unwrap()]).unwrap();
            let scrypt = sequence(&[&salt, &2u64, &1u64, &1u64, &len]).unwrap();
            for kdf in [pbkdf2, sequence(&[&SCRYPT, &scrypt]).unwrap()] {
                assert_eq!(Encrypted::read(&encrypted(kdf)).is_ok(), len == 32, "{len}");
            }
        }
    }

    /// The hash of PBKDF2 has no parameters, or NULL (RFC 8018, appendix B.1).
    #[test]
    fn rejects_parameters_of_the_hash() {
        let salt = OctetString::new(*b"salt").unwrap();
        let reads = |hash: Sequence| {
            let kdf = sequence(&[&PBKDF2, &sequence(&[&salt, &1u64, &hash]).unwrap()]).unwrap();
            Encrypted::read(&encrypted(kdf)).is_ok()
        };
        assert!(reads(sequence(&[&HASHES[1].0]).unwrap()));
        assert!(reads(sequence(&[&HASHES[1].0, &der::asn1::Null]).unwrap()));
        assert!(!reads(sequence(&[&HASHES[1].0, &1u64]).unwrap()));
    }

    #[test]
    fn round_trip() {
        for len in [0, 1, 15, 16, 17, 2000] {
            let data = vec![0xa5; len];
            let sealed = seal(&data, "p").unwrap();
            assert_eq!(*open(&sealed, "p").unwrap(), data);
            // One wrong passphrase in 256 gives valid padding, so we compare the content too.
            assert!(open(&sealed, "q").is_err() || *open(&sealed, "q").unwrap() != data);
            assert!(open(&sealed[..sealed.len() - 1], "p").is_err());
        }
    }
}
