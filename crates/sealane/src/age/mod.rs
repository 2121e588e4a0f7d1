//! age v1: files for people and passphrases (c2sp.org/age, age-encryption.org/v1).
//!
//! ```text
//! file   = header || payload             as it is, or as text: ASCII armor
//! header = a fresh file key, wrapped for each recipient, and a MAC
//! ```
//!
//! Small things are sealed and opened here, in memory; files by [`mod@crate::file`].
//!
//! ```
//! use sealane::age::{self, Armor, Identity, Kind};
//!
//! let identity = Identity::generate(Kind::Hybrid)?;
//! let file = age::seal(b"hello", &[identity.recipient()], Armor::Ascii)?;
//! assert_eq!(*age::open(&file, &[identity])?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

pub mod armor;
mod file_key;
mod header;
mod hybrid;
mod identity;
mod list;
mod payload;
mod recipient;
mod rsa_der;
mod scrypt;
mod ssh;
mod stanza;
#[cfg(test)]
mod test;
mod text;
mod x25519;

pub use armor::Armor;
pub use header::{Header, MOST, Parsed};
pub use identity::{Identity, Kind};
pub use list::{parse_identities, parse_recipients};
pub use recipient::Recipient;
pub(crate) use recipient::check_recipients;
pub use scrypt::{MOST_WORK, WORK};
pub use stanza::Stanza;

pub(crate) use payload::{NONCE_LEN, Payload, layout};

use crate::Error;
use crate::engine::pipeline::{ChunkCipher, open_chunks, seal_chunks};
use crate::engine::prefix;
use std::io::Write;
use zeroize::Zeroizing;

/// An age file with this plaintext.
///
/// # Errors
/// [`crate::Misuse::InvalidRecipients`] for recipients that cannot be together.
pub fn seal(plaintext: &[u8], recipients: &[Recipient], armor: Armor) -> Result<Vec<u8>, Error> {
    let (payload, mut file) = Payload::create(recipients)?;
    let plan = payload.layout().plan_plain(plaintext.len() as u64)?;
    let start = file.len();
    file.resize(start + plaintext.len() + plan.chunks() as usize * plan.layout.overhead as usize, 0);
    seal_chunks(&payload, &plan.span(0..u64::MAX), plaintext, &mut file[start..])?;
    match armor {
        Armor::Binary => Ok(file),
        Armor::Ascii => {
            let mut encoder = armor::Encoder::new(Vec::new())?;
            encoder.write_all(&file)?;
            Ok(encoder.finish()?)
        }
    }
}

/// The plaintext of an age file, as it is or armored.
///
/// # Errors
/// [`Error::Format`], [`Error::UnsupportedVersion`], [`Error::Armor`] or [`Error::Header`] for what is no whole age
/// file, [`Error::NoMatchingKey`], [`Error::WrongPassphrase`], [`Error::WorkFactor`]; [`Error::Truncated`] or
/// [`Error::Authentication`] for a changed payload.
pub fn open(file: &[u8], identities: &[Identity]) -> Result<Zeroizing<Vec<u8>>, Error> {
    if Armor::detect(file) != Some(Armor::Ascii) {
        return open_binary(file, identities);
    }
    let mut decoder = armor::Decoder::new();
    let mut binary = Vec::with_capacity(file.len() / 4 * 3);
    decoder.push(file, &mut binary)?;
    decoder.finish(&mut binary)?;
    open_binary(&binary, identities)
}

fn open_binary(file: &[u8], identities: &[Identity]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let prefix::Parsed::Ready(payload) = Payload::begin(file, identities)? else {
        return Err(Error::Truncated);
    };
    let plan = payload.layout().plan_sealed(file.len() as u64)?;
    let len =
        usize::try_from(plan.plain_len).map_err(|_| Error::LimitExceeded("more than memory can hold"))?;
    let mut plain = Zeroizing::new(vec![0; len]);
    let sealed = &file[plan.layout.header as usize..];
    match open_chunks(&payload, &plan.span(0..u64::MAX), sealed, &mut plain) {
        Ok(()) => Ok(plain),
        Err(why) => Err(why),
    }
}
