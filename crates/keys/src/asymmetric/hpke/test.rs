//! Published vectors, sealed with the published randomness and opened.

use super::kem::Ephemeral;
use super::*;
use crate::asymmetric::{mlkem768_p256, p256, x25519, xwing};
use base::Misuse;
use providers::{Algorithm, InOut};
use std::collections::BTreeMap;
use vectors::HpkeCase;
use zeroize::Zeroizing;

const KEMS: [Kem; 4] = [Kem::X25519, Kem::P256, Kem::XWing, Kem::MlKem768P256];
const AEADS: [Aead; 3] = [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305];

fn private(kem: Kem, bytes: &[u8]) -> PrivateKey {
    let bytes = bytes.try_into().unwrap();
    match kem {
        Kem::X25519 => x25519::PrivateKey::from_bytes(bytes).unwrap().into(),
        Kem::P256 => p256::PrivateKey::from_bytes(bytes).unwrap().into(),
        Kem::XWing => xwing::PrivateKey::from_seed(bytes).unwrap().into(),
        Kem::MlKem768P256 => mlkem768_p256::PrivateKey::from_seed(bytes).unwrap().into(),
    }
}

fn public(kem: Kem, bytes: &[u8]) -> PublicKey {
    match kem {
        Kem::X25519 => x25519::PublicKey::from_bytes(bytes.try_into().unwrap()).into(),
        Kem::P256 => p256::PublicKey::from_bytes(bytes).unwrap().into(),
        Kem::XWing => xwing::PublicKey::from_bytes(bytes).unwrap().into(),
        Kem::MlKem768P256 => mlkem768_p256::PublicKey::from_bytes(bytes).unwrap().into(),
    }
}

fn generate(kem: Kem) -> PrivateKey {
    match kem {
        Kem::X25519 => x25519::PrivateKey::generate().unwrap().into(),
        Kem::P256 => p256::PrivateKey::generate().unwrap().into(),
        Kem::XWing => xwing::PrivateKey::generate().unwrap().into(),
        Kem::MlKem768P256 => mlkem768_p256::PrivateKey::generate().unwrap().into(),
    }
}

fn mode<'a, K>(case: &'a HpkeCase, sender: Option<&'a K>) -> Mode<'a, K> {
    let psk = case.psk.as_ref().map(|(secret, id)| Psk::new(secret, id).unwrap());
    match (sender, psk) {
        (None, None) => Mode::Base,
        (None, Some(psk)) => Mode::Psk(psk),
        (Some(key), None) => Mode::Auth(key),
        (Some(key), Some(psk)) => Mode::AuthPsk(key, psk),
    }
}

/// Splits the randomness of an encapsulation into ML-KEM's seed and the curve's ephemeral key.
fn seeds(randomness: &[u8]) -> (Zeroizing<[u8; 32]>, [u8; 32]) {
    let (ml_kem, curve) = randomness.split_at(32);
    (Zeroizing::new(ml_kem.try_into().unwrap()), curve.try_into().unwrap())
}

#[test]
fn published_contexts() {
    let (mut unsupported, mut contexts, mut messages): (BTreeMap<_, usize>, _, _) = (BTreeMap::new(), 0, 0);
    for case in vectors::hpke() {
        let name = format!("{} #{}", case.file, case.id);
        let (_, kem, kdf, aead) = case.suite;
        let known_kem = KEMS.into_iter().find(|known| known.id() == kem);
        let known_aead = AEADS.into_iter().find(|known| known.id() == aead);
        let (Some(kem), Some(aead), 0x0001) = (known_kem, known_aead, kdf) else {
            *unsupported.entry((case.file, kem, kdf, aead)).or_default() += 1;
            continue;
        };
        let key = private(kem, &case.private);
        assert_eq!(key.public(), public(kem, &case.public), "{name}");
        let sender_key = case.sender.as_ref().map(|(key, _)| private(kem, key));
        let sender_public = case.sender.as_ref().map(|(_, key)| public(kem, key));

        let ephemeral = match kem {
            Kem::XWing => {
                let (seed, key) = seeds(&case.randomness);
                Ephemeral { key: x25519::PrivateKey::from_bytes(&key).unwrap().into(), seed }
            }
            // The other bytes are further candidates for the key, not needed here.
            Kem::MlKem768P256 => {
                let (seed, key) = seeds(&case.randomness[..64]);
                Ephemeral { key: p256::PrivateKey::from_bytes(&key).unwrap().into(), seed }
            }
            _ => Ephemeral { key: private(kem, &case.randomness), seed: Default::default() },
        };
        let (from, to) = (mode(&case, sender_key.as_ref()), mode(&case, sender_public.as_ref()));
        let mut sender = Sender::with_ephemeral(&key.public(), aead, from, &case.info, &ephemeral).unwrap();
        assert_eq!(sender.enc(), case.encapsulation, "{name}");
        let mut receiver = Receiver::new(&key, aead, to, &case.encapsulation, &case.info).unwrap();
        for message in &case.messages {
            (sender.context.seq, receiver.context.seq) = (message.number, message.number);
            let sealed = sender.seal(&message.plaintext, &message.aad).unwrap();
            assert_eq!(sealed, message.ciphertext, "{name}, message {}", message.number);
            let opened = receiver.open(&message.ciphertext, &message.aad).unwrap();
            assert_eq!(opened, message.plaintext, "{name}, message {}", message.number);
            messages += 1;
        }
        for (label, secret) in &case.exports {
            let (mut a, mut b) = (vec![0; secret.len()], vec![0; secret.len()]);
            sender.export(label, &mut a).unwrap();
            receiver.export(label, &mut b).unwrap();
            assert!(a == *secret && b == *secret, "{name}: {label:?}");
        }
        contexts += 1;
    }
    // Unsupported: X448 and P-521, HKDF-SHA512, export-only contexts; in the draft, ML-KEM alone,
    // and the one-stage KDFs.
    let skipped: usize = unsupported.values().sum();
    let kems: usize =
        unsupported.iter().filter(|((_, kem, ..), _)| [33, 18].contains(kem)).map(|(_, n)| n).sum();
    let draft: usize =
        unsupported.iter().filter(|((file, ..), _)| file.contains("_pq_")).map(|(_, n)| n).sum();
    assert_eq!((kems, draft, skipped), (32, 5, 32 + 5 + 16));
    assert_eq!((contexts, contexts + skipped), (18, 64 + 7));
    assert!(messages >= 18 * 6, "{messages}");
}

