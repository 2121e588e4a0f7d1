//! A message in pieces equals the message of one call for any lengths of the pieces, and changed
//! messages are rejected, for every algorithm with a streaming interface and every variant of
//! AES-GCM.

use kernels::error::MessageError;
use kernels::gcm::{self, Gcm, Stream};
use sealane::hazmat::{AeadDecryptor, AeadEncryptor};
use sealane::{Aead, Algorithm, Error, InOut, Key, Misuse};
use crate::{pieces, repeated, rows};

pub(crate) fn run(input: (u8, [u8; 32], Vec<u8>, u16, u8, u8, Vec<u16>, Vec<u8>, Vec<u8>)) {
    let (choice, key, mut nonce, place, bit, times, cuts, aad, plain) = input;
    let algorithm = Algorithm::ALL[usize::from(choice) % Algorithm::ALL.len()];
    let key = &key[..algorithm.key_len()];
    let message =
        Message { aad: repeated(aad, times % 32, 3000), plain: repeated(plain, times, 1 << 16), cuts };
    if matches!(algorithm, Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm) {
        message.on_every_row(key, &nonce);
    }
    nonce.resize(algorithm.nonce_len(), 0);
    let begin = || AeadEncryptor::new(algorithm, key, &nonce);
    let mut encryptor = match begin() {
        Err(Error::Misuse(Misuse::StreamingUnsupported(_))) => return,
        started => started.expect("a good key and nonce"),
    };
    let Message { aad, plain, cuts } = message;
    let aead = Aead::new(algorithm, &Key::from_bytes(key)).expect("a good key");
    let sealed = aead.encrypt(&nonce, &plain, &aad).expect("not too long");
    let (ciphertext, tag) = sealed.split_at(plain.len());

    for piece in pieces(&aad, &cuts) {
        encryptor.aad(piece).expect("it comes first");
    }
    let mut found = Vec::new();
    for piece in pieces(&plain, &cuts) {
        found.extend(encryptor.update(piece).expect("not too long"));
        let late = encryptor.aad(&[1][..usize::from(!found.is_empty())]);
        assert!(late.is_ok() || matches!(late, Err(Error::Misuse(Misuse::AadAfterData))));
        assert_eq!(late.is_ok(), found.is_empty(), "{algorithm:?}: additional data after data");
    }
    assert!(found == ciphertext, "{algorithm:?}: wrong ciphertext");
    assert!(encryptor.finalize().expect("not forked") == tag, "{algorithm:?}: wrong tag");

    // Apart and in place, alternately.
    let open = |nonce: &[u8], aad: &[u8], ciphertext: &[u8], tag: &[u8]| {
        let mut decryptor = AeadDecryptor::new(algorithm, key, nonce).expect("a good key and nonce");
        for piece in pieces(aad, &cuts) {
            decryptor.aad(piece).expect("it comes first");
        }
        let mut opened = Vec::new();
        for (i, piece) in pieces(ciphertext, &cuts).into_iter().enumerate() {
            let at = opened.len();
            if i % 2 == 0 {
                opened.extend(decryptor.update(piece).expect("not too long"));
            } else {
                opened.extend(piece);
                decryptor.xor(InOut::in_place(&mut opened[at..])).expect("not too long");
            }
        }
        (opened, decryptor.finalize(tag))
    };
    let (opened, right) = open(&nonce, &aad, ciphertext, tag);
    assert!(opened == plain, "{algorithm:?}: wrong plaintext");
    assert!(right.is_ok(), "{algorithm:?}: rejects its own message");
    let (mut changed, mut aad) = (sealed.clone(), aad);
    let mut bytes: Vec<_> = [&mut changed, &mut aad, &mut nonce].into_iter().flatten().collect();
    let place = usize::from(place) % bytes.len();
    *bytes[place] ^= 1 << (bit % 8);
    let (ciphertext, tag) = changed.split_at(plain.len());
    let (_, right) = open(&nonce, &aad, ciphertext, tag);
    assert!(matches!(right, Err(Error::Authentication)), "{algorithm:?}: accepts a changed message");
}

struct Message {
    aad: Vec<u8>,
    plain: Vec<u8>,
    cuts: Vec<u16>,
}

impl Message {
    /// Checks the AES-GCM kernel, which accepts nonces of any length.
    fn on_every_row(&self, key: &[u8], nonce: &[u8]) {
        let mut first = None;
        for (name, features) in rows(gcm::variants()) {
            let gcm = Gcm::new(key, features).expect("a good length");
            assert_eq!(gcm.variant(), name);
            let (mut data, mut tag) = (self.plain.clone(), [0; 16]);
            gcm.seal(nonce, &self.aad, InOut::in_place(&mut data), &mut tag).expect("not too long");
            let begin = || {
                let mut stream = Stream::begin(&gcm, nonce).expect("not too long");
                let aad = pieces(&self.aad, &self.cuts).into_iter();
                aad.for_each(|piece| stream.aad(piece).expect("it comes first"));
                stream
            };
            let (mut sealing, mut opening) = (begin(), begin());
            let (mut sealed, mut opened, mut at) = (self.plain.clone(), vec![0xee; data.len()], 0);
            for piece in pieces(&self.plain, &self.cuts) {
                let all = at..at + piece.len();
                sealing.encrypt(InOut::in_place(&mut sealed[all.clone()])).expect("not too long");
                opening
                    .decrypt(InOut::apart(&data[all.clone()], &mut opened[all.clone()]))
                    .expect("not too long");
                at = all.end;
            }
            if at > 0 {
                assert_eq!(sealing.aad(&[1]), Err(MessageError::LateAssociatedData), "{name}");
            }
            assert!(sealed == data && opened == self.plain, "{name}: other bytes");
            assert!(sealing.finish() == tag && opening.finish() == tag, "{name}: wrong tag");
            let first = first.get_or_insert_with(|| (data.clone(), tag));
            assert!(*first == (data, tag), "{name}: differs from the first variant");
        }
    }
}
