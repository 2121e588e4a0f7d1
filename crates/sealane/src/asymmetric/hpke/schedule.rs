//! The key schedule of HPKE (RFC 9180, section 5.1), by the library, for a message that is encrypted here.
//!
//! The library would encrypt through an interface that safe code can only serve in place, so that a long message would
//! be copied first. It is given an AEAD that encrypts nothing and tells its key and its first nonce instead; numbering
//! and encryption are section 5.2, one floor up.

use super::mechanism::{self, Encapsulation, Mechanism, Prepared, Private, Public, Randomness, Through};
use super::{Aead, Mode, NONCE_LEN, PrivateKey, Psk, PublicKey};
use crate::{Error, Misuse};
use aead::{AeadCore, AeadInOut, KeyInit, KeySizeUser, Nonce, Tag};
use hpke::aead::{AeadCtxR, AeadCtxS};
use hpke::hybrid_array::sizes::{U0, U12, U16, U32};
use hpke::hybrid_array::{Array, ArraySize};
use hpke::inout::InOutBuf;
use hpke::kdf::HkdfSha256;
use hpke::{HpkeError, OpModeR, OpModeS, PskBundle, setup_receiver, setup_sender_with_rng};
use zeroize::Zeroizing;

/// What both sides arrive at.
pub(super) struct Schedule {
    pub(super) key: Zeroizing<Vec<u8>>,
    pub(super) base_nonce: [u8; NONCE_LEN],
    pub(super) exporter: Box<dyn Export>,
}

/// Secrets for other purposes (section 5.3).
pub(super) trait Export: Send + Sync {
    fn export(&self, label: &[u8], out: &mut [u8]) -> Result<(), Error>;
}

const LOW_ORDER: Error =
    Error::Misuse(Misuse::InvalidRecipients("a key of low order: with it, everybody has the same secret"));
const OTHER_KEM: Error =
    Error::Misuse(Misuse::UnsuitableKey("the sender's key and the recipient's are of different kinds"));
const NO_SENDERS: Error =
    Error::Misuse(Misuse::UnsuitableKey("X-Wing has no senders: only base mode, or a pre-shared key"));

/// The sender's side: encapsulation and schedule.
pub(super) fn sender(
    recipient: &PublicKey,
    aead: Aead,
    mode: Mode<'_, PrivateKey>,
    info: &[u8],
    randomness: &Randomness,
) -> Result<(Vec<u8>, Schedule), Error> {
    match recipient {
        PublicKey::X25519(key) => {
            let mode =
                mode.of(|key| if let PrivateKey::X25519(key) = key { Ok(key) } else { Err(OTHER_KEM) })?;
            send::<mechanism::X25519>(key, aead, mode, info, randomness)
        }
        PublicKey::P256(key) => {
            let mode =
                mode.of(|key| if let PrivateKey::P256(key) = key { Ok(key) } else { Err(OTHER_KEM) })?;
            send::<mechanism::P256>(key, aead, mode, info, randomness)
        }
        PublicKey::XWing(key) => {
            send::<mechanism::XWing>(key, aead, mode.of(|_| Err(NO_SENDERS))?, info, randomness)
        }
    }
}

/// The recipient's side.
pub(super) fn receiver(
    recipient: &PrivateKey,
    aead: Aead,
    mode: Mode<'_, PublicKey>,
    encapsulation: &[u8],
    info: &[u8],
) -> Result<Schedule, Error> {
    match recipient {
        PrivateKey::X25519(key) => {
            let mode =
                mode.of(|key| if let PublicKey::X25519(key) = key { Ok(key) } else { Err(OTHER_KEM) })?;
            receive::<mechanism::X25519>(key, aead, mode, encapsulation, info)
        }
        PrivateKey::P256(key) => {
            let mode =
                mode.of(|key| if let PublicKey::P256(key) = key { Ok(key) } else { Err(OTHER_KEM) })?;
            receive::<mechanism::P256>(key, aead, mode, encapsulation, info)
        }
        PrivateKey::XWing(key) => {
            receive::<mechanism::XWing>(key, aead, mode.of(|_| Err(NO_SENDERS))?, encapsulation, info)
        }
    }
}

