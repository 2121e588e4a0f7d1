//! Passphrases. One is always alone, since who can open such a file expects that only they could have made it.
//!
//! ```text
//! stanza   = "scrypt" salt[16] work  body[32]             work: decimal, the base-2 logarithm of N
//! wrap key = scrypt(passphrase, "age-encryption.org/v1/scrypt" || salt, N, r = 8, p = 1), 32 bytes
//! ```
//!
//! Source: c2sp.org/age, "The scrypt recipient type". scrypt with N takes N KiB of memory.

use super::file_key::{FileKey, WRAPPED};
use super::header::Writer;
use super::stanza::{Stanza, argument, to_argument};
use crate::{Error, Misuse};
use zeroize::Zeroizing;

pub(super) const KIND: &str = "scrypt";

/// Work that a new file asks for unless told otherwise, as a logarithm: 256 MiB, about a second.
pub const WORK: u8 = 18;
/// Work that is done for a file unless told otherwise: 1 GiB, some seconds.
pub const MOST_WORK: u8 = 20;
/// A new file asks for no more: the program `age` would refuse it.
const MOST_NEW_WORK: u8 = 22;
/// Nothing is done past this, whatever is allowed: 1 TiB.
const MOST_EVER: u8 = 30;

const LABEL: &[u8] = b"age-encryption.org/v1/scrypt";
const EMPTY: Misuse = Misuse::InvalidRecipients("the passphrase is empty");
const WRONG: &str =
    "a passphrase's stanza is not a salt of 16 bytes, a work factor and a wrapped key of 32 bytes";

/// A passphrase, and how much work is done for it, at most or at once. Wiped on drop.
#[derive(Clone)]
pub(super) struct Passphrase {
    text: Zeroizing<String>,
    pub(super) work: u8,
}

impl Passphrase {
    /// For opening; any text may be one.
    pub(super) fn new(text: &str, most_work: u8) -> Self {
        Self { text: Zeroizing::new(text.into()), work: most_work.min(MOST_EVER) }
    }

    /// For a new file.
    pub(super) fn checked(text: &str, work: u8) -> Result<Self, Error> {
        match work {
            _ if text.is_empty() => Err(EMPTY.into()),
            0 => Err(Misuse::InvalidRecipients("a passphrase needs a work factor of at least 1").into()),
            1..=MOST_NEW_WORK => Ok(Self::new(text, work)),
            _ => Err(Error::WorkFactor { requested: work, max: MOST_NEW_WORK }),
        }
    }

    /// With the work of a new file instead of a limit.
    pub(super) fn for_new_files(&self) -> Self {
        Self { work: WORK, ..self.clone() }
    }

    fn wrap_key(&self, salt: &[u8; 16], work: u8) -> Result<Zeroizing<[u8; 32]>, Error> {
        const NO_MEMORY: Error = Error::LimitExceeded("there is no memory for so much work on a passphrase");
        // The library aborts where there is none.
        let kib = 1_usize.checked_shl(work.into());
        let bytes = kib.and_then(|kib| kib.checked_mul(1024)).ok_or(NO_MEMORY)?;
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| NO_MEMORY)?;
        let params = ::scrypt::Params::new(work, 8, 1).map_err(|_| NO_MEMORY)?;
        let mut key = Zeroizing::new([0; 32]);
        let salt = [LABEL, salt].concat();
        ::scrypt::scrypt(self.text.as_bytes(), &salt, &params, &mut *key).map_err(|_| NO_MEMORY)?;
        Ok(key)
    }
}

/// A stanza of this kind.
pub(super) struct Wrapped {
    salt: [u8; 16],
    work: u8,
    body: [u8; WRAPPED],
}

impl Wrapped {
    pub(super) fn parse(stanza: &Stanza<'_>) -> Result<Self, Error> {
        let [salt, work] = stanza.exactly(WRONG)?;
        Ok(Self { salt: argument(salt, WRONG)?, work: parse_work(work)?, body: stanza.body(WRONG)? })
    }
}

/// A decimal number without zeros before it.
fn parse_work(text: &str) -> Result<u8, Error> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.as_bytes().first() {
        Some(b'1'..=b'9') if digits => {}
        _ => return Err(Error::Header("a passphrase's work factor is not a number")),
    }
    text.parse().map_err(|_| Error::Header("a passphrase's work factor is more than can be done"))
}

pub(super) fn wrap(passphrase: &Passphrase, file_key: &FileKey, header: &mut Writer) -> Result<(), Error> {
    if passphrase.text.is_empty() {
        return Err(EMPTY.into());
    }
    let mut salt = [0; 16];
    crate::random::fill(&mut salt)?;
    let body = file_key.wrap(&*passphrase.wrap_key(&salt, passphrase.work)?)?;
    header.stanza(&[KIND, &to_argument(&salt), &passphrase.work.to_string()], &body);
    Ok(())
}

pub(super) fn unwrap(passphrase: &Passphrase, wrapped: &Wrapped) -> Result<Option<FileKey>, Error> {
    if wrapped.work > passphrase.work {
        return Err(Error::WorkFactor { requested: wrapped.work, max: passphrase.work });
    }
    FileKey::unwrap(&*passphrase.wrap_key(&wrapped.salt, wrapped.work)?, &wrapped.body)
}
