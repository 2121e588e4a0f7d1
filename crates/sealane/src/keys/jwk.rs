//! Symmetric keys as JSON Web Keys: `{"kty":"oct","k":"…"}` (RFC 7517 section 4, RFC 7518 section 6.4).

use crate::{Error, Key};
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::Deserialize;
use zeroize::Zeroizing;

const EXPECTED: Error =
    Error::Format("not a key file: expected a JSON Web Key like {\"kty\":\"oct\",\"k\":\"...\"}");

/// Members that are not named here are ignored, as RFC 7517 section 4 demands. The secret is borrowed: no copy of it is
/// left behind, and base64url never needs the escapes that would want one.
#[derive(Deserialize)]
struct Jwk<'a> {
    kty: String,
    #[serde(default)]
    k: &'a str,
}

/// The key as one line of JSON.
pub fn to_jwk(key: &Key) -> Zeroizing<String> {
    // Base64 without tables, and text that is wiped: it is the secret.
    let k = Zeroizing::new(Base64UrlUnpadded::encode_string(key.as_bytes()));
    let mut text = Zeroizing::new(String::with_capacity(k.len() + 32));
    for part in ["{\"kty\":\"oct\",\"k\":\"", &k, "\"}\n"] {
        text.push_str(part);
    }
    text
}

/// The key of a JSON Web Key of type `oct`.
///
/// # Errors
/// [`Error::Format`].
pub fn from_jwk(text: &str) -> Result<Key, Error> {
    let jwk: Jwk<'_> = serde_json::from_str(text).map_err(|_| EXPECTED)?;
    if jwk.kty != "oct" {
        return Err(Error::Format("not a symmetric key: the JSON Web Key has another type than \"oct\""));
    }
    let bytes = Zeroizing::new(Base64UrlUnpadded::decode_vec(jwk.k).map_err(|_| EXPECTED)?);
    match bytes.is_empty() {
        true => Err(EXPECTED),
        false => Ok(Key::from_bytes(&bytes)),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// RFC 7517 appendix A.3, first key.
    #[test]
    fn rfc_7517_example() {
        let key = from_jwk(r#"{"kty":"oct","alg":"A128KW","k":"GawgguFyGrWKav7AX4VKUg"}"#).unwrap();
        assert_eq!(key.as_bytes(), hex::decode("19ac2082e1721ab58a6afec05f854a52").unwrap());
    }

    #[test]
    fn there_and_back() {
        for len in [16, 24, 32, 33] {
            let key = Key::generate(len).unwrap();
            assert_eq!(from_jwk(&to_jwk(&key)).unwrap().as_bytes(), key.as_bytes());
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let none = [r#"{"kty":"oct"}"#, r#"{"kty":"oct","k":""}"#];
        let escaped = r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VK\u0055g"}"#;
        for text in none.into_iter().chain([escaped, r#"{"kty":"oct","k":"AAAA","k":"AAAA"}"#]) {
            assert!(matches!(from_jwk(text), Err(Error::Format(_))), "{text}");
        }
        for text in ["", "{}", "[]", r#"{"kty":"RSA","n":"AQAB"}"#, r#"{"kty":"RSA","k":"AAAA"}"#] {
            assert!(matches!(from_jwk(text), Err(Error::Format(_))), "{text}");
        }
        // Padding, the other alphabet, a loose end.
        for k in ["AAAA=", "++++", "A", "AAAAB", "AA AA"] {
            assert!(
                matches!(from_jwk(&format!(r#"{{"kty":"oct","k":"{k}"}}"#)), Err(Error::Format(_))),
                "{k}"
            );
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let key = Key::from_bytes(&[0xab; 16]);
        assert_eq!(format!("{key:?}"), "Key(16 bytes)");
    }
}
