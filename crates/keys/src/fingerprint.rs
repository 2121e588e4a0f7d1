//! Fingerprints: public commitments to a key, which pin the key that a reference leads to.
//!
//! Anyone who knows the public key of a recipient, or may encrypt with a wrapping key, can encrypt
//! another key to its readers. So a key that lies beside the data is believed only if its
//! fingerprint is expected. It is HKDF-SHA-256 (RFC 5869) with 32 bytes of output:
//!
//! ```text
//! PRK         = HMAC-SHA-256("sealane key fingerprint v1", IKM)
//! fingerprint = HMAC-SHA-256(PRK, INFO || 01)
//!
//! a symmetric key   IKM = its bytes                              INFO = "key"
//! a keyring         IKM = its cleartext Tink keyset, in binary   INFO = "keyset"
//! a description     IKM = its text                               INFO = "description"
//! ```
//!
//! `docs/decisions/028-pinned-keys.md` says why two keys with one fingerprint are as hard to find
//! as a collision of SHA-256, and what a fingerprint reveals.

use super::approved::expand_hkdf;
use super::{KeyFile, Keyring, SecretKey};
use crate::prelude::*;
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};

const SALT: &[u8] = b"sealane key fingerprint v1";
const NAME: &str = "key-sha256:";
const LEN: usize = 32;
const INVALID: Misuse = Misuse::Reference(
    "expected a fingerprint, key-sha256: and 64 hexadecimal digits in lower case, found other text",
);

/// A commitment to a symmetric key or a keyring. It is public, and written as `key-sha256:…`.
///
/// ```
/// use sealane::Key;
/// use sealane::keys::Fingerprint;
///
/// let fingerprint = Fingerprint::of_key(&Key::from_bytes(&[7; 32]))?;
/// assert_eq!(fingerprint.to_string().parse::<Fingerprint>()?, fingerprint);
/// assert_ne!(fingerprint, Fingerprint::of_key(&Key::from_bytes(&[8; 32]))?);
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; LEN]);

impl Fingerprint {
    /// Commits to the bytes of a symmetric key.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] without memory.
    pub fn of_key(key: &Key) -> Result<Self> {
        Self::new(key.as_bytes(), b"key")
    }

    /// Commits to the keys of a keyring, with their states, types and identifiers.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] without memory.
    pub fn of_keyring(ring: &Keyring) -> Result<Self> {
        Self::new(&ring.to_bytes(), b"keyset")
    }

    /// Commits to the description of a folder that has no keys.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] without memory.
    pub fn of_text(text: &str) -> Result<Self> {
        Self::new(text.as_bytes(), b"description")
    }

    /// Commits to the content of a key file.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a private or public key.
    pub fn of(file: &KeyFile) -> Result<Self> {
        match file {
            KeyFile::Secret(SecretKey::Symmetric(jwk)) => Self::of_key(&jwk.key),
            KeyFile::Keyring(ring) => Self::of_keyring(ring),
            _ => Err(Error::unsuitable_key(
                "expected a symmetric key or a keyring, found a private or public key; only those have a fingerprint",
            )),
        }
    }

    fn new(key: &[u8], info: &[u8]) -> Result<Self> {
        let mut bytes = [0; LEN];
        wiping_stack::<2048, _>(|| {
            expand_hkdf(&Salt::new(HKDF_SHA256, SALT).extract(key), &[info], &mut bytes)
        })?;
        Ok(Self(bytes))
    }

    /// Splits a reference into the part before its fingerprint, and the fingerprint, if any:
    /// `age:sales.key#key-sha256:…`. A `#` before any other text belongs to the reference.
    ///
    /// # Errors
    /// Returns [`Misuse::Reference`] for what was meant as a fingerprint, but is cut off, misspelt
    /// or in another place, even if a file has this name: as a part of the path it would pin
    /// nothing.
    pub fn split(reference: &str) -> Result<(&str, Option<Self>)> {
        let (rest, fingerprint) = match reference.rsplit_once('#') {
            Some((rest, last)) if !rest.is_empty() && last.starts_with(NAME) => (rest, Some(last.parse()?)),
            _ => (reference, None),
        };
        if is_misspelt(rest) { Err(INVALID.into()) } else { Ok((rest, fingerprint)) }
    }
}

