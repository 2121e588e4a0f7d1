//! `gocryptfs.conf`: the options of a vault, and its wrapped key.
//!
//! ```text
//! H          = scrypt(passphrase, Salt, N, R, P)
//! KEK        = HKDF-SHA-256(H, info "AES-GCM file content encryption")   without the flag HKDF: H
//! master key = AES-256-GCM open(KEK, EncryptedKey, associated data: 8 zero bytes)
//! ```
//!
//! Only the wrapped key is authenticated. Who can write to the file can change all options.

use crate::passphrase::scrypt;
use crate::prelude::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hkdf::Hkdf;
use providers::AeadKey;
use serde::Deserialize;
use sha2::{Digest, Sha256, Sha512};

const VERSION: u32 = 2;
/// The longest text of a name that a file system takes, and the default of `LongNameMax`.
const NAME_MAX: u8 = 255;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Config {
    encrypted_key: String,
    scrypt_object: ScryptObject,
    version: u32,
    feature_flags: Vec<Flag>,
    long_name_max: Option<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ScryptObject {
    salt: String,
    n: u64,
    r: u64,
    p: u64,
    key_len: u64,
}

/// A feature of a vault.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
pub(super) enum Flag {
    PlaintextNames,
    #[serde(rename = "DirIV")]
    DirIv,
    #[serde(rename = "EMENames")]
    EmeNames,
    #[serde(rename = "GCMIV128")]
    GcmIv128,
    LongNames,
    LongNameMax,
    #[serde(rename = "AESSIV")]
    AesSiv,
    Raw64,
    #[serde(rename = "HKDF")]
    Hkdf,
    #[serde(rename = "FIDO2")]
    Fido2,
    XChaCha20Poly1305,
    #[serde(other)]
    Unknown,
}

/// Keys of one purpose: the name of the purpose in HKDF.
pub(super) const NAMES: &str = "EME filename encryption";
pub(super) const GCM: &str = "AES-GCM file content encryption";
pub(super) const XCHACHA: &str = "XChaCha20-Poly1305 file content encryption";
pub(super) const SIV: &str = "AES-SIV file content encryption";

/// The key that all others are derived from.
pub(super) struct MasterKey {
    key: Zeroizing<Vec<u8>>,
    hkdf: bool,
}

impl Config {
    /// Parses a file and checks that its options go together.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        // The dropped error would quote the file.
        let config: Self = serde_json::from_slice(json)
            .map_err(|_| Error::Header("expected the JSON of gocryptfs 0.7 or later, with all its fields"))?;
        if config.version != VERSION {
            return Err(Error::UnsupportedVersion("this version reads version 2 of gocryptfs's format"));
        }
        config.check()?;
        Ok(config)
    }

    pub(super) fn has(&self, flag: Flag) -> bool {
        self.feature_flags.contains(&flag)
    }

    fn check(&self) -> Result<()> {
        use Flag::{
            AesSiv, DirIv, EmeNames, Fido2, GcmIv128, Hkdf, LongNameMax, LongNames, PlaintextNames, Raw64,
            Unknown, XChaCha20Poly1305,
        };
        let any = |flags: &[Flag]| flags.iter().any(|flag| self.has(*flag));
        let problem = if self.has(Unknown) {
            "FeatureFlags has a flag that this version does not know; use a newer one"
        } else if self.has(Fido2) {
            "the key is on a FIDO2 token, and not read; add a passphrase with 'gocryptfs -passwd'"
        } else if self.has(XChaCha20Poly1305) && (any(&[AesSiv, GcmIv128]) || !self.has(Hkdf))
            || !any(&[XChaCha20Poly1305, GcmIv128])
        {
            "FeatureFlags names no cipher, or two, or one without the flag that it needs"
        } else if self.has(PlaintextNames) == any(&[EmeNames, DirIv, LongNames, LongNameMax, Raw64])
            || !any(&[PlaintextNames, EmeNames])
        {
            "FeatureFlags says that names are encrypted and that they are not, or neither"
        } else if self.has(LongNameMax) != self.long_name_max.is_some() || self.long_name_max == Some(0) {
            "LongNameMax is a flag and a number from 1 to 255, or neither"
        } else if self.scrypt_object.key_len != 32 {
            "the KeyLen of scrypt is 32"
        } else {
            return Ok(());
        };
        Err(Error::Header(problem))
    }

    /// Returns the length in bytes of the longest text of a short name.
    pub(super) fn long_name_max(&self) -> usize {
        self.long_name_max.unwrap_or(NAME_MAX).into()
    }

    /// Unwraps the master key.
    ///
    /// # Errors
    /// Returns [`Error::WrongPassphrase`], also if the wrapped key is damaged but not cut.
    pub(super) fn unlock(&self, passphrase: &[u8]) -> Result<MasterKey> {
        let hkdf = self.has(Flag::Hkdf);
        let ScryptObject { salt, n, r, p, .. } = &self.scrypt_object;
        let [salt, wrapped] = [salt, &self.encrypted_key].map(|text| STANDARD.decode(text));
        // The dropped errors say where in the text they are.
        let (Ok(salt), Ok(mut wrapped)) = (salt, wrapped.map(Zeroizing::new)) else {
            return Err(Error::Header("expected base64 in Salt and EncryptedKey"));
        };
        let nonce_len = if hkdf { 16 } else { 12 };
        if wrapped.len() != nonce_len + 32 + 16 {
            return Err(Error::Header(
                "expected an EncryptedKey of 32 bytes, encrypted; it was cut or changed",
            ));
        }
        let kek = MasterKey { key: scrypt(passphrase, &salt, (*n, *r, *p))?, hkdf }.derive(GCM);
        let (nonce, rest) = wrapped.split_at_mut(nonce_len);
        let (key, tag) = rest.split_last_chunk_mut().expect("48 bytes");
        let opened = raw::gcm_any_nonce(&kek)?.open(nonce, &[0; 8], InOut::in_place(key), tag);
        let key = Zeroizing::new(key.to_vec());
        // The only error is a wrong tag.
        opened.map_err(|_| Error::WrongPassphrase)?;
        Ok(MasterKey { key, hkdf })
    }
}

impl MasterKey {
    /// Derives the key of a purpose.
    pub(super) fn derive(&self, purpose: &str) -> Zeroizing<Vec<u8>> {
        let mut key = self.key.clone();
        match (self.hkdf, purpose) {
            (true, _) => {
                // bounded: 64 bytes.
                key = Zeroizing::new(vec![0; if purpose == SIV { 64 } else { 32 }]);
                let expanded = Hkdf::<Sha256>::new(None, &self.key).expand(purpose.as_bytes(), &mut key);
                expanded.expect("HKDF expands to 64 bytes");
            }
            (false, SIV) => key = Zeroizing::new(Sha512::digest(&*self.key).to_vec()),
            // Before HKDF, one key had all other purposes.
            (false, _) => {}
        }
        key
    }
}
