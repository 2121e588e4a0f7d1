//! Tink's protocol buffer messages, and a decoder that refuses what [`prost`] would ignore.
//!
//! The fields are those of `tink.proto`, `aes_gcm.proto` and Tink's other definitions. Messages of
//! the same shape share a struct. `prost` skips unknown fields, merges repeated ones and cuts
//! 64-bit numbers. In a keyset, each of these is a mistake or a newer version, and saving the
//! keyset would lose what was skipped. So [`decode`] checks the fields of a message before `prost`
//! reads it.

use base::{debug_fields, debug_text};
use prost::{Message, decode_length_delimiter};
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
        2 status: i32, [int32] Kind::Number;
        3 key_id: u32, [uint32] Kind::Number;
        4 output_prefix_type: i32, [int32] Kind::Number;
    }

    /// `google.crypto.tink.KeyData`
    #[prost(skip_debug)]
    KeyData {
        1 type_url: String, [string] Kind::Bytes;
        2 value: Vec<u8>, [bytes = "vec"] Kind::Bytes;
        3 key_material_type: i32, [int32] Kind::Number;
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
        2 status: i32, [int32] Kind::Number;
        3 key_id: u32, [uint32] Kind::Number;
        4 output_prefix_type: i32, [int32] Kind::Number;
    }

    /// The message of a key, of any type. Its third field is the key and its second one, if any, a
    /// message with parameters. `AesSivKey` and `ChaCha20Poly1305Key` have the key in the second.
    #[prost(skip_debug)]
    KeyMessage {
        1 version: u32, [uint32] Kind::Number;
        2 second: Option<Vec<u8>>, [bytes = "vec", optional] Kind::Bytes;
        3 third: Option<Vec<u8>>, [bytes = "vec", optional] Kind::Bytes;
    }

    /// `XAesGcmParams`
    #[derive(Copy)]
    XAesGcmParams {
        1 salt_size: u32, [uint32] Kind::Number;
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

/// The names of an enumeration's values in lower case, as users see them.
type Names = [&'static str];

/// `google.crypto.tink.KeyStatusType`
pub(super) const STATUS: &Names = &["unknown_status", "enabled", "disabled", "destroyed"];
/// `google.crypto.tink.OutputPrefixType`
pub(super) const OUTPUT_PREFIX: &Names = &["unknown_prefix", "tink", "legacy", "raw", "crunchy"];
/// `google.crypto.tink.KeyData.KeyMaterialType`, without the values of keys that are not symmetric
pub(super) const MATERIAL: &Names = &["unknown_keymaterial", "symmetric"];
pub(super) const SYMMETRIC: i32 = 1;

/// Returns the name of a value in JSON; an unknown value is the first one, the default.
pub(super) fn json_name(names: &Names, value: i32) -> String {
    let known = usize::try_from(value).ok().and_then(|at| names.get(at));
    known.unwrap_or(&names[0]).to_ascii_uppercase()
}

/// Returns the value with this name in JSON.
pub(super) fn value_named(names: &Names, name: &str) -> Option<i32> {
    (0..).zip(names).find(|(_, known)| known.to_ascii_uppercase() == name).map(|(value, _)| value)
}

impl Drop for KeyData {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

debug_text!(KeyData; |it| "KeyData({} bytes)", it.value.len());

impl Drop for KeyMessage {
    fn drop(&mut self) {
        self.second.zeroize();
        self.third.zeroize();
    }
}

debug_fields!(KeyMessage; |it| version: it.version);

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
