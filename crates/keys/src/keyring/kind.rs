//! The types of keys in a keyring, with their Tink messages.

use super::proto::{self, AesGcmHkdfStreamingKey, AesGcmHkdfStreamingParams, KeyInField2, KeyInField3};
use super::proto::{Strict, XAesGcmKey, XAesGcmParams};
use super::streaming::{Parameters, Segment, Template, hash_from_number, hash_number};
use base::{Error, Misuse};
use messages::Key;
use providers::Algorithm;
use std::str::FromStr;
use zeroize::Zeroizing;

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

/// The AEADs with the names and shapes of their Tink messages.
const AEADS: [(Algorithm, &str, Shape); 7] = [
    (Algorithm::Aes128Gcm, "AesGcmKey", Shape::Field3),
    (Algorithm::Aes256Gcm, "AesGcmKey", Shape::Field3),
    (Algorithm::Aes128GcmSiv, "AesGcmSivKey", Shape::Field3),
    (Algorithm::Aes256GcmSiv, "AesGcmSivKey", Shape::Field3),
    (Algorithm::ChaCha20Poly1305, "ChaCha20Poly1305Key", Shape::Field2),
    (Algorithm::XChaCha20Poly1305, "XChaCha20Poly1305Key", Shape::Field3),
    (Algorithm::Xaes256Gcm, XAES, Shape::Xaes),
];

const XAES: &str = "XAesGcmKey";
const SIV: &str = "AesSivKey";
const STREAMING: &str = "AesGcmHkdfStreamingKey";

