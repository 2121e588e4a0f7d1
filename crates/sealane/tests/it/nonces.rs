//! No key and nonce ever seal two plaintexts: an instrumented provider records every message.
//!
//! The registry belongs to the process, so the test runs this program again as a child process.
//! Forked children of that process append their records to the same file.

#![cfg(unix)]

use sealane::age::{Armor, Identity, Kind};
use sealane::asymmetric::hpke::{self, Mode, Sender};
use sealane::asymmetric::x25519;
use sealane::file::tink::{Hash, Parameters};
use sealane::file::{self, DecryptWith, Durability, EncryptWith, Encryptor, Options, OutputFile, Writer};
use sealane::keys::{KeyType, Keyring, Prefix};
use sealane::provider::{
    self, AeadKey, AuthenticationError, Entry, InOut, KeyError, Provider, SealError, choose,
};
use sealane::{Aead, Algorithm, Key};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs, thread};

const WITNESS: Provider = Provider::new("witness");
const FOLDER: &str = "SEALANE_TEST_NONCES";
/// Length of a record: hash of algorithm, key and nonce, and hash of associated data and plaintext.
const RECORD: usize = 64;

/// A key that records what it seals before it seals it.
struct WitnessKey {
    inner: Box<dyn AeadKey>,
    key: Sha256,
}

impl AeadKey for WitnessKey {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        let mut record = [0; RECORD];
        record[..32].copy_from_slice(&self.key.clone().chain_update(nonce).finalize());
        let message = Sha256::new().chain_update(aad.len().to_be_bytes()).chain_update(aad);
        record[32..].copy_from_slice(&message.chain_update(data.source()).finalize());
        // One write to a file that was opened for appending is one record, also with several
        // processes.
        log().write_all(&record).unwrap();
        self.inner.seal(nonce, aad, data, tag)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.inner.open(nonce, aad, data, tag)
    }
}

fn log() -> &'static File {
    static LOG: OnceLock<File> = OnceLock::new();
    LOG.get_or_init(|| OpenOptions::new().create(true).append(true).open(folder().join("log")).unwrap())
}

fn folder() -> PathBuf {
    env::var_os(FOLDER).unwrap().into()
}

fn expand(algorithm: Algorithm, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
    let inner = choose(algorithm, Some(Provider::Native)).expect("is built in").key(key)?;
    Ok(Box::new(WitnessKey { inner, key: Sha256::new().chain_update(algorithm.name()).chain_update(key) }))
}

macro_rules! entries {
    ($($algorithm:ident)*) => {
        [$(Entry::new(Algorithm::$algorithm, WITNESS, 0, |key| expand(Algorithm::$algorithm, key)),)*]
    };
}

static ENTRIES: [Entry; 8] = entries! {
    Aes128Gcm Aes192Gcm Aes256Gcm Aes256GcmSiv ChaCha20Poly1305 XChaCha20Poly1305 Xaes256Gcm Aegis256
};

/// Runs `work` in a forked child process and waits for it. Its result does not matter: the records
/// do.
fn in_child(work: impl FnOnce()) {
    // SAFETY: the child runs `work` and ends. It needs no other thread: glibc keeps its allocator
    // usable in the child.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the child without running code of the test harness.
        unsafe { libc::_exit(0) }
    }
    // SAFETY: a null pointer is allowed for a status that is not needed.
    assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
}

/// A sequence of random numbers that is the same in every run (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn bytes(&mut self, max: usize) -> Vec<u8> {
        let (len, first) = (self.below(max + 1), self.below(256) as u8);
        vec![first; len]
    }
}

/// A sink that fails in some writes and takes only a part in others.
struct Hostile<'a>(&'a mut Random);

impl Write for Hostile<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self.0.below(12) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            1 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(1 + self.0.below(from.len())),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn formats() -> Vec<(EncryptWith, DecryptWith)> {
    let key = Key::from_bytes(&[7; 32]);
    let keyset = Keyring::from_key(
        KeyType::Streaming(Parameters::new(Hash::Sha256, 32, 4096).unwrap()),
        Prefix::Raw,
        &key,
    )
    .unwrap();
    let identity = Identity::generate(Kind::X25519).unwrap();
    let age = |armor| {
        (EncryptWith::age(&[identity.recipient()], armor), DecryptWith::age(std::slice::from_ref(&identity)))
    };
    vec![
        (EncryptWith::key(&key, b"context"), DecryptWith::key(&key, b"context")),
        (
            EncryptWith::key(&Key::from_bytes(&[7; 16]), b""),
            DecryptWith::key(&Key::from_bytes(&[7; 16]), b""),
        ),
        (EncryptWith::keyring(&keyset, b"").unwrap(), DecryptWith::keyring(&keyset, b"").unwrap()),
        age(Armor::Binary),
        age(Armor::Ascii),
    ]
}

