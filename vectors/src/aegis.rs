//! Files of the AEGIS draft: lists of messages and internal states.

use crate::folder::File;
use crate::hex::Hex;
use crate::{AeadCase, Outcome, Why};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A message. Entries with internal states have neither `ct` nor tags.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    name: String,
    key: Hex,
    nonce: Hex,
    ad: Hex,
    /// Absent if opening must fail.
    msg: Option<Hex>,
    ct: Hex,
    tag128: Hex,
    tag256: Hex,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
enum Refusal {
    #[serde(rename = "verification failed")]
    VerificationFailed,
}

pub(crate) fn read(file: &File) -> Result<Vec<AeadCase>, Why> {
    let stem = file.name.rsplit('/').next().and_then(|name| name.strip_suffix("-test-vectors.json"));
    let algorithm = stem.ok_or_else(|| Why::UnknownAlgorithm(file.name.clone()))?;
    let mut cases = Vec::new();
    for entry in file.json::<Vec<Map<String, Value>>>()? {
        if is_state(&entry) {
            continue;
        }
        let message: Message = serde_json::from_value(Value::Object(entry))?;
        let result = match (&message.error, &message.msg) {
            (None, Some(_)) => Outcome::Valid,
            (Some(Refusal::VerificationFailed), None) => Outcome::Invalid,
            _ => return Err(Why::UnknownEntry(message.name)),
        };
        if [message.tag128.0.len(), message.tag256.0.len()] != [16, 32] {
            return Err(Why::Length(message.name));
        }
        cases.push(AeadCase {
            file: file.name.clone(),
            id: message.name,
            algorithm: algorithm.into(),
            key: message.key.0,
            nonce: message.nonce.0,
            aad: message.ad.0,
            plaintext: message.msg.unwrap_or_default().0,
            ciphertext: message.ct.0,
            tag: message.tag128.0,
            result,
        });
    }
    Ok(cases)
}

/// Returns whether an entry has only registers (`S0`, `M`, `V[1,0]`, `ctx[2]`, `S0_2`) and their
/// inputs.
fn is_state(entry: &Map<String, Value>) -> bool {
    let register = |key: &str| {
        let digits = key.trim_start_matches("ctx").trim_start_matches(['S', 'M', 'V']);
        digits != key && digits.chars().all(|c| c.is_ascii_digit() || "[],_".contains(c))
    };
    entry.keys().any(|key| register(key))
        && entry.keys().all(|key| register(key) || ["name", "key", "nonce"].contains(&&key[..]))
}
