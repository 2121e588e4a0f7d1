//! Cleartext Tink keysets in JSON, as written by `tinkey --out-format json` and by Tink's JSON writers.
//!
//! ```text
//! { "primaryKeyId": 42,
//!   "key": [ { "keyData": { "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey",
//!                           "value": base64 of the message below, "keyMaterialType": "SYMMETRIC" },
//!              "status": "ENABLED", "keyId": 42, "outputPrefixType": "RAW" } ] }
//!
//! message AesGcmHkdfStreamingKey    { uint32 version = 1; Params params = 2; bytes key_value = 3; }
//! message AesGcmHkdfStreamingParams { uint32 ciphertext_segment_size = 1; uint32 derived_key_size = 2;
//!                                     HashType hkdf_hash_type = 3; }
//! ```

use super::cipher::Tink;
use super::parameters::{HASHES, Parameters, TAG_LEN};
use crate::engine::pipeline::ChunkCipher;
use crate::engine::plan::ChunkPosition;
use crate::engine::prefix::{Parsed, Prefix};
use crate::file::age_file::refuse_age;
use crate::file::file_cipher::{CreateFile, FileCipher, OpenFile};
use crate::{Error, Key, Misuse, memory};
use base64ct::{Base64, Encoding};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::fmt::Write;
use zeroize::Zeroizing;

const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey";
const KEYSET: Error =
    Error::Format("expected a cleartext Tink keyset: JSON with the members primaryKeyId and key");
const KEY: Error = Error::Format("expected a Tink key of the type AesGcmHkdfStreamingKey, version 0");

/// A Tink keyset for AES-GCM-HKDF streaming. The primary key encrypts, and all enabled keys decrypt.
#[derive(Clone)]
pub struct Keyset {
    /// The enabled keys of the keyset, which all can decrypt.
    keys: Vec<Entry>,
    /// Index of the primary key in `keys`, which encrypts new files.
    primary: usize,
}

#[derive(Clone)]
struct Entry {
    id: u32,
    parameters: Parameters,
    key: Key,
}

impl Keyset {
    /// Makes a keyset of one key, which becomes the primary key.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] if the key is shorter than the derived key; [`Error::Io`] if the system has no
    /// random numbers.
    pub fn from_key(parameters: Parameters, key: &Key) -> Result<Self, Error> {
        parameters.check(key)?;
        let mut id = [0; 4];
        crate::random::fill(&mut id)?;
        // Tink accepts every identifier but warns of 0, which stands for no identifier.
        let id = u32::from_be_bytes(id).max(1);
        Ok(Self { keys: vec![Entry { id, parameters, key: key.clone() }], primary: 0 })
    }

