//! The age testkit: lines `key: value`, an empty line, and an age file, possibly compressed with
//! zlib.

use crate::folder::{self, BinaryFile};
use crate::{Error, Why};

/// One age file of the testkit, the identities to try, and the expected result.
#[derive(Clone, Debug)]
pub struct AgeCase {
    pub file: String,
    pub expect: AgeOutcome,
    /// SHA-256 of all plaintext released; after a payload failure, of the plaintext before the
    /// failure.
    pub payload: Option<[u8; 32]>,
    pub file_key: Vec<u8>,
    /// Identities to try, as text, in file order.
    pub identities: Vec<String>,
    pub passphrases: Vec<String>,
    /// Whether the file is armored: encoded as lines of text.
    pub armored: bool,
    /// The comment in the file, or an empty string.
    pub comment: String,
    /// The age file, decompressed if the testkit compresses it.
    pub age: Vec<u8>,
}

/// Expected result of decrypting an age file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgeOutcome {
    /// Decryption succeeds and returns the whole plaintext.
    Success,
    /// The header is rejected before any plaintext is released.
    HeaderFailure,
    /// The header is valid, but no identity matches a recipient.
    NoMatch,
    /// The armor is rejected as malformed.
    ArmorFailure,
    /// The header is valid, but the payload is not.
    PayloadFailure,
}

/// Returns every file of the age testkit and its expected result.
///
/// # Panics
/// Panics if a file under `age/testkit` cannot be parsed.
pub fn age() -> Vec<AgeCase> {
    let read = |file: BinaryFile| parse(&file).map_err(|why| Error { file: file.name, why });
    let cases = folder::binary("age/testkit").and_then(|files| files.into_iter().map(read).collect());
    cases.unwrap_or_else(|error| panic!("{error}"))
}

fn parse(file: &BinaryFile) -> Result<AgeCase, Why> {
    let unknown = |what: &str| Why::UnknownEntry(what.into());
    let mut case = AgeCase {
        file: file.name.clone(),
        expect: AgeOutcome::Success,
        payload: None,
        file_key: Vec::new(),
        identities: Vec::new(),
        passphrases: Vec::new(),
        armored: false,
        comment: String::new(),
        age: Vec::new(),
    };
    let (mut expect, mut compressed) = (None, false);
    let mut rest = &file.bytes[..];
    loop {
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| unknown("no empty line"))?;
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| unknown("a line that is no text"))?;
        rest = &rest[end + 1..];
        if line.is_empty() {
            break;
        }
        let (key, value) = line.split_once(": ").ok_or_else(|| unknown(line))?;
        match (key, value) {
            ("expect", "success") => expect = Some(AgeOutcome::Success),
            ("expect", "header failure") => expect = Some(AgeOutcome::HeaderFailure),
            ("expect", "no match") => expect = Some(AgeOutcome::NoMatch),
            ("expect", "armor failure") => expect = Some(AgeOutcome::ArmorFailure),
            ("expect", "payload failure") => expect = Some(AgeOutcome::PayloadFailure),
            ("payload", sum) => case.payload = Some(hex(sum)?.try_into().map_err(|_| unknown(line))?),
            ("file key", key) => case.file_key = hex(key)?,
            ("identity", text) => case.identities.push(text.into()),
            ("passphrase", text) => case.passphrases.push(text.into()),
            ("armored", "yes") => case.armored = true,
            ("compressed", "zlib") => compressed = true,
            ("comment", text) => case.comment = text.into(),
            _ => return Err(unknown(line)),
        }
    }
    case.expect = expect.ok_or_else(|| unknown("no expect"))?;
    let releases = matches!(case.expect, AgeOutcome::Success | AgeOutcome::PayloadFailure);
    if releases != case.payload.is_some() {
        return Err(unknown("a payload where nothing is released, or none where something is"));
    }
    case.age = match compressed {
        false => rest.into(),
        true => miniz_oxide::inflate::decompress_to_vec_zlib(rest)
            .map_err(|_| Why::Compression(file.name.clone()))?,
    };
    Ok(case)
}

fn hex(text: &str) -> Result<Vec<u8>, Why> {
    ::hex::decode(text).map_err(|_| Why::UnknownEntry(text.into()))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn rejects_unknown_contents() {
        let good = "expect: no match\nfile key: 00\nidentity: A\n\nage";
        let parse = |text: &str| parse(&BinaryFile { name: "test".into(), bytes: text.into() });
        assert!(parse(good).is_ok());
        for (from, to) in [
            ("no match", "some match"),
            ("expect: no match\n", ""),
            ("identity", "identities"),
            ("00", "0"),
            ("\n\n", "\n"),
            ("identity: A", "compressed: gzip"),
            ("identity: A", "compressed: zlib"),
            ("identity: A", "armored: no"),
            ("no match", "success"),
        ] {
            assert!(parse(&good.replacen(from, to, 1)).is_err(), "{to} was accepted");
        }
    }
}
