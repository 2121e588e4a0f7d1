//! Cleartext keysets in JSON, as from `tinkey --out-format json` and Tink's JSON writers.
//!
//! ```text
//! { "primaryKeyId": 42,
//!   "key": [ { "keyData": { "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
//!                           "value": the message of the type in base64, "keyMaterialType": "SYMMETRIC" },
//!              "status": "ENABLED", "keyId": 42, "outputPrefixType": "TINK" } ] }
//! ```

use super::proto::{
    self, KeyData, KeysetInfo, KeysetKey, MATERIAL, OUTPUT_PREFIX, PublicKeyInfo, STATUS, json_name,
};
use crate::encoding::json::{self, RawValue};
use crate::prelude::*;
use base64ct::{Base64, Encoding};
use serde::Deserialize;
use std::fmt::Write;

const KEYSET: Error = Error::Format(
    "expected a cleartext Tink keyset: JSON with the members primaryKeyId and key, each once and no unknown ones",
);

/// Defines the members of a message as ProtoJSON reads them: under both names, each optional.
macro_rules! members {
    ($($message:ident { $($member:ident $original:literal),* })*) => {$(
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct $message<'a> {
            $(#[serde(borrow, alias = $original)] $member: Option<&'a RawValue>,)*
        }
    )*};
}

members! {
    Keyset {
        primary_key_id "primary_key_id", key "key",
        encrypted_keyset "encrypted_keyset", keyset_info "keyset_info"
    }
    Key {
        key_data "key_data", status "status", key_id "key_id", output_prefix_type "output_prefix_type"
    }
    Data { type_url "type_url", value "value", key_material_type "key_material_type" }
    Info { primary_key_id "primary_key_id", key_info "key_info" }
    PublicKey {
        type_url "type_url", status "status", key_id "key_id", output_prefix_type "output_prefix_type"
    }
}

/// Parses a keyset. Enumerations are checked later, together with those of the binary format.
///
/// # Errors
/// Returns [`Error::Format`] for other text, and for an encrypted keyset.
pub(super) fn read(text: &str) -> Result<proto::Keyset> {
    let keyset: Keyset<'_> = json::object(text).ok_or(KEYSET)?;
    if keyset.encrypted_keyset.is_some() {
        return Err(Error::Format(
            "expected a cleartext keyset, found an encrypted one; name its key service, for example \
             aws-kms:ARN#PATH",
        ));
    }
    let primary_key_id = json::number(keyset.primary_key_id).ok_or(KEYSET)?;
    let key = list(keyset.key).ok_or(KEYSET)?.into_iter().map(read_key).collect::<Result<_, _>>()?;
    Ok(proto::Keyset { primary_key_id, key })
}

fn read_key(key: &RawValue) -> Result<KeysetKey> {
    let key: Key<'_> = json::object(key.get()).ok_or(KEYSET)?;
    let key_id = json::number(key.key_id).ok_or(KEYSET)?;
    let key_data = match key.key_data {
        Some(data) => {
            let data: Data<'_> = json::object(data.get()).ok_or(KEYSET)?;
            let value = text(data.value).ok_or(KEYSET)?;
            // A position in the text would say something about the secret.
            let mut value = json::bytes(&value).ok_or(
                Error::Format("expected the value of a key in base64, found other text").in_keyring(key_id),
            )?;
            Some(KeyData {
                type_url: text(data.type_url).ok_or(KEYSET)?.to_string(),
                // Taken, to avoid copying the bytes.
                value: std::mem::take(&mut *value),
                // An unknown value is refused like the number 0, which stands for one.
                key_material_type: enumeration(data.key_material_type, MATERIAL).unwrap_or(0),
            })
        }
        None => None,
    };
    Ok(KeysetKey {
        key_data,
        status: enumeration(key.status, STATUS).unwrap_or(0),
        key_id,
        output_prefix_type: enumeration(key.output_prefix_type, OUTPUT_PREFIX).unwrap_or(0),
    })
}

/// Parses an encrypted keyset; `None` for other text.
pub(super) fn read_encrypted(json: &str) -> Option<proto::EncryptedKeyset> {
    let keyset: Keyset<'_> = json::object(json)?;
    if keyset.key.is_some() || keyset.primary_key_id.is_some() {
        return None;
    }
    let info = |info: &RawValue| {
        let Info { primary_key_id, key_info } = json::object(info.get())?;
        let key_info = list(key_info)?.into_iter().map(read_info).collect::<Option<_>>()?;
        Some(KeysetInfo { primary_key_id: json::number(primary_key_id)?, key_info })
    };
    Some(proto::EncryptedKeyset {
        encrypted_keyset: json::bytes(&text(keyset.encrypted_keyset)?)?.to_vec(),
        keyset_info: match keyset.keyset_info {
            Some(found) => Some(info(found)?),
            None => None,
        },
    })
}

fn read_info(key: &RawValue) -> Option<PublicKeyInfo> {
    let key: PublicKey<'_> = json::object(key.get())?;
    Some(PublicKeyInfo {
        type_url: text(key.type_url)?.to_string(),
        status: enumeration(key.status, STATUS)?,
        key_id: json::number(key.key_id)?,
        output_prefix_type: enumeration(key.output_prefix_type, OUTPUT_PREFIX)?,
    })
}

fn list(json: Option<&RawValue>) -> Option<Vec<&RawValue>> {
    json.map_or(Some(Vec::new()), json::array)
}

fn text(json: Option<&RawValue>) -> Option<Zeroizing<String>> {
    json.map_or(Some(Zeroizing::default()), json::string)
}

/// Decodes a name or a number; `None` for an unknown one.
fn enumeration(json: Option<&RawValue>, names: &[&'static str]) -> Option<i32> {
    match json.and_then(json::string) {
        Some(name) => proto::value_named(names, &name),
        None => i32::try_from(json::number(json)?).ok().filter(|number| (*number as usize) < names.len()),
    }
}

/// Encodes the members that keysets and encrypted keysets have for each key.
pub(super) fn state(status: i32, id: u32, prefix: i32) -> String {
    let (status, prefix) = (json_name(STATUS, status), json_name(OUTPUT_PREFIX, prefix));
    format!("\"status\":\"{status}\",\"keyId\":{id},\"outputPrefixType\":\"{prefix}\"")
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
            let (url, material) = (&data.type_url, json_name(MATERIAL, data.key_material_type));
            let value: &str = value;
            put(format_args!(
                "\"keyData\":{{\"typeUrl\":\"{url}\",\"value\":\"{value}\",\"keyMaterialType\":\"{material}\"}},"
            ));
        }
        put(format_args!("{}}}", state(key.status, key.key_id, key.output_prefix_type)));
    }
    put(format_args!("]}}\n"));
    text
}