    /// Parses a cleartext keyset, in which disabled and destroyed keys are ignored.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for any other text and for an enabled key of another type; [`Misuse::UnsuitableKey`]
    /// for parameters that Tink refuses as well; [`Error::LimitExceeded`] for segments above 16 MiB.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        // The error of serde_json may quote the secret.
        let document: Document = serde_json::from_str(text).map_err(|_| KEYSET)?;
        if document.encrypted_keyset.is_some() {
            return Err(Error::Format(
                "expected a cleartext keyset, found an encrypted one; decrypt it with tinkey",
            ));
        }
        let (primary_id, mut keys) = (document.primary_key_id.ok_or(KEYSET)?, Vec::new());
        for listed in document.key {
            if listed.status == Status::Enabled {
                keys.push(Entry::read(listed)?);
            }
        }
        let mut primaries = keys.iter().enumerate().filter(|(_, entry)| entry.id == primary_id);
        match (primaries.next(), primaries.next()) {
            (Some((primary, _)), None) => Ok(Self { primary, keys }),
            (None, _) => Err(Error::Format("expected a Tink keyset with an enabled primary key, found none")),
            (Some(_), Some(_)) => {
                Err(Error::Format("expected a Tink keyset with one primary key, found two"))
            }
        }
    }

    /// Returns the cleartext keyset, which Tink can read and which contains the secret keys.
    pub fn to_json(&self) -> Zeroizing<String> {
        let values: Vec<_> = self.keys.iter().map(Entry::value).collect();
        // Full capacity at once, because a growing text leaves copies behind.
        let capacity = values.iter().map(|value| value.len() + 512).sum::<usize>() + 512;
        // bounded: our own keys.
        let mut text = Zeroizing::new(String::with_capacity(capacity));
        let primary = self.keys[self.primary].id;
        let mut put = |part: fmt::Arguments<'_>| text.write_fmt(part).expect("a String takes all");
        put(format_args!("{{\"primaryKeyId\":{primary},\"key\":["));
        for (i, (entry, value)) in self.keys.iter().zip(&values).enumerate() {
            let (comma, id, value) = (if i == 0 { "" } else { "," }, entry.id, &**value);
            put(format_args!(
                "{comma}{{\"keyData\":{{\"typeUrl\":\"{TYPE_URL}\",\"value\":\"{value}\",\
                 \"keyMaterialType\":\"SYMMETRIC\"}},\"status\":\"ENABLED\",\"keyId\":{id},\
                 \"outputPrefixType\":\"RAW\"}}"
            ));
        }
        put(format_args!("]}}\n"));
        text
    }

    /// Returns the primary key, which encrypts new files, and its parameters.
    pub fn primary(&self) -> (&Parameters, &Key) {
        let Entry { parameters, key, .. } = &self.keys[self.primary];
        (parameters, key)
    }

    /// Returns the number of enabled keys, which includes the primary key.
    #[expect(clippy::len_without_is_empty, reason = "a keyset has a primary key")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Generates the cipher of a new file under the primary key, and its header.
    pub(super) fn create(&self, aad: &[u8]) -> Result<(Tink, Vec<u8>), Error> {
        let (parameters, key) = self.primary();
        Tink::create(parameters, key, aad)
    }

    /// Derives the cipher of the file with this beginning. A single key is not tested; of several keys, the one that opens
    /// the first segment is used.
    ///
    /// # Errors
    /// Returns [`Error::NoMatchingKey`] if none of several keys opens it, [`Error::Truncated`] if it ends too early,
    /// and the errors of [`Tink::open`].
    pub(super) fn find(
        &self,
        aad: &[u8],
        beginning: &[u8],
        extent: Prefix,
    ) -> Result<Parsed<FileCipher>, Error> {
        let mut more = 0;
        for entry in &self.keys {
            let header_len = entry.parameters.header_len();
            let Some(header) = beginning.get(..header_len) else {
                more = more.max(header_len);
                continue;
            };
            if let [only] = &self.keys[..] {
                return Ok(Parsed::Ready(Box::new(Tink::open(&only.parameters, &only.key, aad, header)?)));
            }
            // The header has the length of another key.
            if entry.parameters.split(header).is_none() {
                continue;
            }
            let (segment_len, len) = (entry.parameters.segment_len(), beginning.len());
            let (segment, last) = match extent {
                _ if len > segment_len => (&beginning[header_len..segment_len], false),
                Prefix::Whole => (&beginning[header_len..], true),
                Prefix::Partial => {
                    more = more.max(segment_len + 1);
                    continue;
                }
            };
            let tink = Tink::open(&entry.parameters, &entry.key, aad, header)?;
            if tink.opens(segment, last)? {
                return Ok(Parsed::Ready(Box::new(tink)));
            }
        }
        match (extent, more) {
            (_, 0) => Err(Error::NoMatchingKey),
            (Prefix::Whole, _) => Err(Error::Truncated),
            (Prefix::Partial, more) => Ok(Parsed::NeedsMore(more)),
        }
    }
}

impl fmt::Debug for Keyset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyset({} AES-GCM-HKDF streaming keys)", self.keys.len())
    }
}

/// A keyset with the context of its files, which Tink calls associated data.
#[derive(Debug)]
pub(in crate::file) struct TinkFile {
    keyset: Keyset,
    context: Vec<u8>,
}

impl TinkFile {
    pub(in crate::file) fn new(keyset: Keyset, context: &[u8]) -> Self {
        Self { keyset, context: context.to_vec() }
    }
}

impl CreateFile for TinkFile {
    fn create_file(&self) -> Result<(FileCipher, Vec<u8>), Error> {
        let (tink, header) = self.keyset.create(&self.context)?;
        Ok((Box::new(tink), header))
    }
}

