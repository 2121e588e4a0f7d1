//! Tests that calls leave no secrets on the stack, for example round keys, powers of H or derived
//! keys, except for [`KNOWN`].
//!
//! The stack is filled with a pattern, a call is made, and the stack below the call is searched for
//! the secrets that the reference implementations compute. Registers, plaintext and keystream are
//! not searched.
//!
//! The optimiser determines which vectors are in registers, so this runs in the release profile
//! only (`make -C tests ct`). Rust does not define the result of reading dead memory, so Miri does
//! not run it.
#![cfg(not(miri))]

use kernels::InOut;
use kernels::aegis;
use kernels::aes::{self, Aes};
use kernels::chacha20::{self, ChaCha20, XChaCha20};
use kernels::chacha20_poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::eme::Eme;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::poly1305::{self, Poly1305};
use kernels::speck::{self, ByteOrder, Size, Speck};
use kernels::variant::Variant;
use kernels::xsalsa20_poly1305::{self, XSalsa20Poly1305};
use std::hint::black_box;

#[path = "../../examples/sealing/mod.rs"]
mod sealing;
mod secrets;

use self::sealing::{BATCH, InSegments, OneAegis, OneThread, Sealing};
use self::secrets::Secrets;
use crate::variants::available;

/// Number of bytes of the stack that are searched.
const DEPTH: usize = 1 << 17;
const LENGTHS: [usize; 5] = [0, 64, 300, 2000, 5000];
/// A length of data for which AES-CTR computes two rounds once for all counters.
const TWO_ROUNDS: usize = 70_000;
/// The first counter of AES-CTR.
const COUNTER: u128 = 0x0909_0909_0909_0909_0909_0909_0909_0909;
/// The nonce, of which as many bytes are used as the algorithm needs.
const NONCE: [u8; 32] = [0x5a; 32];
/// The byte that the data consist of.
const PLAIN: u8 = 0x77;
/// The byte that the associated data consist of.
const AAD: u8 = 0x3c;
/// Lengths of the associated data in bytes. With the longer one, a short message of GCM or Poly1305
/// needs more powers too.
const AAD_LENGTHS: [usize; 2] = [40, 900];

/// Secrets that are known to remain.
struct Known {
    table: &'static str,
    variant: &'static str,
    /// Minimum length of messages that leave them, or `None` for the key set-up.
    from: Option<usize>,
    /// Maximum number of different ones.
    max: usize,
    what: &'static str,
}

/// The secrets that may remain. All others fail the test, and so do these for shorter messages or
/// in larger numbers.
///
/// The portable variants leave secrets because their functions are not inlined and pass arrays to
/// each other.
#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { table: "AES", variant: "portable", from: None, max: 15, what: "round key" },
    Known { table: "AES", variant: "portable", from: Some(0), max: 15, what: "sliced round key" },
    Known { table: "GCM", variant: "portable", from: None, max: 15, what: "round key" },
    Known { table: "GCM", variant: "portable", from: None, max: 1, what: "H" },
    Known { table: "GCM", variant: "portable", from: None, max: 40, what: "power" },
    Known { table: "GCM", variant: "portable", from: None, max: 40, what: "halves of power" },
    Known { table: "GCM", variant: "portable", from: None, max: 15, what: "sliced round key" },
    Known { table: "GCM", variant: "portable", from: Some(0), max: 1, what: "E(K, J0)" },
    Known { table: "GCM", variant: "portable", from: Some(0), max: 1, what: "expected tag" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 1, what: "expected tag" },
    Known { table: "GCM_SIV", variant: "portable", from: None, max: 15, what: "round key" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(5000), max: 15, what: "sliced round key" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 40, what: "power" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 40, what: "halves of power" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 2, what: "derived round key" },
    Known { table: "GCM_SIV", variant: "portable", from: Some(0), max: 15, what: "sliced derived round key" },
];

/// Copies the stack below this frame to `seen` after a call.
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

#[inline(never)]
fn paint() {
    black_box(&mut [0xc3u8; DEPTH + 4096]);
}

/// The secrets that one variant of a table left.
struct Report {
    table: &'static str,
    variant: &'static str,
    seen: Vec<u8>,
    found: Vec<bool>,
    unexpected: usize,
}

impl Report {
    /// Searches the stack after a call, with a message of `len` bytes if there is one.
    fn look(&mut self, secrets: &Secrets, what: &str, len: Option<usize>, mut call: impl FnMut()) {
        // The stack is also painted here. Otherwise gaps in the frame of `left_by` would still have
        // secrets of the reference implementations.
        paint();
        left_by(&mut call, &mut self.seen);
        self.search(secrets, what, len);
    }

