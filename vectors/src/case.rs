//! The types of the cases that several readers return.

use serde::Deserialize;

/// The expected result of a case: whether an implementation must accept or reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Sealing returns exactly these bytes, and opening accepts them.
    Valid,
    /// The message is invalid, so an implementation must refuse to open it.
    Invalid,
}

/// One message of an AEAD with its key, its nonce and the expected result.
#[derive(Clone, Debug)]
pub struct AeadCase {
    pub file: String,
    pub id: String,
    /// Name of the algorithm, as the crate `sealane` writes it, for example `"aes-256-gcm"`.
    pub algorithm: String,
    pub key: Vec<u8>,
    /// The nonce of the message. In some cases it has a length that an implementation need not support.
    pub nonce: Vec<u8>,
    pub aad: Vec<u8>,
    /// The plaintext of the message, which is empty if an invalid case has none.
    pub plaintext: Vec<u8>,
    /// The ciphertext of the message, without the tag.
    pub ciphertext: Vec<u8>,
    /// The tag of the message. It has 16 bytes, or none if ChaCha20-Poly1305 has a nonce of an invalid length.
    pub tag: Vec<u8>,
    pub result: Outcome,
}

/// One message of AES-SIV with its key, its headers and the expected result.
#[derive(Clone, Debug)]
pub struct SivCase {
    pub file: String,
    pub id: String,
    pub key: Vec<u8>,
    pub headers: Vec<Vec<u8>>,
    /// The plaintext of the message, which is meaningless in invalid cases.
    pub plaintext: Vec<u8>,
    /// The synthetic IV and the ciphertext.
    pub sealed: Vec<u8>,
    pub result: Outcome,
}

/// One Fernet token with its key.
#[derive(Clone, Debug)]
pub struct FernetCase {
    pub file: String,
    pub id: String,
    pub token: String,
    /// The time as text, for example `"1985-10-26T01:20:00-07:00"`.
    pub now: String,
    /// The key of 32 bytes in base64.
    pub secret: String,
    pub part: FernetPart,
}

/// The expected result of a token.
#[derive(Clone, Debug)]
pub enum FernetPart {
    /// The data is encrypted to exactly this token.
    Generate { iv: [u8; 16], data: String },
    /// The token has this data and is not older than the seconds of `ttl`.
    Verify { ttl: u64, data: String },
    /// The token must be refused.
    Invalid { ttl: u64 },
}

/// One computation with ChaCha20 other than a message of an AEAD.
#[derive(Clone, Debug)]
pub struct ChaCha20Case {
    pub file: String,
    pub id: String,
    pub key: [u8; 32],
    pub part: ChaCha20Part,
}

/// A computation with ChaCha20 or XChaCha20 and the result that it must return.
#[derive(Clone, Debug)]
pub enum ChaCha20Part {
    /// Encryption of a stream of bytes from a given block on.
    Stream {
        /// The nonce, which has 12 bytes for ChaCha20 and 24 bytes for XChaCha20.
        nonce: Vec<u8>,
        /// Number of the first block of the keystream that is used.
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

/// One message of Poly1305 with its key and its tag.
#[derive(Clone, Debug)]
pub struct MacCase {
    pub file: String,
    pub id: String,
    /// The one-time key, which authenticates no other message.
    pub key: Vec<u8>,
    pub message: Vec<u8>,
    pub tag: Vec<u8>,
}

/// One stream of bytes that is encrypted with AES in counter mode.
#[derive(Clone, Debug)]
pub struct CtrCase {
    pub file: String,
    pub id: String,
    pub key: Vec<u8>,
    /// The first counter block, which is a big-endian integer of 16 bytes.
    pub iv: [u8; 16],
    pub plaintext: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// The order of the bytes in keys and blocks of Speck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeckOrder {
    /// The order in which the paper prints them.
    Big,
    /// All bytes of key and block in reverse, that is, in little-endian order.
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
    /// The data are XORed with the encrypted blocks IV, IV + 1, …, which are big-endian counters.
    Ctr,
}

/// Data encrypted with Speck in one of its modes of operation.
#[derive(Clone, Debug)]
pub struct SpeckCase {
    pub file: String,
    pub id: String,
    /// Name of the algorithm, for example `"speck128-256"`.
    pub algorithm: String,
    /// The byte order of the key and of the data.
    pub order: SpeckOrder,
    pub mode: SpeckMode,
    pub key: Vec<u8>,
    /// The IV, which has the length of a block. Empty for a mode without an IV.
    pub iv: Vec<u8>,
    pub plaintext: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// The hash function that a key derivation with HMAC is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KdfHash {
    Sha1,
    Sha256,
}

/// A variant of Argon2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Argon2Variant {
    /// Argon2d, in which memory addresses depend on the secret data.
    Argon2d,
    /// Argon2i, in which memory addresses do not depend on the secret data.
    Argon2i,
    /// Argon2id, which begins with data-independent addressing and continues with data-dependent addressing.
    Argon2id,
}

/// One key derivation with its parameters and the derived key.
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

/// A key derivation function with the parameters that it is called with.
#[derive(Clone, Debug)]
pub enum KdfPart {
    /// Argon2 of version 1.3 with its costs and its optional inputs.
    Argon2 {
        variant: Argon2Variant,
        /// The secret value in addition to the password.
        secret: Vec<u8>,
        /// Associated data, which are hashed together with the password.
        data: Vec<u8>,
        /// Number of passes over the memory, which determines the time.
        passes: u32,
        memory_kib: u32,
        lanes: u32,
    },
    Hkdf {
        hash: KdfHash,
        info: Vec<u8>,
        /// The pseudorandom key, which is the output of the extract step.
        extracted: Vec<u8>,
    },
    /// PBKDF2 with HMAC and the given number of rounds.
    Pbkdf2 { hash: KdfHash, rounds: u32 },
    Scrypt {
        /// Base-2 logarithm of N, the cost in memory and time.
        log_n: u8,
        r: u32,
        p: u32,
    },
}
