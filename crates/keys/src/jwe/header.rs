//! The header of a token: what the sender claims, until a key has verified it.

use super::algorithm::{Accepted, Alg, Enc};
use super::key;
use crate::PublicKey;
use base::error::escaped;
use base::{Error, Result, memory};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Map, Value};

/// Rounds of PBKDF2 that a token may ask for, about 0.3 s of work.
pub(super) const MAX_ROUNDS: u32 = 1_000_000;

/// The members of a header that decide how a token is decrypted.
pub(super) struct Header {
    pub(super) alg: &'static Alg,
    pub(super) enc: &'static Enc,
    pub(super) kid: Option<String>,
    pub(super) members: Map<String, Value>,
}

impl Header {
    /// Reads the members of all parts of a header.
    ///
    /// # Errors
    /// Returns [`Error::HeaderParameter`] for an unknown `alg` or `enc`, for one that `accepted`
    /// does not have, and for `crit` and `zip`; [`Error::Format`] for values of other types;
    /// [`Error::LimitExceeded`] for too many rounds.
    pub(super) fn read(members: Map<String, Value>, accepted: Accepted<'_>) -> Result<Self> {
        let refused = |name, value: &Value, why| {
            let found = escaped(&value.to_string()).chars().take(80).collect();
            Err(Error::HeaderParameter { name, found, why })
        };
        for (name, why) in [
            ("crit", "extensions that must be understood are not supported"),
            ("zip", "compressed content is not supported: its length would tell about the plaintext"),
        ] {
            if let Some(value) = members.get(name) {
                return refused(name, value, why);
            }
        }
        let get = |name| members.get(name).unwrap_or(&Value::Null);
        const NOT_SUPPORTED: &str = "this algorithm is not supported";
        let name = |name| get(name).as_str().unwrap_or_default();
        let Some(alg) = Alg::named(name("alg")) else {
            return refused("alg", get("alg"), NOT_SUPPORTED);
        };
        let Some(enc) = Enc::named(name("enc")) else {
            return refused("enc", get("enc"), NOT_SUPPORTED);
        };
        if let Some(name) = ["alg", "enc"].into_iter().find(|part| !accepted.has(name(part))) {
            return refused(name, get(name), "the caller does not accept this algorithm");
        }
        let kid = match members.get("kid") {
            None => None,
            Some(Value::String(kid)) => Some(kid.clone()),
            Some(other) => return refused("kid", other, "expected a string"),
        };
        let header = Self { kid, ..Self::new(alg, enc, members) };
        header.rounds().map(|_| header)
    }

    /// The header of a new token.
    pub(super) fn new(alg: &'static Alg, enc: &'static Enc, members: Map<String, Value>) -> Self {
        Self { alg, enc, kid: None, members }
    }

    /// Returns a member in base64url.
    pub(super) fn bytes(&self, name: &str) -> Result<Vec<u8>> {
        let text = self.members.get(name).and_then(Value::as_str);
        text.map(decode).ok_or(Error::Format(
            "expected base64url text in the members of the header that the token's alg uses (iv, tag, p2s, apu, apv); found none, or another type",
        ))?
    }

    /// Returns a member in base64url; no bytes if there is none.
    pub(super) fn optional_bytes(&self, name: &str) -> Result<Vec<u8>> {
        if self.members.contains_key(name) { self.bytes(name) } else { Ok(Vec::new()) }
    }

    /// Returns the sender's ephemeral key.
    pub(super) fn epk(&self) -> Result<PublicKey> {
        let epk = self.members.get("epk").filter(|epk| epk.is_object());
        epk.and_then(|epk| key::ephemeral(&epk.to_string())).ok_or(Error::Format(
            "expected an epk in the header: the public JSON Web Key of a point on P-256, or of an X25519 key",
        ))
    }

    /// Returns the rounds of PBKDF2; 0 without a password.
    pub(super) fn rounds(&self) -> Result<u32> {
        if !self.alg.is_password() {
            return Ok(0);
        }
        let rounds = self.members.get("p2c").and_then(Value::as_u64);
        let rounds =
            rounds.ok_or(Error::Format("expected a whole number below 2^64 as p2c in the header"))?;
        u32::try_from(rounds).ok().filter(|rounds| *rounds <= MAX_ROUNDS).ok_or(Error::LimitExceeded(
            "the token asks for more than 1000000 rounds of PBKDF2 (p2c); ask its sender for fewer",
        ))
    }
}

/// Decodes base64url without padding, of one spelling only.
pub(super) fn decode(text: &str) -> Result<Vec<u8>> {
    let mut bytes = memory::zeroed(base64::decoded_len_estimate(text.len()))?;
    // The position would not help.
    let len = BASE64.decode_slice(text, &mut bytes).map_err(|_| {
        Error::Format("expected base64url without padding in the parts of a token, found other text")
    })?;
    bytes.truncate(len);
    Ok(bytes)
}
