//! The KEMs of HPKE over this project's key pairs, as the library wants them.

use super::Kem;
use crate::Error;
use crate::asymmetric::{p256, x25519, xwing};
use hpke::kdf::{HkdfSha256, Kdf};
use hpke::kem::SharedSecret;
use hpke::rand_core::{CryptoRng, TryCryptoRng, TryRng};
use hpke::{Deserializable, HpkeError, Kem as _, Serializable, kem as library};
use std::convert::Infallible;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

/// What an encapsulation is made of: the ephemeral private key in the first 32 bytes, or X-Wing's 64.
pub(super) type Randomness = Zeroizing<[u8; 64]>;
/// What comes out, of every KEM here.
type Shared = Zeroizing<[u8; 32]>;

/// Fresh randomness for one encapsulation.
pub(super) fn randomness(kem: Kem) -> Result<Randomness, Error> {
    let mut bytes = Randomness::new([0; 64]);
    match kem {
        Kem::X25519 | Kem::XWing => crate::random::fill(&mut *bytes)?,
        // Not every 32 bytes are a private key.
        Kem::P256 => bytes[..p256::PRIVATE_LEN].copy_from_slice(p256::PrivateKey::generate()?.as_bytes()),
    }
    Ok(bytes)
}

/// Hands out the randomness that was prepared: the library's generators may not fail, the system's may.
pub(super) struct Prepared<'a>(pub(super) &'a Randomness);

impl TryRng for Prepared<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Called once, by [`Through::encap_with_rng`], for all of it.
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        assert_eq!(out.len(), self.0.len(), "nobody else asks");
        out.copy_from_slice(&**self.0);
        Ok(())
    }
}

impl TryCryptoRng for Prepared<'_> {}

/// A KEM.
pub(super) trait Mechanism: Send + Sync + 'static {
    /// The library's own, for its number and lengths.
    type Library: hpke::Kem;
    /// A private key.
    type Private: Clone;
    /// A public key.
    type Public: Clone + Debug + Eq;

    fn private(bytes: &[u8]) -> Result<Self::Private, Error>;
    fn private_bytes(key: &Self::Private) -> &[u8];
    fn public(bytes: &[u8]) -> Result<Self::Public, Error>;
    fn public_bytes(key: &Self::Public) -> &[u8];
    fn public_of(key: &Self::Private) -> Self::Public;

    fn encapsulate(
        recipient: &Self::Public,
        sender: Option<&Self::Private>,
        randomness: &Randomness,
    ) -> Result<(Shared, Vec<u8>), Error>;

    fn decapsulate(
        recipient: &Self::Private,
        sender: Option<&Self::Public>,
        encapsulation: &[u8],
    ) -> Result<Shared, Error>;
}

/// DHKEM (RFC 9180, section 4.1) over a group whose module has the names of the others.
macro_rules! dhkem {
    ($name:ident: $module:ident, $library:ident, $public:expr;) => {
        pub(super) struct $name;

        impl Mechanism for $name {
            type Library = library::$library;
            type Private = $module::PrivateKey;
            type Public = $module::PublicKey;

            fn private(bytes: &[u8]) -> Result<Self::Private, Error> {
                $module::PrivateKey::from_bytes(bytes.try_into().map_err(|_| Error::Authentication)?)
            }

            fn private_bytes(key: &Self::Private) -> &[u8] {
                key.as_bytes()
            }

            fn public(bytes: &[u8]) -> Result<Self::Public, Error> {
                $public(bytes)
            }

            fn public_bytes(key: &Self::Public) -> &[u8] {
                key.as_bytes()
            }

            fn public_of(key: &Self::Private) -> Self::Public {
                key.public()
            }

            fn encapsulate(
                recipient: &Self::Public,
                sender: Option<&Self::Private>,
                randomness: &Randomness,
            ) -> Result<(Shared, Vec<u8>), Error> {
                let ephemeral = Self::private(&randomness[..32])?;
                let encapsulation = ephemeral.public().as_bytes().to_vec();
                let mut context = [&encapsulation[..], recipient.as_bytes()].concat();
                let mut agreed = Zeroizing::new([0; 64]);
                agreed[..32].copy_from_slice(&*ephemeral.agree(recipient)?);
                if let Some(sender) = sender {
                    agreed[32..].copy_from_slice(&*sender.agree(recipient)?);
                    context.extend(sender.public().as_bytes());
                }
                let agreed = &agreed[..if sender.is_some() { 64 } else { 32 }];
                Ok((extract_and_expand::<Self>(agreed, &context)?, encapsulation))
            }

            fn decapsulate(
                recipient: &Self::Private,
                sender: Option<&Self::Public>,
                encapsulation: &[u8],
            ) -> Result<Shared, Error> {
                let ephemeral = Self::public(encapsulation)?;
                let mut context = [encapsulation, recipient.public().as_bytes()].concat();
                let mut agreed = Zeroizing::new([0; 64]);
                agreed[..32].copy_from_slice(&*recipient.agree(&ephemeral)?);
                if let Some(sender) = sender {
                    agreed[32..].copy_from_slice(&*recipient.agree(sender)?);
                    context.extend(sender.as_bytes());
                }
                extract_and_expand::<Self>(&agreed[..if sender.is_some() { 64 } else { 32 }], &context)
            }
        }
    };
}

