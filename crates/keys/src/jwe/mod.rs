//! JSON Web Encryption (RFC 7516): tokens that other software reads.
//!
//! | `alg` | key |
//! |---|---|
//! | `dir` | the content encryption key itself, of the length that `enc` needs |
//! | `A128KW`, `A192KW`, `A256KW`, `A128GCMKW`, `A192GCMKW`, `A256GCMKW` | symmetric, of this length |
//! | `ECDH-ES`, `ECDH-ES+A128KW`, `ECDH-ES+A192KW`, `ECDH-ES+A256KW` | P-256 or X25519 |
//! | `RSA-OAEP`, `RSA-OAEP-256`, `RSA-OAEP-384`, `RSA-OAEP-512` | RSA |
//! | `PBES2-HS256+A128KW`, `PBES2-HS384+A192KW`, `PBES2-HS512+A256KW` | a password |
//!
//! `enc` is `A128GCM`, `A192GCM`, `A256GCM`, `A128CBC-HS256`, `A192CBC-HS384` or `A256CBC-HS512`.
//!
//! A token names its algorithms, but the key decides: by its type and length, and by its `alg`,
//! `use` and `key_ops` if it has them. A caller can accept fewer. A password is one only if its
//! `alg` or the caller says so. `RSA1_5`, compression and critical extensions are refused.
//!
//! ```
//! use sealane::jwe::{self, Keys, Options};
//! use sealane::keys::{Kind, SecretKey};
//!
//! let key = SecretKey::generate(Kind::X25519)?;
//! let public = Keys::try_from(&key.public().unwrap())?;
//! let token = jwe::encrypt(b"hello", &[&public], "ECDH-ES+A256KW", "A256GCM", Options::default())?;
//! let keys = Keys::try_from(&key)?;
//! assert_eq!(*keys.decrypt(&token, None)?, *b"hello");
//! assert_eq!(*keys.decrypt(&token, Some(&["ECDH-ES+A256KW"]))?, *b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

mod algorithm;
mod content;
mod header;
mod key;
mod manage;
#[cfg(test)]
mod test;
mod token;

pub use key::Keys;

use crate::prelude::*;
use algorithm::{Accepted, Alg, Enc, How};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use header::Header;
use key::Direction;
use serde_json::{Map, Value, json};
use token::Token;

/// Attempts with a recipient and a key for a token without a `kid`.
const MAX_ATTEMPTS: usize = 64;

/// Parameters that the header gets from the algorithms or must not have.
const RESERVED: [&str; 10] = ["alg", "enc", "zip", "crit", "epk", "iv", "tag", "p2s", "p2c", "b64"];

/// The form of a token (RFC 7516, section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serialization {
    /// Five parts with dots between them, for URLs and HTTP headers.
    #[default]
    Compact,
    /// A JSON object for one recipient.
    Flattened,
    /// A JSON object for any number of recipients.
    General,
}

/// Options for a new token.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// More parameters of the protected header, such as `typ`, as a JSON object. A `kid` selects
    /// the key.
    pub headers: Option<&'a str>,
    /// The form of the token.
    pub serialization: Serialization,
}

const UNSUITABLE: Error = Error::Misuse(Misuse::UnsuitableKey(
    "the key cannot be used with this alg and enc: it has another type or length, or its own alg, use or key_ops differ",
));

