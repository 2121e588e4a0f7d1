//! The keys of a vault, and its configuration in format 8.
//!
//! ```text
//! masterkey.cryptomator   JSON: the two keys, each wrapped (RFC 3394) with
//!                         KEK = scrypt(passphrase, scryptSalt, scryptCostParam, scryptBlockSize, 1)
//! vault.cryptomator       JSON Web Signature (RFC 7515) with encryption key || MAC key: format,
//!                         ciphers and the longest name. Format 7 does not have it.
//! ```

use crate::contents::read_whole;
use crate::passphrase::scrypt;
use crate::prelude::*;
use aws_lc_rs::hmac;
use aws_lc_rs::key_wrap::{AES_256, AesKek, KeyWrap};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use unicode_normalization::UnicodeNormalization;

pub(crate) const CONFIG: &str = "vault.cryptomator";
pub(crate) const MASTER_KEY: &str = "masterkey.cryptomator";
/// Maximum length of both files in bytes; the tool writes less than 1 KiB.
const MAX_LEN: usize = 1 << 16;
/// The longest stored name in format 7.
const THRESHOLD: usize = 220;

/// The ciphers of file contents.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) enum Combo {
    #[serde(rename = "SIV_GCM")]
    Gcm,
    #[serde(rename = "SIV_CTRMAC")]
    CtrMac,
}

/// The keys of a vault: the first half encrypts, the second authenticates.
pub(super) struct Keys(Zeroizing<[u8; 64]>);

/// What a vault is, authenticated with its keys.
pub(super) struct Config {
    pub(super) combo: Combo,
    /// Length in bytes of the longest stored name.
    pub(super) threshold: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MasterKey {
    scrypt_salt: String,
    scrypt_cost_param: u64,
    scrypt_block_size: u64,
    primary_master_key: String,
    hmac_master_key: String,
    version_mac: String,
    version: u32,
}

#[derive(Deserialize)]
struct Header {
    alg: Algorithm,
    kid: String,
}

#[derive(Deserialize)]
enum Algorithm {
    HS256,
    HS384,
    HS512,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    format: u32,
    shortening_threshold: usize,
    cipher_combo: Combo,
}

impl Keys {
    pub(super) fn encryption(&self) -> &[u8] {
        &self.0[..32]
    }

    pub(super) fn mac(&self) -> &[u8] {
        &self.0[32..]
    }

    /// Returns the key of AES-SIV: the half that authenticates comes first.
    pub(super) fn siv(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([self.mac(), self.encryption()].concat())
    }
}

/// Reads both files with a passphrase.
///
/// # Errors
/// Returns [`Error::WrongPassphrase`], also for damaged keys, and [`Error::InVault`] for a file
/// that cannot be used.
pub(super) fn unlock(storage: &dyn Storage, passphrase: &[u8]) -> Result<(Keys, Config)> {
    let about = |error| in_vault(CONFIG.as_bytes(), error);
    if !storage.list(b"")?.iter().any(|entry| entry.name == CONFIG.as_bytes()) {
        let file = MasterKey::read(storage, MASTER_KEY)?;
        let keys = file.unlock(passphrase).map_err(|error| in_key_file(MASTER_KEY, error))?;
        file.check_version(&keys).map_err(|error| in_vault(MASTER_KEY.as_bytes(), error))?;
        return Ok((keys, Config { combo: Combo::CtrMac, threshold: THRESHOLD }));
    }
    let token = read_whole(storage, CONFIG.as_bytes(), MAX_LEN)?;
    let token = Token::parse(&token).map_err(about)?;
    let name = token.key_file().map_err(about)?;
    let file = MasterKey::read(storage, name)?;
    let keys = file.unlock(passphrase).map_err(|error| in_key_file(name, error))?;
    let config = token.verified(&keys).map_err(about)?;
    Ok((keys, config))
}

/// A wrong passphrase is not an error of the file.
fn in_key_file(name: &str, error: Error) -> Error {
    match error {
        Error::WrongPassphrase | Error::Cancelled => error,
        error => in_vault(name.as_bytes(), error),
    }
}

impl MasterKey {
    fn read(storage: &dyn Storage, name: &str) -> Result<Self> {
        let json = read_whole(storage, name.as_bytes(), MAX_LEN)?;
        parse(&json, "expected the JSON of a master key file of Cryptomator, with all its fields")
            .map_err(|error| in_vault(name.as_bytes(), error))
    }

    /// Unwraps the keys. Cryptomator normalizes passphrases (NFC), but the library of format 8 does
    /// not, so vaults of other programs may have one as it was typed. That costs a second scrypt
    /// only if the first key is wrong and the passphrase is not in NFC.
    fn unlock(&self, passphrase: &[u8]) -> Result<Keys> {
        let text = std::str::from_utf8(passphrase).unwrap_or_default();
        let normalized = Zeroizing::new(text.nfc().collect::<String>());
        let as_given = (normalized.as_bytes() != passphrase).then_some(passphrase);
        let normalized = Some(normalized.as_bytes()).filter(|_| !text.is_empty() || passphrase.is_empty());
        for passphrase in normalized.into_iter().chain(as_given) {
            match self.unwrap(passphrase) {
                Err(Error::WrongPassphrase) => {}
                result => return result,
            }
        }
        Err(Error::WrongPassphrase)
    }

