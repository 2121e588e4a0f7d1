//! The scrypt recipient type, for passphrases. It cannot be combined with others: if a passphrase
//! decrypts a file, the reader expects it to come from a holder of the passphrase.
//!
//! ```text
//! stanza   = "scrypt" salt[16] work  body[32]             work: decimal, the base-2 logarithm of N
//! wrap key = scrypt(passphrase, "age-encryption.org/v1/scrypt" || salt, N, r = 8, p = 1), 32 bytes
//! ```
//!
//! Source: c2sp.org/age, "The scrypt recipient type". scrypt takes N KiB of memory.

use super::file_key::{FileKey, WRAPPED_LEN};
use super::header::Writer;
use super::ssh::AskPassphrase;
use super::stanza::{SCRYPT, Stanza, argument, to_argument};
use crate::passphrase::check_passphrase;
use crate::prelude::*;
use crate::scrypt::Params;
use std::sync::{Mutex, PoisonError};

/// Default work factor of new files (base-2 logarithm of N): 256 MiB of memory and about one
/// second.
pub const DEFAULT_WORK_FACTOR: u8 = 18;
/// Default limit of the work factor for decryption: 1 GiB of memory and some seconds.
pub const MAX_WORK_FACTOR: u8 = 20;
/// Limit of the work factor of new files: the program `age` refuses more.
const MAX_NEW_WORK_FACTOR: u8 = 22;
/// Limit that callers cannot raise: 1 TiB of memory.
const MAX_LIMIT: u8 = 30;

const LABEL: &[u8] = b"age-encryption.org/v1/scrypt";
const WRONG: &str = "a scrypt stanza is not a salt of 16 bytes, a work factor and a wrapped key of 32 bytes";

/// A passphrase, with a work factor for encryption or a limit for decryption; wiped on drop.
#[derive(Clone)]
pub(super) struct Passphrase {
    text: Zeroizing<String>,
    work_factor: u8,
    /// Where the text comes from, if not from the caller.
    asked: Option<Arc<Asked>>,
}

/// A passphrase that is asked for when the first file needs it.
struct Asked {
    ask: AskPassphrase,
    /// Other threads wait for the lock instead of asking again.
    answer: Mutex<Option<Zeroizing<String>>>,
}

impl PartialEq for Passphrase {
    fn eq(&self, other: &Self) -> bool {
        self.text.as_bytes().ct_eq(other.text.as_bytes()).into()
    }
}

impl Passphrase {
    /// Prepares a passphrase for decryption, with a limit for a file's work factor.
    pub(super) fn new(text: &str, max_work_factor: u8) -> Self {
        let text = Zeroizing::new(text.into());
        Self { text, work_factor: max_work_factor.min(MAX_LIMIT), asked: None }
    }

    /// Prepares a passphrase for decryption that `ask` returns once, for the first file that needs
    /// it.
    pub(super) fn asking(ask: AskPassphrase, max_work_factor: u8) -> Self {
        let asked = Arc::new(Asked { ask, answer: Mutex::default() });
        Self { asked: Some(asked), ..Self::new("", max_work_factor) }
    }

    fn text(&self) -> Result<Zeroizing<String>> {
        let Some(asked) = &self.asked else { return Ok(self.text.clone()) };
        let mut answer = asked.answer.lock().unwrap_or_else(PoisonError::into_inner);
        match &*answer {
            Some(text) => Ok(text.clone()),
            None => Ok(answer.insert((asked.ask)()?).clone()),
        }
    }

    /// Checks a passphrase and a work factor for a new file.
    pub(super) fn checked(text: &str, work_factor: u8) -> Result<Self> {
        check_passphrase(text).map_err(Misuse::InvalidRecipients)?;
        match work_factor {
            0 => Err(Misuse::InvalidRecipients("a passphrase needs a work factor of at least 1").into()),
            1..=MAX_NEW_WORK_FACTOR => Ok(Self::new(text, work_factor)),
            _ => Err(Error::WorkFactor { requested: work_factor, max: MAX_NEW_WORK_FACTOR }),
        }
    }

    /// Replaces the limit by the default work factor of new files.
    pub(super) fn for_new_files(&self) -> Self {
        Self { work_factor: DEFAULT_WORK_FACTOR, ..self.clone() }
    }

    fn wrap_key(&self, salt: &[u8; 16], work_factor: u8) -> Result<Zeroizing<[u8; 32]>> {
        let salt = [LABEL, salt].concat();
        let derived = Params { log_n: work_factor, r: 8, p: 1 }.derive(self.text()?.as_bytes(), &salt, 32)?;
        let mut key = Zeroizing::new([0; 32]);
        key.copy_from_slice(&derived);
        Ok(key)
    }
}

pub(super) struct Wrapped {
    salt: [u8; 16],
    work_factor: u8,
    body: [u8; WRAPPED_LEN],
}

impl Wrapped {
    pub(super) fn parse(stanza: &Stanza<'_>) -> Result<Self> {
        let [salt, work_factor] = stanza.exactly(WRONG)?;
        let work_factor = parse_work_factor(work_factor)?;
        Ok(Self { salt: argument(salt, WRONG)?, work_factor, body: stanza.body(WRONG)? })
    }
}

/// Parses a decimal number without leading zeros, as age requires for the work factor.
fn parse_work_factor(text: &str) -> Result<u8> {
    // `parse` also accepts a sign and leading zeros.
    let number = text.parse().ok().filter(|_| matches!(text.as_bytes(), [b'1'..=b'9', ..]));
    number.ok_or(Error::Header("the work factor of a scrypt stanza is not a number from 1 to 255"))
}

pub(super) fn wrap(passphrase: &Passphrase, file_key: &FileKey, header: &mut Writer) -> Result<()> {
    if passphrase.text.is_empty() {
        return Err(Misuse::InvalidRecipients("the passphrase is empty").into());
    }
    let salt = base::random::array()?;
    let body = file_key.wrap(&*passphrase.wrap_key(&salt, passphrase.work_factor)?)?;
    header.stanza(&[SCRYPT, &to_argument(&salt), &passphrase.work_factor.to_string()], &body);
    Ok(())
}

pub(super) fn unwrap(passphrase: &Passphrase, wrapped: &Wrapped) -> Result<Option<FileKey>> {
    if wrapped.work_factor > passphrase.work_factor {
        return Err(Error::WorkFactor { requested: wrapped.work_factor, max: passphrase.work_factor });
    }
    FileKey::unwrap(&*passphrase.wrap_key(&wrapped.salt, wrapped.work_factor)?, &wrapped.body)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn work_factors_are_canonical_numbers() {
        for (text, number) in [("1", 1), ("10", 10), ("255", 255)] {
            assert_eq!(parse_work_factor(text).unwrap(), number);
        }
        for text in ["", "0", "01", "+1", "-1", "1x", " 1", "256", "1_0"] {
            assert!(matches!(parse_work_factor(text), Err(Error::Header(_))), "{text}");
        }
    }

    /// An identity's limit says nothing about the files encrypted for it.
    #[test]
    fn new_files_have_the_default_work_factor() {
        assert_eq!(Passphrase::new("a", 9).for_new_files().work_factor, DEFAULT_WORK_FACTOR);
    }
}
