//! Values that count nonces refuse to continue in a forked child, and the parent continues.
//!
//! `tests/it/copies.rs` of the project checks that the list of these types is complete.

#![cfg(unix)]

use sealane::age::{Armor, Identity, Kind};
use sealane::asymmetric::hpke::{self, Mode, Receiver, Sender};
use sealane::asymmetric::x25519;
use sealane::file::tink::{Hash, Parameters};
use sealane::file::{self, DecryptWith, Durability, EncryptWith, Encryptor, OutputFile, Writer};
use sealane::hazmat::{AeadDecryptor, AeadEncryptor, Poly1305};
use sealane::keys::{KeyType, Keyring, Prefix};
use sealane::{Aead, Algorithm, Error, ForkGuard, InOut, Key, Misuse};
use std::io::{self, Write};

/// Returns whether `work` returns true in a forked child process.
fn in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs `work` and ends. It needs no other thread: glibc keeps its allocator
    // usable in the child, and `work` takes no lock.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(false);
        // SAFETY: ends the child without running code of the test harness.
        unsafe { libc::_exit(if good { 17 } else { 1 }) }
    }
    let mut status = 0;
    // SAFETY: `status` is a valid pointer during the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 17
}

fn forked<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Misuse(Misuse::Forked)))
}

fn key() -> Key {
    Key::from_bytes(&[7; 32])
}

fn encryptions() -> Vec<(EncryptWith, DecryptWith)> {
    let keyset = Keyring::from_key(
        KeyType::Streaming(Parameters::new(Hash::Sha256, 32, 4096).unwrap()),
        Prefix::Raw,
        &key(),
    )
    .unwrap();
    let identity = Identity::generate(Kind::X25519).unwrap();
    let age = |armor| {
        (EncryptWith::age(&[identity.recipient()], armor), DecryptWith::age(std::slice::from_ref(&identity)))
    };
    vec![
        (EncryptWith::key(&key(), b"context"), DecryptWith::key(&key(), b"context")),
        (
            EncryptWith::keyring(&keyset, b"context").unwrap(),
            DecryptWith::keyring(&keyset, b"context").unwrap(),
        ),
        age(Armor::Binary),
        age(Armor::Ascii),
    ]
}

#[test]
fn a_guard_knows_the_process() {
    let guard = ForkGuard::new().unwrap();
    guard.check().unwrap();
    assert!(in_child(|| {
        let own = ForkGuard::new().unwrap();
        forked(guard.check())
            && own.check().is_ok()
            && in_child(|| forked(own.check()) && forked(guard.check()))
    }));
    guard.check().unwrap();
}

// claim: fork-objects
#[test]
fn encryptor() {
    for (encryption, decryption) in encryptions() {
        for before in [0, 10, 3 << 20] {
            let plain = vec![0x5a; before + (2 << 20) + 10];
            let mut encryptor = Encryptor::new(Vec::new(), &encryption).unwrap();
            encryptor.push(&plain[..before]).unwrap();
            assert!(in_child(|| forked(encryptor.push(b"other")) && forked(encryptor.push(&plain))));
            let mut encryptor = Some(encryptor);
            assert!(in_child(|| forked(encryptor.take().unwrap().finish())));
            let mut encryptor = encryptor.unwrap();
            encryptor.push(&plain[before..]).unwrap();
            let sealed = encryptor.finish().unwrap();
            assert!(*file::decrypt(&sealed, &decryption).unwrap() == plain);
        }
    }
}

#[test]
fn fork_inside_a_write() {
    /// A sink that forks when it is written to, and remembers whether the child was stopped.
    struct Forking(Vec<u8>, Option<libc::pid_t>);

    impl Write for Forking {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            if self.0.len() > 1000 && self.1.is_none() {
                // SAFETY: the child returns from the write, and the test ends it.
                self.1 = Some(unsafe { libc::fork() });
            }
            self.0.extend_from_slice(from);
            Ok(from.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let plain = vec![0x5a; 5 << 20];
    let (parent, with) = (std::process::id(), EncryptWith::key(&key(), b""));
    let mut encryptor = Encryptor::new(Forking(Vec::new(), None), &with).unwrap();
    let pushed = encryptor.push(&plain);
    if std::process::id() != parent {
        // SAFETY: ends the child without running code of the test harness.
        unsafe { libc::_exit(if forked(pushed) { 17 } else { 1 }) }
    }
    pushed.unwrap();
    let Forking(sealed, child) = encryptor.finish().unwrap();
    let mut status = 0;
    // SAFETY: `status` is a valid pointer during the call.
    unsafe { libc::waitpid(child.unwrap(), &raw mut status, 0) };
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 17));
    assert!(*file::decrypt(&sealed, &DecryptWith::key(&key(), b"")).unwrap() == plain);
}