    fn search(&mut self, secrets: &Secrets, what: &str, len: Option<usize>) {
        for (kind, (copies, which)) in secrets.find(&self.seen) {
            let known = KNOWN.iter().position(|known| {
                (known.table, known.variant, known.what) == (self.table, self.variant, kind)
                    && known.from <= len
                    && which.len() <= known.max
            });
            if let Some(known) = known {
                self.found[known] = true;
            } else {
                self.unexpected += 1;
            }
            let (new, len) = (
                if known.is_some() { "" } else { "NEW: " },
                len.map_or(String::new(), |len| len.to_string()),
            );
            let (table, variant, n) = (self.table, self.variant, which.len());
            println!("{new}{table} {variant} {what} {len}: {n} of {kind} {which:?}, {copies} parts");
        }
    }

    fn stream(&mut self, features: Features) {
        for key in [16, 24, 32].map(key) {
            let secrets = Secrets::of_aes_ctr(&key);
            let what = |verb| format!("{} {verb}", 8 * key.len());
            let mut aes = None;
            self.look(&secrets, &what("new"), None, || aes = Some(Aes::new(&key, features).unwrap()));
            let aes = aes.unwrap();
            assert_eq!(aes.variant(), self.variant);
            for len in LENGTHS.into_iter().chain([TWO_ROUNDS]) {
                let mut data = vec![0x77; len];
                self.look(&secrets, &what("decrypt"), Some(len), || {
                    aes.decrypt_blocks(&mut data[..len.min(300)]);
                });
                self.look(&secrets, &what("xor"), Some(len), || {
                    aes.xor_at(&COUNTER.to_be_bytes(), 3, InOut::in_place(&mut data)).unwrap();
                });
            }
        }
    }

    fn names(&mut self, features: Features) {
        let key = key(32);
        let mut secrets = Secrets::of_aes_ctr(&key);
        let l = reference::aes::Aes::new_vartime(&key).encrypt_block_vartime(&[0; 16]);
        let l = u128::from_le_bytes(l);
        secrets.block(("L", 0), ((l << 1) ^ ((l >> 127) * 0x87)).to_le_bytes());
        let mut eme = None;
        self.look(&secrets, "new", None, || eme = Some(Eme::new(&key, features).unwrap()));
        let eme = eme.unwrap();
        for len in [16, 64, 304, 2000] {
            let mut data = vec![0x77; len];
            self.look(&secrets, "encrypt", Some(len), || eme.encrypt(&[9; 16], &mut data).unwrap());
            self.look(&secrets, "decrypt", Some(len), || eme.decrypt(&[9; 16], &mut data).unwrap());
        }
    }

    fn macs(&mut self, features: Features) {
        let key: [u8; 32] = key(32)[..].try_into().unwrap();
        let secrets = Secrets::of_poly1305(&key);
        // All powers are computed for the last length.
        for len in LENGTHS.into_iter().chain([9000]) {
            // The tag of an empty message is s.
            let message = vec![0x77; len.max(1)];
            let mut mac = None;
            self.look(&secrets, "new", Some(len), || mac = Some(Poly1305::new(&key, features).unwrap()));
            let mut mac = mac.unwrap();
            assert_eq!(mac.variant(), self.variant);
            // The first long message also computes powers.
            for what in ["update", "update again"] {
                self.look(&secrets, what, Some(len), || mac.update(&message));
            }
            let segments = vec![0x77; 3 * 4096 + len];
            self.look(&secrets, "update in segments", Some(len), || mac.update_on(&OneThread, &segments));
            let mut mac = Some(mac);
            self.look(&secrets, "finalize", Some(len), || _ = mac.take().unwrap().finalize());
        }
    }

    fn chacha20(&mut self, features: Features) {
        let key: [u8; 32] = *key(32).first_chunk().unwrap();
        let secrets = Secrets::of_chacha20(&key);
        let (mut short, mut long) = (None, None);
        self.look(&secrets, "new", None, || short = Some(ChaCha20::new(&key, features).unwrap()));
        self.look(&secrets, "new", None, || long = Some(XChaCha20::new(&key, features).unwrap()));
        let (short, long) = (short.unwrap(), long.unwrap());
        assert_eq!(short.variant(), self.variant);
        let nonce: &[u8; 24] = NONCE.first_chunk().unwrap();
        for len in LENGTHS {
            for offset in [0, 3] {
                let mut data = vec![0x77; len];
                self.look(&secrets, "xor", Some(len), || {
                    short
                        .xor_at(NONCE.first_chunk().unwrap(), 1, offset, InOut::in_place(&mut data))
                        .unwrap();
                });
                self.look(&secrets, "xor, long nonce", Some(len), || {
                    long.xor_at(nonce, 1, offset, InOut::in_place(&mut data)).unwrap();
                });
            }
        }
        self.look(&secrets, "subkey", None, || drop(long.subkey(nonce.first_chunk().unwrap())));
    }

