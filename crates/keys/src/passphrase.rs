//! Passphrases of new files and keys.

/// Returns what makes a passphrase unsuitable: some ways to give it later would lose a character.
/// An editor or a terminal's line editing does, and a file's line end is not read.
///
/// # Errors
/// Returns the reason.
pub fn check_passphrase(text: &str) -> Result<(), &'static str> {
    match text {
        "" => Err("expected a passphrase, found an empty one"),
        _ if text.starts_with('\u{feff}') => {
            Err("expected a passphrase, found a byte order mark before it; leave the mark out")
        }
        _ if text.contains(char::is_control) => Err(
            "expected a passphrase without control characters (a tab or a line end, for example), found one",
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod test {
    use super::check_passphrase;

    #[test]
    fn only_what_every_way_to_give_it_preserves() {
        for text in ["", "\u{feff}words", "a\tb", "words\n", "\0", "\x7f", "\u{85}"] {
            assert!(check_passphrase(text).is_err(), "{text:?}");
        }
        for text in ["words", " two words ", "w\u{f6}rter", "w\u{feff}"] {
            assert_eq!(check_passphrase(text), Ok(()), "{text:?}");
        }
    }
}
