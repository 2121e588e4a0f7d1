//! Reads the file for Tink's AES-GCM-HKDF streaming encryption.

use crate::converted::tests;
use crate::folder::{self, File};
use crate::hex::Hex;
use crate::{Reader, Why};
use serde::Deserialize;

pub(crate) const TINK: &[(&str, Reader<TinkCase>)] = &[("streaming/tink/aes_gcm_hkdf.json", read)];

#[derive(Clone, Debug)]
pub struct TinkCase {
    pub file: String,
    pub id: String,
    /// Hash function of the HKDF that derives the stream key.
    pub hash: TinkHash,
    /// Bytes per encrypted segment, tag included.
    pub segment_len: usize,
    /// Bytes in the derived key; it encrypts the segments.
    pub derived_len: usize,
    pub key: Vec<u8>,
    pub aad: Vec<u8>,
    pub plaintext: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// Hash function of HKDF in Tink's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TinkHash {
    Sha1,
    Sha256,
    Sha512,
}

/// Returns every case of Tink's streaming encryption, with plaintext.
///
/// # Panics
/// Panics if a file under `streaming/tink` cannot be parsed or is missing.
pub fn tink() -> Vec<TinkCase> {
    folder::read("streaming/tink", TINK).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    #[serde(rename = "index")]
    _index: u32,
    key_size: usize,
    hkdf_hash: TinkHash,
    segment_size: usize,
    derived_key_size: usize,
    ikm: Hex,
    aad: Hex,
    pt: Hex,
    ct: Hex,
}

fn read(file: &File) -> Result<Vec<TinkCase>, Why> {
    let case = |test: Test| {
        if test.ikm.0.len() != test.key_size {
            return Err(Why::Length(test.tc_id.to_string()));
        }
        Ok(TinkCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            hash: test.hkdf_hash,
            segment_len: test.segment_size,
            derived_len: test.derived_key_size,
            key: test.ikm.0,
            aad: test.aad.0,
            plaintext: test.pt.0,
            ciphertext: test.ct.0,
        })
    };
    tests(file)?.into_iter().map(case).collect()
}
