//! Symmetric keys as JSON Web Keys (RFC 7517, section 4; RFC 7518, section 6.4), and sets of them
//! (RFC 7517, section 5).
//!
//! ```json
//! {"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg","kid":"2026-11","alg":"A128GCM","use":"enc"}
//! ```
//!
//! Loading and saving a key keeps the members `kid`, `alg` and `use`. Other members are ignored, as
//! RFC 7517 requires, and not saved.

use crate::encoding::json::{self, RawValue};
use crate::prelude::*;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::Deserialize;

const EXPECTED: Error = Error::Format(
    "expected a JSON Web Key like {\"kty\":\"oct\",\"k\":\"...\"}, found other JSON, or a repeated member",
);
const DAMAGED: Error = Error::Format(
    "expected the member k of a JSON Web Key: base64url without padding; and strings as kid, alg and use, if any",
);

/// A symmetric key with the members of a JSON Web Key. Two are equal if their key bytes are
/// (compared in constant time), whatever their other members.
#[derive(Clone, Debug)]
pub struct Jwk {
    /// The bytes of the key; secret.
    pub key: Key,
    /// The key identifier (`kid`), for applications to tell keys apart.
    pub kid: Option<String>,
    /// The algorithm (`alg`), such as `"A256GCM"`. We do not interpret it.
    pub alg: Option<String>,
    /// The use (`use`), such as `"enc"`. We do not interpret it.
    pub usage: Option<String>,
}

impl From<Key> for Jwk {
    fn from(key: Key) -> Self {
        Self { key, kid: None, alg: None, usage: None }
    }
}

crate::asymmetric::equal_by!(Jwk: key);

/// The members that we read, as written: no error quotes them, and `k` leaves no copy behind.
#[derive(Deserialize)]
pub(crate) struct Members<'a> {
    #[serde(borrow)]
    kty: Option<&'a RawValue>,
    k: Option<&'a RawValue>,
    kid: Option<&'a RawValue>,
    alg: Option<&'a RawValue>,
    #[serde(rename = "use")]
    usage: Option<&'a RawValue>,
    pub(crate) key_ops: Option<&'a RawValue>,
    /// The keys of a set.
    pub(crate) keys: Option<&'a RawValue>,
    /// Numbers and points of asymmetric keys.
    pub(crate) crv: Option<&'a RawValue>,
    pub(crate) x: Option<&'a RawValue>,
    pub(crate) y: Option<&'a RawValue>,
    pub(crate) n: Option<&'a RawValue>,
    pub(crate) e: Option<&'a RawValue>,
    pub(crate) d: Option<&'a RawValue>,
    pub(crate) p: Option<&'a RawValue>,
    pub(crate) q: Option<&'a RawValue>,
    pub(crate) dp: Option<&'a RawValue>,
    pub(crate) dq: Option<&'a RawValue>,
    pub(crate) qi: Option<&'a RawValue>,
    /// More than two primes.
    pub(crate) oth: Option<&'a RawValue>,
}

/// The members `kid`, `alg` and `use`.
pub(crate) type Names = [Option<String>; 3];

impl<'a> Members<'a> {
    /// # Errors
    /// Returns [`Error::Format`] for text that is not an object, or has a member twice.
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        json::object(text).ok_or_else(|| json::refused(text, EXPECTED))
    }

    pub(crate) fn is_type(&self, name: &str) -> bool {
        self.kty.and_then(json::string).is_some_and(|kty| *kty == name)
    }

    pub(crate) fn has_type(&self) -> bool {
        self.kty.and_then(json::string).is_some()
    }

    /// Returns the keys of this set, of all types; or this single key.
    pub(crate) fn all(self) -> Result<Vec<Self>> {
        let Some(keys) = self.keys else { return Ok(vec![self]) };
        // An entry with a repeated member is refused, not ignored: it has two readings.
        json::array(keys).ok_or(EXPECTED)?.into_iter().map(|key| Self::parse(key.get())).collect()
    }

    fn kid(&self) -> Option<String> {
        self.kid.and_then(json::string).map(|kid| kid.to_string())
    }

    /// Returns `kid`, `alg` and `use`.
    pub(crate) fn names(&self) -> Result<Names> {
        let text = |json: Option<&RawValue>| {
            json.map(|json| json::string(json).map(|text| text.to_string()).ok_or(DAMAGED)).transpose()
        };
        Ok([text(self.kid)?, text(self.alg)?, text(self.usage)?])
    }

    pub(crate) fn jwk(&self) -> Result<Jwk> {
        if !self.has_type() {
            return Err(EXPECTED);
        }
        if !self.is_type("oct") {
            return Err(Error::Format("expected a JSON Web Key of type \"oct\", found another type"));
        }
        let bytes = self.k.and_then(bytes).filter(|bytes| !bytes.is_empty()).ok_or(DAMAGED)?;
        let [kid, alg, usage] = self.names()?;
        Ok(Jwk { key: Key::from_bytes(&bytes), kid, alg, usage })
    }
}

