//! age v1: files for recipients and passphrases (c2sp.org/age, age-encryption.org/v1).

pub mod armor;
mod file_key;
mod header;
mod hybrid;
mod identity;
mod list;
mod payload;
pub mod plugin;
mod recipient;
mod scrypt;
mod ssh;
mod ssh_rsa;
mod stanza;
mod tag;
#[cfg(test)]
mod test;
mod text;
mod x25519;

pub use armor::Armor;
pub use engine::prefix::Parsed;
pub use header::{Header, MAX_HEADER_LEN};
pub use identity::Identity;
pub use list::{parse_identities, parse_recipients};
pub use plugin::Plugins;
pub use recipient::{Kind, Recipient, check_recipients};
pub use scrypt::{DEFAULT_WORK_FACTOR, MAX_WORK_FACTOR};
pub use ssh::AskPassphrase;
pub use stanza::Stanza;

pub use payload::{NONCE_LEN, Payload, layout};

use crate::prelude::*;
use engine::pipeline::{OpenChunks, open_chunks, seal_chunks};
use std::io::Write;

/// Wraps the file key of the header at the start of `prefix` for `recipients`. Returns the new
/// header and the length of the old one.
///
/// # Errors
/// Returns the errors of [`open`] about the header, and of [`seal`] about the recipients.
pub fn rewrapped_header(
    prefix: &[u8],
    identities: &[Identity],
    recipients: &[Recipient],
) -> Result<Parsed<(String, usize)>> {
    Ok(match Header::parse(prefix)? {
        Parsed::NeedsMore(len) => Parsed::NeedsMore(len),
        Parsed::Ready((header, len)) => {
            let file_key = identity::file_key(&header, identities)?;
            Parsed::Ready((recipient::header(recipients, &file_key)?, len))
        }
    })
}

/// Encrypts `plaintext` for `recipients`. Returns the age file.
///
/// # Errors
/// Returns [`Misuse::InvalidRecipients`] if the recipients cannot
/// be combined or one has low order, [`Error::LimitExceeded`] if the header is too long,
/// [`Error::Plugin`], and [`Error::Io`] if no random bytes are available.
pub fn seal(plaintext: &[u8], recipients: &[Recipient], armor: Armor) -> Result<Vec<u8>> {
    let (payload, mut file) = Payload::create(recipients)?;
    let plan = payload.layout().plan_plain(plaintext.len() as u64)?;
    let start = file.len();
    // The conversion fails on 32-bit systems only.
    let len = usize::try_from(plan.sealed_len())
        .map_err(|_| Error::LimitExceeded("the file is longer than the address space"))?;
    memory::resize(&mut file, len)?;
    seal_chunks(&payload, &plan.span(0..u64::MAX), plaintext, &mut file[start..])?;
    match armor {
        Armor::Binary => Ok(file),
        Armor::Ascii => {
            let mut encoder = armor::Encoder::new(memory::with_capacity(armor::len(file.len()))?)?;
            encoder.write_all(&file)?;
            Ok(encoder.finish()?)
        }
    }
}

/// Decrypts an age file, binary or armored.
///
/// # Errors
/// Returns [`Error::Format`], [`Error::UnsupportedVersion`], [`Error::Armor`] or [`Error::Header`]
/// if it is not an age file or its header is damaged, [`Error::NoMatchingKey`],
/// [`Error::PassphraseRequired`], [`Error::IdentityRequired`], [`Error::WrongPassphrase`],
/// [`Error::WorkFactor`] or [`Error::Plugin`] if no identity decrypts it, and [`Error::Truncated`]
/// or [`Error::DamagedChunk`] if the payload was changed.
pub fn open(file: &[u8], identities: &[Identity]) -> Result<Zeroizing<Vec<u8>>> {
    let file = &*armor::decode(file)?;
    let Parsed::Ready(payload) = Payload::begin(file, identities)? else { return Err(Error::Truncated) };
    let plan = payload.layout().plan_sealed(file.len() as u64)?;
    // The conversion fails on 32-bit systems only.
    let len = usize::try_from(plan.plain_len)
        .map_err(|_| Error::LimitExceeded("the plaintext is longer than the address space"))?;
    let mut plain = Zeroizing::new(memory::zeroed(len)?);
    let sealed = &file[plan.layout.header as usize..];
    open_chunks(&payload, &plan.span(0..u64::MAX), sealed, &mut plain)?;
    Ok(plain)
}
