//! ML-KEM (FIPS 203): NIST and CCTV vectors, in text files that name each value.

use crate::folder::{self, File};
use crate::wycheproof::counted;
use crate::{Reader, Why};

const ML_KEM: [(&str, Reader<MlKemCase>); 11] = [
    ("kem/cctv_mlkem/strcmp_ML-KEM-1024.txt", cctv),
    ("kem/cctv_mlkem/strcmp_ML-KEM-512.txt", cctv),
    ("kem/cctv_mlkem/strcmp_ML-KEM-768.txt", cctv),
    ("kem/cctv_mlkem_draft_keygen/intermediate_ML-KEM-1024.txt", cctv),
    ("kem/cctv_mlkem_draft_keygen/intermediate_ML-KEM-512.txt", cctv),
    ("kem/cctv_mlkem_draft_keygen/intermediate_ML-KEM-768.txt", cctv),
    ("kem/cctv_mlkem_draft_keygen/unluckysample_ML-KEM-1024.txt", cctv),
    ("kem/cctv_mlkem_draft_keygen/unluckysample_ML-KEM-512.txt", cctv),
    ("kem/cctv_mlkem_draft_keygen/unluckysample_ML-KEM-768.txt", cctv),
    ("kem/nist_acvp/mlkem768_nist_decap_tests.txt", decap),
    ("kem/nist_acvp/mlkem768_nist_keygen_tests.txt", keygen),
];

/// One computation with ML-KEM.
#[derive(Clone, Debug)]
pub struct MlKemCase {
    pub file: String,
    pub id: String,
    /// Parameter set: 512, 768 or 1024.
    pub parameters: u16,
    pub part: MlKemPart,
}

/// An ML-KEM computation with operands and results.
#[derive(Clone, Debug)]
pub enum MlKemPart {
    /// Key generation, deterministic from the seed.
    Keygen {
        d: Vec<u8>,
        z: Vec<u8>,
        ek: Vec<u8>,
        /// The expanded private key (decapsulation key).
        dk: Vec<u8>,
    },
    /// Decapsulation, including implicit rejection of a changed ciphertext.
    Decapsulation {
        /// The expanded private key (decapsulation key).
        dk: Vec<u8>,
        c: Vec<u8>,
        k: Vec<u8>,
    },
    /// Encapsulation for a public key, deterministic with the given randomness.
    Encapsulation { ek: Vec<u8>, m: Vec<u8>, c: Vec<u8>, k: Vec<u8> },
}

/// Returns every ML-KEM case, for all three parameter sets.
///
/// # Panics
/// Panics if a file cannot be parsed or is missing.
pub fn ml_kem() -> Vec<MlKemCase> {
    let read = |(name, reader): &(&str, Reader<MlKemCase>)| folder::read_one(name, *reader);
    let cases: Result<Vec<_>, _> = ML_KEM.iter().map(read).collect();
    cases.unwrap_or_else(|error| panic!("{error}")).concat()
}

fn bytes(hex: &str) -> Result<Vec<u8>, Why> {
    hex::decode(hex).map_err(|_| Why::UnknownEntry("no hex".into()))
}

fn case(file: &File, id: usize, parameters: u16, part: MlKemPart) -> MlKemCase {
    MlKemCase { file: file.name.clone(), id: id.to_string(), parameters, part }
}

/// Reads lines `name = hex`. Returns only results: libraries do not expose intermediate values, and
/// FIPS 203 derives other keys than the draft from the seeds.
fn cctv(file: &File) -> Result<Vec<MlKemCase>, Why> {
    let parameters = match file.name.rsplit('-').next() {
        Some("512.txt") => 512,
        Some("768.txt") => 768,
        Some("1024.txt") => 1024,
        _ => return Err(Why::UnknownFile),
    };
    let value = |name: &str| {
        let mut found =
            file.text.lines().filter_map(|line| line.split_once(" = ").filter(|(n, _)| *n == name));
        match (found.next(), found.next()) {
            (Some((_, hex)), None) => bytes(hex).map(Some),
            (None, _) => Ok(None),
            (Some(_), Some(_)) => Err(Why::UnknownEntry(format!("{name} twice"))),
        }
    };
    let wanted = |name: &str| value(name)?.ok_or_else(|| Why::UnknownEntry(format!("no {name}")));
    let (dk, c, k) = (wanted("dk")?, wanted("c")?, wanted("K")?);
    let mut cases = Vec::new();
    if let (Some(ek), Some(m)) = (value("ek")?, value("m")?) {
        let part = MlKemPart::Encapsulation { ek, m, c: c.clone(), k: k.clone() };
        cases.push(case(file, 1, parameters, part));
    }
    cases.push(case(file, cases.len() + 1, parameters, MlKemPart::Decapsulation { dk, c, k }));
    Ok(cases)
}

/// Reads groups that begin with `[dk: hex]`, followed by pairs of `c: hex` and `k: hex`.
fn decap(file: &File) -> Result<Vec<MlKemCase>, Why> {
    let (mut dk, mut c, mut cases) = (None, None, Vec::new());
    for line in file.text.lines().filter(|line| !line.is_empty()) {
        let line = line.trim_start_matches('[').trim_end_matches(']');
        match line.split_once(": ") {
            Some(("dk", hex)) => dk = Some(bytes(hex)?),
            Some(("c", hex)) if c.is_none() => c = Some(bytes(hex)?),
            Some(("k", hex)) => {
                let (Some(dk), Some(c)) = (dk.clone(), c.take()) else {
                    return Err(Why::UnknownEntry("k before dk and c".into()));
                };
                let part = MlKemPart::Decapsulation { dk, c, k: bytes(hex)? };
                cases.push(case(file, cases.len() + 1, 768, part));
            }
            _ => return Err(Why::UnknownEntry(line.chars().take(20).collect())),
        }
    }
    counted(10, cases)
}

/// Reads groups of `z: hex`, `d: hex`, `ek: hex` and `dk: hex`, separated by empty lines.
fn keygen(file: &File) -> Result<Vec<MlKemCase>, Why> {
    let mut cases = Vec::new();
    for record in file.text.split("\n\n").map(str::trim).filter(|record| !record.is_empty()) {
        let mut values = Vec::new();
        for line in record.lines() {
            values.push(line.split_once(": ").ok_or_else(|| Why::UnknownEntry("no name".into()))?);
        }
        match values[..] {
            [("z", z), ("d", d), ("ek", ek), ("dk", dk)] => {
                let [d, z, ek, dk] = [bytes(d)?, bytes(z)?, bytes(ek)?, bytes(dk)?];
                cases.push(case(file, cases.len() + 1, 768, MlKemPart::Keygen { d, z, ek, dk }));
            }
            _ => return Err(Why::UnknownEntry(values.iter().map(|(name, _)| *name).collect())),
        }
    }
    counted(25, cases)
}
