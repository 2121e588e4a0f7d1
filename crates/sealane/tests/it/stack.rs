//! Tests that the operations of key pairs leave nothing of a private key on the stack, as
//! `stack.rs` of the kernels does for symmetric keys.
//!
//! The stack is filled with a pattern, a call is made, and the stack below the call is searched for
//! the secrets. These are kept inverted on the heap, so the search finds no copy of its own.
#![cfg(not(miri))]

use libcrux_ml_kem::mlkem768;
use sealane::age::{self, Armor, Identity};
use sealane::asymmetric::{ed25519, p256, secp256k1, x25519, xwing};
use sha2::{Digest, Sha512};
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use std::hint::black_box;

/// Number of bytes of the stack that are searched.
const DEPTH: usize = 1 << 18;
/// Number of bytes of a secret that must not be found.
const PART: usize = 8;

/// A secret, inverted.
struct Secret(&'static str, Vec<u8>);

impl Secret {
    fn new(name: &'static str, bytes: &[u8]) -> Self {
        Self(name, bytes.iter().map(|byte| !byte).collect())
    }

    /// Returns how many aligned parts of the secret `bytes` has.
    fn find(&self, bytes: &[u8]) -> usize {
        let parts: Vec<[u8; PART]> = self.1.chunks_exact(PART).map(|part| part.try_into().unwrap()).collect();
        let found =
            |part: &[u8; PART]| bytes.windows(PART).any(|at| at.iter().zip(part).all(|(a, b)| *a == !*b));
        parts.iter().filter(|part| found(part)).count()
    }
}

/// Fills the stack below this frame.
#[inline(never)]
fn paint() {
    black_box(&mut [0xc3u8; DEPTH + 4096]);
}

/// Copies the stack below this frame after a call.
#[inline(never)]
fn left_by(call: &mut dyn FnMut(), seen: &mut [u8]) {
    paint();
    call();
    let mut here = 0u8;
    // Hides from the compiler what this points to.
    let below = black_box(&raw mut here).wrapping_sub(seen.len());
    for (i, seen) in seen.iter_mut().enumerate() {
        // SAFETY: this memory belongs to the stack of the thread, since `paint` has just written to
        // it. Other threads do not write to it.
        *seen = unsafe { below.wrapping_add(i).read_volatile() };
    }
}

/// Makes a call and returns the secrets that it left.
fn look(call: &str, secrets: &[Secret], mut work: impl FnMut()) -> Vec<String> {
    let mut seen = vec![0; DEPTH];
    paint();
    left_by(&mut work, &mut seen);
    let left = secrets.iter().map(|secret| (secret.0, secret.find(&seen))).filter(|(_, parts)| *parts > 0);
    left.map(|(name, parts)| format!("{call}: {parts} parts of {name}")).collect()
}

/// Runs on a thread of its own, whose stack is long enough.
fn on_a_long_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(8 << 20).spawn(test).unwrap().join().unwrap();
}

fn seed(salt: u8) -> Box<[u8; 32]> {
    let mut seed = Box::new([0; 32]);
    seed.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i as u8).wrapping_mul(37) ^ salt);
    seed
}

fn clamped(scalar: &[u8]) -> [u8; 32] {
    let mut scalar: [u8; 32] = scalar[..32].try_into().unwrap();
    scalar[0] &= 248;
    scalar[31] = scalar[31] & 127 | 64;
    scalar
}