    fn speck(&mut self, features: Features) {
        for size in Size::ALL {
            let key = key(size.key_len());
            let secrets = Secrets::of_speck(size, &key);
            let what = |verb| format!("{} {verb}", size.name());
            let mut speck = None;
            self.look(&secrets, &what("new"), None, || {
                speck = Some(Speck::new(size, &key, ByteOrder::Big, features).unwrap());
            });
            let speck = speck.unwrap();
            assert_eq!(speck.variant(), self.variant);
            let iv = vec![9; size.block_len()];
            for len in LENGTHS {
                let mut data = vec![0x77; len.next_multiple_of(48)];
                self.look(&secrets, &what("xor"), Some(len), || {
                    speck.xor_at(&iv, 3, InOut::in_place(&mut data[..len])).unwrap();
                });
                self.look(&secrets, &what("encrypt"), Some(len), || {
                    speck.encrypt_blocks(InOut::in_place(&mut data)).unwrap();
                });
                self.look(&secrets, &what("decrypt"), Some(len), || {
                    speck.decrypt_blocks(InOut::in_place(&mut data)).unwrap();
                });
            }
        }
    }

    fn messages<A: Sealing>(&mut self, secrets: fn(&[u8]) -> Secrets, features: Features) {
        for key in A::KEY_LENGTHS.iter().map(|len| key(*len)) {
            let mut secrets = secrets(&key);
            let what = |verb| format!("{} {verb}", 8 * key.len());
            let mut a = None;
            self.look(&secrets, &what("new"), None, || a = Some(A::new(&key, features)));
            let a = a.unwrap();
            assert_eq!(a.variant(), self.variant);
            for (len, aad) in LENGTHS.into_iter().flat_map(|len| AAD_LENGTHS.map(|aad| (len, aad))) {
                let (plain, mut sealed, mut opened, mut tag) =
                    (vec![PLAIN; len], vec![0; len], vec![0; len], [0; 16]);
                let (aad, other) = (vec![AAD; aad], vec![!AAD; aad]);
                let nonce = &NONCE[..A::NONCE_LENGTHS[0]];
                // Without associated data the tag of an empty message is s, so it is public.
                let public = [&aad, &other].map(|aad| {
                    let mut tag = [0; 16];
                    if len == 0 {
                        a.seal(nonce, aad, InOut::in_place(&mut []), &mut tag);
                    }
                    secrets.remove(tag)
                });
                // The first long message also computes powers.
                self.look(&secrets, &what("seal"), Some(len), || {
                    a.seal(nonce, &aad, InOut::apart(&plain, &mut sealed), &mut tag);
                });
                let (mut cut, mut pieces_tag) = (plain.clone(), [0; 16]);
                self.look(&secrets, &what("seal in pieces"), Some(len), || {
                    a.seal_in_pieces(nonce, &aad, &mut cut, &mut pieces_tag);
                });
                let mut batch = [(); BATCH].map(|()| vec![0; nonce.len() + len + 16]);
                self.look(&secrets, &what("seal a batch"), Some(len), || {
                    a.seal_batch(nonce, &aad, &plain, &mut batch);
                });
                let mut opened_batch = [(); BATCH].map(|()| vec![0; len]);
                self.look(&secrets, &what("open a batch"), Some(len), || {
                    assert_ne!(a.open_batch(&aad, &batch, &mut opened_batch), Some(false));
                });
                self.look(&secrets, &what("open"), Some(len), || {
                    assert!(a.open(nonce, &aad, InOut::apart(&sealed, &mut opened), &tag));
                });
                assert_eq!(opened, plain);
                // The associated data are different, so that the expected tag is one of the same
                // plaintext.
                let mut expected_tag = [0; 16];
                a.seal(nonce, &other, InOut::apart(&plain, &mut opened), &mut expected_tag);
                self.look(&secrets, &what("open forged"), Some(len), || {
                    assert!(!a.open(nonce, &other, InOut::apart(&sealed, &mut opened), &tag));
                });
                let mut wanted = Secrets::default();
                wanted.block(("expected tag", 0), expected_tag);
                self.search(&wanted, &what("open forged"), Some(len));
                self.look(&secrets, &what("open a forged batch"), Some(len), || {
                    assert_ne!(a.open_batch(&other, &batch, &mut opened_batch), Some(true));
                });
                self.search(&wanted, &what("open a forged batch"), Some(len));
                secrets.0.extend(public.into_iter().flatten());
            }
        }
    }
}