/// Decodes a string of base64url.
pub(crate) fn bytes(json: &RawValue) -> Option<Zeroizing<Vec<u8>>> {
    json::base64::<Base64UrlUnpadded>(&json::string(json)?)
}

impl Jwk {
    /// Parses a JSON Web Key of type `oct`.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for any other text.
    pub fn from_json(text: &str) -> Result<Self> {
        Members::parse(text)?.jwk()
    }

    /// Encodes the key as one line of JSON.
    pub fn to_json(&self) -> Zeroizing<String> {
        // Encoded without tables, into strings that are wiped: it is the secret.
        let k = Zeroizing::new(Base64UrlUnpadded::encode_string(self.key.as_bytes()));
        let members: String = [("kid", &self.kid), ("alg", &self.alg), ("use", &self.usage)]
            .into_iter()
            .filter_map(|(name, value)| {
                Some(format!(",\"{name}\":{}", serde_json::Value::from(value.as_deref()?)))
            })
            .collect();
        Zeroizing::new(["{\"kty\":\"oct\",\"k\":\"", &k, "\"", &members, "}\n"].concat())
    }
}

/// Parses a JSON Web Key, or a key of a JSON Web Key Set. `kid` selects the key of a set; without
/// it, the set must hold one symmetric key. RFC 7517, section 5 recommends to ignore keys of other
/// types and those that lack a member or have a value out of range.
///
/// # Errors
/// Returns [`Error::Format`] for other text, and for a damaged key if it is selected or the only
/// one; [`Misuse::KeyId`] if no key or several keys match.
pub(super) fn select(text: &str, kid: Option<&str>) -> Result<Jwk> {
    let mut keys: Vec<_> = members(text)?.iter().map(|key| (key.kid(), key.jwk())).collect();
    keys.retain(|(found, _)| kid.is_none() || found.as_deref() == kid);
    if keys.iter().any(|(_, key)| key.is_ok()) {
        keys.retain(|(_, key)| key.is_ok());
    }
    match keys.pop() {
        Some((_, key)) if keys.is_empty() => key,
        _ => {
            let found = members(text)?.iter().map(Members::kid).collect();
            Err(Misuse::KeyId { wanted: kid.map(str::to_owned), found }.into())
        }
    }
}

/// Returns the symmetric keys of a JSON Web Key Set, or of a single JSON Web Key.
///
/// # Errors
/// Returns [`Error::Format`] for other text, and if all are damaged.
pub(super) fn symmetric_keys(text: &str) -> Result<Vec<Jwk>> {
    readable(&members(text)?, Members::jwk)
}

/// Returns the keys that can be read, or if none can, the reason.
pub(crate) fn readable<'a, T>(
    keys: &[Members<'a>],
    read: impl Fn(&Members<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let (good, damaged): (Vec<_>, Vec<_>) = keys.iter().map(read).partition(Result::is_ok);
    if good.is_empty() { damaged } else { good }.into_iter().collect()
}

/// Returns a single key, or the keys of a set with the type `oct`.
fn members(text: &str) -> Result<Vec<Members<'_>>> {
    let whole = Members::parse(text)?;
    let is_set = whole.keys.is_some();
    let mut keys = whole.all()?;
    keys.retain(|key| !is_set || key.is_type("oct"));
    Ok(keys)
}