impl<'a, K> Mode<'a, K> {
    /// The same with the key of one kind of which it is.
    fn of<T>(self, key: impl FnOnce(&'a K) -> Result<&'a T, Error>) -> Result<Mode<'a, T>, Error> {
        Ok(match self {
            Self::Base => Mode::Base,
            Self::Psk(psk) => Mode::Psk(psk),
            Self::Auth(sender) => Mode::Auth(key(sender)?),
            Self::AuthPsk(sender, psk) => Mode::AuthPsk(key(sender)?, psk),
        })
    }
}

impl<'a> Psk<'a> {
    fn bundle(self) -> Result<PskBundle<'a>, Error> {
        PskBundle::new(self.secret, self.id)
            .map_err(|_| Misuse::UnsuitableKey("a pre-shared key without a name").into())
    }
}

fn send<M: Mechanism>(
    recipient: &M::Public,
    aead: Aead,
    mode: Mode<'_, M::Private>,
    info: &[u8],
    randomness: &Randomness,
) -> Result<(Vec<u8>, Schedule), Error> {
    let sender = |key: &M::Private| (Private(key.clone()), Public(M::public_of(key)));
    let mode = match mode {
        Mode::Base => OpModeS::<Through<M>>::Base,
        Mode::Psk(psk) => OpModeS::Psk(psk.bundle()?),
        Mode::Auth(key) => OpModeS::Auth(sender(key)),
        Mode::AuthPsk(key, psk) => OpModeS::AuthPsk(sender(key), psk.bundle()?),
    };
    let recipient = Public(recipient.clone());
    match aead {
        Aead::Aes128Gcm => send_by::<Reveal<0x0001, U16>, M>(&mode, &recipient, info, randomness),
        Aead::Aes256Gcm => send_by::<Reveal<0x0002, U32>, M>(&mode, &recipient, info, randomness),
        Aead::ChaCha20Poly1305 => send_by::<Reveal<0x0003, U32>, M>(&mode, &recipient, info, randomness),
    }
}

fn send_by<R: Tells, M: Mechanism>(
    mode: &OpModeS<'_, Through<M>>,
    recipient: &Public<M>,
    info: &[u8],
    randomness: &Randomness,
) -> Result<(Vec<u8>, Schedule), Error> {
    let mut prepared = Prepared(randomness);
    // All else that can go wrong was asked before: what is left is a key with which everybody agrees on zero.
    let (encapsulation, mut context) =
        setup_sender_with_rng::<R, HkdfSha256, Through<M>>(mode, recipient, info, &mut prepared)
            .map_err(|_| LOW_ORDER)?;
    let (key, base_nonce) = R::told(|told| {
        context.seal_inout_detached(told, &[]).map_err(|_| Error::Authentication).map(|_| ())
    })?;
    Ok((encapsulation.0, Schedule { key, base_nonce, exporter: Box::new(context) }))
}

fn receive<M: Mechanism>(
    recipient: &M::Private,
    aead: Aead,
    mode: Mode<'_, M::Public>,
    encapsulation: &[u8],
    info: &[u8],
) -> Result<Schedule, Error> {
    let mode = match mode {
        Mode::Base => OpModeR::<Through<M>>::Base,
        Mode::Psk(psk) => OpModeR::Psk(psk.bundle()?),
        Mode::Auth(key) => OpModeR::Auth(Public(key.clone())),
        Mode::AuthPsk(key, psk) => OpModeR::AuthPsk(Public(key.clone()), psk.bundle()?),
    };
    let recipient = Private(recipient.clone());
    let encapsulation = Encapsulation::new(encapsulation.to_vec());
    match aead {
        Aead::Aes128Gcm => receive_by::<Reveal<0x0001, U16>, M>(&mode, &recipient, &encapsulation, info),
        Aead::Aes256Gcm => receive_by::<Reveal<0x0002, U32>, M>(&mode, &recipient, &encapsulation, info),
        Aead::ChaCha20Poly1305 => {
            receive_by::<Reveal<0x0003, U32>, M>(&mode, &recipient, &encapsulation, info)
        }
    }
}