dhkem! {
    X25519: x25519, X25519HkdfSha256, |bytes: &[u8]| {
        Ok(x25519::PublicKey::from_bytes(bytes.try_into().map_err(|_| Error::Authentication)?))
    };
}

dhkem! {
    P256: p256, DhP256HkdfSha256, p256::PublicKey::from_bytes;
}

fn extract_and_expand<M: Mechanism>(agreed: &[u8], context: &[u8]) -> Result<Shared, Error> {
    let mut suite = *b"KEM\0\0";
    suite[3..].copy_from_slice(&M::Library::KEM_ID.to_be_bytes());
    let mut shared = Shared::default();
    HkdfSha256::extract_and_expand(agreed, &suite, context, &mut *shared)
        .map_err(|_| Error::Authentication)?;
    Ok(shared)
}

pub(super) struct XWing;

impl Mechanism for XWing {
    type Library = library::XWing;
    type Private = xwing::PrivateKey;
    type Public = xwing::PublicKey;

    fn private(bytes: &[u8]) -> Result<Self::Private, Error> {
        Ok(xwing::PrivateKey::from_seed(bytes.try_into().map_err(|_| Error::Authentication)?))
    }

    fn private_bytes(key: &Self::Private) -> &[u8] {
        key.seed()
    }

    fn public(bytes: &[u8]) -> Result<Self::Public, Error> {
        xwing::PublicKey::from_bytes(bytes)
    }

    fn public_bytes(key: &Self::Public) -> &[u8] {
        key.as_bytes()
    }

    fn public_of(key: &Self::Private) -> Self::Public {
        key.public()
    }

    /// It has no senders; the door says so before anybody gets here.
    fn encapsulate(
        recipient: &Self::Public,
        sender: Option<&Self::Private>,
        randomness: &Randomness,
    ) -> Result<(Shared, Vec<u8>), Error> {
        if sender.is_some() {
            return Err(Error::Authentication);
        }
        Ok(recipient.encapsulate_from(randomness))
    }

    fn decapsulate(
        recipient: &Self::Private,
        sender: Option<&Self::Public>,
        encapsulation: &[u8],
    ) -> Result<Shared, Error> {
        if sender.is_some() {
            return Err(Error::Authentication);
        }
        recipient.decapsulate(encapsulation)
    }
}

/// A [`Mechanism`], to the library.
pub(super) struct Through<M>(PhantomData<M>);

/// A private key, to the library.
pub(super) struct Private<M: Mechanism>(pub(super) M::Private);

/// A public key, to the library.
pub(super) struct Public<M: Mechanism>(pub(super) M::Public);

/// An encapsulation, to the library.
pub(super) struct Encapsulation<M>(pub(super) Vec<u8>, PhantomData<M>);

