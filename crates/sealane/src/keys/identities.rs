//! Files of identities, which may be encrypted with a passphrase themselves.

use super::store;
use crate::age::{self, Header, Identity, parse_identities};
use crate::{Error, Misuse};
use std::path::Path;

/// The identities in a file: lines of `AGE-SECRET-KEY-…`, those in an age file that a passphrase opens, or one OpenSSH
/// private key.
///
/// # Errors
/// [`Error::Io`]; [`Misuse::KeyPassphraseRequired`], [`Misuse::KeyNotEncrypted`], [`Error::WrongPassphrase`]; [`Error::Line`] and
/// [`Error::Format`] for what is no such file.
pub fn load_identities(path: &Path, passphrase: Option<&str>) -> Result<Vec<Identity>, Error> {
    identities(&store::read(path)?, passphrase)
}

fn identities(content: &[u8], passphrase: Option<&str>) -> Result<Vec<Identity>, Error> {
    const NO_TEXT: Error = Error::Format("not a file of identities: it is not text");
    if is_age_file(content) {
        let passphrase = passphrase.ok_or(Misuse::KeyPassphraseRequired)?;
        let inside = age::open(content, &[Identity::passphrase(passphrase)])?;
        return parse_identities(std::str::from_utf8(&inside).map_err(|_| NO_TEXT)?);
    }
    let text = std::str::from_utf8(content).map_err(|_| NO_TEXT)?;
    if text.trim_start().starts_with("-----BEGIN OPENSSH PRIVATE KEY-----") {
        return Ok(vec![Identity::from_ssh(text, passphrase)?]);
    }
    match passphrase {
        Some(_) => Err(Misuse::KeyNotEncrypted.into()),
        None => parse_identities(text),
    }
}

fn is_age_file(content: &[u8]) -> bool {
    age::Armor::detect(content) == Some(age::Armor::Ascii)
        && content.trim_ascii_start().starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----")
        || Header::parse(content).is_ok()
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::age::{Armor, Kind, Recipient};

    #[test]
    fn lists_in_clear_and_under_a_passphrase() {
        let keys = [Identity::generate(Kind::X25519).unwrap(), Identity::generate(Kind::Hybrid).unwrap()];
        let text = format!("# mine\n{}\n\n{}\n", &*keys[0].to_text().unwrap(), &*keys[1].to_text().unwrap());
        let opened = |found: Vec<Identity>| {
            found.iter().map(|key| key.to_text().unwrap().to_string()).collect::<Vec<_>>()
        };
        let wanted = keys.map(|key| key.to_text().unwrap().to_string());
        assert_eq!(opened(identities(text.as_bytes(), None).unwrap()), wanted);
        let refused = identities(text.as_bytes(), Some("x"));
        assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyNotEncrypted))));
        for armor in [Armor::Binary, Armor::Ascii] {
            let recipient = Recipient::passphrase_with_work("right", 10).unwrap();
            let file = age::seal(text.as_bytes(), &[recipient], armor).unwrap();
            assert_eq!(opened(identities(&file, Some("right")).unwrap()), wanted);
            assert!(matches!(identities(&file, None), Err(Error::Misuse(Misuse::KeyPassphraseRequired))));
            assert!(matches!(identities(&file, Some("wrong")), Err(Error::WrongPassphrase)));
        }
    }
}
