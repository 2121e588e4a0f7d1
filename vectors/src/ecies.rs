//! ECIES as in eciespy and its ports: messages and intermediate values.

use crate::converted::tests;
use crate::folder::{self, File};
use crate::hex::Hex;
use crate::{Reader, Why};
use serde::Deserialize;

pub(crate) const ECIES: &[(&str, Reader<EciesCase>)] =
    &[("ecies/ecies_known.json", read), ("ecies/ecies_suites.json", read), ("ecies/eciespy.json", read)];

/// One message or intermediate value of ECIES.
#[derive(Clone, Debug)]
pub struct EciesCase {
    pub file: String,
    pub id: String,
    pub part: EciesPart,
}

/// The group for the key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EciesCurve {
    Secp256k1,
    X25519,
    Ed25519,
}

/// The cipher for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum EciesSymmetric {
    #[serde(rename = "aes-256-gcm")]
    Aes256Gcm,
    #[serde(rename = "xchacha20")]
    XChaCha20,
}

/// A case. Byte strings are as the API takes and returns them.
#[derive(Clone, Debug)]
pub enum EciesPart {
    /// A message, its plaintext and the private key that decrypts it.
    Message {
        curve: EciesCurve,
        /// Whether the ephemeral public key at the start of the message is compressed.
        ephemeral_compressed: bool,
        /// Whether the points that the message key is derived from are compressed.
        hkdf_compressed: bool,
        symmetric: EciesSymmetric,
        nonce_len: usize,
        private: [u8; 32],
        /// Public key, if the file has it besides the private key.
        public: Option<Vec<u8>>,
        plaintext: Vec<u8>,
        message: Vec<u8>,
    },
    /// The message key for an ephemeral private key and a recipient's private key.
    Kem { curve: EciesCurve, compressed: bool, ephemeral: [u8; 32], private: [u8; 32], key: [u8; 32] },
    /// The public key of a private key.
    PublicKey { curve: EciesCurve, private: [u8; 32], public: Vec<u8> },
    /// The shared point of a private and a public key, compressed.
    SharedPoint { curve: EciesCurve, private: [u8; 32], public: Vec<u8>, shared: Vec<u8> },
    /// A message encrypted with the cipher alone, without key agreement.
    Symmetric {
        symmetric: EciesSymmetric,
        key: [u8; 32],
        nonce: Vec<u8>,
        aad: Vec<u8>,
        plaintext: Vec<u8>,
        ciphertext: Vec<u8>,
        tag: Vec<u8>,
    },
    /// A key derived with HKDF-SHA256, without salt and info.
    Hkdf { ikm: Vec<u8>, okm: [u8; 32] },
}

/// Returns every ECIES message and intermediate value in the files.
///
/// # Panics
/// Panics if a file under `ecies` cannot be parsed or is missing.
pub fn ecies() -> Vec<EciesCase> {
    folder::read("ecies", ECIES).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Entry {
    Message(Message),
    Kem(Kem),
    PublicKey(PublicKey),
    SharedPoint(SharedPoint),
    Symmetric(Symmetric),
    Hkdf(Hkdf),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    tc_id: u32,
    #[serde(rename = "origin")]
    _origin: Option<String>,
    #[serde(rename = "layout")]
    _layout: Option<String>,
    curve: EciesCurve,
    #[serde(default)]
    ephemeral_compressed: bool,
    #[serde(default)]
    hkdf_compressed: bool,
    symmetric: EciesSymmetric,
    nonce_length: usize,
    sk: Hex,
    pk: Option<Hex>,
    pt: Hex,
    encrypted: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Kem {
    tc_id: u32,
    #[serde(rename = "origin")]
    _origin: String,
    curve: EciesCurve,
    compressed: bool,
    sk1: Hex,
    sk2: Hex,
    shared_key: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PublicKey {
    tc_id: u32,
    #[serde(rename = "origin")]
    _origin: String,
    curve: EciesCurve,
    sk: Hex,
    pk: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SharedPoint {
    tc_id: u32,
    #[serde(rename = "origin")]
    _origin: String,
    curve: EciesCurve,
    sk: Hex,
    peer_pk: Hex,
    shared_compressed: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Symmetric {
    tc_id: u32,
    #[serde(rename = "origin")]
    _origin: String,
    symmetric: EciesSymmetric,
    nonce_length: usize,
    key: Hex,
    nonce: Hex,
    tag: Hex,
    aad: Hex,
    pt: Hex,
    ct: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Hkdf {
    tc_id: u32,
    #[serde(rename = "origin")]
    _origin: String,
    ikm: Hex,
    okm: Hex,
}

fn read(file: &File) -> Result<Vec<EciesCase>, Why> {
    tests(file)?.into_iter().map(|entry| case(entry, file)).collect()
}

fn case(entry: Entry, file: &File) -> Result<EciesCase, Why> {
    let (id, part) = match entry {
        Entry::Message(test) => {
            let id = test.tc_id;
            let ephemeral = match (test.curve, test.ephemeral_compressed) {
                (EciesCurve::Secp256k1, false) => 65,
                (EciesCurve::Secp256k1, true) => 33,
                _ => 32,
            };
            if test.encrypted.0.len() != ephemeral + test.nonce_length + 16 + test.pt.0.len() {
                return Err(Why::Length(id.to_string()));
            }
            let part = EciesPart::Message {
                curve: test.curve,
                ephemeral_compressed: test.ephemeral_compressed,
                hkdf_compressed: test.hkdf_compressed,
                symmetric: test.symmetric,
                nonce_len: test.nonce_length,
                private: exactly(id, test.sk)?,
                public: test.pk.map(|Hex(bytes)| bytes),
                plaintext: test.pt.0,
                message: test.encrypted.0,
            };
            (id, part)
        }
        Entry::Kem(Kem { tc_id: id, curve, compressed, sk1, sk2, shared_key, .. }) => {
            let [ephemeral, private, key] = [exactly(id, sk1)?, exactly(id, sk2)?, exactly(id, shared_key)?];
            (id, EciesPart::Kem { curve, compressed, ephemeral, private, key })
        }
        Entry::PublicKey(PublicKey { tc_id: id, curve, sk, pk, .. }) => {
            (id, EciesPart::PublicKey { curve, private: exactly(id, sk)?, public: pk.0 })
        }
        Entry::SharedPoint(SharedPoint { tc_id: id, curve, sk, peer_pk, shared_compressed, .. }) => {
            let (private, public, shared) = (exactly(id, sk)?, peer_pk.0, shared_compressed.0);
            (id, EciesPart::SharedPoint { curve, private, public, shared })
        }
        Entry::Symmetric(test) => {
            let id = test.tc_id;
            if test.nonce.0.len() != test.nonce_length || test.ct.0.len() != test.pt.0.len() {
                return Err(Why::Length(id.to_string()));
            }
            let part = EciesPart::Symmetric {
                symmetric: test.symmetric,
                key: exactly(id, test.key)?,
                nonce: test.nonce.0,
                aad: test.aad.0,
                plaintext: test.pt.0,
                ciphertext: test.ct.0,
                tag: test.tag.0,
            };
            (id, part)
        }
        Entry::Hkdf(Hkdf { tc_id: id, ikm, okm, .. }) => {
            (id, EciesPart::Hkdf { ikm: ikm.0, okm: exactly(id, okm)? })
        }
    };
    Ok(EciesCase { file: file.name.clone(), id: id.to_string(), part })
}

fn exactly(id: u32, Hex(bytes): Hex) -> Result<[u8; 32], Why> {
    bytes.try_into().map_err(|_| Why::Length(id.to_string()))
}
