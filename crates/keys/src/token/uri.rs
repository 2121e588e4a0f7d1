//! PKCS#11 URIs (RFC 7512): the names of a token and of a key on it.
//!
//! ```text
//! pkcs11:token=backup;object=sales;type=secret-key?module-name=softhsm2&pin-source=/etc/pin&context=sales
//! ```
//!
//! The attributes before `?` describe the key, those after it the way to it. `context` is our own
//! attribute.

use super::pin::Pin;
use crate::prelude::*;

/// The class of an object on a token. We only list keys that decrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A symmetric key, `CKO_SECRET_KEY`
    Secret,
    /// The private key of a pair, `CKO_PRIVATE_KEY`
    Private,
}

/// The attributes of a URI. A token or key matches if it has all given values.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Uri {
    /// The label of the token, `token`
    pub(super) token: Option<String>,
    pub(super) manufacturer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) slot: Option<u64>,
    /// The label of the key, `object`
    pub(super) object: Option<String>,
    pub(super) id: Option<Vec<u8>>,
    pub(super) class: Option<Class>,
    pub(super) module_path: Option<PathBuf>,
    pub(super) module_name: Option<String>,
    pub(super) pin: Pin,
    pub(super) context: Vec<u8>,
}

impl Uri {
    /// Parses the part of a reference after `pkcs11:` and before `#`.
    ///
    /// # Errors
    /// Returns [`Misuse::Reference`]. Its text has no value of an attribute, because it may be a
    /// PIN.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if text.split_once('?').is_some_and(|(_, query)| query.is_empty()) {
            return Err(invalid("expected attributes after the question mark, found none"));
        }
        let mut found = Self::default();
        let mut seen = Vec::new();
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let parts = path.split(';').map(|part| (part, false));
        for (part, in_query) in
            parts.chain(query.split('&').filter(|part| !part.is_empty()).map(|part| (part, true)))
        {
            let name = part.split('=').next().unwrap_or_default();
            if seen.contains(&name) {
                return Err(invalid("expected each attribute once, found one of them twice"));
            }
            seen.push(name);
            found.set(part, in_query)?;
        }
        if found.object.is_none() && found.id.is_none() {
            return Err(invalid("expected the name of a key: object=LABEL or id=BYTES"));
        }
        Ok(found)
    }

    /// Sets one attribute.
    fn set(&mut self, part: &str, in_query: bool) -> Result<()> {
        let (name, value) = part.split_once('=').ok_or(invalid(
            "expected attributes such as token=NAME;object=NAME, found one without an equals sign",
        ))?;
        let decoded = decoded(value)?;
        // Other programs skip white space, and `&` before the question mark or an attribute in a
        // value is more often a slip than a part of the name. A slip may hide a PIN.
        if value.contains(|c: char| c.is_whitespace() || c.is_control()) || (!in_query && value.contains('&'))
        {
            return Err(invalid("expected %20 for a space and %26 for & in the value of an attribute"));
        }
        if name != "pin-value" && has_attribute(&decoded, !["context", "id"].contains(&name)) {
            return Err(invalid(
                "expected one value per attribute, found another attribute in it; separate attributes with ; before \
                 the question mark and with & after it",
            ));
        }
        if in_query { self.set_query(name, &decoded) } else { self.set_path(name, decoded) }
    }

    fn set_path(&mut self, name: &str, mut value: Zeroizing<Vec<u8>>) -> Result<()> {
        match name {
            "token" => self.token = Some(text(&value)?),
            "manufacturer" => self.manufacturer = Some(text(&value)?),
            "model" => self.model = Some(text(&value)?),
            "serial" => self.serial = Some(text(&value)?),
            "slot-id" => {
                // The parser's error says less.
                let number = text(&value)?.parse().map_err(|_| invalid("expected a number as slot-id"))?;
                self.slot = Some(number);
            }
            "object" => self.object = Some(text(&value)?),
            "id" => self.id = Some(std::mem::take(&mut value)),
            "type" => {
                self.class = Some(match &value[..] {
                    b"secret-key" => Class::Secret,
                    b"private" => Class::Private,
                    _ => return Err(invalid("expected type=secret-key or type=private")),
                });
            }
            _ => {
                return Err(invalid(
                    "expected token, manufacturer, model, serial, slot-id, object, id or type before the question \
                     mark, found another attribute",
                ));
            }
        }
        Ok(())
    }

    fn set_query(&mut self, name: &str, value: &[u8]) -> Result<()> {
        match name {
            "module-path" => {
                let path = PathBuf::from(text(value)?);
                if !path.is_absolute() {
                    return Err(invalid("expected an absolute path as module-path"));
                }
                self.module_path = Some(path);
            }
            "module-name" => {
                let name = text(value)?;
                if name.is_empty() || name.contains(['/', '\\']) {
                    return Err(invalid("expected a name without a folder as module-name; use module-path"));
                }
                self.module_name = Some(name);
            }
            "pin-source" | "pin-value" if self.pin != Pin::Elsewhere => {
                return Err(invalid("expected either pin-source or pin-value, found both"));
            }
            "pin-source" => {
                let text = text(value)?;
                let path = file_path(&text).map(PathBuf::from).filter(|path| path.is_absolute());
                self.pin =
                    Pin::File(path.ok_or(invalid("expected the absolute path of a file as pin-source"))?);
            }
            "pin-value" => self.pin = Pin::Given(Zeroizing::new(text(value)?)),
            "context" if value.is_empty() => return Err(invalid("expected context=TEXT, found no text")),
            "context" => self.context = value.to_vec(),
            _ => {
                return Err(invalid(
                    "expected module-path, module-name, pin-source, pin-value or context after the question mark, \
                     found another attribute",
                ));
            }
        }
        Ok(())
    }
}

