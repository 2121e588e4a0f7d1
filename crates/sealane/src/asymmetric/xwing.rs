//! X-Wing: ML-KEM-768 and X25519 in one (draft-connolly-cfrg-xwing-kem-06), over the crate `x-wing`.
//!
//! ```text
//! private key   = seed[32]; SHAKE256(seed, 96) = d[32] || z[32] || X25519 key[32]
//! public key    = ML-KEM-768 key[1184] || X25519 key[32]
//! encapsulation = ML-KEM-768 ciphertext[1088] || X25519 share[32]
//! shared secret = SHA3-256(ML-KEM's || X25519's || X25519 share || X25519 key || "\.//^\")
//! ```
//!
//! X25519 keys and shares of low order are refused, as age and the next draft want it: a sender who sends one leaves
//! half of the hybrid out.

use super::x25519;
use crate::Error;
use std::fmt;
use x_wing::{DecapsulationKeyRejectNonContrib, Decapsulator, EncapsulationKey, KeyExport, TryDecapsulate};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a private key.
pub const SEED_LEN: usize = 32;
/// Bytes of a public key.
pub const PUBLIC_LEN: usize = 1216;
/// Bytes of an encapsulation.
pub const ENCAPSULATION_LEN: usize = 1120;
/// Bytes of a shared secret.
pub const SHARED_LEN: usize = 32;
/// Random bytes that an encapsulation is made of.
pub(super) const RANDOMNESS_LEN: usize = 64;

const NO_PUBLIC_KEY: Error =
    Error::Format("not a public key of X-Wing: 1216 bytes, of an ML-KEM-768 key and an X25519 key");

/// A private key. The library wipes it on drop; never shown.
#[derive(Clone)]
pub struct PrivateKey {
    seed: Zeroizing<[u8; SEED_LEN]>,
    key: Box<DecapsulationKeyRejectNonContrib>,
}

impl PrivateKey {
    /// A fresh key from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn generate() -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        crate::random::fill(&mut *seed)?;
        Ok(Self::from_seed(&seed))
    }

    /// The key that grows from `seed`.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        Self { seed: Zeroizing::new(*seed), key: Box::new((*seed).into()) }
    }

    /// The secret itself.
    pub fn seed(&self) -> &[u8; SEED_LEN] {
        &self.seed
    }

    /// The public side.
    pub fn public(&self) -> PublicKey {
        PublicKey::of(self.key.encapsulation_key().clone())
    }

    /// The secret that somebody encapsulated for this key; another one where it was changed on the way, as ML-KEM has
    /// it.
    ///
    /// # Errors
    /// [`Error::Authentication`] where the X25519 share is of low order, or the length is another.
    pub fn decapsulate(&self, encapsulation: &[u8]) -> Result<Zeroizing<[u8; SHARED_LEN]>, Error> {
        let encapsulation = encapsulation.try_into().map_err(|_| Error::Authentication)?;
        let mut shared = self.key.try_decapsulate(&encapsulation).map_err(|_| Error::Authentication)?;
        let kept = Zeroizing::new(shared.0);
        shared.zeroize();
        Ok(kept)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(X-Wing)")
    }
}

/// A public key.
#[derive(Clone)]
pub struct PublicKey {
    bytes: Box<[u8; PUBLIC_LEN]>,
    key: Box<EncapsulationKey>,
}

impl PublicKey {
    /// The key with these bytes.
    ///
    /// # Errors
    /// [`Error::Format`] for another length, and an ML-KEM part that is none (FIPS 203, section 7.2); [`crate::Misuse::UnsuitableKey`]
    /// for an X25519 part of low order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let key = EncapsulationKey::try_from(bytes).map_err(|_| NO_PUBLIC_KEY)?;
        let key = Self::of(key);
        // Every key of X25519 agrees on zero with one of low order, and no other on zero with any.
        let share = bytes.last_chunk().ok_or(NO_PUBLIC_KEY)?;
        x25519::PrivateKey::from_bytes(&[1; x25519::LEN])?.agree(&x25519::PublicKey::from_bytes(share))?;
        Ok(key)
    }

    fn of(key: EncapsulationKey) -> Self {
        let mut bytes = Box::new([0; PUBLIC_LEN]);
        bytes.copy_from_slice(&key.to_bytes());
        Self { bytes, key: Box::new(key) }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; PUBLIC_LEN] {
        &self.bytes
    }

    /// A fresh secret for the holder of the private key: the secret, and what to send.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn encapsulate(&self) -> Result<(Zeroizing<[u8; SHARED_LEN]>, Vec<u8>), Error> {
        let mut randomness = Zeroizing::new([0; RANDOMNESS_LEN]);
        crate::random::fill(&mut *randomness)?;
        Ok(self.encapsulate_from(&randomness))
    }

    /// The same with the randomness given: 32 bytes for ML-KEM, 32 for X25519.
    pub(super) fn encapsulate_from(
        &self,
        randomness: &[u8; RANDOMNESS_LEN],
    ) -> (Zeroizing<[u8; SHARED_LEN]>, Vec<u8>) {
        let (encapsulation, mut shared) = self.key.encapsulate_deterministic(randomness.into());
        let kept = Zeroizing::new(shared.0);
        shared.zeroize();
        (kept, encapsulation.to_vec())
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::debug_public("X-Wing", &self.bytes[..], f)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Misuse;

    #[test]
    fn both_sides_arrive_at_the_same() {
        let key = PrivateKey::generate().unwrap();
        let public = PublicKey::from_bytes(key.public().as_bytes()).unwrap();
        assert_eq!(public, PrivateKey::from_seed(key.seed()).public());
        let (secret, sent) = public.encapsulate().unwrap();
        assert_eq!(sent.len(), ENCAPSULATION_LEN);
        assert_eq!(key.clone().decapsulate(&sent).unwrap(), secret);
        assert_ne!(public.encapsulate().unwrap().0, secret);
        assert_ne!(PrivateKey::generate().unwrap().decapsulate(&sent).unwrap(), secret);
    }

    #[test]
    fn low_order_is_refused() {
        let key = PrivateKey::generate().unwrap();
        let (_, mut sent) = key.public().encapsulate().unwrap();
        sent[ENCAPSULATION_LEN - x25519::LEN..].fill(0);
        assert!(matches!(key.decapsulate(&sent), Err(Error::Authentication)));
        let mut public = key.public().as_bytes().to_vec();
        public[PUBLIC_LEN - x25519::LEN..].fill(0);
        assert!(matches!(PublicKey::from_bytes(&public), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let key = PrivateKey::generate().unwrap();
        let public = key.public().as_bytes().to_vec();
        for len in [0, 32, PUBLIC_LEN - 1] {
            assert!(matches!(PublicKey::from_bytes(&public[..len]), Err(Error::Format(_))), "{len} bytes");
        }
        // A coefficient of 4095 is above the modulus, 3329.
        let mut wide = public.clone();
        wide[..2].fill(0xff);
        assert!(matches!(PublicKey::from_bytes(&wide), Err(Error::Format(_))));
        let (_, sent) = key.public().encapsulate().unwrap();
        assert!(matches!(key.decapsulate(&sent[1..]), Err(Error::Authentication)));
        assert!(matches!(key.decapsulate(&[]), Err(Error::Authentication)));
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_seed(&[0x5a; SEED_LEN]);
        assert_eq!(format!("{key:?}"), "PrivateKey(X-Wing)");
        assert!(format!("{:?}", key.public()).starts_with("PublicKey(X-Wing, "));
    }
}
