//! Types of cases that several readers return.

use serde::Deserialize;

/// Expected result of a case: whether an implementation must accept or reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Sealing returns exactly these bytes, and opening accepts them.
    Valid,
    /// The message is invalid, so an implementation must refuse to open it.
    Invalid,
}

/// One AEAD message with key, nonce and expected result.
#[derive(Clone, Debug)]
pub struct AeadCase {
    pub file: String,
    pub id: String,
    /// Name of the algorithm in the crate `sealane`, such as `"aes-256-gcm"`.
    pub algorithm: String,
    pub key: Vec<u8>,
    /// The nonce. In some cases an implementation need not support its length.
    pub nonce: Vec<u8>,
    pub aad: Vec<u8>,
    /// The plaintext; empty if an invalid case has none.
    pub plaintext: Vec<u8>,
    /// The ciphertext, without the tag.
    pub ciphertext: Vec<u8>,
    /// The tag: 16 bytes, or none if ChaCha20-Poly1305 has a nonce of invalid length.
    pub tag: Vec<u8>,
    pub result: Outcome,
}

/// One AES-SIV message with key, headers and expected result.
#[derive(Clone, Debug)]
pub struct SivCase {
    pub file: String,
    pub id: String,
    pub key: Vec<u8>,
    pub headers: Vec<Vec<u8>>,
    /// The plaintext; meaningless in invalid cases.
    pub plaintext: Vec<u8>,
    /// The synthetic IV and the ciphertext.
    pub sealed: Vec<u8>,
    pub result: Outcome,
}

/// One message of EME over AES.
#[derive(Clone, Debug)]
pub struct EmeCase {
    pub file: String,
    pub id: String,
    /// How often the plaintext is encrypted for the ciphertext.
    pub repeat: usize,
    pub key: Vec<u8>,
    pub tweak: [u8; 16],
    pub plaintext: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// One message of NaCl's secretbox, XSalsa20-Poly1305.
#[derive(Clone, Debug)]
pub struct SecretboxCase {
    pub file: String,
    pub id: String,
    pub key: [u8; 32],
    pub nonce: [u8; 24],
    pub plaintext: Vec<u8>,
    /// The tag and the ciphertext.
    pub sealed: Vec<u8>,
}

/// One Fernet token with its key.
#[derive(Clone, Debug)]
pub struct FernetCase {
    pub file: String,
    pub id: String,
    pub token: String,
    /// The time as text, such as `"1985-10-26T01:20:00-07:00"`.
    pub now: String,
    /// The 32-byte key in base64.
    pub secret: String,
    pub part: FernetPart,
}

/// Expected result of a token.
#[derive(Clone, Debug)]
pub enum FernetPart {
    /// The data encrypts to exactly this token.
    Generate { iv: [u8; 16], data: String },
    /// The token holds this data and is at most `ttl` seconds old.
    Verify { ttl: u64, data: String },
    /// The token must be refused.
    Invalid { ttl: u64 },
}

/// One ChaCha20 computation other than an AEAD message.
#[derive(Clone, Debug)]
pub struct ChaCha20Case {
    pub file: String,
    pub id: String,
    pub key: [u8; 32],
    pub part: ChaCha20Part,
}

/// A ChaCha20 or XChaCha20 computation and its result.
#[derive(Clone, Debug)]
pub enum ChaCha20Part {
    /// Encryption of a stream of bytes from a given block on.
    Stream {
        /// The nonce: 12 bytes for ChaCha20, 24 bytes for XChaCha20.
        nonce: Vec<u8>,
        /// Number of the first keystream block.
        counter: u32,
        plaintext: Vec<u8>,
        ciphertext: Vec<u8>,
    },
    Subkey {
        /// The first 16 bytes of an XChaCha20 nonce.
        nonce: [u8; 16],
        subkey: [u8; 32],
    },
}

/// One Poly1305 message with key and tag.
#[derive(Clone, Debug)]
pub struct MacCase {
    pub file: String,
    pub id: String,
    /// The one-time key; it authenticates no other message.
    pub key: Vec<u8>,
    pub message: Vec<u8>,
    pub tag: Vec<u8>,
}

/// Bytes encrypted with AES in counter mode.
#[derive(Clone, Debug)]
pub struct CtrCase {
    pub file: String,
    pub id: String,
    pub key: Vec<u8>,
    /// The first counter block: a big-endian integer of 16 bytes.
    pub iv: [u8; 16],
    pub plaintext: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// Byte order of Speck's keys and blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeckOrder {
    /// The order that the paper prints.
    Big,
    /// All bytes of key and block reversed: little-endian.
    Little,
}

/// A mode of operation that the files use with Speck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SpeckMode {
    /// Each block is encrypted by itself, so equal blocks stay equal.
    Ecb,
    /// Each block is XORed with the ciphertext block before it, or with the IV, and then encrypted.
    Cbc,
    /// The data are XORed with the encrypted blocks IV, IV + 1, … (big-endian counters).
    Ctr,
}

/// Data encrypted with Speck in a mode of operation.
#[derive(Clone, Debug)]
pub struct SpeckCase {
    pub file: String,
    pub id: String,
    /// Name of the algorithm, such as `"speck128-256"`.
    pub algorithm: String,
    /// Byte order of key and data.
    pub order: SpeckOrder,
    pub mode: SpeckMode,
    pub key: Vec<u8>,
    /// The IV, a block long; empty for a mode without one.
    pub iv: Vec<u8>,
    pub plaintext: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// The hash function of an HMAC-based key derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KdfHash {
    Sha1,
    Sha256,
}

/// A variant of Argon2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Argon2Variant {
    /// Argon2d: memory addresses depend on secret data.
    Argon2d,
    /// Argon2i: memory addresses do not depend on secret data.
    Argon2i,
    /// Argon2id: starts with data-independent addressing, continues with data-dependent addressing.
    Argon2id,
}

/// One key derivation with parameters and derived key.
#[derive(Clone, Debug)]
pub struct KdfCase {
    pub file: String,
    pub id: String,
    /// The secret input: a password or the input key material of HKDF.
    pub secret: Vec<u8>,
    pub salt: Vec<u8>,
    pub output: Vec<u8>,
    pub part: KdfPart,
}

/// A key derivation function and its parameters.
#[derive(Clone, Debug)]
pub enum KdfPart {
    /// Argon2 version 1.3: costs and optional inputs.
    Argon2 {
        variant: Argon2Variant,
        /// The secret value besides the password.
        secret: Vec<u8>,
        /// Associated data, hashed together with the password.
        data: Vec<u8>,
        /// Number of passes over the memory: determines the time.
        passes: u32,
        memory_kib: u32,
        lanes: u32,
    },
    Hkdf {
        hash: KdfHash,
        info: Vec<u8>,
        /// The pseudorandom key: the result of extract.
        extracted: Vec<u8>,
    },
    /// PBKDF2 with HMAC.
    Pbkdf2 { hash: KdfHash, rounds: u32 },
    Scrypt {
        /// Base-2 logarithm of N: cost in memory and time.
        log_n: u8,
        r: u32,
        p: u32,
    },
}
