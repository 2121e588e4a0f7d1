//! Encrypted keysets: keyrings encrypted by a key service or a token, in Tink's format.
//!
//! ```text
//! { "encryptedKeyset": what the service returned for the keyset in the binary format, in base64,
//!   "keysetInfo": { "primaryKeyId": 42,
//!                   "keyInfo": [ { "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
//!                                  "status": "ENABLED", "keyId": 42, "outputPrefixType": "TINK" } ] } }
//! ```

use super::proto::{self, KeysetInfo, PublicKeyInfo};
use super::{Keyring, check_len, json};
use base::{Error, Result};
use base64ct::{Base64, Encoding};

const EXPECTED: Error = Error::Format(
    "expected an encrypted Tink keyset, in JSON with the member encryptedKeyset or in the binary format",
);

/// A keyring encrypted (wrapped) by a key service or a token. It contains no secret without them.
///
/// The ciphertext is that of [`Keyring::to_bytes`]. The identifiers and types of the keys are in
/// cleartext, and not authenticated.
///
/// ```
/// use sealane::keys::{EncryptedKeyring, Keyring, Prefix};
///
/// let ring = Keyring::generate("aes-256-gcm".parse()?, Prefix::Tink)?;
/// let ciphertext = b"what a key service returned for ring.to_bytes()";
/// let text = EncryptedKeyring::new(&ring, ciphertext).to_json();
/// assert_eq!(EncryptedKeyring::parse(text.as_bytes())?.ciphertext(), ciphertext);
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EncryptedKeyring(proto::EncryptedKeyset);

impl EncryptedKeyring {
    /// Combines the ciphertext of `ring.to_bytes()` with public facts about its keys.
    pub fn new(ring: &Keyring, ciphertext: &[u8]) -> Self {
        let keyset = ring.keyset();
        let key_info = keyset.key.iter().map(|key| PublicKeyInfo {
            type_url: key.key_data.as_ref().map_or_else(String::new, |data| data.type_url.clone()),
            status: key.status,
            key_id: key.key_id,
            output_prefix_type: key.output_prefix_type,
        });
        let info = KeysetInfo { primary_key_id: keyset.primary_key_id, key_info: key_info.collect() };
        Self(proto::EncryptedKeyset { encrypted_keyset: ciphertext.to_vec(), keyset_info: Some(info) })
    }

    /// Parses an encrypted keyset in JSON or in the binary format.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content, or more than 256 KiB.
    pub fn parse(content: &[u8]) -> Result<Self> {
        check_len(content)?;
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let found: proto::EncryptedKeyset = if content.trim_ascii_start().starts_with(b"{") {
            // The position of the first invalid byte does not help.
            let text = std::str::from_utf8(content).map_err(|_| EXPECTED)?;
            json::read_encrypted(text).ok_or(EXPECTED)?
        } else {
            proto::decode(content).ok_or(EXPECTED)?
        };
        if found.encrypted_keyset.is_empty() { Err(EXPECTED) } else { Ok(Self(found)) }
    }

    /// Returns the ciphertext, for the service that made it.
    pub fn ciphertext(&self) -> &[u8] {
        &self.0.encrypted_keyset
    }

    /// Replaces the ciphertext by one of the same keyring under another service key.
    #[must_use]
    pub fn with_ciphertext(mut self, ciphertext: &[u8]) -> Self {
        self.0.encrypted_keyset = ciphertext.to_vec();
        self
    }

    /// Returns the encrypted keyset as one line of JSON, like Tink.
    pub fn to_json(&self) -> String {
        let ciphertext = Base64::encode_string(self.ciphertext());
        let info = self.0.keyset_info.as_ref().map(|info| {
            let keys: Vec<_> = info.key_info.iter().map(key_text).collect();
            let primary = info.primary_key_id;
            format!(",\"keysetInfo\":{{\"primaryKeyId\":{primary},\"keyInfo\":[{}]}}", keys.join(","))
        });
        format!("{{\"encryptedKeyset\":\"{ciphertext}\"{}}}\n", info.unwrap_or_default())
    }

    /// Returns the encrypted keyset in Tink's binary format.
    pub fn to_bytes(&self) -> Vec<u8> {
        proto::encode(&self.0).to_vec()
    }
}

fn key_text(key: &PublicKeyInfo) -> String {
    let state = json::state(key.status, key.key_id, key.output_prefix_type);
    format!("{{\"typeUrl\":{},{state}}}", serde_json::Value::from(&*key.type_url))
}

#[cfg(test)]
mod test {
    use super::super::Prefix;
    use super::*;

    fn sample() -> EncryptedKeyring {
        let mut ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
        let old = ring.primary().id;
        ring.rotate().unwrap();
        ring.destroy(old).unwrap();
        EncryptedKeyring::new(&ring, b"ciphertext")
    }

    #[test]
    fn both_formats_round_trip() {
        let sample = sample();
        assert_eq!(EncryptedKeyring::parse(sample.to_json().as_bytes()).unwrap(), sample);
        assert_eq!(EncryptedKeyring::parse(&sample.to_bytes()).unwrap(), sample);
        let other = sample.clone().with_ciphertext(b"other");
        assert_eq!((other.ciphertext(), &other.0.keyset_info), (&b"other"[..], &sample.0.keyset_info));
        let bare = EncryptedKeyring::parse(br#" {"encryptedKeyset":"Y2lwaGVydGV4dA=="}"#).unwrap();
        assert_eq!(bare.ciphertext(), b"ciphertext");
        assert_eq!(EncryptedKeyring::parse(bare.to_json().as_bytes()).unwrap(), bare);
    }

    // claim: service-errors
    #[test]
    fn refuses_other_content() {
        let ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
        let sample = sample().to_json();
        let too_long = vec![b' '; (1 << 18) + 1];
        for content in [
            b"".as_slice(),
            b"{}",
            b"[]",
            br#"{"encryptedKeyset":""}"#,
            br#"{"encryptedKeyset":"*"}"#,
            br#"{"encryptedKeyset":"Y2lw","other":1}"#,
            sample.replace("DESTROYED", "GONE").as_bytes(),
            sample.replace("TINK", "NONE").as_bytes(),
            &too_long,
            ring.to_json().as_bytes(),
            &ring.to_bytes(),
        ] {
            assert!(matches!(EncryptedKeyring::parse(content), Err(Error::Format(_))), "{content:?}");
        }
    }

    #[test]
    fn no_truncation_of_the_text_is_accepted() {
        let text = sample().to_json();
        let text = text.trim_end();
        for len in 0..text.len() {
            assert!(EncryptedKeyring::parse(&text.as_bytes()[..len]).is_err(), "{len}");
        }
    }
}
