//! Runs the contract on every entry.

use providers::{
    AeadKey, Algorithm, AuthenticationError, Entry, InOut, KeyError, Provider, SealError, choose, contract,
    entries, short_salt,
};
use std::panic;
use std::thread::{self, ThreadId};

/// Lists all entries. An unavailable one is a failure, so that none is skipped in silence.
fn available() -> impl Iterator<Item = &'static Entry> {
    entries().inspect(|entry| {
        let available = entry.available();
        assert_eq!(available, Ok(()), "{} from {}", entry.algorithm.name(), entry.provider.name());
    })
}

#[test]
fn round_trip() {
    available().for_each(contract::round_trip);
}

#[test]
fn agreement() {
    for &algorithm in Algorithm::ALL {
        let mut entries = available().filter(|entry| entry.algorithm == algorithm);
        let first = entries.next().expect("every algorithm has an entry");
        entries.for_each(|entry| contract::agreement(first, entry));
    }
}

// claim: message-changed
#[test]
fn rejects_changes() {
    available().for_each(contract::rejects_changes);
}

#[test]
fn rejects_lengths() {
    available().for_each(contract::rejects_lengths);
}

#[test]
fn division() {
    available().for_each(contract::division);
}

#[test]
fn sharing() {
    available().for_each(contract::sharing);
}

#[test]
fn batches() {
    available().for_each(contract::batches);
}

/// A full-length salt gives the nonces of XAES-256-GCM, so the key must do the same as the one it
/// wraps.
#[test]
fn keys_with_a_salt_of_full_length() {
    const SALTED: [Entry; 2] = [
        Entry::new(Algorithm::Xaes256Gcm, Provider::Native, 0, |key| salted(Provider::Native, key)),
        Entry::new(Algorithm::Xaes256Gcm, Provider::Ring, 0, |key| salted(Provider::Ring, key)),
    ];
    fn salted(provider: Provider, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
        let entry = available().find(|it| (it.algorithm, it.provider) == (Algorithm::Xaes256Gcm, provider));
        Ok(short_salt(entry.unwrap().key(key)?, 12))
    }
    let mut divides = Vec::new();
    for entry in &SALTED {
        let plain = available().find(|it| it.algorithm == entry.algorithm && it.provider == entry.provider);
        contract::division(entry);
        contract::rejects_changes(entry);
        contract::agreement(plain.unwrap(), entry);
        divides.push(entry.key(&[7; 32]).unwrap().divides_messages());
    }
    assert_eq!(divides, [true, false], "one of each kind is tested");
}

/// Faults that the contract must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    SealsApartOtherwise,
    OpensNothing,
    OpensNothingApart,
    OpensOtherBytes,
    SealsLongMessagesOtherwise,
    IgnoresTheEndOfTheTag,
    IgnoresTheEndOfTheNonce,
    IgnoresTheEndOfTheAad,
    IgnoresTheTagOfLongMessages,
    LeavesBytesOfForgeries,
    TakesLongNonces,
    OpensUnderLongNonces,
    WritesBeforeItRefuses,
    SealsOtherwiseInOtherThreads,
    OpensNothingInOtherThreads,
}
use Fault::*;

struct FaultyKey {
    inner: Box<dyn AeadKey>,
    fault: Fault,
    maker: ThreadId,
}

impl FaultyKey {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Returns the nonce and the associated data as the faulty key sees them.
    fn taken(&self, nonce: &[u8], aad: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut nonce, mut aad) = (nonce.to_vec(), aad.to_vec());
        if self.has(IgnoresTheEndOfTheNonce) && nonce.len() == 12 {
            nonce[11] = 0;
        }
        if self.has(IgnoresTheEndOfTheAad) {
            aad.pop();
        }
        (nonce, aad)
    }

    /// Decrypts without checking the tag. In ChaCha20-Poly1305, this is encryption again.
    fn decrypt(&self, nonce: &[u8], data: InOut<'_>) {
        self.inner.seal(nonce, b"", data, &mut [0; 16]).unwrap();
    }
}

