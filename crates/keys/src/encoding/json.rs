//! JSON with secrets, parsed without leaving copies behind.
//!
//! `serde_json` copies a text with escapes into a buffer that it does not wipe, and its error
//! quotes a value of an unexpected type. So we borrow the values from the document as written, and
//! decode them here.

use base64ct::Encoding;
use serde::Deserialize;
pub(crate) use serde_json::value::RawValue;
use zeroize::Zeroizing;

/// Parses an object. Members are `&RawValue` or ignored, so that no error quotes a value.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    json.trim_start().starts_with('{').then(|| serde_json::from_str(json).ok())?
}

/// Parses an array into its values.
pub(crate) fn array(json: &RawValue) -> Option<Vec<&RawValue>> {
    json.get().starts_with('[').then(|| serde_json::from_str(json.get()).ok())?
}

/// Returns the content of a string as written, with its escapes.
pub(crate) fn written(json: &RawValue) -> Option<&str> {
    json.get().strip_prefix('"')?.strip_suffix('"')
}

/// Decodes a string. Characters above U+FFFF must not be escaped.
pub(crate) fn string(json: &RawValue) -> Option<Zeroizing<String>> {
    let mut rest = written(json)?;
    // Full capacity at once: growing text leaves copies behind. No escape is shorter than its
    // character.
    // bounded: by the document.
    let mut text = Zeroizing::new(String::with_capacity(rest.len()));
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let (name, after) = escape.split_at_checked(1)?;
        rest = after;
        text.push(match name {
            "b" => '\u{8}',
            "f" => '\u{c}',
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "u" => {
                let (digits, after) = after.split_at_checked(4)?;
                rest = after;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => name.chars().next()?,
        });
    }
    text.push_str(rest);
    Some(text)
}

/// Decodes a number of at most 32 bits.
pub(crate) fn number(json: &RawValue) -> Option<u32> {
    json.get().parse().ok()
}

/// Decodes base64 without tables, into memory that is wiped even if the text is malformed.
pub(crate) fn base64<E: Encoding>(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    // bounded: by the document.
    let mut bytes = Zeroizing::new(vec![0; text.len() / 4 * 3 + 3]);
    let len = E::decode(text, &mut bytes).ok()?.len();
    bytes.truncate(len);
    Some(bytes)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn strings_equal_those_of_serde_json() {
        for json in [
            r#""""#,
            r#""a/b+c=""#,
            r#""\/\"\\\b\f\n\r\t""#,
            r#""\u003d\u00e9\uFFFDx""#,
            r#""é😀""#,
            r#""a\u0041""#,
        ] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let expected: String = serde_json::from_str(json).unwrap();
            assert_eq!(*string(raw).unwrap(), expected, "{json}");
        }
        for json in ["1", "null", "[]", r#""\ud83d\ude00""#, r#""\ud83d""#] {
            assert!(string(serde_json::from_str(json).unwrap()).is_none(), "{json}");
        }
    }

    #[test]
    fn numbers_and_arrays() {
        let raw = |json| serde_json::from_str::<&RawValue>(json).unwrap();
        assert_eq!((number(raw("0")), number(raw(" 4294967295 "))), (Some(0), Some(u32::MAX)));
        for json in ["-1", "4294967296", "1.0", "1e3", r#""1""#, "null"] {
            assert_eq!(number(raw(json)), None, "{json}");
        }
        assert_eq!(array(raw("[1, [2]]")).unwrap().len(), 2);
        assert!(array(raw("{}")).is_none() && array(raw(r#""[]""#)).is_none());
    }

    #[test]
    fn base64_of_any_length() {
        for len in 0..20_u8 {
            let bytes: Vec<u8> = (0..len).collect();
            let (padded, bare) =
                (base64ct::Base64::encode_string(&bytes), base64ct::Base64UrlUnpadded::encode_string(&bytes));
            assert_eq!(*base64::<base64ct::Base64>(&padded).unwrap(), bytes);
            assert_eq!(*base64::<base64ct::Base64UrlUnpadded>(&bare).unwrap(), bytes);
        }
        assert!(base64::<base64ct::Base64>("AAA*").is_none() && base64::<base64ct::Base64>("AAA").is_none());
    }
}
