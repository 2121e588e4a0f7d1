//! age v1 as a file format: adapts [`age`](keys::age) to [`super::file_cipher`].

use super::armor::DearmoredSource;
use super::file_cipher::{CreateFile, Description, OpenFile};
use crate::prelude::*;
use engine::prefix::parse_prefix;
use keys::age::{self, Header, Identity, NONCE_LEN, Payload, Recipient};

/// The first bytes of an age file: binary, armored.
const MARKS: [&[u8]; 2] = [b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----"];

/// Recipients of new files. Each can decrypt them.
#[derive(Debug)]
pub(super) struct AgeRecipients(pub(super) Vec<Recipient>);

impl CreateFile for AgeRecipients {
    fn create_file(&self) -> Result<(FileCipher, Vec<u8>)> {
        let (payload, header) = Payload::create(&self.0)?;
        Ok((Box::new(payload), header))
    }
}

/// Identities, tried on the stanzas of a header.
#[derive(Debug)]
pub(super) struct AgeIdentities(pub(super) Vec<Identity>);

impl OpenFile for AgeIdentities {
    fn open_file(&self, prefix: &[u8], _: Prefix) -> Result<Parsed<FileCipher>> {
        Ok(Payload::begin(prefix, &self.0)?.map(|payload| Box::new(payload) as FileCipher))
    }

    fn open_damaged(&self, prefix: &[u8], _: Prefix) -> Result<Parsed<Vec<FileCipher>>> {
        let found = Payload::begin_damaged(prefix, &self.0)?;
        Ok(found.map(|payload| vec![Box::new(payload) as FileCipher]))
    }

    fn detect_armor(&self, prefix: &[u8]) -> Option<Armor> {
        Armor::detect(prefix)
    }
}

/// Returns an error if `prefix` begins an age file. Files for symmetric keys begin with a random
/// salt or a header length, and never with one of these marks.
pub(super) fn refuse_age(prefix: &[u8]) -> Result<()> {
    match MARKS.iter().any(|mark| prefix.starts_with(mark)) {
        true => Err(Error::Format(
            "expected a file encrypted with a symmetric key, found an age file; use an identity or a passphrase",
        )),
        false => Ok(()),
    }
}

/// Returns whether a file is an age file, of any version, armored or not.
pub(super) fn detect(prefix: &[u8]) -> bool {
    Armor::detect(prefix) == Some(Armor::Ascii) || !matches!(Header::parse(prefix), Err(Error::Format(_)))
}

pub(super) fn describe(source: &dyn ReadAt, _: u64) -> Result<Description> {
    let source = DearmoredSource::new(source, Armor::detect)?;
    let len = source.size()?;
    let (header, header_len) = parse_prefix(&source, len, |prefix, _| Header::parse(prefix))?;
    let recipients = header.stanzas().map(|stanza| stanza.kind().to_owned()).collect();
    let layout = age::layout((header_len + NONCE_LEN) as u64);
    Ok(Description { armor: source.armor(), recipients, ..Description::binary(layout, len) })
}