    fn unwrap(&self, passphrase: &[u8]) -> Result<Keys> {
        let salt = decoded(&self.scrypt_salt)?;
        let wrapped = [decoded(&self.primary_master_key)?, decoded(&self.hmac_master_key)?];
        if wrapped.iter().any(|key| key.len() != 32 + 8) {
            return Err(Error::Header("expected two keys of 32 bytes, encrypted; one was cut or changed"));
        }
        let kek = scrypt(passphrase, &salt, (self.scrypt_cost_param, self.scrypt_block_size, 1))?;
        let mut keys = Keys(Zeroizing::new([0; 64]));
        for (wrapped, key) in wrapped.iter().zip(keys.0.chunks_exact_mut(32)) {
            // The dropped errors say nothing.
            let kek = AesKek::new(&AES_256, &kek).map_err(|_| Error::WrongPassphrase)?;
            let unwrapped = kek.unwrap(wrapped, key).map(|key| key.len());
            if !matches!(unwrapped, Ok(32)) {
                return Err(Error::WrongPassphrase);
            }
        }
        Ok(keys)
    }

    /// Checks that the file is of format 7. In format 8 the configuration says what the vault is,
    /// and without this check a vault without it would be read as one of format 7.
    fn check_version(&self, keys: &Keys) -> Result<()> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, keys.mac());
        // The dropped error says nothing.
        hmac::verify(&key, &self.version.to_be_bytes(), &decoded(&self.version_mac)?)
            .map_err(|_| Error::Header("the version is not authentic: it was changed"))?;
        match self.version {
            7 => Ok(()),
            999 => Err(Error::Header("the vault has format 8, and its file vault.cryptomator is missing")),
            _ => Err(UNSUPPORTED),
        }
    }
}

const UNSUPPORTED: Error = Error::UnsupportedVersion("this version reads formats 7 and 8 of Cryptomator");

/// The configuration, not verified.
struct Token<'a> {
    header: Header,
    payload: Vec<u8>,
    /// What the signature covers.
    signed: &'a [u8],
    signature: Vec<u8>,
}

impl<'a> Token<'a> {
    fn parse(token: &'a [u8]) -> Result<Self> {
        const EXPECTED: &str = "expected a signed JSON Web Token with HS256, HS384 or HS512";
        let token = token.trim_ascii_end();
        let mut parts = token.split(|byte| *byte == b'.');
        let mut part = || parts.next().and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
        let (Some(header), Some(payload), Some(signature), None) = (part(), part(), part(), part()) else {
            return Err(Error::Header(EXPECTED));
        };
        let end = token.iter().rposition(|byte| *byte == b'.').ok_or(Error::Header(EXPECTED))?;
        let header = parse(&header, EXPECTED)?;
        Ok(Self { header, payload, signed: &token[..end], signature })
    }

    /// Returns the name of the file with the keys. Nothing authenticates it, so it is one in the
    /// vault.
    fn key_file(&self) -> Result<&str> {
        let kid = &self.header.kid;
        if kid.starts_with("hub+") {
            return Err(Error::Header("the key is kept by Cryptomator Hub, which is not asked for it"));
        }
        let name = kid.strip_prefix("masterkeyfile:").filter(|name| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            name.bytes().all(plain) && !matches!(*name, "" | "." | "..")
        });
        name.ok_or(Error::Header("expected masterkeyfile: and the name of a file in the vault as kid"))
    }

    fn verified(&self, keys: &Keys) -> Result<Config> {
        let algorithm = match self.header.alg {
            Algorithm::HS256 => hmac::HMAC_SHA256,
            Algorithm::HS384 => hmac::HMAC_SHA384,
            Algorithm::HS512 => hmac::HMAC_SHA512,
        };
        let key = hmac::Key::new(algorithm, &*keys.0);
        // The dropped error says nothing.
        hmac::verify(&key, self.signed, &self.signature).map_err(|_| Error::Authentication)?;
        let payload: Payload =
            parse(&self.payload, "expected format, cipherCombo and shorteningThreshold of a vault")?;
        match payload.format {
            8 => Ok(Config { combo: payload.cipher_combo, threshold: payload.shortening_threshold }),
            _ => Err(UNSUPPORTED),
        }
    }
}

fn parse<T: DeserializeOwned>(json: &[u8], expected: &'static str) -> Result<T> {
    // The dropped error would quote the file.
    serde_json::from_slice(json).map_err(|_| Error::Header(expected))
}

fn decoded(text: &str) -> Result<Vec<u8>> {
    // The dropped error says where in the text it is.
    STANDARD.decode(text).map_err(|_| Error::Header("expected base64 in a field of the master key"))
}