fn invalid(text: &'static str) -> Error {
    Misuse::Reference(text).into()
}

fn text(value: &[u8]) -> Result<String> {
    match std::str::from_utf8(value) {
        Ok(text) if !text.contains('\0') => Ok(text.to_owned()),
        _ => Err(invalid("expected text in UTF-8 as the value of an attribute; only id has other bytes")),
    }
}

/// Decodes `%` and two hexadecimal digits to a byte.
fn decoded(value: &str) -> Result<Zeroizing<Vec<u8>>> {
    // bounded: not longer than the reference, an argument of the caller.
    let mut bytes = Zeroizing::new(Vec::with_capacity(value.len()));
    let mut parts = value.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let decode = || {
            let (digits, rest) = part.split_at_checked(2)?;
            Some((base16ct::mixed::decode(digits, &mut [0]).ok()?[0], rest))
        };
        let (byte, rest) = decode().ok_or(invalid("expected two hexadecimal digits after a percent sign"))?;
        bytes.push(byte);
        bytes.extend(rest.bytes());
    }
    Ok(bytes)
}

/// Returns the path in a `file:` URI of this machine (RFC 8089), or the text if it is no URI.
fn file_path(text: &str) -> Option<&str> {
    let Some(rest) = text.strip_prefix("file:") else { return Some(text) };
    let Some(rest) = rest.strip_prefix("//") else { return Some(rest) };
    ["localhost", ""].iter().find_map(|host| rest.strip_prefix(host).filter(|path| path.starts_with('/')))
}

/// Returns whether a value contains another attribute: a word that begins with `pin` and an equals
/// sign or a colon, or, in a `name`, also `&`, `;` or `?` and any word and an equals sign. Slips
/// encode them once or several times.
fn has_attribute(value: &[u8], in_name: bool) -> bool {
    let lower = Zeroizing::new(String::from_utf8_lossy(value).to_lowercase());
    let in_word = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let is_named = |at: usize, signs: &[char]| lower[at..].trim_start_matches(in_word).starts_with(signs);
    let mut pins = lower.match_indices("pin").filter(|(at, _)| !lower[..*at].ends_with(char::is_alphabetic));
    let mut others = lower.match_indices(['&', ';', '?']).filter(|_| in_name);
    pins.any(|(at, _)| is_named(at, &['=', ':']))
        || others.any(|(at, _)| is_named(at + 1, &['=']))
        || decoded(&lower).is_ok_and(|again| again.len() < lower.len() && has_attribute(&again, in_name))
}