impl<M> Encapsulation<M> {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes, PhantomData)
    }
}

impl<M: Mechanism> hpke::Kem for Through<M> {
    type PublicKey = Public<M>;
    type PrivateKey = Private<M>;
    type EncappedKey = Encapsulation<M>;
    type NSecret = <M::Library as hpke::Kem>::NSecret;

    const KEM_ID: u16 = M::Library::KEM_ID;

    fn sk_to_pk(key: &Private<M>) -> Public<M> {
        Public(M::public_of(&key.0))
    }

    /// Nobody calls it: keys are generated by their own modules.
    fn derive_keypair(ikm: &[u8]) -> (Private<M>, Public<M>) {
        let (key, _) = M::Library::derive_keypair(ikm);
        let bytes = Zeroizing::new(key.to_bytes().to_vec());
        let key = M::private(&bytes).expect("the library's own key");
        let public = M::public_of(&key);
        (Private(key), Public(public))
    }

    fn decap(
        recipient: &Private<M>,
        sender: Option<&Public<M>>,
        encapsulation: &Encapsulation<M>,
    ) -> Result<SharedSecret<Self>, HpkeError> {
        let sender = sender.map(|key| &key.0);
        let shared = M::decapsulate(&recipient.0, sender, &encapsulation.0);
        Ok(secret(&shared.map_err(|_| HpkeError::DecapError)?))
    }

    fn encap_with_rng(
        recipient: &Public<M>,
        sender: Option<(&Private<M>, &Public<M>)>,
        prepared: &mut impl CryptoRng,
    ) -> Result<(SharedSecret<Self>, Encapsulation<M>), HpkeError> {
        let mut randomness = Randomness::new([0; 64]);
        prepared.fill_bytes(&mut *randomness);
        let sender = sender.map(|(key, _)| &key.0);
        let made = M::encapsulate(&recipient.0, sender, &randomness);
        let (shared, encapsulation) = made.map_err(|_| HpkeError::EncapError)?;
        Ok((secret(&shared), Encapsulation::new(encapsulation)))
    }
}

fn secret<K: hpke::Kem>(shared: &Shared) -> SharedSecret<K> {
    let mut secret = SharedSecret::default();
    secret.0.copy_from_slice(&**shared);
    secret
}

/// What the library can write and read.
macro_rules! written {
    ($type:ident, $size:ident, |$this:ident| $bytes:expr, |$from:ident| $read:expr) => {
        impl<M: Mechanism> Serializable for $type<M> {
            type OutputSize = <<M::Library as hpke::Kem>::$size as Serializable>::OutputSize;

            fn write_exact(&self, out: &mut [u8]) {
                let $this = self;
                out.copy_from_slice($bytes);
            }
        }

        impl<M: Mechanism> Deserializable for $type<M> {
            fn from_bytes($from: &[u8]) -> Result<Self, HpkeError> {
                $read
            }
        }
    };
}

written!(Private, PrivateKey, |this| M::private_bytes(&this.0), |bytes| {
    M::private(bytes).map(Private).map_err(|_| HpkeError::ValidationError)
});
written!(Public, PublicKey, |this| M::public_bytes(&this.0), |bytes| {
    M::public(bytes).map(Public).map_err(|_| HpkeError::ValidationError)
});
written!(Encapsulation, EncappedKey, |this| &this.0, |bytes| {
    let len = <Self as Serializable>::size();
    if bytes.len() == len {
        Ok(Self::new(bytes.to_vec()))
    } else {
        Err(HpkeError::IncorrectInputLength(len, bytes.len()))
    }
});

impl<M: Mechanism> Clone for Private<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Mechanism> ConstantTimeEq for Private<M> {
    fn ct_eq(&self, other: &Self) -> Choice {
        M::private_bytes(&self.0).ct_eq(M::private_bytes(&other.0))
    }
}

impl<M: Mechanism> Clone for Public<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Mechanism> Debug for Public<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<M: Mechanism> PartialEq for Public<M> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<M: Mechanism> Eq for Public<M> {}

impl<M> Clone for Encapsulation<M> {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}