impl OpenFile for TinkFile {
    fn open_file(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<FileCipher>, Error> {
        refuse_age(prefix)?;
        self.keyset.find(&self.context, prefix, extent)
    }
}

impl Tink {
    /// Returns whether `segment` is the first segment under this key.
    fn opens(&self, segment: &[u8], last: bool) -> Result<bool, Error> {
        let Some(len) = segment.len().checked_sub(TAG_LEN) else { return Ok(false) };
        let mut plain = Zeroizing::new(memory::zeroed(len)?);
        match self.decrypt(ChunkPosition { index: 0, last }, segment, &mut plain) {
            Ok(()) => Ok(true),
            Err(Error::Authentication) => Ok(false),
            Err(other) => Err(other),
        }
    }
}

// ---- JSON ---------------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    primary_key_id: Option<u32>,
    #[serde(default)]
    key: Vec<Listed>,
    encrypted_keyset: Option<serde::de::IgnoredAny>,
    #[serde(rename = "keysetInfo")]
    _keyset_info: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Listed {
    key_data: Option<KeyData>,
    status: Status,
    key_id: u32,
    output_prefix_type: String,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Enabled,
    Disabled,
    Destroyed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyData {
    type_url: String,
    #[serde(deserialize_with = "secret")]
    value: Zeroizing<String>,
    key_material_type: String,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(deserializer).map(Zeroizing::new)
}

impl Entry {
    fn read(listed: Listed) -> Result<Self, Error> {
        let data = listed.key_data.ok_or(KEYSET)?;
        if data.type_url != TYPE_URL || data.key_material_type != "SYMMETRIC" {
            return Err(Error::Format(
                "expected a keyset of AesGcmHkdfStreamingKey, found an enabled key of another type",
            ));
        }
        if listed.output_prefix_type != "RAW" {
            return Err(Error::Format(
                "expected outputPrefixType RAW in a streaming keyset, found another in an enabled key",
            ));
        }
        // A position in the text would say something about the secret.
        let value = Zeroizing::new(Base64::decode_vec(&data.value).map_err(|_| KEY)?);
        let (parameters, key) = message(&value)?;
        Ok(Self { id: listed.key_id, parameters, key })
    }

    /// Returns the protocol buffer message of the key in base64, as a JSON keyset contains it.
    fn value(&self) -> Zeroizing<String> {
        let Parameters { hash, derived_len, segment_len } = self.parameters;
        let (_, hash, _) =
            HASHES.iter().find(|(known, _, _)| *known == hash).expect("the table contains every hash");
        let mut params = Vec::new();
        for (field, value) in [(1, segment_len as u64), (2, derived_len as u64), (3, *hash)] {
            params.push(field << 3 | VARINT);
            put_varint(&mut params, value);
        }
        let key = self.key.as_bytes();
        // bounded: our own key.
        let mut message = Zeroizing::new(Vec::with_capacity(params.len() + key.len() + 32));
        for (field, bytes) in [(2, &params[..]), (3, key)] {
            message.push(field << 3 | BYTES);
            put_varint(&mut message, bytes.len() as u64);
            message.extend_from_slice(bytes);
        }
        Zeroizing::new(Base64::encode_string(&message))
    }
}

// ---- Protocol Buffers ---------------------------------------------------------------------------------------------

/// The wire types of a protocol buffer message that can occur in a key.
const VARINT: u8 = 0;
const BYTES: u8 = 2;

/// The value of a field in a protocol buffer message.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn message(mut bytes: &[u8]) -> Result<(Parameters, Key), Error> {
    let (mut version, mut params, mut key) = (None, None, None);
    while !bytes.is_empty() {
        let repeated = match field(&mut bytes).ok_or(KEY)? {
            (1, Value::Number(value)) => version.replace(value).is_some(),
            (2, Value::Bytes(value)) => params.replace(value).is_some(),
            (3, Value::Bytes(value)) => key.replace(value).is_some(),
            _ => return Err(KEY),
        };
        if repeated {
            return Err(KEY);
        }
    }
    if version.unwrap_or(0) != 0 {
        return Err(KEY);
    }
    let parameters = parameters(params.ok_or(KEY)?)?;
    let key = Key::from_bytes(key.ok_or(KEY)?);
    parameters.check(&key)?;
    Ok((parameters, key))
}

fn parameters(mut bytes: &[u8]) -> Result<Parameters, Error> {
    let mut values = [None; 3];
    while !bytes.is_empty() {
        let (number, Value::Number(value)) = field(&mut bytes).ok_or(KEY)? else { return Err(KEY) };
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1)).ok_or(KEY)?;
        if values.get_mut(at).ok_or(KEY)?.replace(value).is_some() {
            return Err(KEY);
        }
    }
    let [segment_len, derived_len, hash] = values.map(|value| value.unwrap_or(0));
    let (hash, _, _) = HASHES.iter().find(|(_, number, _)| *number == hash).ok_or(Misuse::UnsuitableKey(
        "expected a Tink streaming key with SHA1, SHA256 or SHA512, found another hash",
    ))?;
    // A length that no usize holds is above the limit in any case.
    let len = |value| usize::try_from(value).unwrap_or(usize::MAX);
    Parameters::new(*hash, len(derived_len), len(segment_len))
}

/// Removes a field from the front and returns its number and value.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = take_varint(bytes)?;
    let value = match (tag & 7) as u8 {
        VARINT => Value::Number(take_varint(bytes)?),
        BYTES => {
            let len = usize::try_from(take_varint(bytes)?).ok()?;
            let (value, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Value::Bytes(value)
        }
        _ => return None,
    };
    Some((tag >> 3, value))
}

/// Removes a varint from the front: seven bits per byte, lowest first, in at most ten bytes of which the last has one bit.
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