/// Hides everything that may be a PIN. Shows an attribute only if it is known and has a possible
/// value, and the place only after the last `#`: a PIN may contain that character, too.
pub(super) fn without_pin(text: &str) -> String {
    let shown = |part: &str, in_query: bool| {
        let (name, value) = part.split_once('=').unwrap_or_default();
        let is_pin = name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("pin"))
            && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        let is_known = part.is_empty() || Uri::default().set(part, in_query).is_ok();
        match (is_known && name != "pin-value", is_pin && !value.is_empty()) {
            (true, _) => part.to_owned(),
            (false, true) => format!("{name}=***"),
            (false, false) => "***".to_owned(),
        }
    };
    let all = |parts: &str, separator: &str, in_query| {
        parts.split(separator).map(|part| shown(part, in_query)).collect::<Vec<_>>().join(separator)
    };
    let (uri, place) = text.split_at(text.find('#').unwrap_or(text.len()));
    let (scheme, attributes) = uri.split_at(uri.find(':').map_or(0, |colon| colon + 1));
    let (path, query) = attributes.split_at(attributes.find('?').unwrap_or(attributes.len()));
    let query = query.strip_prefix('?').map(|query| format!("?{}", all(query, "&", true)));
    let last = place.rfind('#').unwrap_or_default();
    let hidden = if last > 0 { "#***" } else { "" };
    [scheme, &all(path, ";", false), &query.unwrap_or_default(), hidden, &place[last..]].concat()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn attributes() {
        let uri = Uri::parse(
            "token=The%20backup;serial=0A;object=sales;id=%00%fF;type=secret-key;slot-id=7;model=m;manufacturer=x\
             ?module-path=/usr/lib/m.so&pin-source=file:/etc/pin&context=a%26b",
        )
        .unwrap();
        let expected = Uri {
            token: Some("The backup".into()),
            manufacturer: Some("x".into()),
            model: Some("m".into()),
            serial: Some("0A".into()),
            slot: Some(7),
            object: Some("sales".into()),
            id: Some(vec![0, 255]),
            class: Some(Class::Secret),
            module_path: Some("/usr/lib/m.so".into()),
            module_name: None,
            pin: Pin::File("/etc/pin".into()),
            context: b"a&b".to_vec(),
        };
        assert!(uri == expected);
        for (text, pin) in [
            ("object=a?pin-source=/p", Pin::File("/p".into())),
            ("object=a?pin-source=file:///p", Pin::File("/p".into())),
            ("object=a?pin-source=file://localhost/p", Pin::File("/p".into())),
            ("object=a?pin-value=12%3d4", Pin::Given(Zeroizing::new("12=4".into()))),
            ("object=a", Pin::Elsewhere),
        ] {
            assert!(Uri::parse(text).unwrap().pin == pin, "{text}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn modules_and_classes() {
        let uri = Uri::parse("object=a;type=private?module-name=softhsm2").unwrap();
        assert_eq!((uri.class, uri.module_name.as_deref()), (Some(Class::Private), Some("softhsm2")));
        let both = Uri::parse("id=%00?module-path=/usr/lib&module-name=m").unwrap();
        assert_eq!((both.id, both.module_path), (Some(vec![0]), Some("/usr/lib".into())));
        let texts = ["object=a?module-name=", "object=a?module-name=a%2fb", "object=a?module-name=a%5Cb"];
        for text in texts {
            let error = Uri::parse(text).map(drop).unwrap_err().to_string();
            assert!(error.contains("expected a name without a folder as module-name"), "{text}");
        }
        let error = Uri::parse("object=a?pin-value=1&pin-value=2").map(drop).unwrap_err().to_string();
        assert!(error.contains("expected each attribute once"), "{error}");
        let error = Uri::parse("object=a?pin-source=/p&pin-value=2").map(drop).unwrap_err().to_string();
        assert!(error.contains("expected either pin-source or pin-value"), "{error}");
    }

    #[test]
    fn refuses() {
        for text in [
            "",
            "token=a",
            "object",
            "object=a;",
            "object=a;object=b",
            "object=a;color=red",
            "object=a;type=cert",
            "object=a;slot-id=x",
            "object=%zz",
            "object=%a",
            "object=%00",
            "object=%ff",
            "object=a?",
            "object=a?pin-value",
            "object=a?pin-value=1&pin-source=/p",
            "object=a?pin-source=p",
            "object=a?pin-source=%7Ccat /p",
            "object=a?module-path=m.so",
            "object=a?module-name=/m",
            "object=a?context=",
            "object=a?token=b",
            "object=a?pin-source=file://elsewhere/p",
            "object=a?pin-source=file://localhost",
            "object=a?pin-source=file:p",
            "object=a&token=b",
            "object=a b",
            "object=a%20b; token=c",
            "object=a?module-name=m;pin-value=1",
            "object=a?module-name=m%26color=red",
            "object=a%3Bcolor=red",
            "object=user-PIN%3A1",
            "id=%00pin=1",
            "object=a?context=pin-value%3D1",
            "object=a?%70in-value=1",
        ] {
            let error = Uri::parse(text).map(drop).unwrap_err();
            assert!(matches!(error, Error::Misuse(Misuse::Reference(_))), "{text}");
        }
    }

    // claim: token-no-secrets
    #[test]
    fn pins_are_not_shown() {
        for (text, shown) in [
            ("pkcs11:object=a?pin-value=1234", "pkcs11:object=a?pin-value=***"),
            ("pkcs11:object=a?pin-value=1=2:3?4&context=b#p", "pkcs11:object=a?pin-value=***&context=b#p"),
            ("pkcs11:pin-vlaue=1234;object=a", "pkcs11:pin-vlaue=***;object=a"),
            ("pkcs11:object=a?pin-source=/p#pin", "pkcs11:object=a?pin-source=/p#pin"),
            ("pkcs11:object=ä?pin-value=ä", "pkcs11:object=ä?pin-value=***"),
            ("", ""),
            (
                "pkcs11:object=shipping;id=%00?context=a%26b=c",
                "pkcs11:object=shipping;id=%00?context=a%26b=c",
            ),
        ] {
            assert_eq!(without_pin(text), shown);
        }
        // Slips.
        for text in [
            "object=a&pin-value=SECRET#p",
            "object=a?module-name=m;pin-value=SECRET#p",
            "object=a?module-name=m;user-pin:SECRET#p",
            "object=a?PIN-value=SECRET#p",
            "object=a?%70in-value=SECRET#p",
            "object=a? pin-value=SECRET#p",
            "object=a?module-name=m&user-pin=SECRET#p",
            "object=a?module-name=m&amp;pin-value=SECRET#p",
            "object=a?module-name=m%26pin-value=SECRET#p",
            "object=a?module-name=m%2526pin-value%253DSECRET#p",
            "object=a?pin-source=SECRET#p",
            "object=a?pin-source=file:SECRET#p",
            "object=a?pin-value=1#SECRET#p",
            "object=a?pin-value=1&SECRET=2#p",
            "object=a?pin-value=1&SECRET#p",
            "object=a;pin-value=1;SECRET#p",
            "object=a;type=SECRET;slot-id=SECRET#p",
            "object=a?module-path=SECRET#p",
            "object=a?SECRET#p",
            "SECRET",
        ] {
            let shown = without_pin(&format!("pkcs11:{text}"));
            assert!(!shown.contains("SECRET") && shown.starts_with("pkcs11:"), "{text}: {shown}");
            assert!(shown.ends_with("#p") || text == "SECRET", "{text}: {shown}");
        }
    }
}