/// Encrypts a token for each of `recipients`: with the key that the `kid` in the headers selects,
/// or the first key of each.
///
/// # Errors
/// Returns [`Misuse::UnknownName`] for an unknown `alg` or `enc`, [`Misuse::UnsuitableKey`]
/// for a key that does not fit them, [`Misuse::InvalidRecipients`] for several recipients of a form
/// or an `alg` with one, [`Misuse::TokenHeaders`] for headers that are not an object or contain a
/// parameter of the algorithms, [`Error::LimitExceeded`] for a token that [`Keys::decrypt`] would
/// refuse as too long or too much work, and [`Error::Io`] without random bytes.
pub fn encrypt(
    plaintext: &[u8],
    recipients: &[&Keys],
    alg: &str,
    enc: &str,
    options: Options<'_>,
) -> Result<String> {
    let alg = Alg::named(alg).ok_or_else(algorithm::unknown)?;
    let enc = Enc::named(enc).ok_or_else(algorithm::unknown)?;
    let Options { headers, serialization } = options;
    let is_general = serialization == Serialization::General;
    let is_shared = !matches!(alg.how, How::Direct | How::Agreement(None));
    if recipients.is_empty() || (recipients.len() > 1 && !(is_general && is_shared)) {
        return Err(Misuse::InvalidRecipients(
            "expected one key for this alg or this form of token; several need key wrapping and the general form",
        )
        .into());
    }
    token::check(recipients.len(), token::RECIPIENTS)?;
    let mut protected = headers.map_or_else(|| Some(Map::new()), checked).ok_or(Misuse::TokenHeaders)?;
    let kid = protected.get("kid").and_then(Value::as_str).map(str::to_owned);
    protected.insert("enc".into(), enc.name.into());
    let header = Header::new(alg, enc, protected);
    let named = Accepted::new(Some(std::slice::from_ref(&alg.name)))?;
    let (mut cek, mut parts, mut passwords) = (None, Vec::new(), 0);
    for keys in recipients {
        let key = keys.first(kid.as_deref())?;
        if !key.fits(alg, enc, Direction::Encrypt, named) {
            return Err(UNSUITABLE);
        }
        passwords += usize::from(alg.is_password() && key.kid.is_none());
        token::check(passwords, token::PASSWORDS)?;
        let wrapped = key.wrap(&header, cek.as_ref())?;
        let mut members = wrapped.members;
        members.insert("alg".into(), alg.name.into());
        if let (Some(own), None) = (&key.kid, &kid) {
            members.insert("kid".into(), own.as_str().into());
        }
        cek = Some(wrapped.cek);
        parts.push((members, BASE64.encode(wrapped.encrypted_key)));
    }
    let mut protected = header.members;
    if !is_general {
        protected.extend(parts.iter_mut().flat_map(|(members, _)| std::mem::take(members)));
    }
    let protected = BASE64.encode(Value::Object(protected).to_string());
    token::check(protected.len(), token::HEADER)?;
    let sealed = enc.encrypt(&cek.ok_or(UNSUITABLE)?, protected.as_bytes(), plaintext)?;
    let [iv, ciphertext, tag] = [&sealed.iv, &sealed.ciphertext, &sealed.tag].map(|part| BASE64.encode(part));
    if let (Serialization::Compact, [(_, encrypted_key)]) = (serialization, &parts[..]) {
        return Ok([&protected, encrypted_key, &iv, &ciphertext, &tag].map(String::as_str).join("."));
    }
    let recipient = |(members, encrypted_key): (Map<String, Value>, String)| {
        let own = [("header", Value::from(members)), ("encrypted_key", encrypted_key.into())];
        let used = own.into_iter().filter(|(_, value)| *value != json!({}) && *value != json!(""));
        used.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
    };
    let (recipients, len) = (parts.into_iter().map(recipient), ciphertext.len());
    let mut token: Map<String, Value> = match is_general {
        true => [("recipients".to_owned(), recipients.collect())].into_iter().collect(),
        false => recipients.flatten().collect(),
    };
    for (name, part) in [("protected", protected), ("iv", iv), ("ciphertext", ciphertext), ("tag", tag)] {
        token.insert(name.into(), part.into());
    }
    let text = Value::Object(token).to_string();
    token::check(text.len() - len, token::JSON).map(|()| text)
}

/// Parses the headers of a call; `None` for those that a call must not have.
fn checked(headers: &str) -> Option<Map<String, Value>> {
    let headers = crate::encoding::json::unique(headers)?;
    let text = |name| headers.get(name).map_or(Some(""), Value::as_str);
    let is_base64 = |name| text(name).is_some_and(|text| header::decode(text).is_ok());
    let fits = text("kid").is_some() && is_base64("apu") && is_base64("apv");
    (fits && !RESERVED.iter().any(|name| headers.contains_key(*name))).then_some(headers)
}

impl Keys {
    /// Decrypts a token of any serialization with the key that its `kid` names, or else with every
    /// key that fits. `algorithms` restricts its `alg`, its `enc`, or both.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] for whatever is wrong behind the header: the key, the
    /// encrypted key, the content, or the header itself. Before a key is used, returns
    /// [`Error::Format`] for text that is not a token, [`Error::HeaderParameter`] for an
    /// unsupported `alg` or `enc` or one that `algorithms` does not have, and for `crit` and `zip`;
    /// [`Error::LimitExceeded`] for too much work, such as rounds of PBKDF2; and
    /// [`Error::NoMatchingKey`] if no key fits. [`Misuse::UnknownName`] is a mistake in
    /// `algorithms`.
    pub fn decrypt(&self, token: &str, algorithms: Option<&[&str]>) -> Result<Zeroizing<Vec<u8>>> {
        let accepted = Accepted::new(algorithms)?;
        let Token { aad, recipients, sealed } = Token::parse(token, accepted)?;
        let (mut attempts, mut rounds, mut failure) = (0, 0, None);
        for recipient in recipients {
            let header = match recipient.header {
                Ok(header) => header,
                Err(why) => {
                    failure.get_or_insert(why);
                    continue;
                }
            };
            header.enc.check(&sealed)?;
            if aad.is_empty() && matches!(header.alg.how, How::Direct) {
                return Err(UNPROTECTED);
            }
            let fits = |key: &&key::Entry| key.fits(header.alg, header.enc, Direction::Decrypt, accepted);
            for key in self.candidates(header.kid.as_deref()).filter(fits) {
                attempts += 1;
                rounds += header.rounds()?;
                if attempts > MAX_ATTEMPTS || rounds > header::MAX_ROUNDS {
                    return Err(TOO_MANY);
                }
                let cek = key.unwrap(&header, &recipient.encrypted_key);
                match cek.and_then(|cek| header.enc.decrypt(&cek, aad.as_bytes(), &sealed)) {
                    Err(Error::Authentication) => failure = Some(Error::Authentication),
                    // A key on another curve, for example; another key may fit.
                    Err(why @ Error::Format(_)) => drop(failure.get_or_insert(why)),
                    other => return other,
                }
            }
        }
        Err(failure.unwrap_or(Error::NoMatchingKey))
    }
}

/// What A256GCMKW makes of a CEK would otherwise be such a token, with the CEK as its content.
const UNPROTECTED: Error =
    Error::Format("expected a protected header in a token with a shared key (dir), found none");
const TOO_MANY: Error = Error::LimitExceeded(
    "a token without a kid is tried with 64 keys, and its passwords with 1000000 rounds of PBKDF2; name its key by a kid",
);