#[test]
fn xwing_published_encapsulations() {
    for case in vectors::xwing() {
        let key = xwing::PublicKey::from_bytes(&case.public).unwrap();
        let (seed, ephemeral) = seeds(&case.randomness);
        let ephemeral = x25519::PrivateKey::from_bytes(&ephemeral).unwrap();
        let (shared, sent) = key.encapsulate_deterministic(&seed, &ephemeral).unwrap();
        assert_eq!((&*shared, sent), (&case.shared, case.encapsulation), "{} #{}", case.file, case.id);
    }
}

#[test]
fn modified_messages_fail_authentication() {
    for (kem, aead) in KEMS.into_iter().flat_map(|kem| AEADS.map(|aead| (kem, aead))) {
        let key = generate(kem);
        let (sent, sealed) = seal(&key.public(), aead, b"info", b"aad", b"message").unwrap();
        assert_eq!((sent.len(), sealed.len()), (kem.enc_len(), 7 + TAG_LEN));
        assert_eq!(open(&key, aead, &sent, b"info", b"aad", &sealed).unwrap(), b"message");

        let refused = |key: &PrivateKey, sent: &[u8], info: &[u8], aad: &[u8], sealed: &[u8]| {
            let opened = open(key, aead, sent, info, aad, sealed);
            assert!(matches!(opened, Err(Error::Authentication)), "{kem:?}: {opened:?}");
        };
        refused(&key, &sent, b"infO", b"aad", &sealed);
        refused(&key, &sent, b"info", b"aaD", &sealed);
        refused(&generate(kem), &sent, b"info", b"aad", &sealed);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            refused(&key, &sent, b"info", b"aad", &changed);
            refused(&key, &sent, b"info", b"aad", &sealed[..at]);
        }
        // X25519 ignores the top bit of the last byte, but the key schedule hashes it.
        for at in (0..sent.len()).step_by(7).chain([sent.len() - 1]) {
            let mut changed = sent.clone();
            changed[at] ^= 0x80;
            refused(&key, &changed, b"info", b"aad", &sealed);
            refused(&key, &sent[..at], b"info", b"aad", &sealed);
        }
        refused(&key, &[&sent[..], &[0]].concat(), b"info", b"aad", &sealed);
        refused(&key, &vec![0; sent.len()], b"info", b"aad", &sealed);
        for other in AEADS.into_iter().filter(|&other| other != aead) {
            assert!(open(&key, other, &sent, b"info", b"aad", &sealed).is_err());
        }
    }
}

#[test]
fn sender_authentication() {
    let psk = Psk::new(&[7; 32], b"name").unwrap();
    for kem in [Kem::X25519, Kem::P256] {
        let (recipient, sender, other_sender) = (generate(kem), generate(kem), generate(kem));
        let (sender_public, other_public) = (sender.public(), other_sender.public());
        let from = [Mode::Base, Mode::Psk(psk), Mode::Auth(&sender), Mode::AuthPsk(&sender, psk)];
        let to = [
            Mode::Base,
            Mode::Psk(psk),
            Mode::Auth(&sender_public),
            Mode::AuthPsk(&sender_public, psk),
            Mode::Auth(&other_public),
            Mode::AuthPsk(&other_public, psk),
            Mode::Psk(Psk::new(&[8; 32], b"name").unwrap()),
            Mode::Psk(Psk::new(&[7; 32], b"another").unwrap()),
        ];
        for (i, from) in from.into_iter().enumerate() {
            let mut sending = Sender::new(&recipient.public(), Aead::Aes256Gcm, from, b"").unwrap();
            let sealed = sending.seal(b"message", b"").unwrap();
            for (j, to) in to.into_iter().enumerate() {
                let receiver = Receiver::new(&recipient, Aead::Aes256Gcm, to, sending.enc(), b"");
                let opened = receiver.unwrap().open(&sealed, b"");
                assert_eq!(opened.is_ok(), i == j, "{kem:?}: mode {i} opened as {j}");
            }
        }
    }
}