impl AeadKey for FaultyKey {
    fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), SealError> {
        let (mut nonce, aad) = self.taken(nonce, aad);
        if self.has(TakesLongNonces) && nonce.len() > 12 {
            nonce.truncate(12);
        }
        if self.has(WritesBeforeItRefuses) && nonce.len() != 12 {
            data.target().fill(1);
        }
        let wrong = self.has(SealsApartOtherwise) && !data.is_in_place()
            || self.has(SealsLongMessagesOtherwise) && data.len() > 16_384
            || self.has(SealsOtherwiseInOtherThreads) && thread::current().id() != self.maker;
        self.inner.seal(&nonce, &aad, data, tag)?;
        tag[0] ^= u8::from(wrong);
        Ok(())
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        let (mut nonce, aad) = self.taken(nonce, aad);
        if self.has(OpensUnderLongNonces) && nonce.len() > 12 {
            nonce.truncate(12);
            self.decrypt(&nonce, data);
            return Ok(());
        }
        let refuses = self.has(OpensNothing)
            || self.has(OpensNothingApart) && !data.is_in_place()
            || self.has(OpensNothingInOtherThreads) && thread::current().id() != self.maker;
        if refuses {
            data.target().fill(0);
            return Err(AuthenticationError);
        }
        if self.has(IgnoresTheTagOfLongMessages) && data.len() > 300 {
            self.decrypt(&nonce, data);
            return Ok(());
        }
        if self.has(IgnoresTheEndOfTheTag) {
            let (mut plaintext, mut found) = (data.source().to_vec(), [0; 16]);
            self.decrypt(&nonce, InOut::in_place(&mut plaintext));
            self.inner.seal(&nonce, &aad, InOut::in_place(&mut plaintext.clone()), &mut found).unwrap();
            if found[..15] == tag[..15] {
                data.target().copy_from_slice(&plaintext);
                return Ok(());
            }
        }
        let len = data.len();
        let target = data.part(0, len);
        let result = self.inner.open(&nonce, &aad, target, tag);
        if self.has(OpensOtherBytes) || self.has(LeavesBytesOfForgeries) && result.is_err() {
            data.target().iter_mut().for_each(|byte| *byte ^= 1);
        }
        result
    }
}

/// An entry with the fault number `FAULT`, because an entry has no state.
fn faulty<const FAULT: usize>() -> Entry {
    Entry::new(Algorithm::ChaCha20Poly1305, Provider::new("faulty"), 0, |key| {
        let fault = FAULTS[FAULT].0;
        let inner = choose(Algorithm::ChaCha20Poly1305, Some(Provider::Native)).unwrap().key(key)?;
        Ok(Box::new(FaultyKey { inner, fault, maker: thread::current().id() }))
    })
}

fn agrees_with_native(entry: &Entry) {
    contract::agreement(choose(entry.algorithm, Some(Provider::Native)).unwrap(), entry);
}

/// A function of the contract.
type Check = fn(&Entry);

/// Joining a thread loses its panic message.
const IN_A_THREAD: &str = "a scoped thread panicked";

/// Which check notices a fault, and what it says.
const FAULTS: [(Fault, Check, &str); 15] = [
    (SealsApartOtherwise, contract::round_trip, "1 bytes: in place and apart differ"),
    (OpensNothing, contract::round_trip, "0 bytes in place: not opened"),
    (OpensNothingApart, contract::round_trip, "1 bytes apart: not opened"),
    (OpensOtherBytes, contract::round_trip, "1 bytes in place: wrong plaintext"),
    (SealsLongMessagesOtherwise, agrees_with_native, "differ at 16385 bytes"),
    (IgnoresTheEndOfTheTag, contract::rejects_changes, "changed tag, 0 bytes in place: opened"),
    (IgnoresTheEndOfTheNonce, contract::rejects_changes, "changed nonce, 0 bytes in place: opened"),
    (IgnoresTheEndOfTheAad, contract::rejects_changes, "changed aad, 1 bytes in place: opened"),
    (
        IgnoresTheTagOfLongMessages,
        contract::rejects_changes,
        "changed ciphertext, 40000 bytes in place: opened",
    ),
    (LeavesBytesOfForgeries, contract::rejects_changes, "changed ciphertext, 1 bytes in place: not zero"),
    (TakesLongNonces, contract::rejects_lengths, "accepted a nonce of 13 bytes"),
    (OpensUnderLongNonces, contract::rejects_lengths, "nonce of 13 bytes, 20 bytes in place: opened"),
    (WritesBeforeItRefuses, contract::rejects_lengths, "wrote before it rejected a nonce of 0 bytes"),
    (SealsOtherwiseInOtherThreads, contract::sharing, IN_A_THREAD),
    (OpensNothingInOtherThreads, contract::sharing, IN_A_THREAD),
];

/// A check that cannot fail says nothing.
#[test]
fn every_fault_is_noticed() {
    let entries = [
        faulty::<0>(),
        faulty::<1>(),
        faulty::<2>(),
        faulty::<3>(),
        faulty::<4>(),
        faulty::<5>(),
        faulty::<6>(),
        faulty::<7>(),
        faulty::<8>(),
        faulty::<9>(),
        faulty::<10>(),
        faulty::<11>(),
        faulty::<12>(),
        faulty::<13>(),
        faulty::<14>(),
    ];
    for (entry, (fault, check, expected)) in entries.iter().zip(FAULTS) {
        let payload = panic::catch_unwind(|| check(entry)).expect_err("passed");
        let said = payload.downcast::<String>().map_or_else(|_| IN_A_THREAD.into(), |said| *said);
        assert!(said.contains(expected), "{fault:?}: expected {expected:?}, found {said:?}");
        assert!(said == IN_A_THREAD || said.contains("chacha20-poly1305 from faulty"), "{said:?}");
    }
}