#[test]
fn writer_and_output_file() {
    let folder = std::env::temp_dir().join(format!("sealane-fork-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, plain) = (folder.join("file"), vec![0x5a; 3 << 20]);
    let mut writer = Some(Writer::create(&path, &EncryptWith::key(&key(), b"")).unwrap());
    writer.as_mut().unwrap().push(&plain).unwrap();
    assert!(in_child(|| {
        let stopped = forked(writer.as_mut().unwrap().push(&plain));
        stopped && forked(writer.take().unwrap().finish(Durability::Cached))
    }));
    let mut writer = writer.unwrap();
    writer.push(b"end").unwrap();
    writer.finish(Durability::Cached).unwrap();
    let opened = file::decrypt(&std::fs::read(&path).unwrap(), &DecryptWith::key(&key(), b"")).unwrap();
    assert_eq!((opened.len(), &opened[3 << 20..]), ((3 << 20) + 3, &b"end"[..]));

    let mut output = Some(OutputFile::create(&path).unwrap());
    output.as_mut().unwrap().write_all(b"of the parent").unwrap();
    assert!(in_child(|| {
        let stopped = output.as_mut().unwrap().write(b"of the child").map_err(Error::from);
        forked(stopped) && forked(output.take().unwrap().finish(Durability::Cached))
    }));
    output.unwrap().finish(Durability::Cached).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"of the parent");
    std::fs::remove_dir_all(&folder).unwrap();
}

// claim: fork-objects
#[test]
fn aead_encryptor() {
    for algorithm in [Algorithm::Aes256Gcm, Algorithm::ChaCha20Poly1305, Algorithm::XChaCha20Poly1305] {
        let nonce = vec![1; algorithm.nonce_len()];
        let mut encryptor = AeadEncryptor::new(algorithm, key().as_bytes(), &nonce).unwrap();
        encryptor.aad(b"header").unwrap();
        assert!(in_child(|| forked(encryptor.aad(b"other").map(drop)) && forked(encryptor.update(b"other"))));
        let mut sealed = encryptor.update(b"of the parent").unwrap();
        let mut encryptor = Some(encryptor);
        assert!(in_child(|| forked(encryptor.take().unwrap().finalize())));
        sealed.extend(encryptor.unwrap().finalize().unwrap());
        let aead = Aead::new(algorithm, &key()).unwrap();
        assert_eq!(aead.decrypt(&nonce, &sealed, b"header").unwrap(), b"of the parent");
        // Decryption uses no nonce, so a child may continue it.
        let mut decryptor = AeadDecryptor::new(algorithm, key().as_bytes(), &nonce).unwrap();
        decryptor.aad(b"header").unwrap();
        let (data, tag) = sealed.split_at(sealed.len() - 16);
        assert!(in_child(|| {
            decryptor.update(data).is_ok_and(|plain| plain == b"of the parent")
                && decryptor.finalize(tag).is_ok()
        }));
    }
}

#[test]
fn poly1305() {
    let mac = || {
        let mut mac = Poly1305::new(&[7; 32]).unwrap();
        mac.update(b"of the parent");
        mac
    };
    let (first, second) = (mac(), mac());
    assert!(in_child(|| forked(first.finalize())));
    let tag = mac().finalize().unwrap();
    // A comparison reveals no tag.
    assert!(in_child(|| second.verify(&tag).is_ok()));
}

// claim: fork-objects
#[test]
fn hpke_sender() {
    let private = hpke::PrivateKey::from(x25519::PrivateKey::generate().unwrap());
    let mut sender = Sender::new(&private.public(), hpke::Aead::Aes256Gcm, Mode::Base, b"").unwrap();
    let first = sender.seal(b"first", b"").unwrap();
    assert!(in_child(|| {
        let (mut data, mut tag) = (*b"other", [0; 16]);
        let in_place = sender.seal_parts(b"", InOut::in_place(&mut data), &mut tag);
        forked(sender.seal(b"other", b"")) && forked(in_place) && data == *b"other"
    }));
    let second = sender.seal(b"second", b"").unwrap();
    let mut receiver = Receiver::new(&private, hpke::Aead::Aes256Gcm, Mode::Base, sender.enc(), b"").unwrap();
    assert_eq!(receiver.open(&first, b"").unwrap(), b"first");
    assert!(in_child(|| receiver.open(&second, b"").is_ok_and(|plain| plain == b"second")));
    assert_eq!(receiver.open(&second, b"").unwrap(), b"second");
}
