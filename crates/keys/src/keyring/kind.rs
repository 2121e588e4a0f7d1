//! The types of keys in a keyring, with their Tink messages.

use super::proto::{self, AesGcmHkdfStreamingParams, KeyMessage, XAesGcmParams};
use super::streaming::{HASHES, Parameters, Segment, Template};
use crate::prelude::*;
use prost::Message;

/// Common beginning of Tink's type URLs.
const PREFIX: &str = "type.googleapis.com/google.crypto.tink.";

/// Length in bytes of Tink's AES-SIV keys: two AES-256 keys.
const SIV_LEN: usize = 64;
/// Length in bytes of XAES-256-GCM's salt in C2SP, half of its nonce.
const XAES_SALT: u8 = 12;

/// The type of a key in a keyring, with the parameters that Tink stores beside the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyType {
    /// A key for messages, and for files of the format chunked-encryption@v1.
    Aead(Algorithm),
    /// XAES-256-GCM with a salt of 8 to 11 bytes. With 12, it is [`Algorithm::Xaes256Gcm`].
    XaesShortSalt(u8),
    /// AES-SIV (RFC 5297) with a key of 64 bytes, for deterministic encryption.
    AesSiv,
    /// AES-GCM-HKDF streaming, for files.
    Streaming(Parameters),
}

/// The use of a keyring, the same for all its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Messages, and files of the format chunked-encryption@v1.
    Messages,
    /// Deterministic encryption of messages.
    Deterministic,
    /// Files of the format AES-GCM-HKDF streaming.
    Streaming,
}

/// The AEADs with the names of their Tink messages, and the fields with the key.
const AEADS: [(Algorithm, &str, Field); 7] = [
    (Algorithm::Aes128Gcm, "AesGcmKey", Field::Third),
    (Algorithm::Aes256Gcm, "AesGcmKey", Field::Third),
    (Algorithm::Aes128GcmSiv, "AesGcmSivKey", Field::Third),
    (Algorithm::Aes256GcmSiv, "AesGcmSivKey", Field::Third),
    (Algorithm::ChaCha20Poly1305, "ChaCha20Poly1305Key", Field::Second),
    (Algorithm::XChaCha20Poly1305, "XChaCha20Poly1305Key", Field::Third),
    (Algorithm::Xaes256Gcm, XAES, Field::Third),
];

const XAES: &str = "XAesGcmKey";
const SIV: &str = "AesSivKey";
const STREAMING: &str = "AesGcmHkdfStreamingKey";

/// The field of a Tink message that holds the key.
#[derive(Clone, Copy)]
enum Field {
    Second,
    Third,
}

const MALFORMED: Error = Error::Format(
    "expected a message of the key's type, version 0, without unknown fields; found other bytes, a later version, or \
     a key of another length",
);

impl KeyType {
    /// Names of the types that [`super::Keyring::generate`] makes; each parses to a type.
    pub const NAMES: [&'static str; 10] = [
        "aes-256-gcm",
        "aes-128-gcm",
        "aes-256-gcm-siv",
        "aes-128-gcm-siv",
        "chacha20-poly1305",
        "xchacha20-poly1305",
        "xaes-256-gcm",
        "aes-256-siv",
        TINK_4KB,
        TINK_1MB,
    ];