// claim: memory-key-pairs, tested-secrets
#[test]
fn key_pairs_leave_no_secret() {
    on_a_long_stack(|| {
        let mut left = Vec::new();

        let bytes = seed(1);
        let secrets =
            [Secret::new("the private key", &*bytes), Secret::new("the clamped key", &clamped(&*bytes))];
        let mut key = None;
        left.extend(look("x25519 from_bytes", &secrets, || {
            key = Some(x25519::PrivateKey::from_bytes(&bytes).unwrap())
        }));
        let (key, peer) = (key.unwrap(), x25519::PrivateKey::generate().unwrap().public());
        left.extend(look("x25519 diffie_hellman", &secrets, || drop(key.diffie_hellman(&peer).unwrap())));

        let bytes = seed(2);
        let secrets = [Secret::new("the private key", &*bytes)];
        let mut key = None;
        left.extend(look("p256 from_bytes", &secrets, || {
            key = Some(p256::PrivateKey::from_bytes(&bytes).unwrap())
        }));
        let (key, peer) = (key.unwrap(), p256::PrivateKey::generate().unwrap().public());
        left.extend(look("p256 diffie_hellman", &secrets, || drop(key.diffie_hellman(&peer).unwrap())));

        let bytes = seed(3);
        let secrets = [Secret::new("the private key", &*bytes)];
        let mut key = None;
        left.extend(look("secp256k1 from_bytes", &secrets, || {
            key = Some(secp256k1::PrivateKey::from_bytes(&bytes).unwrap());
        }));
        let (key, peer) = (key.unwrap(), secp256k1::PrivateKey::generate().unwrap().public());
        left.extend(look("secp256k1 shared_point", &secrets, || drop(key.shared_point(&peer))));
        left.extend(look("secp256k1 public", &secrets, || _ = key.public()));

        let bytes = seed(4);
        let scalar = Sha512::digest(*bytes);
        let secrets = [
            Secret::new("the private key", &*bytes),
            Secret::new("the scalar", &scalar[..32]),
            Secret::new("the clamped scalar", &clamped(&scalar)),
        ];
        let mut key = None;
        left.extend(look("ed25519 from_bytes", &secrets, || {
            key = Some(ed25519::PrivateKey::from_bytes(&bytes).unwrap())
        }));
        let (key, peer) = (key.unwrap(), ed25519::PrivateKey::generate().unwrap().public());
        left.extend(look("ed25519 public", &secrets, || _ = key.public()));
        left.extend(look("ed25519 shared_point", &secrets, || drop(key.shared_point(&peer))));

        let bytes = seed(5);
        let mut expanded = [0; 96];
        let mut shake = Shake256::default();
        shake.update(&*bytes);
        shake.finalize_xof().read(&mut expanded);
        let pair = mlkem768::generate_key_pair(expanded[..64].try_into().unwrap());
        let secrets = [
            Secret::new("the seed", &*bytes),
            Secret::new("d", &expanded[..32]),
            Secret::new("z", &expanded[32..64]),
            Secret::new("sk_X", &expanded[64..]),
            Secret::new("the clamped sk_X", &clamped(&expanded[64..])),
            // The polynomials, before the public key.
            Secret::new("the expanded key", &pair.sk()[..1152]),
        ];
        let mut key = None;
        left.extend(look("xwing from_seed", &secrets, || {
            key = Some(xwing::PrivateKey::from_seed(&bytes).unwrap())
        }));
        let key = key.unwrap();
        let (_, ciphertext) = key.public().encapsulate().unwrap();
        left.extend(look("xwing decapsulate", &secrets, || drop(key.decapsulate(&ciphertext).unwrap())));

        assert!(left.is_empty(), "{left:#?}");
    });
}

/// `age/ed25519` is not encrypted, so its seed is in the base64.
// claim: memory-key-pairs
#[test]
fn ssh_identities_leave_no_secret() {
    use base64ct::{Base64, Encoding};
    const TEXT: &str = include_str!("age/ed25519");
    on_a_long_stack(|| {
        let base64: String = TEXT.lines().filter(|line| !line.starts_with('-')).collect();
        let der = Base64::decode_vec(&base64).unwrap();
        // The last two fields of the private part: seed and public key in 64 bytes, and the
        // comment.
        let identity: Identity = TEXT.parse().unwrap();
        let at = der.windows(4).rposition(|len| len == [0, 0, 0, 64]).unwrap() + 4;
        let scalar = Sha512::digest(&der[at..at + 32]);
        let secrets = [
            Secret::new("the seed", &der[at..at + 32]),
            Secret::new("the scalar", &scalar[..32]),
            Secret::new("the clamped scalar", &clamped(&scalar)),
        ];
        let file = age::seal(b"x", &[identity.recipient()], Armor::Binary).unwrap();
        drop(der);
        let mut left = look("parse", &secrets, || drop(TEXT.parse::<Identity>().unwrap()));
        let identities = [identity];
        left.extend(look("open", &secrets, || drop(age::open(&file, &identities).unwrap())));
        assert!(left.is_empty(), "{left:#?}");
    });
}

/// The search finds a key that a call leaves on the stack.
// claim: memory-key-pairs
#[test]
fn search_finds_a_copy() {
    on_a_long_stack(|| {
        let bytes = seed(6);
        let secrets = [Secret::new("a copy", &*bytes)];
        assert!(look("nothing", &secrets, || _ = black_box([0u8; 64])).is_empty());
        let found = look("copy", &secrets, || {
            black_box(&mut { *black_box(&*bytes) });
        });
        assert_eq!(found, ["copy: 4 parts of a copy"]);
    });
}
