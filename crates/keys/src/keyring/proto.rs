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

/// Defines messages. A field has its number, name, type, the attributes of `prost`, and its kind.
macro_rules! messages {
    ($(
        $(#[$attribute:meta])*
        $message:ident { $($number:tt $field:ident: $type:ty, [$($prost:tt)*] $kind:expr;)* }
    )*) => {$(
        #[derive(Clone, PartialEq, Message)]
        $(#[$attribute])*
        pub(super) struct $message {
            $(#[prost($($prost)*, tag = $number)] pub(super) $field: $type,)*
        }

        impl Strict for $message {
            const FIELDS: &'static [Field] = &[$(Field { number: $number, kind: $kind }),*];
        }
    )*};
}

messages! {
    /// `google.crypto.tink.Keyset`
    Keyset {
        1 primary_key_id: u32, [uint32] Kind::Number;
        2 key: Vec<KeysetKey>, [message, repeated] Kind::Messages(KeysetKey::FIELDS);
    }

    /// `google.crypto.tink.Keyset.Key`
    KeysetKey {
        1 key_data: Option<KeyData>, [message, optional] Kind::Message(KeyData::FIELDS);
        2 status: i32, [enumeration = "KeyStatusType"] Kind::Number;
        3 key_id: u32, [uint32] Kind::Number;
        4 output_prefix_type: i32, [enumeration = "OutputPrefixType"] Kind::Number;
    }

    /// `google.crypto.tink.KeyData`
    #[prost(skip_debug)]
    KeyData {
        1 type_url: String, [string] Kind::Bytes;
        2 value: Vec<u8>, [bytes = "vec"] Kind::Bytes;
        3 key_material_type: i32, [enumeration = "KeyMaterialType"] Kind::Number;
    }

    /// `google.crypto.tink.EncryptedKeyset`
    EncryptedKeyset {
        2 encrypted_keyset: Vec<u8>, [bytes = "vec"] Kind::Bytes;
        3 keyset_info: Option<KeysetInfo>, [message, optional] Kind::Message(KeysetInfo::FIELDS);
    }

    /// `google.crypto.tink.KeysetInfo`, public
    KeysetInfo {
        1 primary_key_id: u32, [uint32] Kind::Number;
        2 key_info: Vec<PublicKeyInfo>, [message, repeated] Kind::Messages(PublicKeyInfo::FIELDS);
    }

    /// `google.crypto.tink.KeysetInfo.KeyInfo`
    PublicKeyInfo {
        1 type_url: String, [string] Kind::Bytes;
        2 status: i32, [enumeration = "KeyStatusType"] Kind::Number;
        3 key_id: u32, [uint32] Kind::Number;
        4 output_prefix_type: i32, [enumeration = "OutputPrefixType"] Kind::Number;
    }

    /// `AesSivKey` and `ChaCha20Poly1305Key`
    #[prost(skip_debug)]
    KeyInField2 {
        1 version: u32, [uint32] Kind::Number;
        2 key_value: Vec<u8>, [bytes = "vec"] Kind::Bytes;
    }

    /// `AesGcmKey`, `AesGcmSivKey` and `XChaCha20Poly1305Key`
    #[prost(skip_debug)]
    KeyInField3 {
        1 version: u32, [uint32] Kind::Number;
        3 key_value: Vec<u8>, [bytes = "vec"] Kind::Bytes;
    }

    /// `XAesGcmKey`
    #[prost(skip_debug)]
    XAesGcmKey {
        1 version: u32, [uint32] Kind::Number;
        2 params: Option<XAesGcmParams>, [message, optional] Kind::Message(XAesGcmParams::FIELDS);
        3 key_value: Vec<u8>, [bytes = "vec"] Kind::Bytes;
    }

    /// `XAesGcmParams`
    #[derive(Copy)]
    XAesGcmParams {
        1 salt_size: u32, [uint32] Kind::Number;
    }

    /// `AesGcmHkdfStreamingKey`
    #[prost(skip_debug)]
    AesGcmHkdfStreamingKey {
        1 version: u32, [uint32] Kind::Number;
        2 params: Option<AesGcmHkdfStreamingParams>, [message, optional]
            Kind::Message(AesGcmHkdfStreamingParams::FIELDS);
        3 key_value: Vec<u8>, [bytes = "vec"] Kind::Bytes;
    }

    /// `AesGcmHkdfStreamingParams`. The hash is a number; the table of hashes is beside their
    /// implementations.
    #[derive(Copy)]
    AesGcmHkdfStreamingParams {
        1 ciphertext_segment_size: u32, [uint32] Kind::Number;
        2 derived_key_size: u32, [uint32] Kind::Number;
        3 hkdf_hash_type: u32, [uint32] Kind::Number;
    }
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