fn receive_by<R: Tells, M: Mechanism>(
    mode: &OpModeR<'_, Through<M>>,
    recipient: &Private<M>,
    encapsulation: &Encapsulation<M>,
    info: &[u8],
) -> Result<Schedule, Error> {
    let mut context = setup_receiver::<R, HkdfSha256, Through<M>>(mode, recipient, encapsulation, info)
        .map_err(|_| Error::Authentication)?;
    let (key, base_nonce) = R::told(|told| {
        context.open_inout_detached(told, &[], &Default::default()).map_err(|_| Error::Authentication)
    })?;
    Ok(Schedule { key, base_nonce, exporter: Box::new(context) })
}

/// An AEAD of this number and this length of keys, as far as the schedule needs to know.
trait Tells: hpke::aead::Aead<AeadImpl: Sync + Send> + Send + Sync + 'static {
    /// Lets `first` encrypt one message, and reads key and nonce off it.
    fn told(
        first: impl FnOnce(InOutBuf<'_, '_, u8>) -> Result<(), Error>,
    ) -> Result<(Zeroizing<Vec<u8>>, [u8; NONCE_LEN]), Error>;
}

/// See there: instead of encrypting, it writes its key and nonce over the message.
#[derive(Clone)]
struct Reveal<const ID: u16, K: ArraySize>(Zeroizing<Array<u8, K>>);

impl<const ID: u16, K: ArraySize + Send + Sync> Tells for Reveal<ID, K>
where
    Self: hpke::aead::Aead<AeadImpl: Sync + Send> + Send + Sync + 'static,
{
    fn told(
        first: impl FnOnce(InOutBuf<'_, '_, u8>) -> Result<(), Error>,
    ) -> Result<(Zeroizing<Vec<u8>>, [u8; NONCE_LEN]), Error> {
        let mut key = Zeroizing::new(vec![0; K::USIZE + NONCE_LEN]);
        first(InOutBuf::from(key.as_mut_slice()))?;
        let nonce = *key.last_chunk().ok_or(Error::Authentication)?;
        key.truncate(K::USIZE);
        Ok((key, nonce))
    }
}

impl<const ID: u16, K: ArraySize> Reveal<ID, K> {
    fn tell(&self, nonce: &[u8], mut told: InOutBuf<'_, '_, u8>) -> aead::Result<()> {
        let told = told.get_out().split_at_mut_checked(self.0.len());
        match told {
            Some((key, rest)) if rest.len() == nonce.len() => {
                key.copy_from_slice(&self.0);
                rest.copy_from_slice(nonce);
                Ok(())
            }
            _ => Err(aead::Error),
        }
    }
}

impl<const ID: u16, K: ArraySize> KeySizeUser for Reveal<ID, K> {
    type KeySize = K;
}

impl<const ID: u16, K: ArraySize> KeyInit for Reveal<ID, K> {
    fn new(key: &aead::Key<Self>) -> Self {
        Self(Zeroizing::new(key.clone()))
    }
}

impl<const ID: u16, K: ArraySize> AeadCore for Reveal<ID, K> {
    type NonceSize = U12;
    type TagSize = U0;
    const TAG_POSITION: aead::TagPosition = aead::TagPosition::Postfix;
}

impl<const ID: u16, K: ArraySize> AeadInOut for Reveal<ID, K> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        _: &[u8],
        told: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Tag<Self>> {
        self.tell(nonce, told).map(|()| Tag::<Self>::default())
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        _: &[u8],
        told: InOutBuf<'_, '_, u8>,
        _: &Tag<Self>,
    ) -> aead::Result<()> {
        self.tell(nonce, told)
    }
}

impl<const ID: u16, K: ArraySize + Send + Sync> hpke::aead::Aead for Reveal<ID, K>
where
    Self: Clone + Send + Sync,
{
    type AeadImpl = Self;
    const AEAD_ID: u16 = ID;
}

impl<R: Tells, M: Mechanism> Export for AeadCtxS<R, HkdfSha256, Through<M>> {
    fn export(&self, label: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.export(label, out).map_err(too_long)
    }
}

impl<R: Tells, M: Mechanism> Export for AeadCtxR<R, HkdfSha256, Through<M>> {
    fn export(&self, label: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.export(label, out).map_err(too_long)
    }
}

fn too_long(_: HpkeError) -> Error {
    Error::LimitExceeded("HPKE exports up to 8160 bytes at once")
}