/// The shape of an AEAD's Tink message.
#[derive(Clone, Copy)]
enum Shape {
    Field2,
    Field3,
    Xaes,
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
    pub fn for_key(name: &str, key: &Key) -> Result<Self, Error> {
        let segment = match name {
            TINK_4KB => Segment::Kb4,
            TINK_1MB => Segment::Mb1,
            _ => {
                let found: Self = name.parse()?;
                found.check(key)?;
                return Ok(found);
            }
        };
        Ok(Self::Streaming(Template::for_key(segment, key)?.parameters))
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

    fn message(&self) -> (&'static str, Shape) {
        match self {
            Self::Aead(algorithm) => {
                let found = AEADS.iter().find(|(known, ..)| known == algorithm);
                found.map(|(_, name, shape)| (*name, *shape)).expect("checked when the key was added")
            }
            Self::XaesShortSalt(_) => (XAES, Shape::Xaes),
            Self::AesSiv => (SIV, Shape::Field2),
            Self::Streaming(_) => (STREAMING, Shape::Field3),
        }
    }

    /// Returns the type URL in a keyset.
    pub(super) fn type_url(&self) -> String {
        format!("{PREFIX}{}", self.message().0)
    }

    /// Encodes a key as Tink's message of this type.
    pub(super) fn encode(&self, key: &Key) -> Zeroizing<Vec<u8>> {
        let key_value = key.as_bytes().to_vec();
        let params = match self {
            Self::Streaming(parameters) => {
                let params = Some(AesGcmHkdfStreamingParams {
                    // Parameters are limited to 16 MiB, so both lengths fit.
                    ciphertext_segment_size: parameters.segment_len() as u32,
                    derived_key_size: parameters.derived_len() as u32,
                    hkdf_hash_type: hash_number(parameters.hash()),
                });
                return proto::encode(&AesGcmHkdfStreamingKey { version: 0, params, key_value });
            }
            Self::XaesShortSalt(salt) => XAesGcmParams { salt_size: u32::from(*salt) },
            Self::Aead(_) | Self::AesSiv => XAesGcmParams { salt_size: u32::from(XAES_SALT) },
        };
        match self.message().1 {
            Shape::Field2 => proto::encode(&KeyInField2 { version: 0, key_value }),
            Shape::Field3 => proto::encode(&KeyInField3 { version: 0, key_value }),
            Shape::Xaes => proto::encode(&XAesGcmKey { version: 0, params: Some(params), key_value }),
        }
    }

    /// Decodes the message of a key.
    ///
    /// # Errors
    /// Returns [`Error::UnknownKeyType`] for an unsupported type, [`Error::Format`] for another
    /// type's message, and the errors of [`Parameters::new`].
    pub(super) fn decode(type_url: &str, message: &[u8]) -> Result<(Self, Key), Error> {
        let unknown = || Error::UnknownKeyType(shortened(type_url));
        let name = type_url.strip_prefix(PREFIX).ok_or_else(unknown)?;
        if name == STREAMING {
            return streaming(message);
        }
        if name == SIV {
            let key = Self::AesSiv.key(version_0(&decoded::<KeyInField2>(message)?)?)?;
            return Ok((Self::AesSiv, key));
        }
        let mut types = AEADS.iter().filter(|(_, known, _)| *known == name).peekable();
        let (_, _, shape) = types.peek().ok_or_else(unknown)?;
        let (value, salt) = match shape {
            Shape::Field2 => (version_0(&decoded::<KeyInField2>(message)?)?, XAES_SALT),
            Shape::Field3 => (version_0(&decoded::<KeyInField3>(message)?)?, XAES_SALT),
            Shape::Xaes => {
                let found: XAesGcmKey = decoded(message)?;
                let salt = found.params.ok_or(MALFORMED)?.salt_size;
                // Larger numbers are out of range too.
                (version_0(&found)?, u8::try_from(salt).unwrap_or(u8::MAX))
            }
        };
        let found = match salt {
            XAES_SALT => {
                let found = types.find(|(algorithm, ..)| algorithm.key_len() == value.as_bytes().len());
                Self::Aead(found.ok_or(MALFORMED)?.0)
            }
            short => Self::XaesShortSalt(short),
        };
        Ok((found, found.key(value)?))
    }

    /// Returns the key if its length fits the type.
    fn key(self, key: Key) -> Result<Key, Error> {
        match self.check(&key) {
            Ok(()) => Ok(key),
            Err(Misuse::KeyLength { .. }) => Err(MALFORMED),
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
    fn from_str(name: &str) -> Result<Self, Error> {
        let segment = match name {
            "aes-256-siv" => return Ok(Self::AesSiv),
            TINK_4KB => Segment::Kb4,
            TINK_1MB => Segment::Mb1,
            _ => {
                let known = AEADS.iter().find(|(algorithm, ..)| algorithm.name() == name);
                return known.map(|(algorithm, ..)| Self::Aead(*algorithm)).ok_or(UNKNOWN_NAME.into());
            }
        };
        Ok(Self::Streaming(Template::of_256_bits(segment).parameters))
    }
}

/// Messages with a version and a key.
trait Versioned {
    fn parts(&self) -> (u32, &[u8]);
}

macro_rules! versioned {
    ($($message:ident)*) => {$(
        impl Versioned for $message {
            fn parts(&self) -> (u32, &[u8]) {
                (self.version, &self.key_value)
            }
        }
    )*};
}

versioned! { KeyInField2 KeyInField3 XAesGcmKey AesGcmHkdfStreamingKey }

/// Returns the key of a message of version 0, the only one.
fn version_0(message: &impl Versioned) -> Result<Key, Error> {
    match message.parts() {
        (0, key) if !key.is_empty() => Ok(Key::from_bytes(key)),
        _ => Err(MALFORMED),
    }
}

fn decoded<M: Strict>(message: &[u8]) -> Result<M, Error> {
    proto::decode(message).ok_or(MALFORMED)
}

fn streaming(message: &[u8]) -> Result<(KeyType, Key), Error> {
    let found: AesGcmHkdfStreamingKey = decoded(message)?;
    let params = found.params.ok_or(MALFORMED)?;
    let key = version_0(&found)?;
    let hash = hash_from_number(params.hkdf_hash_type).ok_or(Misuse::UnsuitableKey(
        "expected a Tink streaming key with SHA1, SHA256 or SHA512, found another hash",
    ))?;
    let parameters =
        Parameters::new(hash, params.derived_key_size as usize, params.ciphertext_segment_size as usize)?;
    parameters.check(&key)?;
    Ok((KeyType::Streaming(parameters), key))
}

/// Shortens a type URL, because its length comes from a file.
fn shortened(type_url: &str) -> String {
    let (name, max) = (type_url.strip_prefix(PREFIX).unwrap_or(type_url), 80);
    name.chars().take(max).collect()
}