fn every_aegis(report: &mut Report, here: Features) {
    report.messages::<OneAegis<16, 1>>(Secrets::of_aegis::<1>, here);
    report.messages::<OneAegis<16, 2>>(Secrets::of_aegis::<2>, here);
    report.messages::<OneAegis<16, 4>>(Secrets::of_aegis::<4>, here);
    report.messages::<OneAegis<32, 1>>(Secrets::of_aegis::<1>, here);
    report.messages::<OneAegis<32, 2>>(Secrets::of_aegis::<2>, here);
    report.messages::<OneAegis<32, 4>>(Secrets::of_aegis::<4>, here);
}

/// Runs the keystream, and messages with nonces of both lengths.
fn every_chacha20(report: &mut Report, here: Features) {
    report.chacha20(here);
    report.messages::<ChaCha20Poly1305>(Secrets::of_chacha20_poly1305, here);
    report.messages::<XChaCha20Poly1305>(Secrets::of_chacha20_poly1305, here);
    report.messages::<InSegments<ChaCha20Poly1305>>(Secrets::of_chacha20_poly1305, here);
    report.messages::<InSegments<XChaCha20Poly1305>>(Secrets::of_chacha20_poly1305, here);
}

fn key(len: usize) -> Vec<u8> {
    (0..len as u8).map(|i| i.wrapping_mul(37) ^ 11).collect()
}

// claim: memory-kernels, tested-secrets
#[test]
fn no_secrets_remain_on_the_stack() {
    if cfg!(debug_assertions) {
        eprintln!("NOT RUN: secrets on the stack (only the release profile keeps vectors in registers)");
        return;
    }
    type Run = fn(&mut Report, Features);
    let tables: [(&str, Vec<Variant>, Run); 8] = [
        ("AEGIS", aegis::variants().collect(), every_aegis),
        ("AES", aes::variants().collect(), |report, here| {
            report.stream(here);
            report.names(here);
        }),
        ("CHACHA20", chacha20::variants().collect(), every_chacha20),
        ("GCM", gcm::variants().collect(), |report, here| {
            report.messages::<Gcm>(Secrets::of_gcm, here);
            report.messages::<InSegments<Gcm>>(Secrets::of_gcm, here);
        }),
        ("GCM_SIV", gcm_siv::variants().collect(), |report, here| {
            report.messages::<GcmSiv>(Secrets::of_gcm_siv, here);
            report.messages::<InSegments<GcmSiv>>(Secrets::of_gcm_siv, here);
        }),
        ("POLY1305", poly1305::variants().collect(), Report::macs),
        ("SALSA20", xsalsa20_poly1305::variants().collect(), |report, here| {
            report.messages::<XSalsa20Poly1305>(Secrets::of_xsalsa20_poly1305, here);
        }),
        ("SPECK", speck::variants().collect(), Report::speck),
    ];
    let mut found = vec![false; KNOWN.len()];
    let mut unexpected = 0;
    for (table, variants_of_table, run) in tables {
        for (variant, features) in available(variants_of_table.into_iter()) {
            let mut report = Report { table, variant, seen: vec![0; DEPTH], found, unexpected };
            run(&mut report, features);
            Report { found, unexpected, .. } = report;
        }
    }
    for (known, found) in KNOWN.iter().zip(found) {
        if !found {
            println!(
                "no {} found for variant {} of {}, so KNOWN could be shorter",
                known.what, known.variant, known.table
            );
        }
    }
    assert_eq!(unexpected, 0, "secrets on the stack that are not in KNOWN");
}

/// Checks that the search finds round keys that a call leaves on the stack.
// claim: memory-kernels
#[test]
fn search_finds_round_keys() {
    let key = key(32);
    let secrets = Secrets::of_gcm_siv(&key);
    let mut seen = vec![0; DEPTH];
    // As in `look`: gaps in the frame of `left_by` may have round keys of the line above.
    paint();
    left_by(&mut || _ = black_box([0u8; 64]), &mut seen);
    assert!(secrets.find(&seen).is_empty());
    left_by(
        &mut || {
            let keys = reference::aes::Aes::new_vartime(black_box(&key)).round_keys();
            black_box(&mut <[[u8; 16]; 15]>::try_from(keys).unwrap());
        },
        &mut seen,
    );
    let found = secrets.find(&seen);
    assert_eq!(found.get("round key").map(|(_, which)| which.len()), Some(15), "{found:?}");
}
