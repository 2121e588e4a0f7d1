//! Passphrases of new files and keys.

/// Maximum bytes of a passphrase that every way can give: what a terminal's line can hold. Linux
/// drops what is typed after 4095 bytes, so one byte less shows that nothing was dropped.
pub const MAX_PASSPHRASE_LEN: usize = 4094;

/// Returns the bytes of a passphrase as text, of a new one and of one that opens something.
///
/// # Errors
/// Returns why it is refused: it is too long to be typed, has a byte order mark, or is not UTF-8.
pub fn parse_passphrase(given: &[u8]) -> Result<&str, &'static str> {
    // Comes first, because a longer one may have been cut inside a character.
    if given.len() > MAX_PASSPHRASE_LEN {
        return Err("expected a passphrase of at most 4094 bytes, found a longer one");
    }
    match std::str::from_utf8(given) {
        // No keyboard has the mark, but editors add it.
        Ok(text) if text.starts_with('\u{feff}') => {
            Err("expected a passphrase, found a byte order mark before it; leave the mark out")
        }
        // The position of an invalid byte would reveal something about the passphrase.
        text => text.map_err(|_| "expected a passphrase in UTF-8, found other bytes"),
    }
}

/// Returns what makes a new passphrase unsuitable: some ways to give it later would lose a
/// character. An editor or a terminal's line editing does, and a file's line end is not read.
///
/// # Errors
/// Returns the reason.
pub fn check_passphrase(text: &str) -> Result<(), &'static str> {
    match text {
        "" => Err("expected a passphrase, found an empty one"),
        _ if text.contains(char::is_control) => Err(
            "expected a passphrase without control characters (a tab or a line end, for example), found one",
        ),
        _ => parse_passphrase(text.as_bytes()).map(drop),
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
        for given in ["a\tb", "words\n", ""] {
            assert_eq!(parse_passphrase(given.as_bytes()), Ok(given), "{given:?}");
        }
        for given in [long.as_bytes(), "\u{feff}words".as_bytes(), b"\xff"] {
            assert!(parse_passphrase(given).is_err(), "{given:?}");
        }
        for text in [&long[1..], "words", " two words ", "w\u{f6}rter", "w\u{feff}"] {
            assert_eq!(check_passphrase(text), Ok(()), "{text:?}");
        }
    }
}
