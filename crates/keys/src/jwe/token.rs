//! The serializations of a token (RFC 7516, section 7).
//!
//! ```text
//! compact   = protected . encrypted_key . iv . ciphertext . tag        each in base64url
//! flattened = {"protected", "unprotected", "header", "encrypted_key", "aad", "iv", "ciphertext", "tag"}
//! general   = the same, with "recipients": [{"header", "encrypted_key"}, …] instead
//! ```

use super::algorithm::Accepted;
use super::content::Sealed;
use super::header::{Header, decode};
use crate::encoding::json::{self, RawValue};
use base::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Characters of a protected header.
pub(super) const HEADER: (usize, &str) = (64 << 10, "the header of a token is limited to 64 KiB");
/// Characters of a token in JSON, apart from its ciphertext.
pub(super) const JSON: (usize, &str) = (1 << 20, "a token is limited to 1 MiB beside its ciphertext");
/// Without a kid, a password is tried with each recipient, up to `MAX_ROUNDS`.
pub(super) const PASSWORDS: (usize, &str) = (3, "a token is limited to 3 passwords without a kid");
pub(super) const RECIPIENTS: (usize, &str) = (64, "a token is limited to 64 recipients");

/// The members of a recipient.
const PER_RECIPIENT: [&str; 2] = ["header", "encrypted_key"];

/// A decoded token. Nothing in it is verified yet.
pub(super) struct Token {
    /// The protected header as written, and the additional data: what the content authenticates.
    pub(super) aad: String,
    pub(super) recipients: Vec<Recipient>,
    pub(super) sealed: Sealed,
}

/// The member of a token in JSON that can be long.
#[derive(Deserialize)]
struct Outer<'a> {
    #[serde(borrow)]
    ciphertext: Option<&'a RawValue>,
}

pub(super) struct Recipient {
    /// An error if it asks for something unsupported; then other recipients may do.
    pub(super) header: Result<Header>,
    pub(super) encrypted_key: Vec<u8>,
}

const EXPECTED: Error = Error::Format(
    "expected a JWE: five parts in base64url with dots between them, or a JSON object with protected, iv, ciphertext \
     and tag; found other text, or a member that is repeated or of another type",
);
const HEADER_EXPECTED: Error = Error::Format(
    "expected JSON as the header of a JWE: an object in which no name is repeated, at most 127 levels deep; found other \
     bytes",
);
const REPEATED: Error =
    Error::Format("expected each parameter in one part of the header of a JWE, found one in two parts");

impl Token {
    pub(super) fn parse(text: &str, accepted: Accepted<'_>) -> Result<Self> {
        if text.trim_start().starts_with('{') {
            // First the limit: parsed values take many times the memory of their text, and each
            // recipient gets a copy of the shared parameters.
            let Outer { ciphertext } = json::object(text).ok_or(EXPECTED)?;
            let ciphertext = ciphertext.map(RawValue::get).filter(|value| value.starts_with('"'));
            check(text.len() - ciphertext.map_or(0, str::len), JSON)?;
            return Self::parse_json(json::unique(text).ok_or(EXPECTED)?, accepted);
        }
        let parts: Vec<_> = text.splitn(6, '.').collect();
        let &[protected, encrypted_key, iv, ciphertext, tag] = &parts[..] else { return Err(EXPECTED) };
        let header = Header::read(parse_header(protected)?, accepted);
        Ok(Self {
            aad: protected.to_owned(),
            recipients: vec![Recipient { header, encrypted_key: decode(encrypted_key)? }],
            sealed: Sealed { iv: decode(iv)?, ciphertext: decode(ciphertext)?, tag: decode(tag)? },
        })
    }

    fn parse_json(mut members: Map<String, Value>, accepted: Accepted<'_>) -> Result<Self> {
        let recipients = match members.remove("recipients") {
            // Flattened: the members of its only recipient are beside the others.
            None => vec![PER_RECIPIENT.iter().filter_map(|name| members.remove_entry(*name)).collect()],
            Some(_) if PER_RECIPIENT.iter().any(|one| members.contains_key(*one)) => return Err(EXPECTED),
            Some(Value::Array(all)) if !all.is_empty() => {
                check(all.len(), RECIPIENTS)?;
                all.into_iter().map(object).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(EXPECTED),
        };
        let protected = text(&mut members, "protected")?;
        let mut shared = if protected.is_empty() { Map::new() } else { parse_header(&protected)? };
        join(&mut shared, &mut members, "unprotected")?;
        let mut recipient = |mut own: Map<String, Value>| {
            let mut header = shared.clone();
            join(&mut header, &mut own, "header")?;
            let encrypted_key = decode(&text(&mut own, "encrypted_key")?)?;
            Ok(Recipient { header: Header::read(header, accepted), encrypted_key })
        };
        let recipients = recipients.into_iter().map(&mut recipient).collect::<Result<_>>()?;
        let mut aad = protected;
        if members.contains_key("aad") {
            let data = text(&mut members, "aad")?;
            decode(&data)?;
            aad = format!("{aad}.{data}");
        }
        let mut part = |name| decode(&text(&mut members, name)?);
        let sealed = Sealed { iv: part("iv")?, ciphertext: part("ciphertext")?, tag: part("tag")? };
        Ok(Self { aad, recipients, sealed })
    }
}

/// Checks a limit of tokens; new ones have the same.
pub(super) fn check(found: usize, (most, why): (usize, &'static str)) -> Result<()> {
    if found <= most { Ok(()) } else { Err(Error::LimitExceeded(why)) }
}

/// Decodes a protected header.
fn parse_header(protected: &str) -> Result<Map<String, Value>> {
    check(protected.len(), HEADER)?;
    let header = decode(protected)?;
    // Bytes that are not text are no JSON either.
    str::from_utf8(&header).ok().and_then(json::unique).ok_or(HEADER_EXPECTED)
}

/// Takes a text; an empty one if there is none.
fn text(members: &mut Map<String, Value>, name: &str) -> Result<String> {
    match members.remove(name) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(EXPECTED),
    }
}

fn object(value: Value) -> Result<Map<String, Value>> {
    if let Value::Object(members) = value { Ok(members) } else { Err(EXPECTED) }
}

/// Moves the members of a part of the header to the others.
fn join(header: &mut Map<String, Value>, from: &mut Map<String, Value>, part: &str) -> Result<()> {
    for (name, value) in from.remove(part).map(object).transpose()?.into_iter().flatten() {
        if header.insert(name, value).is_some() {
            return Err(REPEATED);
        }
    }
    Ok(())
}
