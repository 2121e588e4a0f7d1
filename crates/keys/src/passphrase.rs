//! Passphrases of new files and keys.

/// Maximum bytes of a passphrase that every way can give: what a terminal's line can hold. Linux
/// drops what is typed after 4095 bytes, so one byte less shows that nothing was dropped.
pub const MAX_PASSPHRASE_LEN: usize = 4094;

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
        _ if text.len() > MAX_PASSPHRASE_LEN => {
            Err("expected a passphrase of at most 4094 bytes, found a longer one")
        }
        _ if text.contains(char::is_control) => Err(
            "expected a passphrase without control characters (a tab or a line end, for example), found one",
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn only_what_every_way_to_give_it_preserves() {
        let long = "x".repeat(MAX_PASSPHRASE_LEN + 1);
        for text in [&*long, "", "\u{feff}words", "a\tb", "words\n", "\0", "\x7f", "\u{85}"] {
            assert!(check_passphrase(text).is_err(), "{text:?}");
        }
        for text in [&long[1..], "words", " two words ", "w\u{f6}rter", "w\u{feff}"] {
            assert_eq!(check_passphrase(text), Ok(()), "{text:?}");
        }
    }
}
