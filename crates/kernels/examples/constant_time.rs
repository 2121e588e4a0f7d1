//! The program that `make -C tests ct` examines to test whether time depends on secrets.
//!
//! ```text
//! constant_time variants                       lists the variants of every table, which the commands below run
//! valgrind constant_time secrets <variants>    runs everything with secrets that valgrind takes for undefined
//! valgrind constant_time leak <how>            leaks a secret by a `branch` or an `address`, which must be found
//! ```
//!
//! memcheck reports where a branch or an address depends on undefined bytes, and it follows them
//! through memory, registers and vectors. So keys and plaintexts are declared undefined, and the
//! number of reports is read before and after every call. Ciphertext, tag and the result of
//! authentication are declared public. The latter is a branch inside `open`, on bytes that cannot
//! be declared from here, so exactly one report is *expected* for each call of `open`.
//!
//! memcheck 3.19 supports neither VAES nor AVX-512. So the caller names the variants that must run.

mod sealing;

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
use kernels::siv::Siv;
use kernels::speck::{self, ByteOrder, Size, Speck};
use kernels::variant::Variant;
use kernels::xsalsa20_poly1305::{self, XSalsa20Poly1305};
use sealing::{BATCH, InSegments, OneAegis, OneThread, Sealing};
use std::hint::black_box;
use std::process::ExitCode;

/// Empty data, parts of a block, short data, lengths around the groups of every variant, and long
/// data with a rest. After the first message of 4096 bytes or more, AES-GCM precomputes the first
/// round.
const LENGTHS: [usize; 15] = [0, 1, 15, 16, 17, 63, 64, 65, 128, 255, 257, 513, 1031, 4099, 4200];
const AAD_LENGTHS: [usize; 4] = [0, 13, 129, 900];

