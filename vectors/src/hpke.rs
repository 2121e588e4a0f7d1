//! HPKE: the vectors of RFC 9180, of the post-quantum draft and of X-Wing.

use crate::Reader;
use crate::Why;
use crate::folder::{self, File};
use crate::hex::Hex;
use serde::Deserialize;

const HPKE: &[(&str, Reader<HpkeCase>)] =
    &[("hpke/hpke_pq_test-vectors_part.json", read), ("hpke/rfc9180_test-vectors_part.json", read)];
const XWING: &str = "kem/xwing_draft_test-vectors.json";

/// One HPKE context with messages and exported secrets.
#[derive(Clone, Debug)]
pub struct HpkeCase {
    pub file: String,
    pub id: String,
    /// Mode, KEM, KDF and AEAD identifiers of RFC 9180.
    pub suite: (u8, u16, u16, u16),
    pub info: Vec<u8>,
    /// The ephemeral private key; for a KEM without one, the randomness of the encapsulation.
    pub randomness: Vec<u8>,
    /// The recipient's private key, as the KEM serializes it.
    pub private: Vec<u8>,
    /// The recipient's public key, as the KEM serializes it.
    pub public: Vec<u8>,
    /// The sender's private and public key, in modes with authentication.
    pub sender: Option<(Vec<u8>, Vec<u8>)>,
    /// The pre-shared key and its identifier, in modes with a PSK.
    pub psk: Option<(Vec<u8>, Vec<u8>)>,
    pub encapsulation: Vec<u8>,
    /// The messages. Sequence numbers have gaps: the files leave some messages out.
    pub messages: Vec<HpkeMessage>,
    /// Exporter contexts with their exported secrets.
    pub exports: Vec<(Vec<u8>, Vec<u8>)>,
}

/// One message of an HPKE context.
#[derive(Clone, Debug)]
pub struct HpkeMessage {
    /// The message's sequence number in its context, from 0.
    pub number: u64,
    pub aad: Vec<u8>,
    pub plaintext: Vec<u8>,
    /// The ciphertext, followed by the tag.
    pub ciphertext: Vec<u8>,
}

/// One X-Wing key pair with one encapsulation.
#[derive(Clone, Debug)]
pub struct XWingCase {
    pub file: String,
    pub id: String,
    pub seed: [u8; 32],
    pub public: Vec<u8>,
    pub randomness: [u8; 64],
    pub encapsulation: Vec<u8>,
    pub shared: [u8; 32],
}

