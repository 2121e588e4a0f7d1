//! Cleartext keysets in JSON, as `tinkey --out-format json` and the JSON writers of Tink make them.
//!
//! ```text
//! { "primaryKeyId": 42,
//!   "key": [ { "keyData": { "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
//!                           "value": the message of the type in base64, "keyMaterialType": "SYMMETRIC" },
//!              "status": "ENABLED", "keyId": 42, "outputPrefixType": "TINK" } ] }
//! ```

use super::proto::{self, KeyData, KeyMaterialType, KeyStatusType, KeysetKey, OutputPrefixType};
use crate::Error;
use base64ct::{Base64, Encoding};
use serde::{Deserialize, Deserializer};
use std::fmt::{self, Write};
use zeroize::Zeroizing;

const KEYSET: Error =
    Error::Format("expected a cleartext Tink keyset: JSON with the members primaryKeyId and key");

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Keyset {
    primary_key_id: Option<u32>,
    #[serde(default)]
    key: Vec<Key>,
    encrypted_keyset: Option<serde::de::IgnoredAny>,
    #[serde(rename = "keysetInfo")]
    _keyset_info: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Key {
    key_data: Option<Data>,
    status: String,
    key_id: u32,
    output_prefix_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Data {
    type_url: String,
    #[serde(deserialize_with = "secret")]
    value: Zeroizing<String>,
    key_material_type: String,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(deserializer).map(Zeroizing::new)
}

/// Parses a keyset. The values of the enumerations are checked later, together with those of the binary format.
///
/// # Errors
/// Returns [`Error::Format`] for other text, and for an encrypted keyset.
pub(super) fn read(text: &str) -> Result<proto::Keyset, Error> {
    // The error of serde_json may quote the secret.
    let Keyset { primary_key_id, key, encrypted_keyset, .. } =
        serde_json::from_str(text).map_err(|_| KEYSET)?;
    if encrypted_keyset.is_some() {
        return Err(Error::Format(
            "expected a cleartext keyset, found an encrypted one; name its key service, for example \
             aws-kms:ARN#PATH",
        ));
    }
    let primary_key_id = primary_key_id.ok_or(KEYSET)?;
    Ok(proto::Keyset { primary_key_id, key: key.into_iter().map(read_key).collect::<Result<_, _>>()? })
}

fn read_key(key: Key) -> Result<KeysetKey, Error> {
    let key_data = match key.key_data {
        Some(Data { type_url, value, key_material_type }) => Some(KeyData {
            type_url,
            // A position in the text would say something about the secret.
            value: Base64::decode_vec(&value).map_err(|_| KEYSET.in_keyring(key.key_id))?,
            // An unknown name is refused like the number 0, which stands for an unknown value.
            key_material_type: KeyMaterialType::from_str_name(&key_material_type).map_or(0, Into::into),
        }),
        None => None,
    };
    Ok(KeysetKey {
        key_data,
        status: KeyStatusType::from_str_name(&key.status).map_or(0, Into::into),
        key_id: key.key_id,
        output_prefix_type: OutputPrefixType::from_str_name(&key.output_prefix_type).map_or(0, Into::into),
    })
}

/// Encodes a keyset as one line of JSON, as Tink's writers do.
pub(super) fn write(keyset: &proto::Keyset) -> Zeroizing<String> {
    let values: Vec<_> = keyset
        .key
        .iter()
        .map(|key| key.key_data.as_ref().map(|data| Zeroizing::new(Base64::encode_string(&data.value))))
        .collect();
    // Full capacity at once, because a growing text leaves copies behind.
    let capacity = values.iter().flatten().map(|value| value.len()).sum::<usize>() + 512 * values.len() + 512;
    // bounded: our own keys.
    let mut text = Zeroizing::new(String::with_capacity(capacity));
    let mut put = |part: fmt::Arguments<'_>| text.write_fmt(part).expect("a String takes all");
    put(format_args!("{{\"primaryKeyId\":{},\"key\":[", keyset.primary_key_id));
    for (i, (key, value)) in keyset.key.iter().zip(&values).enumerate() {
        put(format_args!("{}{{", if i == 0 { "" } else { "," }));
        if let (Some(data), Some(value)) = (&key.key_data, value) {
            let (url, material) = (&data.type_url, data.key_material_type().as_str_name());
            let value: &str = value;
            put(format_args!(
                "\"keyData\":{{\"typeUrl\":\"{url}\",\"value\":\"{value}\",\"keyMaterialType\":\"{material}\"}},"
            ));
        }
        let (status, prefix) = (key.status().as_str_name(), key.output_prefix_type().as_str_name());
        put(format_args!(
            "\"status\":\"{status}\",\"keyId\":{},\"outputPrefixType\":\"{prefix}\"}}",
            key.key_id
        ));
    }
    put(format_args!("]}}\n"));
    text
}
