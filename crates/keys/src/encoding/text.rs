//! The text of a key file.

use zeroize::Zeroizing;

/// Returns the text of a key file without a byte order mark. A byte that is not UTF-8 becomes the
/// control character SUB.
///
/// Comments, and the text around PEM (RFC 7468, section 2), may have any encoding. Keys are ASCII,
/// and JSON forbids control characters, so no key can contain such a byte.
pub fn text_of(content: &[u8]) -> Zeroizing<String> {
    // Allocated at full length: a growing string leaves copies behind. bounded: by the content.
    let mut text = Zeroizing::new(String::with_capacity(content.len()));
    for chunk in content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content).utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{1a}'));
    }
    text
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8() {
        for (content, text) in [
            (&b"a\r\nb"[..], "a\r\nb"),
            ("\u{feff}é".as_bytes(), "é"),
            (b"J\xf6rg\xff", "J\u{1a}rg\u{1a}"),
            ("é\u{feff}".as_bytes(), "é\u{feff}"),
        ] {
            assert_eq!(*text_of(content), text);
        }
    }
}