#[test]
fn forgeries_do_not_advance_the_sequence_number() {
    let key = generate(Kem::X25519);
    let mut sender = Sender::new(&key.public(), Aead::ChaCha20Poly1305, Mode::Base, b"").unwrap();
    let sealed: Vec<_> = (0..3).map(|n| sender.seal(&[n; 40], b"").unwrap()).collect();
    let mut receiver = Receiver::new(&key, Aead::ChaCha20Poly1305, Mode::Base, sender.enc(), b"").unwrap();
    let mut out = [0xaa; 50];
    assert!(matches!(receiver.open_into(&sealed[1], &mut out, b""), Err(Error::Authentication)));
    assert!(out[..40] == [0; 40] && out[40..] == [0xaa; 10]);
    for (n, sealed) in sealed.iter().enumerate() {
        assert_eq!(receiver.open_into(sealed, &mut out, b"").unwrap(), 40);
        assert_eq!(out[..40], [n as u8; 40]);
    }
    sender.context.seq = u64::MAX;
    assert!(matches!(sender.seal(b"", b""), Err(Error::LimitExceeded(_))));
    assert!(matches!(sender.export(b"", &mut [0; 8161]), Err(Error::LimitExceeded(_))));
    assert!(sender.export(b"", &mut [0; 8160]).is_ok());
}

/// Messages with a separate tag take the same sequence numbers as others.
#[test]
fn messages_in_parts_advance_the_sequence_number() {
    let key = generate(Kem::X25519);
    let mut sender = Sender::new(&key.public(), Aead::Aes256Gcm, Mode::Base, b"").unwrap();
    let mut receiver = Receiver::new(&key, Aead::Aes256Gcm, Mode::Base, sender.enc(), b"").unwrap();
    for n in 0..4 {
        let (mut data, mut tag) = ([n; 40], [0; 16]);
        sender.seal_parts(b"aad", InOut::in_place(&mut data), &mut tag).unwrap();
        match n % 2 {
            0 => receiver.open_parts(b"aad", InOut::in_place(&mut data), &tag).unwrap(),
            _ => data = receiver.open(&[&data[..], &tag].concat(), b"aad").unwrap().try_into().unwrap(),
        }
        assert_eq!(data, [n; 40]);
    }
    let sealed = sender.seal(&[9; 40], b"").unwrap();
    let (data, tag) = sealed.split_at(40);
    let (mut data, mut forged) = (data.to_vec(), [7; 16]);
    let refused = receiver.open_parts(b"", InOut::in_place(&mut data), &forged);
    assert!(matches!(refused, Err(Error::Authentication)));
    data.copy_from_slice(&sealed[..40]);
    forged.copy_from_slice(tag);
    receiver.open_parts(b"", InOut::in_place(&mut data), &forged).unwrap();
    assert_eq!(data, [9; 40]);
}

#[test]
fn misuse_is_reported() {
    for aead in AEADS {
        assert_eq!(Aead::try_from(aead.algorithm()).unwrap(), aead);
    }
    assert!(matches!(Aead::try_from(Algorithm::Aes256GcmSiv), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    let (x, p, w) = (generate(Kem::X25519), generate(Kem::P256), generate(Kem::XWing));
    let misuse = |recipient: &PublicKey, mode| match Sender::new(recipient, Aead::Aes256Gcm, mode, b"") {
        Err(Error::Misuse(misuse)) => misuse.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(misuse(&x.public(), Mode::Auth(&p)).contains("different kinds"));
    assert!(misuse(&p.public(), Mode::Auth(&w)).contains("different kinds"));
    assert!(misuse(&w.public(), Mode::Auth(&w)).contains("no authenticated modes"));
    let low: PublicKey = x25519::PublicKey::from_bytes(&[0; 32]).into();
    assert!(misuse(&low, Mode::Base).contains("low order"));
    for (secret, id) in [(&[7; 31][..], &b"name"[..]), (&[7; 32], b""), (b"", b"")] {
        assert!(matches!(Psk::new(secret, id), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    }
    let sent = p.public();
    let PublicKey::P256(sent) = &sent else { unreachable!() };
    let wrong = Receiver::new(&x, Aead::Aes256Gcm, Mode::Auth(&p.public()), &sent.as_bytes()[..32], b"");
    assert!(matches!(wrong, Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    assert_eq!(format!("{:?}", Psk::new(&[7; 32], b"name").unwrap()), "Psk(32 bytes)");
}
