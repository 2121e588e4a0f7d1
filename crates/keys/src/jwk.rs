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
use base::{Error, Misuse};
use base64ct::{Base64UrlUnpadded, Encoding};
use messages::Key;
use serde::Deserialize;
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

const EXPECTED: Error =
    Error::Format("expected a JSON Web Key like {\"kty\":\"oct\",\"k\":\"...\"}, found other JSON");

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

impl PartialEq for Jwk {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Jwk {}

/// The members that we read. The secret is borrowed as written, to leave no copy behind; base64url
/// never needs escapes (they would require a copy).
struct Members<'a> {
    kty: String,
    k: &'a str,
    kid: Option<String>,
    alg: Option<String>,
    usage: Option<String>,
}

impl<'a> Members<'a> {
    fn read(text: &'a str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Raw<'a> {
            #[serde(borrow)]
            kty: &'a RawValue,
            k: Option<&'a RawValue>,
            kid: Option<&'a RawValue>,
            alg: Option<&'a RawValue>,
            #[serde(rename = "use")]
            usage: Option<&'a RawValue>,
        }
        let string = |value| json::string(value).map(|text| text.to_string()).ok_or(EXPECTED);
        let Raw { kty, k, kid, alg, usage } = json::object(text).ok_or(EXPECTED)?;
        Ok(Self {
            kty: string(kty)?,
            k: k.map_or(Some(""), json::written).ok_or(EXPECTED)?,
            kid: kid.map(string).transpose()?,
            alg: alg.map(string).transpose()?,
            usage: usage.map(string).transpose()?,
        })
    }

    fn into_jwk(self) -> Result<Jwk, Error> {
        if self.kty != "oct" {
            return Err(Error::Format("expected a JSON Web Key of type \"oct\", found another type"));
        }
        let bytes = json::base64::<Base64UrlUnpadded>(self.k).ok_or(EXPECTED)?;
        match bytes.is_empty() {
            true => Err(EXPECTED),
            false => {
                let Self { kid, alg, usage, .. } = self;
                Ok(Jwk { key: Key::from_bytes(&bytes), kid, alg, usage })
            }
        }
    }
}

impl Jwk {
    /// Parses a JSON Web Key of type `oct`.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for any other text.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Members::read(text)?.into_jwk()
    }

    /// Encodes the key as one line of JSON.
    pub fn to_json(&self) -> Zeroizing<String> {
        // Encoded without tables, into strings that are wiped: it is the secret.
        let k = Zeroizing::new(Base64UrlUnpadded::encode_string(self.key.as_bytes()));
        let members: Vec<_> = [("kid", &self.kid), ("alg", &self.alg), ("use", &self.usage)]
            .into_iter()
            .filter_map(|(name, value)| {
                Some(format!(",\"{name}\":{}", serde_json::Value::from(value.as_deref()?)))
            })
            .collect();
        let len = k.len() + members.iter().map(String::len).sum::<usize>();
        let mut text = Zeroizing::new(String::with_capacity(len + 32));
        let members = members.concat();
        for part in ["{\"kty\":\"oct\",\"k\":\"", &k, "\"", &members, "}\n"] {
            text.push_str(part);
        }
        text
    }
}

/// Parses a JSON Web Key, or a key of a JSON Web Key Set. `kid` selects the key of a set; without
/// it, the set must hold one symmetric key. Keys of other types are ignored, as RFC 7517, section 5
/// recommends.
///
/// # Errors
/// Returns [`Error::Format`] for other text, and [`Misuse::KeyId`] if no key or several keys match.
pub(super) fn select(text: &str, kid: Option<&str>) -> Result<Jwk, Error> {
    let keys = members(text)?;
    let found = || keys.iter().map(|key| key.kid.clone()).collect();
    let matches = |key: &Members<'_>| kid.is_none() || key.kid.as_deref() == kid;
    let at = match keys.iter().filter(|key| matches(key)).count() {
        1 => keys.iter().position(matches),
        _ => None,
    };
    let Some(at) = at else {
        return Err(Misuse::KeyId { wanted: kid.map(str::to_owned), found: found() }.into());
    };
    keys.into_iter().nth(at).ok_or(EXPECTED)?.into_jwk()
}

/// Returns the symmetric keys of a JSON Web Key Set, or of a single JSON Web Key.
///
/// # Errors
/// Returns [`Error::Format`] for other text.
pub(super) fn symmetric_keys(text: &str) -> Result<Vec<Jwk>, Error> {
    members(text)?.into_iter().map(Members::into_jwk).collect()
}

fn members(text: &str) -> Result<Vec<Members<'_>>, Error> {
    #[derive(Deserialize)]
    struct Set<'a> {
        #[serde(borrow)]
        keys: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct IsSet {
        #[serde(rename = "keys")]
        _keys: IgnoredAny,
    }
    if json::object::<IsSet>(text).is_none() {
        return Ok(vec![Members::read(text)?]);
    }
    let set: Set<'_> = json::object(text).ok_or(EXPECTED)?;
    let keys = json::array(set.keys).ok_or(EXPECTED)?;
    let keys: Vec<_> = keys.into_iter().map(|key| Members::read(key.get())).collect::<Result<_, _>>()?;
    Ok(keys.into_iter().filter(|key| key.kty == "oct").collect())
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
        let escaped = r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VK\u0055g"}"#;
        for text in none.into_iter().chain([escaped, r#"{"kty":"oct","k":"AAAA","k":"AAAA"}"#]) {
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
