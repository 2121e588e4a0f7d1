//! Algorithms, providers and keystreams by name, for bindings of languages without Rust's types.

use crate::hazmat::{AesCtr, ByteOrder, ChaCha20, SpeckCtr, SpeckSize, XChaCha20};
use crate::prelude::*;
use crate::{Aead, Key, MessageKeys};

/// Returns the algorithm with this name.
pub fn algorithm(name: &str) -> Result<Algorithm, Misuse> {
    let known = || Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    Algorithm::from_name(name).ok_or_else(|| Misuse::unknown("algorithm", known()))
}

/// Returns the provider with this name, or `None` without a name.
pub fn provider(name: Option<&str>) -> Result<Option<Provider>, Misuse> {
    let known = || Provider::all().into_iter().map(Provider::name);
    let find = |name| Provider::from_name(name).ok_or_else(|| Misuse::unknown("provider", known()));
    name.map(find).transpose()
}

/// Returns the keys of the algorithm with this name.
pub fn aead(algorithm: &str, key: &Key, provider: Option<&str>) -> Result<MessageKeys> {
    let (algorithm, provider) = (self::algorithm(algorithm)?, self::provider(provider)?);
    Ok(Aead::with_provider(algorithm, key, provider)?.into())
}

/// Returns the Speck size named `name` without `suffix`.
pub fn speck_size(name: &str, suffix: &str) -> Result<SpeckSize, Misuse> {
    let known = || SpeckSize::ALL.iter().map(|size| format!("{}{suffix}", size.name()));
    let found = name.strip_suffix(suffix).and_then(SpeckSize::from_name);
    found.ok_or_else(|| Misuse::unknown("algorithm", known()))
}

/// Returns the byte order with this name, or the order of Speck's paper without a name.
pub fn byte_order(name: Option<&str>) -> Result<ByteOrder, Misuse> {
    match name {
        None | Some("big") => Ok(ByteOrder::Big),
        Some("little") => Ok(ByteOrder::Little),
        Some(_) => Err(Misuse::unknown("byte_order", ["big", "little"])),
    }
}

/// A keystream of any cipher with its key and IV.
pub enum Keystream {
    /// Only this cipher takes other IVs, see [`AesCtr::xor_under`].
    AesCtr(AesCtr),
    ChaCha20(ChaCha20),
    XChaCha20(XChaCha20),
    Speck(SpeckCtr),
}

impl Keystream {
    /// Makes the keystream of `"aes-ctr"`, `"chacha20"`, `"xchacha20"` or a size of Speck.
    ///
    /// # Errors
    /// Refuses a counter and a byte order that the cipher does not use, and returns the errors of
    /// the cipher.
    pub fn new(cipher: &str, key: &[u8], iv: &[u8], counter: u64, byte_order: Option<&str>) -> Result<Self> {
        let has_counter = matches!(cipher, "chacha20" | "xchacha20");
        let max = if has_counter { u32::MAX } else { 0 };
        // The other ciphers' IV is their first counter, so the caller means another position than
        // would be used.
        let counter = u32::try_from(counter)
            .ok()
            .filter(|counter| *counter <= max)
            .ok_or(Misuse::OutOfRange { name: "counter", found: counter, max: max.into() })?;
        if byte_order.is_some() && !cipher.starts_with("speck") {
            return Err(Misuse::ByteOrder.into());
        }
        Ok(match cipher {
            "aes-ctr" => Self::AesCtr(AesCtr::new(key, iv)?),
            "chacha20" => Self::ChaCha20(ChaCha20::new(key, iv, counter)?),
            "xchacha20" => Self::XChaCha20(XChaCha20::new(key, iv, counter)?),
            name if name.starts_with("speck") => {
                let order = self::byte_order(byte_order)?;
                Self::Speck(SpeckCtr::new(speck_size(name, "")?, key, iv, order)?)
            }
            _ => {
                let known = ["aes-ctr", "chacha20", "xchacha20", "the sizes of Speck, such as speck128-256"];
                return Err(Misuse::unknown("cipher", known).into());
            }
        })
    }

    /// XORs `data` with the keystream from byte `offset` on.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<()> {
        match self {
            Self::AesCtr(stream) => stream.xor(offset, data),
            Self::ChaCha20(stream) => stream.xor(offset, data),
            Self::XChaCha20(stream) => stream.xor(offset, data),
            Self::Speck(stream) => stream.xor(offset, data),
        }
    }
}
