//! Identity files, perhaps encrypted with a passphrase.

use super::store;
use crate::age::{self, Identity, parse_identities};
use crate::encoding::{pem, text::text_of};
use crate::prelude::*;

/// Loads the identities of a file: lines of `AGE-SECRET-KEY-…`, such lines in an age file under a
/// passphrase, or one OpenSSH private key.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read, [`Misuse::KeyPassphraseRequired`] if it is
/// encrypted but there is no passphrase, [`Misuse::KeyNotEncrypted`] if there is one but the file
/// is not encrypted, [`Error::WrongPassphrase`], and the errors of [`age::open`] and
/// [`parse_identities`].
pub fn load_identities(path: &Path, passphrase: Option<&str>) -> Result<Vec<Identity>> {
    parse_identity_file(&store::read(path)?, passphrase)
}

/// Parses the content of an identity file, like [`load_identities`].
///
/// # Errors
/// Returns the errors of [`load_identities`], except [`Error::Io`].
pub fn parse_identity_file(content: &[u8], passphrase: Option<&str>) -> Result<Vec<Identity>> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    if is_age_file(content) {
        let passphrase = passphrase.ok_or(Misuse::KeyPassphraseRequired)?;
        let plaintext = age::open(content, &[Identity::passphrase(passphrase)])?;
        return parse_identities(&text_of(&plaintext));
    }
    let text = text_of(content);
    if pem::is_pem(&text) {
        return Ok(vec![Identity::from_ssh(&text, passphrase)?]);
    }
    if passphrase.is_some() { Err(Misuse::KeyNotEncrypted.into()) } else { parse_identities(&text) }
}

fn is_age_file(content: &[u8]) -> bool {
    age::Armor::detect(content) == Some(age::Armor::Ascii)
        && content.trim_ascii_start().starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----")
        || content.starts_with(b"age-encryption.org/")
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::age::{Armor, Kind, Recipient};

    #[test]
    fn plain_and_encrypted_lists() {
        let keys = [Identity::generate(Kind::X25519).unwrap(), Identity::generate(Kind::Hybrid).unwrap()];
        let text = format!("# mine\n{}\n\n{}\n", &*keys[0].to_text().unwrap(), &*keys[1].to_text().unwrap());
        let opened = |found: Vec<Identity>| {
            found.iter().map(|key| key.to_text().unwrap().to_string()).collect::<Vec<_>>()
        };
        let wanted = keys.map(|key| key.to_text().unwrap().to_string());
        assert_eq!(opened(parse_identity_file(text.as_bytes(), None).unwrap()), wanted);
        let refused = parse_identity_file(text.as_bytes(), Some("x"));
        assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyNotEncrypted))));
        assert!(matches!(parse_identity_file(b"", None), Err(Error::Format(_))));
        // Text that only looks like armor is not an age file; white space before armor is allowed.
        let cut = parse_identity_file(b"-----BEGIN AGE ENCRYPTED", Some("x"));
        assert!(matches!(cut, Err(Error::Truncated)), "{cut:?}");
        for text in ["age-encryption", "\n-----BEGIN"] {
            assert!(
                matches!(
                    parse_identity_file(text.as_bytes(), Some("x")),
                    Err(Error::Misuse(Misuse::KeyNotEncrypted))
                ),
                "{text}"
            );
        }
        for armor in [Armor::Binary, Armor::Ascii] {
            let recipient = Recipient::passphrase_with_work_factor("right", 10).unwrap();
            let file = age::seal(text.as_bytes(), &[recipient], armor).unwrap();
            assert_eq!(opened(parse_identity_file(&file, Some("right")).unwrap()), wanted);
            assert!(matches!(
                parse_identity_file(&file, None),
                Err(Error::Misuse(Misuse::KeyPassphraseRequired))
            ));
            assert!(matches!(parse_identity_file(&file, Some("wrong")), Err(Error::WrongPassphrase)));
        }
    }
}