    /// Returns the name of the type, such as `"aes-256-gcm"`. Types with other parameters may share
    /// a name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Aead(algorithm) => algorithm.name(),
            Self::XaesShortSalt(_) => Algorithm::Xaes256Gcm.name(),
            Self::AesSiv => "aes-256-siv",
            Self::Streaming(parameters) => match parameters.segment() {
                Some(Segment::Kb4) => TINK_4KB,
                Some(Segment::Mb1) => TINK_1MB,
                None => "aes-gcm-hkdf-streaming",
            },
        }
    }

    /// Returns the type of this name for this key. The name of streaming keys stands for two types.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for an unknown name, or a wrong key length.
    pub fn for_key(name: &str, key: &Key) -> Result<Self> {
        if let Some(segment) = segment_named(name) {
            return Ok(Self::Streaming(Template::for_key(segment, key)?.parameters));
        }
        let found: Self = name.parse()?;
        found.check(key)?;
        Ok(found)
    }

    /// Returns the use of keys of this type.
    pub fn purpose(&self) -> Purpose {
        match self {
            Self::Aead(_) | Self::XaesShortSalt(_) => Purpose::Messages,
            Self::AesSiv => Purpose::Deterministic,
            Self::Streaming(_) => Purpose::Streaming,
        }
    }

    /// Returns the length of a new key in bytes.
    pub(super) fn key_len(&self) -> usize {
        match self {
            Self::Aead(algorithm) => algorithm.key_len(),
            Self::XaesShortSalt(_) => Algorithm::Xaes256Gcm.key_len(),
            Self::AesSiv => SIV_LEN,
            Self::Streaming(parameters) => parameters.derived_len(),
        }
    }

    /// Checks that Tink has keys of this type and length.
    pub(super) fn check(&self, key: &Key) -> Result<(), Misuse> {
        let got = key.as_bytes().len();
        let fits = match self {
            Self::Streaming(parameters) => return parameters.check(key),
            Self::Aead(algorithm) if !AEADS.iter().any(|(known, ..)| known == algorithm) => {
                return Err(UNKNOWN_NAME);
            }
            Self::XaesShortSalt(salt) if !(8..XAES_SALT).contains(salt) => {
                return Err(Misuse::UnsuitableKey(
                    "expected a salt of 8 to 11 bytes; with 12, use the algorithm xaes-256-gcm",
                ));
            }
            other => other.key_len() == got,
        };
        match (fits, self.key_len()) {
            (true, _) => Ok(()),
            (false, 16) => Err(Misuse::KeyLength { got, want: &[16] }),
            (false, SIV_LEN) => Err(Misuse::KeyLength { got, want: &[SIV_LEN] }),
            (false, _) => Err(Misuse::KeyLength { got, want: &[32] }),
        }
    }

    /// Returns the name of the type's message, and its field with the key.
    fn message(&self) -> (&'static str, Field) {
        match self {
            Self::Aead(algorithm) => {
                let found = AEADS.iter().find(|(known, ..)| known == algorithm);
                found.map(|(_, name, field)| (*name, *field)).expect("checked when the key was added")
            }
            Self::XaesShortSalt(_) => (XAES, Field::Third),
            Self::AesSiv => (SIV, Field::Second),
            Self::Streaming(_) => (STREAMING, Field::Third),
        }
    }

    /// Returns the type URL in a keyset.
    pub(super) fn type_url(&self) -> String {
        format!("{PREFIX}{}", self.message().0)
    }

    /// Encodes a key as Tink's message of this type.
    pub(super) fn encode(&self, key: &Key) -> Zeroizing<Vec<u8>> {
        let key = Some(key.as_bytes().to_vec());
        let (second, third) = match self.message().1 {
            Field::Second => (key, None),
            Field::Third => (self.params(), key),
        };
        proto::encode(&KeyMessage { version: 0, second, third })
    }

    /// Encodes the parameters of this type, if it has any.
    fn params(&self) -> Option<Vec<u8>> {
        let salt = match self {
            Self::Streaming(parameters) => {
                let params = AesGcmHkdfStreamingParams {
                    // Parameters are limited to 16 MiB, so both lengths fit.
                    ciphertext_segment_size: parameters.segment_len() as u32,
                    derived_key_size: parameters.derived_len() as u32,
                    hkdf_hash_type: parameters.hash() as u32,
                };
                return Some(params.encode_to_vec());
            }
            Self::XaesShortSalt(salt) => *salt,
            Self::Aead(Algorithm::Xaes256Gcm) => XAES_SALT,
            Self::Aead(_) | Self::AesSiv => return None,
        };
        Some(XAesGcmParams { salt_size: salt.into() }.encode_to_vec())
    }

    /// Decodes the message of a key.
    ///
    /// # Errors
    /// Returns [`Error::UnknownKeyType`] for an unsupported type, [`Error::Format`] for another
    /// type's message, and the errors of [`Parameters::new`].
    pub(super) fn decode(type_url: &str, message: &[u8]) -> Result<(Self, Key)> {
        let unknown = || Error::UnknownKeyType(shortened(type_url));
        let name = type_url.strip_prefix(PREFIX).ok_or_else(unknown)?;
        let field = match name {
            SIV => Field::Second,
            STREAMING => Field::Third,
            _ => AEADS.iter().find(|(_, known, _)| *known == name).ok_or_else(unknown)?.2,
        };
        let found: KeyMessage = proto::decode(message).ok_or(MALFORMED)?;
        let (key, params) = match field {
            Field::Second => (&found.second, &found.third),
            Field::Third => (&found.third, &found.second),
        };
        let key = key.as_ref().filter(|key| found.version == 0 && !key.is_empty()).ok_or(MALFORMED)?;
        let key = Key::from_bytes(key);
        let found = match (name, params) {
            (STREAMING, Some(params)) => Self::Streaming(streaming(params)?),
            (XAES, Some(params)) => {
                let XAesGcmParams { salt_size } = proto::decode(params).ok_or(MALFORMED)?;
                // Larger numbers are out of range too.
                match u8::try_from(salt_size).unwrap_or(u8::MAX) {
                    XAES_SALT => Self::Aead(Algorithm::Xaes256Gcm),
                    short => Self::XaesShortSalt(short),
                }
            }
            (STREAMING | XAES, None) | (_, Some(_)) => return Err(MALFORMED),
            (SIV, None) => Self::AesSiv,
            (_, None) => {
                let fits = |algorithm: Algorithm| algorithm.key_len() == key.as_bytes().len();
                let aead = AEADS.iter().find(|(algorithm, known, _)| *known == name && fits(*algorithm));
                Self::Aead(aead.ok_or(MALFORMED)?.0)
            }
        };
        match found.check(&key) {
            Ok(()) => Ok((found, key)),
            Err(Misuse::KeyLength { .. }) if found.purpose() != Purpose::Streaming => Err(MALFORMED),
            Err(other) => Err(other.into()),
        }
    }
}

