//! Tink's protocol buffer messages, and a decoder that refuses what [`prost`] would ignore.
//!
//! The fields are those of `tink.proto`, `aes_gcm.proto` and Tink's other definitions. Messages of
//! the same shape share a struct. `prost` skips unknown fields, merges repeated ones and cuts
//! 64-bit numbers. In a keyset, each of these is a mistake or a newer version, and saving the
//! keyset would lose what was skipped. So [`decode`] checks the fields of a message before `prost`
//! reads it.

use prost::{Message, decode_length_delimiter};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// `google.crypto.tink.Keyset`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Keyset {
    #[prost(uint32, tag = "1")]
    pub(super) primary_key_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub(super) key: Vec<KeysetKey>,
}

/// `google.crypto.tink.Keyset.Key`
#[derive(Clone, PartialEq, Message)]
pub(super) struct KeysetKey {
    #[prost(message, optional, tag = "1")]
    pub(super) key_data: Option<KeyData>,
    #[prost(enumeration = "KeyStatusType", tag = "2")]
    pub(super) status: i32,
    #[prost(uint32, tag = "3")]
    pub(super) key_id: u32,
    #[prost(enumeration = "OutputPrefixType", tag = "4")]
    pub(super) output_prefix_type: i32,
}

/// `google.crypto.tink.KeyData`
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct KeyData {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) value: Vec<u8>,
    #[prost(enumeration = "KeyMaterialType", tag = "3")]
    pub(super) key_material_type: i32,
}

/// `google.crypto.tink.EncryptedKeyset`
#[derive(Clone, PartialEq, Message)]
pub(super) struct EncryptedKeyset {
    #[prost(bytes = "vec", tag = "2")]
    pub(super) encrypted_keyset: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub(super) keyset_info: Option<KeysetInfo>,
}

/// `google.crypto.tink.KeysetInfo`, public
#[derive(Clone, PartialEq, Message)]
pub(super) struct KeysetInfo {
    #[prost(uint32, tag = "1")]
    pub(super) primary_key_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub(super) key_info: Vec<PublicKeyInfo>,
}

/// `google.crypto.tink.KeysetInfo.KeyInfo`
#[derive(Clone, PartialEq, Message)]
pub(super) struct PublicKeyInfo {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(enumeration = "KeyStatusType", tag = "2")]
    pub(super) status: i32,
    #[prost(uint32, tag = "3")]
    pub(super) key_id: u32,
    #[prost(enumeration = "OutputPrefixType", tag = "4")]
    pub(super) output_prefix_type: i32,
}

/// Defines an enumeration with its names in JSON.
macro_rules! enumerations {
    ($($(#[$doc:meta])* $name:ident { $($value:ident $text:literal = $number:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
        #[repr(i32)]
        pub(super) enum $name {
            $($value = $number),*
        }

        impl $name {
            pub(super) fn as_str_name(self) -> &'static str {
                match self {
                    $(Self::$value => $text),*
                }
            }

            pub(super) fn from_str_name(name: &str) -> Option<Self> {
                [$(Self::$value),*].into_iter().find(|value| value.as_str_name() == name)
            }
        }
    )*};
}

enumerations! {
    /// `google.crypto.tink.KeyStatusType`
    KeyStatusType {
        UnknownStatus "UNKNOWN_STATUS" = 0,
        Enabled "ENABLED" = 1,
        Disabled "DISABLED" = 2,
        Destroyed "DESTROYED" = 3,
    }

    /// `google.crypto.tink.OutputPrefixType`
    OutputPrefixType {
        UnknownPrefix "UNKNOWN_PREFIX" = 0,
        Tink "TINK" = 1,
        Legacy "LEGACY" = 2,
        Raw "RAW" = 3,
        Crunchy "CRUNCHY" = 4,
    }

    /// `google.crypto.tink.KeyData.KeyMaterialType`, without the values of keys that are not
    /// symmetric
    KeyMaterialType {
        UnknownKeymaterial "UNKNOWN_KEYMATERIAL" = 0,
        Symmetric "SYMMETRIC" = 1,
    }
}

/// `AesSivKey` and `ChaCha20Poly1305Key`
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct KeyInField2 {
    #[prost(uint32, tag = "1")]
    pub(super) version: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) key_value: Vec<u8>,
}

/// `AesGcmKey`, `AesGcmSivKey` and `XChaCha20Poly1305Key`
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct KeyInField3 {
    #[prost(uint32, tag = "1")]
    pub(super) version: u32,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) key_value: Vec<u8>,
}

/// `XAesGcmKey`
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct XAesGcmKey {
    #[prost(uint32, tag = "1")]
    pub(super) version: u32,
    #[prost(message, optional, tag = "2")]
    pub(super) params: Option<XAesGcmParams>,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) key_value: Vec<u8>,
}

/// `XAesGcmParams`
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct XAesGcmParams {
    #[prost(uint32, tag = "1")]
    pub(super) salt_size: u32,
}