/// Returns every HPKE context with messages and exported secrets.
///
/// # Panics
/// Panics if a file under `hpke` cannot be parsed or is missing.
pub fn hpke() -> Vec<HpkeCase> {
    folder::read("hpke", HPKE).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of X-Wing, the hybrid of X25519 and ML-KEM-768.
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn xwing() -> Vec<XWingCase> {
    folder::read_one(XWING, read_xwing).unwrap_or_else(|error| panic!("{error}"))
}

/// An entry of both files, including intermediate values.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    mode: u8,
    #[serde(rename = "kem_id")]
    kem: u16,
    #[serde(rename = "kdf_id")]
    kdf: u16,
    #[serde(rename = "aead_id")]
    aead: u16,
    info: Hex,
    ikm_e: Hex,
    #[serde(rename = "ikmR")]
    _ikm_r: Hex,
    #[serde(rename = "ikmS")]
    _ikm_s: Option<Hex>,
    sk_em: Option<Hex>,
    #[serde(rename = "pkEm")]
    _pk_em: Option<Hex>,
    sk_rm: Hex,
    pk_rm: Hex,
    sk_sm: Option<Hex>,
    pk_sm: Option<Hex>,
    psk: Option<Hex>,
    #[serde(rename = "psk_id")]
    psk_id: Option<Hex>,
    enc: Hex,
    #[serde(rename = "shared_secret")]
    _shared_secret: Hex,
    #[serde(rename = "suite_id")]
    _suite_id: Option<Hex>,
    #[serde(rename = "key_schedule_context")]
    _key_schedule_context: Option<Hex>,
    #[serde(rename = "secret")]
    _secret: Option<Hex>,
    #[serde(rename = "key")]
    _key: Hex,
    #[serde(rename = "base_nonce")]
    base_nonce: Hex,
    #[serde(rename = "exporter_secret")]
    _exporter_secret: Hex,
    encryptions: Vec<Message>,
    exports: Vec<Exported>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    aad: Hex,
    ct: Hex,
    nonce: Hex,
    pt: Hex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exported {
    exporter_context: Hex,
    #[serde(rename = "L")]
    len: usize,
    exported_value: Hex,
}

fn read(file: &File) -> Result<Vec<HpkeCase>, Why> {
    let entries: Vec<Entry> = file.json()?;
    entries.into_iter().enumerate().map(|(place, entry)| case(file, place, entry)).collect()
}

fn case(file: &File, place: usize, entry: Entry) -> Result<HpkeCase, Why> {
    let id = place.to_string();
    let pair = |a: Option<Hex>, b: Option<Hex>| a.zip(b).map(|(Hex(a), Hex(b))| (a, b));
    let (sender, psk) = (pair(entry.sk_sm, entry.pk_sm), pair(entry.psk, entry.psk_id));
    if (psk.is_some(), sender.is_some()) != (entry.mode & 1 == 1, entry.mode & 2 == 2) || entry.mode > 3 {
        return Err(Why::UnknownEntry(id));
    }
    let mut messages = Vec::new();
    for message in entry.encryptions {
        let number = number(&entry.base_nonce.0, &message.nonce.0).ok_or_else(|| Why::Length(id.clone()))?;
        let (aad, plaintext, ciphertext) = (message.aad.0, message.pt.0, message.ct.0);
        messages.push(HpkeMessage { number, aad, plaintext, ciphertext });
    }
    if entry.exports.iter().any(|export| export.exported_value.0.len() != export.len) {
        return Err(Why::Length(id));
    }
    Ok(HpkeCase {
        file: file.name.clone(),
        id,
        suite: (entry.mode, entry.kem, entry.kdf, entry.aead),
        info: entry.info.0,
        randomness: entry.sk_em.unwrap_or(entry.ikm_e).0,
        private: entry.sk_rm.0,
        public: entry.pk_rm.0,
        sender,
        psk,
        encapsulation: entry.enc.0,
        messages,
        exports: entry.exports.into_iter().map(|e| (e.exporter_context.0, e.exported_value.0)).collect(),
    })
}

/// Returns the sequence number: it is XORed to the end of the base nonce (RFC 9180, section 5.2).
fn number(base: &[u8], nonce: &[u8]) -> Option<u64> {
    let xored: Vec<u8> = base.iter().zip(nonce).map(|(a, b)| a ^ b).collect();
    match (base.len() == nonce.len(), xored.split_last_chunk::<8>()) {
        (true, Some((rest, last))) if rest.iter().all(|&byte| byte == 0) => Some(u64::from_be_bytes(*last)),
        _ => None,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct XWing {
    seed: Hex,
    eseed: Hex,
    ss: Hex,
    sk: Hex,
    pk: Hex,
    ct: Hex,
}

fn read_xwing(file: &File) -> Result<Vec<XWingCase>, Why> {
    let entries: Vec<XWing> = file.json()?;
    let case = |(place, entry): (usize, XWing)| {
        let id = place.to_string();
        let wrong = |_| Why::Length(id.clone());
        // The private key is the seed.
        if entry.sk.0 != entry.seed.0 {
            return Err(Why::UnknownEntry(id));
        }
        Ok(XWingCase {
            file: file.name.clone(),
            seed: entry.seed.0.try_into().map_err(wrong)?,
            public: entry.pk.0,
            randomness: entry.eseed.0.try_into().map_err(wrong)?,
            encapsulation: entry.ct.0,
            shared: entry.ss.0.try_into().map_err(wrong)?,
            id,
        })
    };
    entries.into_iter().enumerate().map(case).collect()
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::folder::changed;

    #[test]
    fn rejects_unknown_contents() {
        let (draft, rfc) = (HPKE[0].0, HPKE[1].0);
        for (name, from, to) in [
            (draft, "\"aead_id\"", "\"aead\""),
            (draft, "\"L\": 32", "\"L\": 31"),
            (draft, "\"mode\": 0", "\"mode\": 1"),
            (rfc, "\"mode\":0", "\"mode\":4"),
            (rfc, "\"L\":32", "\"L\":33"),
            (rfc, "\"psk_id\"", "\"psk_name\""),
        ] {
            assert!(read(&changed(name, from, to)).is_err(), "{name}: {to} was accepted");
            assert!(read(&changed(name, from, from)).is_ok(), "{name}: rejected without a change");
        }
        assert!(read_xwing(&changed(XWING, "\"seed\": \"7f", "\"seed\": \"7e")).is_err());
        assert!(read_xwing(&changed(XWING, "\"eseed\": \"3c", "\"eseed\": \"")).is_err());
        assert!(read_xwing(&changed(XWING, "\"ss\"", "\"sss\"")).is_err());
    }
}