/// A table of variants. A new algorithm is a new entry.
struct Table {
    name: &'static str,
    variants: fn() -> Vec<Variant>,
    run: fn(&mut Watch, Features, &'static str),
}

const TABLES: [Table; 8] = [
    Table { name: "AEGIS", variants: || aegis::variants().collect(), run: every_aegis },
    Table { name: "AES", variants: || aes::variants().collect(), run: every_aes },
    Table { name: "CHACHA20", variants: || chacha20::variants().collect(), run: every_chacha20 },
    Table { name: "GCM", variants: || gcm::variants().collect(), run: every_gcm },
    Table { name: "GCM_SIV", variants: || gcm_siv::variants().collect(), run: every_gcm_siv },
    Table { name: "POLY1305", variants: || poly1305::variants().collect(), run: macs },
    Table {
        name: "SALSA20",
        variants: || xsalsa20_poly1305::variants().collect(),
        run: messages::<XSalsa20Poly1305>,
    },
    Table { name: "SPECK", variants: || speck::variants().collect(), run: speck },
];

/// Runs key set-up, sealing and opening.
fn messages<A: Sealing>(watch: &mut Watch, features: Features, variant: &'static str) {
    for &key_len in A::KEY_LENGTHS {
        let key = pattern(key_len, 0x51);
        let secret_key = valgrind::secret(&key);
        let what = format!("{variant} {} bits", 8 * key_len);
        let a = watch.expect(0, &what, "new", || A::new(&secret_key, features));
        assert_eq!(a.variant(), variant);
        for &nonce_len in A::NONCE_LENGTHS {
            for (i, len) in LENGTHS.into_iter().enumerate() {
                let nonce = pattern(nonce_len, 3);
                let aad = pattern(AAD_LENGTHS[i % AAD_LENGTHS.len()], 7);
                let plain = pattern(len, 0x3c);
                let (mut data, mut tag) = (valgrind::secret(&plain), [0; 16]);
                let secret_aad = valgrind::secret(&aad);
                let what = format!("{what} nonce {nonce_len} aad {} len {len}", aad.len());
                watch.expect(0, &what, "seal", || {
                    a.seal(&nonce, &secret_aad, InOut::in_place(&mut data), &mut tag);
                });
                let (mut cut, mut cut_tag) = (valgrind::secret(&plain), [0; 16]);
                let supported = watch.expect(0, &what, "seal in pieces", || {
                    a.seal_in_pieces(&nonce, &secret_aad, &mut cut, &mut cut_tag)
                });
                let secret_plain = valgrind::secret(&plain);
                let mut batch = [(); BATCH].map(|()| vec![0; nonce.len() + len + 16]);
                let in_batch = watch.expect(0, &what, "seal a batch", || {
                    a.seal_batch(&nonce, &secret_aad, &secret_plain, &mut batch)
                });
                batch.iter().for_each(|sealed| valgrind::publish(sealed));
                valgrind::publish(&data);
                valgrind::publish(&tag);
                let single = [&nonce[..], &data, &tag].concat();
                assert!(
                    !in_batch || batch.iter().all(|sealed| *sealed == single),
                    "{what}: wrong in a batch"
                );
                valgrind::publish(&cut);
                valgrind::publish(&cut_tag);
                assert!(!supported || (&cut, cut_tag) == (&data, tag), "{what}: wrong in pieces");
                // Without this check, code that computes nothing would pass.
                assert!(
                    (data.clone(), tag) == A::seal_vartime(&key, &nonce, &aad, &plain),
                    "{what}: wrong result"
                );
                let mut opened = vec![0; len];
                let good = watch.expect(1, &what, "open", || {
                    a.open(&nonce, &secret_aad, InOut::apart(&data, &mut opened), &tag)
                });
                let good = valgrind::public(good);
                valgrind::publish(&opened);
                assert!(good && opened == plain, "{what}: did not open");
                tag[len % 16] ^= 1 << (len % 8);
                let good = watch.expect(1, &what, "open a forgery", || {
                    a.open(&nonce, &secret_aad, InOut::in_place(&mut data), &tag)
                });
                assert!(!valgrind::public(good), "{what}: opened a forgery");
            }
        }
        watch.expect(0, &what, "drop", || drop(a));
    }
}

/// Runs messages of AES-GCM at once and in segments.
fn every_gcm(watch: &mut Watch, features: Features, variant: &'static str) {
    messages::<Gcm>(watch, features, variant);
    messages::<InSegments<Gcm>>(watch, features, variant);
}

fn every_gcm_siv(watch: &mut Watch, features: Features, variant: &'static str) {
    messages::<GcmSiv>(watch, features, variant);
    messages::<InSegments<GcmSiv>>(watch, features, variant);
}

fn every_aegis(watch: &mut Watch, features: Features, variant: &'static str) {
    messages::<OneAegis<16, 1>>(watch, features, variant);
    messages::<OneAegis<16, 2>>(watch, features, variant);
    messages::<OneAegis<16, 4>>(watch, features, variant);
    messages::<OneAegis<32, 1>>(watch, features, variant);
    messages::<OneAegis<32, 2>>(watch, features, variant);
    messages::<OneAegis<32, 4>>(watch, features, variant);
}

/// Runs the keystream, blocks of EME, and messages of AES-SIV.
fn every_aes(watch: &mut Watch, features: Features, variant: &'static str) {
    stream(watch, features, variant);
    names(watch, features, variant);
    messages::<Siv>(watch, features, variant);
}

/// Runs EME, which encrypts and decrypts single blocks, on the numbers of blocks of names.
fn names(watch: &mut Watch, features: Features, variant: &'static str) {
    for (key_len, blocks) in [(16, 1), (24, 2), (32, 3), (32, 17), (32, 128)] {
        let (key, tweak, plain) = (pattern(key_len, 0x51), [0x3c; 16], pattern(16 * blocks, 9));
        let (secret_key, mut data) = (valgrind::secret(&key), valgrind::secret(&plain));
        let what = format!("{variant} {} bits {blocks} blocks", 8 * key_len);
        let eme = watch.expect(0, &what, "new", || Eme::new(&secret_key, features).expect("a good length"));
        assert_eq!(eme.variant(), variant);
        watch.expect(0, &what, "encrypt", || eme.encrypt(&tweak, &mut data).expect("whole blocks"));
        valgrind::publish(&data);
        assert!(data == reference::eme::encrypt_vartime(&key, &tweak, &plain), "{what}: wrong result");
        valgrind::hide(&data);
        watch.expect(0, &what, "decrypt", || eme.decrypt(&tweak, &mut data).expect("whole blocks"));
        valgrind::publish(&data);
        assert!(data == plain, "{what}: wrong result");
        watch.expect(0, &what, "drop", || drop(eme));
    }
}

/// Runs key set-up, the keystream from several offsets, and single blocks.
fn stream(watch: &mut Watch, features: Features, variant: &'static str) {
    for key_len in [16, 24, 32] {
        let key = pattern(key_len, 0x51);
        let secret_key = valgrind::secret(&key);
        let what = format!("{variant} {} bits", 8 * key_len);
        let aes = watch.expect(0, &what, "new", || Aes::new(&secret_key, features).expect("a good length"));
        assert_eq!(aes.variant(), variant);
        let reference = reference::aes::Aes::new_vartime(&key);
        // For the last length, two rounds are computed once.
        for len in LENGTHS.into_iter().chain([70_001]) {
            for offset in [0, 5, 16 * (len as u64)] {
                let plain = pattern(len, 0x3c);
                let mut data = valgrind::secret(&plain);
                let what = format!("{what} offset {offset} len {len}");
                // A counter whose low 64 bits overflow, so that the call is split in two.
                let iv = [[0xff; 16], [0x11; 16]][len % 2];
                watch.expect(0, &what, "xor", || {
                    aes.xor_at(&iv, offset, InOut::in_place(&mut data)).expect("not at the end");
                });
                valgrind::publish(&data);
                let mut want = plain;
                reference.xor_at_vartime(&iv, offset, &mut want);
                assert!(data == want, "{what}: wrong result");
            }
        }
        let block: [u8; 16] = *pattern(16, 9).first_chunk().expect("16 bytes");
        valgrind::hide(&block);
        let out = watch.expect(0, &what, "block", || aes.encrypt_block(&block));
        valgrind::publish(&block);
        valgrind::publish(&out);
        assert!(out == reference.encrypt_block_vartime(&block), "{what}: wrong block");
        watch.expect(0, &what, "drop", || drop(aes));
    }
}

/// Runs the keystream, and messages with the variant of Poly1305 for the same features.
fn every_chacha20(watch: &mut Watch, features: Features, variant: &'static str) {
    chacha20_streams(watch, features, variant);
    messages::<ChaCha20Poly1305>(watch, features, variant);
    messages::<XChaCha20Poly1305>(watch, features, variant);
    messages::<InSegments<ChaCha20Poly1305>>(watch, features, variant);
    messages::<InSegments<XChaCha20Poly1305>>(watch, features, variant);
}

/// Runs key set-up, and the keystream from several offsets under nonces of both lengths.
fn chacha20_streams(watch: &mut Watch, features: Features, variant: &'static str) {
    let key: [u8; 32] = *pattern(32, 0x51).first_chunk().expect("32 bytes");
    let secret_key = key;
    valgrind::hide(&secret_key);
    let short = watch.expect(0, variant, "new", || ChaCha20::new(&secret_key, features).expect("a variant"));
    let long = watch.expect(0, variant, "new", || XChaCha20::new(&secret_key, features).expect("a variant"));
    assert_eq!((short.variant(), long.variant()), (variant, variant));
    for len in LENGTHS {
        for offset in [0, 5, 64 * (len as u64)] {
            let plain = pattern(len, 0x3c);
            let what = format!("{variant} offset {offset} len {len}");
            let (mut data, mut want) = (valgrind::secret(&plain), plain.clone());
            watch.expect(0, &what, "xor", || {
                short.xor_at(&[0x11; 12], 7, offset, InOut::in_place(&mut data)).expect("not at the end");
            });
            valgrind::publish(&data);
            reference::chacha20::xor_at_vartime(&key, &[0x11; 12], 7, offset, &mut want);
            assert!(data == want, "{what}: wrong result");
            let (mut data, mut want) = (valgrind::secret(&plain), plain);
            watch.expect(0, &what, "xor, long nonce", || {
                long.xor_at(&[0x11; 24], 7, offset, InOut::in_place(&mut data)).expect("not at the end");
            });
            valgrind::publish(&data);
            reference::chacha20::xor_extended_at_vartime(&key, &[0x11; 24], 7, offset, &mut want);
            assert!(data == want, "{what}, long nonce: wrong result");
        }
    }
    watch.expect(0, variant, "drop", || drop((short, long)));
}

/// Computes tags of secret messages under secret keys, at once, in two pieces, and in segments.
fn macs(watch: &mut Watch, features: Features, variant: &'static str) {
    // All powers are computed for the last length.
    for (i, len) in LENGTHS.into_iter().chain([8300]).enumerate() {
        // Every second message has the largest r and blocks.
        let (key, message) = match i % 2 {
            0 => (pattern(32, 0x51), pattern(len, 0x3c)),
            _ => (vec![0xff; 32], vec![0xff; len]),
        };
        let key: [u8; 32] = *key.first_chunk().expect("32 bytes");
        let want = reference::poly1305::tag_vartime(&key, &message);
        for (cut, in_segments) in [(0, false), (len / 3, false), (1.min(len), true)] {
            let what = format!("{variant} len {len} cut {cut}");
            let (secret_key, secret) = (key, valgrind::secret(&message));
            valgrind::hide(&secret_key);
            let mut mac =
                watch.expect(0, &what, "new", || Poly1305::new(&secret_key, features).expect("a variant"));
            assert_eq!(mac.variant(), variant);
            watch.expect(0, &what, "update", || {
                mac.update(&secret[..cut]);
                if in_segments {
                    mac.update_on(&OneThread, &secret[cut..]);
                } else {
                    mac.update(&secret[cut..]);
                }
            });
            let tag = watch.expect(0, &what, "finalize", || mac.finalize());
            valgrind::publish(&tag);
            assert!(tag == want, "{what}: wrong result");
        }
    }
}

/// Runs key set-up, the keystream from several offsets, and blocks, for every size and byte order.
fn speck(watch: &mut Watch, features: Features, variant: &'static str) {
    use reference::speck::{Order, Speck as Reference};
    let orders = [(ByteOrder::Big, Order::Big), (ByteOrder::Little, Order::Little)];
    for (size, (order, reference_order)) in
        Size::ALL.into_iter().flat_map(|size| orders.map(|order| (size, order)))
    {
        let (key, block) = (pattern(size.key_len(), 0x51), size.block_len());
        let secret_key = valgrind::secret(&key);
        let what = format!("{variant} {} {order:?}", size.name());
        let new = || Speck::new(size, &secret_key, order, features).expect("a good length");
        let speck = watch.expect(0, &what, "new", new);
        assert_eq!(speck.variant(), variant);
        let reference = Reference::new_vartime(8 * block as u32, &key, reference_order);
        for (i, len) in LENGTHS.into_iter().enumerate() {
            let offset = [0, 5, (block * len) as u64][i % 3];
            let plain = pattern(len, 0x3c);
            let mut data = valgrind::secret(&plain);
            let what = format!("{what} offset {offset} len {len}");
            // A counter that overflows, so that the call is split in two.
            let iv = vec![[0xff, 0x11][len % 2]; block];
            watch.expect(0, &what, "xor", || {
                speck.xor_at(&iv, offset, InOut::in_place(&mut data)).expect("not at the end");
            });
            valgrind::publish(&data);
            let mut want = plain;
            reference.xor_at_vartime(&iv, offset, &mut want);
            assert!(data == want, "{what}: wrong result");
        }
        for blocks in [1, 3, 40, 300] {
            let plain = pattern(blocks * block, 0x3c);
            let mut data = valgrind::secret(&plain);
            let what = format!("{what} {blocks} blocks");
            let whole = "whole blocks";
            watch.expect(0, &what, "encrypt", || {
                speck.encrypt_blocks(InOut::in_place(&mut data)).expect(whole)
            });
            valgrind::publish(&data);
            let want = plain.chunks(block).flat_map(|block| reference.encrypt_block_vartime(block));
            assert!(want.eq(data.iter().copied()), "{what}: wrong blocks");
            valgrind::hide(&data);
            watch.expect(0, &what, "decrypt", || {
                speck.decrypt_blocks(InOut::in_place(&mut data)).expect(whole)
            });
            valgrind::publish(&data);
            assert!(data == plain, "{what}: wrong blocks");
        }
        watch.expect(0, &what, "drop", || drop(speck));
    }
}

/// Counts the reports of valgrind for each call.
#[derive(Default)]
struct Watch {
    calls: usize,
    expected: usize,
    unexpected: usize,
}

impl Watch {
    /// Calls `f` and prints a message if the number of reports is not `expected`.
    fn expect<T>(&mut self, expected: usize, what: &str, verb: &str, f: impl FnOnce() -> T) -> T {
        let before = valgrind::reports();
        let out = f();
        let reports = valgrind::reports() - before;
        self.calls += 1;
        self.expected += expected;
        if reports != expected {
            self.unexpected += 1;
            println!("DEPENDS ON SECRETS: {verb} {what}: {reports} reports, expected {expected}");
        }
        out
    }
}

fn pattern(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ salt).collect()
}

