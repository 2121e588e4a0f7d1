//! JSON with secrets, parsed without leaving copies behind.
//!
//! `serde_json` copies a text with escapes into a buffer that it does not wipe, and its error
//! quotes a value of an unexpected type. So we borrow the values from the document as written, and
//! decode them here.

use crate::prelude::*;
use base64ct::Encoding;
use serde::de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
pub(crate) use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Parses an object. Members are `&RawValue` or ignored, so that no error quotes a value.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    json.trim_start().starts_with('{').then(|| serde_json::from_str(json).ok())?
}

/// Returns the error for text that is no JSON, or else `other`.
pub(crate) fn refused(text: &str, other: Error) -> Error {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => other,
        // The position of the error does not help.
        Err(_) => Error::Format("expected JSON (RFC 8259), found text that is cut, damaged or not JSON"),
    }
}

/// Parses an object in which no object has a name twice, at any depth. For text without secrets.
pub(crate) fn unique(json: &str) -> Option<Map<String, Value>> {
    let Unique(Value::Object(members)) = serde_json::from_str(json).ok()? else { return None };
    Some(members)
}

/// A value in which no object has a name twice. `serde_json` takes the last one.
struct Unique(Value);

struct UniqueVisitor;

macro_rules! scalars {
    ($($visit:ident: $type:ty;)*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        })*
    };
}

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    scalars! {
        visit_bool: bool;
        visit_u64: u64;
        visit_i64: i64;
        visit_f64: f64;
        visit_str: &str;
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut found = Vec::new();
        while let Some(Unique(value)) = values.next_element()? {
            found.push(value);
        }
        Ok(found.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut found = Map::new();
        while let Some((name, Unique(value))) = members.next_entry::<String, _>()? {
            if found.insert(name, value).is_some() {
                return Err(de::Error::custom("a name twice"));
            }
        }
        Ok(found.into())
    }
}

/// Parses an array into its values.
pub(crate) fn array(json: &RawValue) -> Option<Vec<&RawValue>> {
    json.get().starts_with('[').then(|| serde_json::from_str(json.get()).ok())?
}

/// Decodes a string (RFC 8259, section 7). Half of a surrogate pair is no character: `None`.
pub(crate) fn string(json: &RawValue) -> Option<Zeroizing<String>> {
    let mut rest = json.get().strip_prefix('"')?.strip_suffix('"')?;
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
                let first = unit(&mut rest)?;
                let mut units = [first, 0];
                if let 0xd800..0xdc00 = first {
                    rest = rest.strip_prefix("\\u")?;
                    units[1] = unit(&mut rest)?;
                }
                // The other unit is a character only if the first one was complete.
                char::decode_utf16(units).next()?.ok()?
            }
            _ => name.chars().next()?,
        });
    }
    text.push_str(rest);
    Some(text)
}

/// Takes the four digits of an escape, a unit of UTF-16.
fn unit(rest: &mut &str) -> Option<u16> {
    let (digits, after) = rest.split_at_checked(4)?;
    *rest = after;
    u16::from_str_radix(digits, 16).ok()
}

/// Decodes a number of at most 32 bits as ProtoJSON allows it: with a fraction or an exponent, or
/// in a string. `None` is 0, the default value.
pub(crate) fn number(json: Option<&RawValue>) -> Option<u32> {
    let Some(json) = json else { return Some(0) };
    let text = json.get();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    // The grammar of numbers also holds inside of a string.
    let is_number = |text: &&str| {
        let ends =
            text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(|c: char| c.is_ascii_digit());
        ends && serde_json::from_str::<IgnoredAny>(text).is_ok()
    };
    let text = Some(text).filter(is_number)?;
    // A number of at most 15 digits is exact in 64 bits, so a fraction is not rounded away.
    let exact = || text.parse().ok().filter(|number: &f64| text.len() <= 15 && number.fract() == 0.0);
    text.parse()
        .ok()
        .or_else(|| exact().filter(|number| *number <= u32::MAX.into()).map(|number| number as u32))
}

/// Decodes bytes as ProtoJSON allows them: base64 in either alphabet, with or without padding.
pub(crate) fn bytes(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let bare = text.trim_end_matches('=');
    if bare.len() < text.len() && (!text.len().is_multiple_of(4) || text.len() - bare.len() > 2) {
        return None;
    }
    match bare.contains(['-', '_']) {
        true => base64::<base64ct::Base64UrlUnpadded>(bare),
        false => base64::<base64ct::Base64Unpadded>(bare),
    }
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
            r#""\ud83d\ude00x\uD800\uDC00\udbff\udfff""#,
            r#""a\u0041""#,
        ] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let expected: String = serde_json::from_str(json).unwrap();
            assert_eq!(*string(raw).unwrap(), expected, "{json}");
        }
        let halves = [r#""\ud83d""#, r#""\ud83dx""#, r#""\ud83d\n""#, r#""\ude00""#, r#""\ude00\ud83d""#];
        for json in halves.into_iter().chain(["1", "null", "[]", r#""\ud83d\ud83d\ude00""#]) {
            assert!(string(serde_json::from_str(json).unwrap()).is_none(), "{json}");
        }
    }

    #[test]
    fn numbers_and_arrays() {
        let raw = |json| serde_json::from_str::<&RawValue>(json).unwrap();
        assert_eq!(number(None), Some(0));
        for (json, found) in [
            ("0", 0),
            (" 4294967295 ", u32::MAX),
            ("7.0", 7),
            ("70e-1", 7),
            ("0.7E+1", 7),
            (r#""7""#, 7),
            (r#""7.00""#, 7),
            (r#""4294967295.0""#, u32::MAX),
        ] {
            assert_eq!(number(Some(raw(json))), Some(found), "{json}");
        }
        let strings =
            [r#""""#, r#"" 7""#, r#""+7""#, r#""07""#, r#""7.""#, r#""inf""#, r#""0x7""#, r#""\u0037""#];
        for json in
            strings.into_iter().chain(["-1", "4294967296", "7.5", "1e10", "7.0000000000000000001", "null"])
        {
            assert_eq!(number(Some(raw(json))), None, "{json}");
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

    #[test]
    fn base64_of_protojson() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(bytes(text).unwrap()[..], [0xfb, 0xff], "{text}");
        }
        assert!(bytes("").unwrap().is_empty());
        // Mixed alphabets, padding that does not fit, and loose bits.
        for text in ["+_8=", "-/8", "+/8==", "+/==", "A===", "====", "+/9", "A", "+/8=\n"] {
            assert!(bytes(text).is_none(), "{text}");
        }
    }
}