#[cfg(test)]
mod test {
    use super::*;

    /// RFC 7517, appendix A.3, first key.
    #[test]
    fn rfc_7517_example() {
        let key = Jwk::from_json(r#"{"kty":"oct","alg":"A128KW","k":"GawgguFyGrWKav7AX4VKUg"}"#).unwrap();
        assert_eq!(key.key.as_bytes(), hex::decode("19ac2082e1721ab58a6afec05f854a52").unwrap());
        assert_eq!((key.kid, key.alg.as_deref(), key.usage), (None, Some("A128KW"), None));
    }

    /// RFC 8259, section 7: an escape means its character, in names too.
    #[test]
    fn escapes_mean_their_characters() {
        let text = r#"{"kty":"\u006fct","\u006b":"GawgguFyGrWKav7AX4VK\u0055g","kid":"\ud83d\udd11"}"#;
        let key = Jwk::from_json(text).unwrap();
        assert_eq!(key.key.as_bytes(), hex::decode("19ac2082e1721ab58a6afec05f854a52").unwrap());
        assert_eq!(key.kid.as_deref(), Some("🔑"));
    }

    /// RFC 7517, section 5.
    #[test]
    fn sets_ignore_entries_that_we_do_not_understand() {
        let good = r#"{"kty":"oct","k":"AAAA","kid":"good"}"#;
        for other in [
            r#"{"kty":"AKP","pub":"AAAA","use":["sig"],"kid":7}"#,
            r#"{"kid":"no type"}"#,
            r#"{"kty":7}"#,
            r#"{"kty":"oct","kid":"no k"}"#,
            r#"{"kty":"oct","kid":"damaged","k":"A"}"#,
            r#"{"kty":"oct","kid":7,"k":"AAAA"}"#,
        ] {
            let set = format!(r#"{{"keys":[{other},{good}]}}"#);
            assert_eq!(select(&set, None).unwrap().kid.as_deref(), Some("good"), "{other}");
            assert_eq!(symmetric_keys(&set).unwrap().len(), 1, "{other}");
        }
        // A damaged key is named when it is the one that is wanted.
        let set = format!(r#"{{"keys":[{{"kty":"oct","kid":"damaged","k":"A"}},{good}]}}"#);
        assert!(
            matches!(select(&set, Some("damaged")), Err(Error::Format(why)) if why.contains("base64url"))
        );
        assert!(matches!(select(r#"{"keys":[{"kty":"oct"}]}"#, None), Err(Error::Format(_))));
        for entry in ["7", "null", "[]", r#"{"kty":"oct","k":"AAAA","k":"AAAB"}"#] {
            let set = format!(r#"{{"keys":[{entry},{good}]}}"#);
            assert!(matches!(select(&set, None), Err(Error::Format(_))), "{entry}");
        }
    }

    #[test]
    fn round_trip() {
        for len in [16, 24, 32, 33] {
            let key = Jwk::from(Key::generate(len).unwrap());
            assert_eq!(Jwk::from_json(&key.to_json()).unwrap().key.as_bytes(), key.key.as_bytes());
            let text = |text: &str| Some(text.to_owned());
            let named = Jwk {
                kid: text("a \"b\"\\\n\u{1}é"),
                alg: text("A256GCM"),
                usage: text("enc"),
                ..key.clone()
            };
            let again = Jwk::from_json(&named.to_json()).unwrap();
            assert_eq!((&again.kid, &again.alg, &again.usage), (&named.kid, &named.alg, &named.usage));
            assert_eq!((&again, &again), (&named, &key));
            assert_ne!(again, Jwk::from(Key::generate(len).unwrap()));
        }
    }

    #[test]
    fn rejects_malformed_keys() {
        let none = [r#"{"kty":"oct"}"#, r#"{"kty":"oct","k":""}"#];
        let twice =
            [r#"{"kty":"oct","k":"AAAA","k":"AAAA"}"#, r#"{"keys":[],"keys":[],"kty":"oct","k":"AAAA"}"#];
        for text in none.into_iter().chain(twice) {
            assert!(matches!(Jwk::from_json(text), Err(Error::Format(_))), "{text}");
        }
        for text in ["", "{}", "[]", r#"{"kty":"RSA","n":"AQAB"}"#, r#"{"kty":"RSA","k":"AAAA"}"#] {
            assert!(matches!(Jwk::from_json(text), Err(Error::Format(_))), "{text}");
        }
        // Padding, the alphabet of standard base64, and loose bits.
        for k in ["AAAA=", "++++", "A", "AAAAB", "AA AA"] {
            assert!(
                matches!(Jwk::from_json(&format!(r#"{{"kty":"oct","k":"{k}"}}"#)), Err(Error::Format(_))),
                "{k}"
            );
        }
    }

    /// Text that is no JSON (RFC 8259) has another error than JSON that is no key.
    #[test]
    fn text_that_is_no_json() {
        let key = r#"{"kty":"oct","k":"AAAA"}"#;
        for (text, word) in [
            (&key[..key.len() - 1], "damaged"),
            (&key.replace('}', ",}"), "damaged"),
            (&key.replace('"', "'"), "damaged"),
            (&format!("{key} // mine"), "damaged"),
            (&format!("{key}{key}"), "damaged"),
            (&key.replace("oct", "o\tct"), "damaged"),
            (&key.replace('k', "\\x6b"), "damaged"),
            ("{}", "other JSON"),
            (&key.replace('}', ",\"k\":\"AAAA\"}"), "repeated"),
        ] {
            let why = Jwk::from_json(text).unwrap_err().to_string();
            assert!(why.contains(word), "{text}: {why}");
        }
    }

    #[test]
    fn sets() {
        let key = |kid: &str, k: &str| format!(r#"{{"kty":"oct","kid":"{kid}","k":"{k}"}}"#);
        let (a, b, rsa) = (key("a", "AAAA"), key("b", "AAAB"), r#"{"kty":"RSA","n":"AQAB"}"#);
        let set = |keys: &[&str]| format!(r#"{{"keys":[{}]}}"#, keys.join(","));
        assert_eq!(select(&set(&[&a]), None).unwrap().kid.as_deref(), Some("a"));
        assert_eq!(select(&set(&[rsa, &b]), None).unwrap().kid.as_deref(), Some("b"));
        let both = set(&[&a, &b]);
        assert_eq!(select(&both, Some("b")).unwrap().key.as_bytes(), [0, 0, 1]);
        assert_eq!(select(&a, Some("a")).unwrap().key.as_bytes(), [0; 3]);
        let refused = |text: &str, kid| select(text, kid).unwrap_err().to_string();
        assert_eq!(refused(&both, None), "the JWK Set holds 2 keys; select one by its kid: \"a\", \"b\"");
        assert_eq!(refused(&both, Some("c")), "no key has the kid \"c\"; the kids are: \"a\", \"b\"");
        assert_eq!(refused(&a, Some("c")), "no key has the kid \"c\"; the kids are: \"a\"");
        assert_eq!(refused(&set(&[rsa]), None), "the JWK Set holds no symmetric key");
        let many = vec![key(&"x".repeat(1000), "AAAA"); 1000];
        let many = refused(&set(&many.iter().map(String::as_str).collect::<Vec<_>>()), Some("c"));
        assert!(many.len() < 1000 && many.ends_with("xxx\"..., and 992 more"), "{many}");
        assert!(refused(&set(&[&a, &a]), Some("a")).contains("2 keys have the kid \"a\""));
        assert!(matches!(select(r#"{"keys":7}"#, None), Err(Error::Format(_))));
    }

    #[test]
    fn debug_shows_no_key() {
        let key = Key::from_bytes(&[0xab; 16]);
        assert_eq!(format!("{key:?}"), "Key(16 bytes)");
        assert!(format!("{:?}", Jwk::from(key)).contains("Key(16 bytes)"));
    }
}