/// Returns whether text after the last `#` was meant as a fingerprint: by its name, without signs
/// and case, or by many hexadecimal digits. A path of a file may have a digest or a UUID as name.
fn is_misspelt(reference: &str) -> bool {
    let last = reference.rsplit_once('#').map_or("", |(_, last)| last);
    let text: String = last.chars().filter(char::is_ascii_alphanumeric).collect();
    let text = text.to_ascii_lowercase();
    let digits = text.bytes().rev().take_while(u8::is_ascii_hexdigit).count();
    let (is_path, is_named) = (last.contains('/'), last.contains([':', '=']));
    reference.to_ascii_lowercase().contains(NAME)
        || text.starts_with("keysha2")
        || is_named && text.contains("sha2") && text.len() > "sha256".len() + 2 && !last.contains("://")
        || !is_path && (is_named && (text.starts_with("key") || digits >= 16) || digits > 40)
}

/// Writes `key-sha256:` and 64 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    /// # Errors
    /// Returns [`Misuse::Reference`] for other text.
    fn from_str(text: &str) -> Result<Self> {
        let mut bytes = [0; LEN];
        let digits = text.strip_prefix(NAME).filter(|digits| digits.len() == 2 * LEN).ok_or(INVALID)?;
        base16ct::lower::decode(digits, &mut bytes).map_err(|_| INVALID)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use vectors::KdfPart;

    #[test]
    fn vectors() {
        let mut cases = 0;
        for case in vectors::kdf().iter().filter(|case| case.file == "kdf/key_fingerprint.json") {
            let KdfPart::Hkdf { info, .. } = &case.part else { panic!("{} {}", case.file, case.id) };
            let found = match &info[..] {
                b"key" => Fingerprint::of_key(&Key::from_bytes(&case.secret)),
                _ => Fingerprint::of_keyring(&Keyring::from_bytes(&case.secret).unwrap()),
            };
            assert_eq!(found.unwrap().0[..], case.output[..], "{} {}", case.file, case.id);
            assert_eq!(case.salt, SALT);
            cases += 1;
        }
        assert_eq!(cases, 6);
    }

    #[test]
    fn only_a_whole_fingerprint_at_the_end_is_split_off() {
        let key = Fingerprint([0xab; LEN]);
        for path in ["a", "age:a#b", "vault:m/k?context=x#a#b", "a#", "#", "", "a#sha256:00", "a#key", "ä#ö"]
        {
            assert_eq!(Fingerprint::split(path).unwrap(), (path, None));
            let pinned = format!("{path}#{key}");
            match path {
                "" => assert!(Fingerprint::split(&pinned).is_err()),
                _ => assert_eq!(Fingerprint::split(&pinned).unwrap(), (path, Some(key))),
            }
        }
        let good = format!("a#{key}");
        for len in "a#key-sha256:".len()..good.len() {
            assert!(Fingerprint::split(&good[..len]).is_err(), "{len}");
        }
        for bad in [good.to_uppercase().to_lowercase() + "0", good.to_uppercase(), format!("{good}#{key}")] {
            assert!(matches!(Fingerprint::split(&bad), Err(Error::Misuse(Misuse::Reference(_)))), "{bad}");
        }
    }

    #[test]
    fn misspelt_fingerprints_are_no_paths() {
        let digits = "ab".repeat(LEN);
        for name in ["sha256:", "key-sha265:", "Key-SHA256:", " key-sha256:", "key_sha256=", "", "sha-256:"]
            .into_iter()
            .chain(["key:", "kye-sha256:", "key-sha256", "fingerprint:", "key-sha512:", "SHA256:"])
        {
            for scheme in ["", "age:", "file:", "env:", "keyring:a/", "vault:m/k#", "aws-kms:x#", "pkcs11:x#"]
            {
                for end in
                    [&digits[..], &digits[1..], &digits[..50], &digits.to_uppercase(), &format!("{digits} ")]
                {
                    let text = format!("{scheme}a#{name}{end}");
                    assert!(Fingerprint::split(&text).is_err(), "{text}");
                }
            }
        }
        let key = format!("key-sha256:{digits}");
        for text in [
            format!("a%23{key}"),
            format!("a {key}"),
            format!("a:{key}#b"),
            format!("a#sha256:{digits}#{key}"),
            "a#key-sha265:12".into(),
            "a#SHA256:uNiVztksCsDhcc0u9e8BgrXJXVGDPczzLDwCLrTXZ+c/".into(),
        ] {
            assert!(Fingerprint::split(&text).is_err(), "{text}");
        }
        for path in [
            "550e8400-e29b-41d4-a716-446655440000",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "key-shared.json",
            "C:\\share\\keys\\sales.key",
            "s3://bucket/sha256/0123456789abcdef",
            "simplecache::s3://bucket/sha256",
            "keys/2026:1.json",
        ] {
            let text = format!("vault:m/k#{path}");
            assert_eq!(Fingerprint::split(&text).unwrap(), (&*text, None));
        }
    }
}