/// Runs everything with exactly those variants of each table that are in `wanted`.
fn secrets(wanted: &str) -> ExitCode {
    assert!(valgrind::runs(), "expected to run under valgrind, but it runs without valgrind");
    let mut watch = Watch::default();
    for table in TABLES {
        let here = Features::detect();
        let variants = (table.variants)().into_iter().filter(|variant| variant.check(here).is_ok());
        let variants: Vec<Variant> = variants.collect();
        let names = variants.iter().map(|variant| variant.name).collect::<Vec<_>>().join(",");
        let all: Vec<Variant> = (table.variants)();
        let wanted = wanted.split(',').filter(|name| all.iter().any(|variant| variant.name == *name));
        let wanted = wanted.collect::<Vec<_>>().join(",");
        assert_eq!(names, wanted, "{}: the variants that can run are not the requested ones", table.name);
        for variant in variants {
            let calls = watch.calls;
            (table.run)(&mut watch, here.intersection(variant.needs), variant.name);
            println!("{} {}: {} calls with secrets", table.name, variant.name, watch.calls - calls);
        }
    }
    println!(
        "{} calls, {} expected reports in `open`, {} calls with other reports",
        watch.calls, watch.expected, watch.unexpected
    );
    if watch.unexpected == 0 && valgrind::reports() == watch.expected {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Code that leaks a secret, which every check must find.
mod leaky {
    /// Branches on a secret.
    #[inline(never)]
    pub(crate) fn branch(secret: &[u8; 16], out: &mut [u8; 16]) {
        for (out, secret) in out.iter_mut().zip(secret) {
            if *secret > 100 {
                super::black_box(&mut *out);
                *out = 1;
            }
        }
    }

    /// Looks a secret up in a table.
    #[inline(never)]
    pub(crate) fn address(secret: &[u8; 16], out: &mut [u8; 16]) {
        static TABLE: [u8; 256] = [7; 256];
        let table = super::black_box(&TABLE);
        for (out, secret) in out.iter_mut().zip(secret) {
            *out = table[usize::from(*secret)];
        }
    }
}

fn leak(how: &str) -> ExitCode {
    assert!(valgrind::runs(), "expected to run under valgrind, but it runs without valgrind");
    let secret = [0x5a; 16];
    valgrind::hide(&secret);
    let mut out = [0; 16];
    let mut watch = Watch::default();
    watch.expect(0, how, "leak", || match how {
        "branch" => leaky::branch(&secret, &mut out),
        _ => leaky::address(&secret, &mut out),
    });
    black_box(out);
    if watch.unexpected == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["variants"] => {
            for table in TABLES {
                (table.variants)().iter().for_each(|variant| println!("{} {}", table.name, variant.name));
            }
            ExitCode::SUCCESS
        }
        ["secrets", wanted] => secrets(wanted),
        ["leak", how @ ("branch" | "address")] => leak(how),
        _ => {
            eprintln!("variants | secrets <variant>,<variant> | leak branch | leak address");
            ExitCode::FAILURE
        }
    }
}

/// Requests to valgrind, which are sequences of instructions without an effect that valgrind
/// recognises (see "The client request mechanism" in its manual).
#[cfg(target_arch = "x86_64")]
mod valgrind {
    const RUNNING: usize = 0x1001;
    const COUNT_ERRORS: usize = 0x1201;
    const MAKE_UNDEFINED: usize = 0x4d43_0001;
    const MAKE_DEFINED: usize = 0x4d43_0002;

    /// Returns the response of valgrind, or 0 without valgrind.
    #[inline(never)]
    fn request(code: usize, a: usize, b: usize) -> usize {
        let args = [code, a, b, 0, 0, 0];
        let mut response = 0usize;
        // SAFETY: the instructions are rotations by 128 bits in total and an exchange of a register
        // with itself. The compiler must assume that memory changes, so it keeps no secret in a
        // register, where a declaration would not reach it.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") args.as_ptr(), inout("rdx") response, options(nostack)
            );
        }
        response
    }

    pub(crate) fn runs() -> bool {
        request(RUNNING, 0, 0) > 0
    }

    /// Returns the number of reports until now.
    pub(crate) fn reports() -> usize {
        request(COUNT_ERRORS, 0, 0)
    }

    /// Declares these bytes secret, and thereby everything that is computed from them.
    pub(crate) fn hide(bytes: &[u8]) {
        request(MAKE_UNDEFINED, bytes.as_ptr() as usize, bytes.len());
    }

    /// Declares these bytes public.
    pub(crate) fn publish(bytes: &[u8]) {
        request(MAKE_DEFINED, bytes.as_ptr() as usize, bytes.len());
    }

    /// Returns the same value, declared public.
    pub(crate) fn public(value: bool) -> bool {
        let byte = core::hint::black_box([u8::from(value)]);
        publish(&byte);
        core::hint::black_box(&byte)[0] == 1
    }

    /// Returns a secret copy.
    pub(crate) fn secret(bytes: &[u8]) -> Vec<u8> {
        let copy = bytes.to_vec();
        hide(&copy);
        copy
    }
}

/// There are no requests on other processors.
#[cfg(not(target_arch = "x86_64"))]
mod valgrind {
    pub(crate) fn runs() -> bool {
        false
    }
    pub(crate) fn reports() -> usize {
        0
    }
    pub(crate) fn hide(_: &[u8]) {}
    pub(crate) fn publish(_: &[u8]) {}
    pub(crate) fn public(value: bool) -> bool {
        value
    }
    pub(crate) fn secret(bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }
}