/// Pushes pieces to an encryptor that may fail, continues after failures, and continues in forked
/// children.
fn streams(random: &mut Random, with: &EncryptWith) {
    let mut sink = Random(random.0 ^ 0x5bd1);
    let Ok(mut encryptor) = Encryptor::new(Hostile(&mut sink), with) else { return };
    for _ in 0..random.below(6) {
        let piece = random.bytes(3 << 20);
        if random.below(3) == 0 {
            in_child(|| {
                let _ = encryptor.push(&[0xcc; 2 << 20]);
                let _ = encryptor.push(&piece[..piece.len() / 2]);
            });
        }
        let _ = encryptor.push(&piece);
    }
    let mut encryptor = Some(encryptor);
    in_child(|| drop(encryptor.take().unwrap().finish()));
    let _ = encryptor.unwrap().finish();
}

/// Encrypts to files, also by a job that is cancelled and begun again.
fn files(random: &mut Random, with: &EncryptWith, folder: &Path) {
    let (source, target) = (folder.join("source"), folder.join("target"));
    fs::write(&source, random.bytes(2 << 20)).unwrap();
    for cancel in [true, false] {
        let mut calls = 0;
        let mut progress = |_, _| {
            calls += 1;
            if cancel && calls > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = Options { progress: Some(&mut progress), ..Options::default() };
        let _ = file::encrypt_file(&source, &target, with, options);
    }
    let mut writer = Writer::create(&target, with).unwrap();
    writer.push(&random.bytes(100)).unwrap();
    in_child(|| {
        let _ = writer.push(&[0xcc; 3 << 20]);
        let _ = writer.finish(Durability::Cached);
    });
    let mut writer = Writer::create(&target, with).unwrap();
    writer.push(&random.bytes(2 << 20)).unwrap();
    writer.finish(Durability::Cached).unwrap();
    drop(OutputFile::create(&target).unwrap());
    file::encrypt(&random.bytes(5 << 20), with).unwrap();
}

/// Seals messages in threads and in forked children, which share the keys.
fn messages(random: &mut Random) {
    for entry in &ENTRIES {
        let aead = Aead::new(entry.algorithm, &Key::from_bytes(&vec![9; entry.algorithm.key_len()])).unwrap();
        assert_eq!(aead.provider(), WITNESS);
        let seal = |n: usize| (0..n).for_each(|i| drop(aead.seal(&[i as u8; 9], b"").unwrap()));
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| seal(200)))));
        for _ in 0..3 {
            in_child(|| {
                seal(300);
                in_child(|| seal(300));
            });
            seal(1 + random.below(100));
        }
        let mut buffer = aead.buffer(100);
        for _ in 0..10 {
            buffer.seal(random.below(100), b"").unwrap();
        }
    }
}

/// Seals under HPKE contexts and hybrid messages. Calls with wrong buffers must not use up or
/// repeat a nonce.
fn public_keys(random: &mut Random) {
    let private = hpke::PrivateKey::from(x25519::PrivateKey::generate().unwrap());
    for aead in [hpke::Aead::Aes128Gcm, hpke::Aead::Aes256Gcm, hpke::Aead::ChaCha20Poly1305] {
        let mut sender = Sender::new(&private.public(), aead, Mode::Base, b"").unwrap();
        for _ in 0..20 {
            let message = random.bytes(1000);
            let mut short = vec![0; random.below(message.len() + 16)];
            let _ = sender.seal_into(&message, &mut short, b"");
            let mut data = message.clone();
            let _ = sender.seal_parts(b"", InOut::in_place(&mut data), &mut vec![0; random.below(16)]);
            sender.seal(&message, b"").unwrap();
            if random.below(4) == 0 {
                in_child(|| drop(sender.seal(b"of the child", b"")));
            }
        }
    }
}

fn check(log: &[u8]) -> usize {
    let mut seen = HashMap::new();
    for record in log.chunks(RECORD) {
        let (nonce, message) = record.split_at(32);
        let before = *seen.entry(nonce).or_insert(message);
        assert_eq!(before, message, "one key and nonce sealed two messages");
    }
    seen.len()
}

#[test]
fn no_key_and_nonce_seal_two_plaintexts() {
    if env::var_os(FOLDER).is_some() {
        return record();
    }
    let folder = env::temp_dir().join(format!("sealane-nonces-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["nonces::no_key_and_nonce_seal_two_plaintexts", "--exact"])
        .env_remove("SEALANE_PROVIDER")
        .env(FOLDER, &folder)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    let log = fs::read(folder.join("log")).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(check(&log) > 10_000, "only {} messages", log.len() / RECORD);
}

fn record() {
    provider::register(&ENTRIES).unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (encryption, decryption) in &formats() {
        for _ in 0..15 {
            streams(&mut random, encryption);
        }
        files(&mut random, encryption, &folder());
        let sealed = file::encrypt(b"checked", encryption).unwrap();
        assert_eq!(*file::decrypt(&sealed, decryption).unwrap(), *b"checked");
    }
    messages(&mut random);
    public_keys(&mut random);
}

/// The check itself finds a nonce that was used twice.
#[test]
#[should_panic(expected = "two messages")]
fn a_second_message_is_found() {
    check(&[[1; RECORD], [[1; 32], [2; 32]].concat().try_into().unwrap()].concat());
}
