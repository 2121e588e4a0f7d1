//! The KEMs of HPKE: DHKEM (RFC 9180, section 4.1) over X25519 and P-256, X-Wing and MLKEM768-P256.
//!
//! ```text
//! Encap(pkR)     : dh = DH(skE, pkR)                  kem_context = enc || pkR            enc = pkE, fresh
//! AuthEncap(…)   : dh = DH(skE, pkR) || DH(skS, pkR)  kem_context = enc || pkR || pkS
//! shared_secret  = LabeledExpand(LabeledExtract("", "eae_prk", dh), "shared_secret", kem_context, 32)
//! ```
//!
//! The recipient computes the same `dh` as `DH(skR, pkE)` and `DH(skR, pkS)`. The hybrids with
//! ML-KEM have no authenticated variant.

use super::kdf::{Kdf, Secret};
use super::{Kem, PrivateKey, PublicKey};
use crate::asymmetric::{p256, x25519};
use crate::prelude::*;

const OTHER_KEM: Error =
    Error::unsuitable_key("the sender's key and the recipient's key are of different kinds of key");
const NO_AUTH_MODE: Error = Error::unsuitable_key(
    "X-Wing and MLKEM768-P256 have no authenticated modes: use base mode or a pre-shared key instead of a sender's key",
);
const LOW_ORDER: Error = Error::Misuse(Misuse::InvalidRecipients(
    "expected the recipient's public key, found a point of low order, with which the secret is known to everyone",
));

/// The randomness of an encapsulation: an ephemeral key, and a seed for ML-KEM.
pub(super) struct Ephemeral {
    pub(super) key: PrivateKey,
    pub(super) seed: Secret,
}

impl Ephemeral {
    pub(super) fn generate(kem: Kem) -> Result<Self> {
        let key = match kem {
            Kem::X25519 | Kem::XWing => x25519::PrivateKey::generate()?.into(),
            Kem::P256 | Kem::MlKem768P256 => p256::PrivateKey::generate()?.into(),
        };
        let mut seed = Secret::default();
        base::random::fill(&mut *seed)?;
        Ok(Self { key, seed })
    }
}

/// Computes `Encap(pkR)` or `AuthEncap(pkR, skS)`. Returns `shared_secret` and `enc`.
pub(super) fn encap(
    recipient: &PublicKey,
    sender: Option<&PrivateKey>,
    Ephemeral { key: ephemeral, seed }: &Ephemeral,
) -> Result<(Secret, Vec<u8>)> {
    Computation::Hpke.check()?;
    check_sender(recipient.kem(), sender.map(PrivateKey::kem))?;
    let low_order = |why| if matches!(why, Error::Misuse(_)) { LOW_ORDER } else { why };
    match (recipient, ephemeral) {
        (PublicKey::XWing(key), PrivateKey::X25519(ephemeral)) => {
            key.encapsulate_deterministic(seed, ephemeral).map_err(low_order)
        }
        (PublicKey::MlKem768P256(key), PrivateKey::P256(ephemeral)) => {
            key.encapsulate_deterministic(seed, ephemeral)
        }
        (_, ephemeral) => {
            let enc = ephemeral.public();
            let dh = dh(ephemeral, recipient).map_err(low_order)?;
            let auth = sender.map(|key| super::kem::dh(key, recipient)).transpose().map_err(low_order)?;
            let sender = sender.map(PrivateKey::public);
            let secret = extract_and_expand(&dh, auth.as_ref(), &enc, recipient, sender.as_ref())?;
            Ok((secret, enc.as_bytes().to_vec()))
        }
    }
}

/// Computes `Decap(enc, skR)` or `AuthDecap(enc, skR, pkS)`. Returns `shared_secret`.
pub(super) fn decap(recipient: &PrivateKey, sender: Option<&PublicKey>, enc: &[u8]) -> Result<Secret> {
    Computation::Hpke.check()?;
    check_sender(recipient.kem(), sender.map(PublicKey::kem))?;
    // The sender chose `enc`: any reason but authentication would tell too much.
    let invalid = |why| match why {
        Error::Misuse(_) | Error::Format(_) => Error::Authentication,
        other => other,
    };
    let enc: PublicKey = match recipient {
        PrivateKey::XWing(key) => return key.decapsulate(enc),
        PrivateKey::MlKem768P256(key) => return key.decapsulate(enc),
        PrivateKey::P256(_) => p256::PublicKey::from_bytes(enc).map_err(invalid)?.into(),
        // The conversion to an array fails only if the length is wrong.
        PrivateKey::X25519(_) => {
            x25519::PublicKey::from_bytes(enc.try_into().map_err(|_| Error::Authentication)?).into()
        }
    };
    let dh_enc = dh(recipient, &enc).map_err(invalid)?;
    let auth = sender.map(|key| dh(recipient, key)).transpose().map_err(invalid)?;
    extract_and_expand(&dh_enc, auth.as_ref(), &enc, &recipient.public(), sender)
}

fn check_sender(recipient: Kem, sender: Option<Kem>) -> Result<()> {
    match sender {
        Some(_) if matches!(recipient, Kem::XWing | Kem::MlKem768P256) => Err(NO_AUTH_MODE),
        Some(sender) if sender != recipient => Err(OTHER_KEM),
        _ => Ok(()),
    }
}

/// Computes `DH(skX, pkY)`.
fn dh(private: &PrivateKey, public: &PublicKey) -> Result<Secret> {
    match (private, public) {
        (PrivateKey::X25519(private), PublicKey::X25519(public)) => private.diffie_hellman(public),
        (PrivateKey::P256(private), PublicKey::P256(public)) => private.diffie_hellman(public),
        _ => Err(OTHER_KEM),
    }
}

/// Computes `ExtractAndExpand(dh, kem_context)`.
fn extract_and_expand(
    dh: &Secret,
    auth: Option<&Secret>,
    enc: &PublicKey,
    recipient: &PublicKey,
    sender: Option<&PublicKey>,
) -> Result<Secret> {
    let kdf = Kdf::of_kem(recipient.kem());
    let eae_prk = kdf.extract(b"", "eae_prk", &[&**dh, auth.map_or(&[][..], |dh| &**dh)]);
    let sender = sender.map_or(&[][..], PublicKey::as_bytes);
    let mut shared_secret = Secret::default();
    let kem_context = [enc.as_bytes(), recipient.as_bytes(), sender];
    kdf.expand(&eae_prk, "shared_secret", &kem_context, &mut *shared_secret)?;
    Ok(shared_secret)
}
