//! The keys of vaults, computed apart from the readers, for names and files that no tool writes.

use crate::memory::Memory;
use aws_lc_rs::key_wrap::{AES_256, AesKek, KeyWrap};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use hkdf::Hkdf;
use keys::ScryptParams;
use providers::{AeadKey, InOut, raw};
use serde_json::Value;
use sha2::{Digest, Sha256};
use vectors::Stored;

fn json(vault: &Memory, path: &str) -> Value {
    let Some(Stored::File(bytes)) = vault.0.get(path.as_bytes()) else { panic!("no {path}") };
    serde_json::from_slice(bytes).unwrap()
}

fn decoded(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap()).unwrap()
}

/// Names of gocryptfs with the flag Raw64.
pub(crate) struct GocryptfsNames(raw::Eme);

impl GocryptfsNames {
    pub(crate) fn of(vault: &Memory, password: &str) -> Self {
        let config = json(vault, "gocryptfs.conf");
        let (scrypt, wrapped) = (&config["ScryptObject"], decoded(&config["EncryptedKey"]));
        let log_n = scrypt["N"].as_u64().unwrap().ilog2() as u8;
        let hash = ScryptParams::from_file(log_n, 8, 1).unwrap();
        let hash = hash.derive(password.as_bytes(), &decoded(&scrypt["Salt"]), 32).unwrap();
        let derive = |key: &[u8], purpose: &str| {
            let mut derived = [0; 32];
            Hkdf::<Sha256>::new(None, key).expand(purpose.as_bytes(), &mut derived).unwrap();
            derived
        };
        let kek = raw::gcm_any_nonce(&derive(&hash, "AES-GCM file content encryption")).unwrap();
        let (nonce, rest) = wrapped.split_at(16);
        let (data, tag) = rest.split_last_chunk().unwrap();
        let mut master = [0; 32];
        kek.open(nonce, &[0; 8], InOut::apart(data, &mut master), tag).unwrap();
        Self(raw::eme(&derive(&master, "EME filename encryption")).unwrap())
    }

    /// Encrypts the blocks of a padded name.
    pub(crate) fn text(&self, iv: &[u8; 16], padded: &[u8]) -> Vec<u8> {
        let mut blocks = padded.to_vec();
        self.0.encrypt(iv, &mut blocks).unwrap();
        URL_SAFE_NO_PAD.encode(blocks).into_bytes()
    }

    /// Encrypts a name.
    pub(crate) fn name(&self, iv: &[u8; 16], name: &[u8]) -> Vec<u8> {
        let pad = 16 - name.len() % 16;
        self.text(iv, &[name, &vec![pad as u8; pad]].concat())
    }

    /// Returns the entry's name for a text that is too long.
    pub(crate) fn long(text: &[u8]) -> Vec<u8> {
        format!("gocryptfs.longname.{}", URL_SAFE_NO_PAD.encode(Sha256::digest(text))).into_bytes()
    }
}

/// The keys of a vault of Cryptomator.
pub(crate) struct CryptomatorKeys {
    keys: Vec<u8>,
    siv: raw::Siv,
}

impl CryptomatorKeys {
    pub(crate) fn of(vault: &Memory, password: &str) -> Self {
        let file = json(vault, "masterkey.cryptomator");
        let log_n = file["scryptCostParam"].as_u64().unwrap().ilog2() as u8;
        let kek = ScryptParams::from_file(log_n, 8, 1).unwrap();
        let kek = kek.derive(password.as_bytes(), &decoded(&file["scryptSalt"]), 32).unwrap();
        let mut keys = Vec::new();
        for field in ["primaryMasterKey", "hmacMasterKey"] {
            let (wrapped, mut key) = (decoded(&file[field]), [0; 32]);
            AesKek::new(&AES_256, &kek).unwrap().unwrap(&wrapped, &mut key).unwrap();
            keys.extend(key);
        }
        let siv = raw::siv(&[&keys[32..], &keys[..32]].concat()).unwrap();
        Self { keys, siv }
    }

    /// Wraps the keys again, at the least cost, for tests that open the vault often.
    pub(crate) fn rewrap(&self, vault: &mut Memory, password: &str) {
        let mut file = json(vault, "masterkey.cryptomator");
        let kek = ScryptParams::from_file(1, 8, 1).unwrap();
        let kek = kek.derive(password.as_bytes(), &decoded(&file["scryptSalt"]), 32).unwrap();
        file["scryptCostParam"] = 2.into();
        for (field, key) in ["primaryMasterKey", "hmacMasterKey"].into_iter().zip(self.keys.chunks(32)) {
            let mut wrapped = [0; 40];
            AesKek::new(&AES_256, &kek).unwrap().wrap(key, &mut wrapped).unwrap();
            file[field] = STANDARD.encode(wrapped).into();
        }
        vault.edit(b"masterkey.cryptomator", |bytes| *bytes = file.to_string().into_bytes());
    }

    /// Signs a configuration with HS256, HS384 or HS512.
    pub(crate) fn token(&self, header: &Value, payload: &Value) -> Vec<u8> {
        use aws_lc_rs::hmac;
        let algorithm = match header["alg"].as_str() {
            Some("HS384") => hmac::HMAC_SHA384,
            Some("HS512") => hmac::HMAC_SHA512,
            _ => hmac::HMAC_SHA256,
        };
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = part(header) + "." + &part(payload);
        let signature = hmac::sign(&hmac::Key::new(algorithm, &self.keys), signed.as_bytes());
        (signed + "." + &URL_SAFE_NO_PAD.encode(signature)).into_bytes()
    }

    /// Encrypts a name in the folder with this identifier, with its ending.
    pub(crate) fn name(&self, id: &[u8], name: &[u8]) -> Vec<u8> {
        let (mut iv, mut text) = ([0; 16], name.to_vec());
        self.siv.seal(&[id], InOut::in_place(&mut text), &mut iv);
        (URL_SAFE.encode([&iv[..], &text].concat()) + ".c9r").into_bytes()
    }

    /// Returns where the folder with this identifier is stored.
    pub(crate) fn folder(&self, id: &[u8]) -> Vec<u8> {
        let (mut iv, mut text) = ([0; 16], id.to_vec());
        self.siv.seal(&[], InOut::in_place(&mut text), &mut iv);
        let hash = aws_lc_rs::digest::digest(
            &aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY,
            &[&iv[..], &text].concat(),
        );
        let hash = data_encoding::BASE32.encode(hash.as_ref());
        format!("d/{}/{}", &hash[..2], &hash[2..]).into_bytes()
    }
}