/// `AesGcmHkdfStreamingKey`
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct AesGcmHkdfStreamingKey {
    #[prost(uint32, tag = "1")]
    pub(super) version: u32,
    #[prost(message, optional, tag = "2")]
    pub(super) params: Option<AesGcmHkdfStreamingParams>,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) key_value: Vec<u8>,
}

/// `AesGcmHkdfStreamingParams`. The hash is a number; the table of hashes is beside their
/// implementations.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct AesGcmHkdfStreamingParams {
    #[prost(uint32, tag = "1")]
    pub(super) ciphertext_segment_size: u32,
    #[prost(uint32, tag = "2")]
    pub(super) derived_key_size: u32,
    #[prost(uint32, tag = "3")]
    pub(super) hkdf_hash_type: u32,
}

/// Implements a `Debug` that hides the key, and wipes the key on drop.
macro_rules! secrets {
    ($($message:ident: $secret:ident;)*) => {$(
        impl Drop for $message {
            fn drop(&mut self) {
                self.$secret.zeroize();
            }
        }

        impl fmt::Debug for $message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({} bytes)", stringify!($message), self.$secret.len())
            }
        }
    )*};
}

secrets! {
    KeyData: value;
    KeyInField2: key_value;
    KeyInField3: key_value;
    XAesGcmKey: key_value;
    AesGcmHkdfStreamingKey: key_value;
}

/// A possible field of a message.
pub(super) struct Field {
    number: usize,
    kind: Kind,
}

/// The content of a field.
enum Kind {
    /// A number of at most 32 bits, like all numbers and enumerations in these messages.
    Number,
    Bytes,
    Message(&'static [Field]),
    /// A repeated message.
    Messages(&'static [Field]),
}

/// A message with known fields, to be decoded strictly.
pub(super) trait Strict: Message + Default {
    const FIELDS: &'static [Field];
}

macro_rules! fields {
    ($($message:ident: $($number:literal $kind:expr),+;)*) => {$(
        impl Strict for $message {
            const FIELDS: &'static [Field] = &[$(Field { number: $number, kind: $kind }),+];
        }
    )*};
}

fields! {
    Keyset: 1 Kind::Number, 2 Kind::Messages(KeysetKey::FIELDS);
    KeysetKey: 1 Kind::Message(KeyData::FIELDS), 2 Kind::Number, 3 Kind::Number, 4 Kind::Number;
    KeyData: 1 Kind::Bytes, 2 Kind::Bytes, 3 Kind::Number;
    EncryptedKeyset: 2 Kind::Bytes, 3 Kind::Message(KeysetInfo::FIELDS);
    KeysetInfo: 1 Kind::Number, 2 Kind::Messages(PublicKeyInfo::FIELDS);
    PublicKeyInfo: 1 Kind::Bytes, 2 Kind::Number, 3 Kind::Number, 4 Kind::Number;
    KeyInField2: 1 Kind::Number, 2 Kind::Bytes;
    KeyInField3: 1 Kind::Number, 3 Kind::Bytes;
    XAesGcmKey: 1 Kind::Number, 2 Kind::Message(XAesGcmParams::FIELDS), 3 Kind::Bytes;
    XAesGcmParams: 1 Kind::Number;
    AesGcmHkdfStreamingKey:
        1 Kind::Number, 2 Kind::Message(AesGcmHkdfStreamingParams::FIELDS), 3 Kind::Bytes;
    AesGcmHkdfStreamingParams: 1 Kind::Number, 2 Kind::Number, 3 Kind::Number;
}

/// The wire types of protocol buffers in these messages.
const VARINT: usize = 0;
const LENGTH_DELIMITED: usize = 2;

/// Decodes a message; `None` if it is malformed, or has an unknown or repeated field or a number
/// above 32 bits.
pub(super) fn decode<M: Strict>(bytes: &[u8]) -> Option<M> {
    check(bytes, M::FIELDS)?;
    M::decode(bytes).ok()
}

/// Encodes a message into memory that is wiped. Allocated at full length, it leaves no copies
/// behind.
pub(super) fn encode(message: &impl Message) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(message.encode_to_vec())
}

fn check(mut bytes: &[u8], fields: &[Field]) -> Option<()> {
    let mut seen = 0_u32;
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let field = fields.iter().find(|field| field.number == key >> 3)?;
        let bit = 1 << field.number;
        if seen & bit != 0 && !matches!(field.kind, Kind::Messages(_)) {
            return None;
        }
        seen |= bit;
        match (&field.kind, key & 7) {
            (Kind::Number, VARINT) => {
                u32::try_from(varint(&mut bytes)?).ok()?;
            }
            (Kind::Number, _) => return None,
            (kind, LENGTH_DELIMITED) => {
                let len = varint(&mut bytes)?;
                let (value, rest) = bytes.split_at_checked(len)?;
                bytes = rest;
                if let Kind::Message(fields) | Kind::Messages(fields) = kind {
                    check(value, fields)?;
                }
            }
            _ => return None,
        }
    }
    Some(())
}

/// Removes a number from the front. `prost` names its function after the most common use.
fn varint(bytes: &mut &[u8]) -> Option<usize> {
    decode_length_delimiter(bytes).ok()
}
