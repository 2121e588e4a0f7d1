//! Speck: the paper's blocks, other projects' messages in CTR and CBC mode, and Speck-Poly1305.

use crate::converted::tests;
use crate::folder::File;
use crate::hex::Hex;
use crate::{AeadCase, Outcome, SpeckCase, SpeckMode, SpeckOrder, Why};
use serde::Deserialize;

/// A block as the paper prints it, and as bytes in both byte orders.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Printed {
    tc_id: u32,
    name: String,
    block_size: usize,
    key_size: usize,
    #[serde(rename = "rounds")]
    _rounds: usize,
    paper: Block<String>,
    be: Block<Hex>,
    le: Block<Hex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block<T> {
    key: T,
    pt: T,
    ct: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Data {
    tc_id: u32,
    mode: Option<SpeckMode>,
    name: String,
    block_size: usize,
    key_size: usize,
    key: Hex,
    iv: Option<Hex>,
    pt: Hex,
    ct: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    tc_id: u32,
    name: String,
    block_size: usize,
    key_size: usize,
    key: Hex,
    iv: Hex,
    aad: Hex,
    pt: Hex,
    ct: Hex,
    tag: Hex,
}

/// Returns two cases per entry, one in each byte order.
pub(crate) fn paper(file: &File) -> Result<Vec<SpeckCase>, Why> {
    let mut cases = Vec::new();
    for test in tests::<Printed>(file)? {
        let printed = |words: &str| words.replace(' ', "");
        for (paper, be, le) in [
            (&test.paper.key, &test.be.key.0, &test.le.key.0),
            (&test.paper.pt, &test.be.pt.0, &test.le.pt.0),
            (&test.paper.ct, &test.be.ct.0, &test.le.ct.0),
        ] {
            if printed(paper) != ::hex::encode(be) || !be.iter().rev().eq(le) {
                return Err(Why::UnknownEntry(test.name));
            }
        }
        for (order, block) in [(SpeckOrder::Big, test.be), (SpeckOrder::Little, test.le)] {
            let data = Data {
                tc_id: test.tc_id,
                mode: Some(SpeckMode::Ecb),
                name: test.name.clone(),
                block_size: test.block_size,
                key_size: test.key_size,
                key: block.key,
                iv: None,
                pt: block.pt,
                ct: block.ct,
            };
            cases.push(case(data, file, order, SpeckMode::Ecb)?);
        }
    }
    Ok(cases)
}

/// Reads Crypto++'s file. It reverses the paper's bytes and names each case's mode.
pub(crate) fn cryptopp(file: &File) -> Result<Vec<SpeckCase>, Why> {
    let each = |test: Data| {
        let mode = test.mode.ok_or_else(|| Why::UnknownEntry(test.tc_id.to_string()))?;
        case(test, file, SpeckOrder::Little, mode)
    };
    tests(file)?.into_iter().map(each).collect()
}

pub(crate) fn ctr(file: &File) -> Result<Vec<SpeckCase>, Why> {
    tests(file)?.into_iter().map(|test| case(test, file, SpeckOrder::Big, SpeckMode::Ctr)).collect()
}

fn case(test: Data, file: &File, order: SpeckOrder, mode: SpeckMode) -> Result<SpeckCase, Why> {
    let (block, iv) = (test.block_size / 8, test.iv.map(|iv| iv.0).unwrap_or_default());
    let algorithm = algorithm(&test.name)?;
    let lengths = [8 * test.key.0.len(), test.pt.0.len(), iv.len()];
    let iv_len = if mode == SpeckMode::Ecb { 0 } else { block };
    let whole = mode == SpeckMode::Ctr || test.pt.0.len().is_multiple_of(block);
    if lengths != [test.key_size, test.ct.0.len(), iv_len] || !whole {
        return Err(Why::Length(test.tc_id.to_string()));
    }
    Ok(SpeckCase {
        file: file.name.clone(),
        id: test.tc_id.to_string(),
        algorithm,
        order,
        mode,
        key: test.key.0,
        iv,
        plaintext: test.pt.0,
        ciphertext: test.ct.0,
    })
}

pub(crate) fn poly1305(file: &File) -> Result<Vec<AeadCase>, Why> {
    let case = |test: Message| {
        let name = test.name.strip_suffix("-Poly1305").ok_or(Why::UnknownAlgorithm(test.name.clone()))?;
        let lengths = [8 * test.key.0.len(), 8 * test.iv.0.len(), test.ct.0.len(), test.tag.0.len()];
        if lengths != [test.key_size, test.block_size, test.pt.0.len(), 16] {
            return Err(Why::Length(test.tc_id.to_string()));
        }
        Ok(AeadCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            algorithm: format!("{}-poly1305", algorithm(name)?),
            key: test.key.0,
            nonce: test.iv.0,
            aad: test.aad.0,
            plaintext: test.pt.0,
            ciphertext: test.ct.0,
            tag: test.tag.0,
            result: Outcome::Valid,
        })
    };
    tests(file)?.into_iter().map(case).collect()
}

/// Checks the file but returns no cases: no provider implements Speck-Poly1305 as an AEAD.
pub(crate) fn checked(file: &File) -> Result<Vec<AeadCase>, Why> {
    poly1305(file).map(|_| Vec::new())
}

/// Converts a name: `"Speck128/256"` to `"speck128-256"`.
fn algorithm(name: &str) -> Result<String, Why> {
    const KNOWN: [&str; 10] =
        ["32/64", "48/72", "48/96", "64/96", "64/128", "96/96", "96/144", "128/128", "128/192", "128/256"];
    match name.strip_prefix("Speck") {
        Some(size) if KNOWN.contains(&size) => Ok(format!("speck{}", size.replace('/', "-"))),
        _ => Err(Why::UnknownAlgorithm(name.into())),
    }
}
