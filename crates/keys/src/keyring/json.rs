//! Cleartext keysets in JSON, as from `tinkey --out-format json` and Tink's JSON writers.
//!
//! ```text
//! { "primaryKeyId": 42,
//!   "key": [ { "keyData": { "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
//!                           "value": the message of the type in base64, "keyMaterialType": "SYMMETRIC" },
//!              "status": "ENABLED", "keyId": 42, "outputPrefixType": "TINK" } ] }
//! ```

use super::proto::{self, KeyData, KeyMaterialType, KeyStatusType, KeysetKey, OutputPrefixType};
use crate::encoding::json::{self, RawValue};
use base::Error;
use base64ct::{Base64, Encoding};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt::{self, Write};
use zeroize::Zeroizing;

const KEYSET: Error =
    Error::Format("expected a cleartext Tink keyset: JSON with the members primaryKeyId and key");

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Keyset<'a> {
    #[serde(borrow)]
    primary_key_id: Option<&'a RawValue>,
    key: Option<&'a RawValue>,
    encrypted_keyset: Option<IgnoredAny>,
    #[serde(rename = "keysetInfo")]
    _keyset_info: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Key<'a> {
    #[serde(borrow)]
    key_data: Option<&'a RawValue>,
    status: &'a RawValue,
    key_id: &'a RawValue,
    output_prefix_type: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Data<'a> {
    #[serde(borrow)]
    type_url: &'a RawValue,
    value: &'a RawValue,
    key_material_type: &'a RawValue,
}

/// Parses a keyset. Enumerations are checked later, together with those of the binary format.
///
/// # Errors
/// Returns [`Error::Format`] for other text, and for an encrypted keyset.
pub(super) fn read(text: &str) -> Result<proto::Keyset, Error> {
    let Keyset { primary_key_id, key, encrypted_keyset, .. } = json::object(text).ok_or(KEYSET)?;
    if encrypted_keyset.is_some() {
        return Err(Error::Format(
            "expected a cleartext keyset, found an encrypted one; name its key service, for example \
             aws-kms:ARN#PATH",
        ));
    }
    let primary_key_id = primary_key_id.and_then(json::number).ok_or(KEYSET)?;
    let keys = key.map_or(Some(Vec::new()), json::array).ok_or(KEYSET)?;
    let key = keys.into_iter().map(read_key).collect::<Result<_, _>>()?;
    Ok(proto::Keyset { primary_key_id, key })
}

fn read_key(key: &RawValue) -> Result<KeysetKey, Error> {
    let key: Key<'_> = json::object(key.get()).ok_or(KEYSET)?;
    let key_id = json::number(key.key_id).ok_or(KEYSET)?;
    let key_data = match key.key_data {
        Some(data) => {
            let data: Data<'_> = json::object(data.get()).ok_or(KEYSET)?;
            let value = json::string(data.value).ok_or(KEYSET)?;
            // A position in the text would say something about the secret.
            let mut value = json::base64::<Base64>(&value).ok_or(KEYSET.in_keyring(key_id))?;
            let material = json::string(data.key_material_type).ok_or(KEYSET)?;
            Some(KeyData {
                type_url: json::string(data.type_url).ok_or(KEYSET)?.to_string(),
                // Taken, to avoid copying the bytes.
                value: std::mem::take(&mut *value),
                // An unknown name is refused like the number 0, which stands for an unknown value.
                key_material_type: KeyMaterialType::from_str_name(&material).map_or(0, Into::into),
            })
        }
        None => None,
    };
    let status = json::string(key.status).ok_or(KEYSET)?;
    let prefix = json::string(key.output_prefix_type).ok_or(KEYSET)?;
    Ok(KeysetKey {
        key_data,
        status: KeyStatusType::from_str_name(&status).map_or(0, Into::into),
        key_id,
        output_prefix_type: OutputPrefixType::from_str_name(&prefix).map_or(0, Into::into),
    })
}

/// Encodes a keyset as one line of JSON, like Tink's writers.
pub(super) fn write(keyset: &proto::Keyset) -> Zeroizing<String> {
    let values: Vec<_> = keyset
        .key
        .iter()
        .map(|key| key.key_data.as_ref().map(|data| Zeroizing::new(Base64::encode_string(&data.value))))
        .collect();
    // Full capacity at once: growing text leaves copies behind.
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