const TINK_4KB: &str = "tink-4kb";
const TINK_1MB: &str = "tink-1mb";
const UNKNOWN_NAME: Misuse = Misuse::UnsuitableKey(
    "expected an algorithm that Tink keysets have: aes-256-gcm, aes-128-gcm, aes-256-gcm-siv, aes-128-gcm-siv, \
     chacha20-poly1305, xchacha20-poly1305, xaes-256-gcm, aes-256-siv, tink-4kb or tink-1mb; found another one",
);

impl FromStr for KeyType {
    type Err = Error;

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] with a list of the names.
    fn from_str(name: &str) -> Result<Self> {
        if let Some(template) = segment_named(name).and_then(|segment| Template::find(segment, 32)) {
            return Ok(Self::Streaming(template.parameters));
        }
        let aead = AEADS.iter().find(|(algorithm, ..)| algorithm.name() == name);
        match name {
            "aes-256-siv" => Ok(Self::AesSiv),
            _ => aead.map(|(algorithm, ..)| Self::Aead(*algorithm)).ok_or(UNKNOWN_NAME.into()),
        }
    }
}

fn segment_named(name: &str) -> Option<Segment> {
    match name {
        TINK_4KB => Some(Segment::Kb4),
        TINK_1MB => Some(Segment::Mb1),
        _ => None,
    }
}

fn streaming(params: &[u8]) -> Result<Parameters> {
    let params: AesGcmHkdfStreamingParams = proto::decode(params).ok_or(MALFORMED)?;
    let (hash, _) = HASHES.iter().find(|(hash, _)| *hash as u32 == params.hkdf_hash_type).ok_or(
        Misuse::UnsuitableKey(
            "expected a Tink streaming key with SHA1, SHA256 or SHA512, found another hash",
        ),
    )?;
    Parameters::new(*hash, params.derived_key_size as usize, params.ciphertext_segment_size as usize)
}

/// Shortens a type URL, because its length comes from a file.
fn shortened(type_url: &str) -> String {
    let (name, max) = (type_url.strip_prefix(PREFIX).unwrap_or(type_url), 80);
    name.chars().take(max).collect()
}
