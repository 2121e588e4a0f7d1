//! Tests that keys are zeroed on the heap when they are dropped, and that a fork clears the mark.

use crate::variants::available;
use kernels::InOut;
use kernels::aegis::{self, Aegis, Kind};
use kernels::aes::{self, Aes};
use kernels::chacha20::{self, ChaCha20, XChaCha20};
use kernels::cpu::Features;
use kernels::eme::Eme;
use kernels::gcm::{self, Gcm, Stream};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::poly1305::{self, Poly1305};
use kernels::speck::{self, ByteOrder, Size, Speck};
use kernels::xsalsa20_poly1305::{self, XSalsa20Poly1305};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The allocator of the system, which also checks memory before it is freed.
struct Watch;

thread_local! {
    /// Whether this thread is watched. Other threads, for example those of the test harness, may
    /// free memory of these layouts at any time.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
}
/// Number of watched pieces of memory with one of the layouts below that were freed.
static FREED: AtomicUsize = AtomicUsize::new(0);
/// Number of those that were not zero.
static DIRTY: AtomicUsize = AtomicUsize::new(0);

// Layouts: size and alignment.

/// 15 round keys of AES.
const SCHEDULE: (usize, usize) = (15 * 16, 16);
/// Two rows of a ChaCha20 state.
const CHACHA20: (usize, usize) = (32, 16);
/// The value L of EME.
const EME: (usize, usize) = (16, align_of::<u128>());
/// A schedule with the powers of H for short messages: 8 powers and 4 zeros, twice.
const GCM_KEY: (usize, usize) = (15 * 16 + 12 * 32, 16);
/// The powers of H for long messages: 40 powers and 4 zeros, twice.
const GCM_BULK_POWERS: (usize, usize) = (44 * 32, 64);
/// The precomputed first round: 256 differences, padding, and the first two again.
const FIRST_ROUND: (usize, usize) = ((2 + 256 + 2) * 16, 64);
/// The state of an AES-GCM message: counter, hash, a buffered block and two lengths.
const GCM_STREAM: (usize, usize) = (64, align_of::<u128>());
/// The state of Poly1305: the accumulator in four words, the key in four words, and a buffer.
const POLY1305: (usize, usize) = (8 * 8 + 16, align_of::<u64>());
/// The powers of Poly1305: those for the last vector, and those for all lanes.
const POLY1305_POWERS: (usize, usize) = ((48 + 144) * 8, 64);
/// A key of AEGIS.
const AEGIS_KEY: (usize, usize) = (32, 16);
/// The round keys of Speck: 34 words.
const SPECK: (usize, usize) = (34 * 8, align_of::<u64>());

// SAFETY: every call is passed on unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let ours = [
            SCHEDULE,
            CHACHA20,
            EME,
            GCM_KEY,
            GCM_BULK_POWERS,
            FIRST_ROUND,
            GCM_STREAM,
            AEGIS_KEY,
            POLY1305,
            POLY1305_POWERS,
            SPECK,
        ]
        .contains(&(layout.size(), layout.align()));
        if ours && WATCHING.get() {
            // SAFETY: the memory is still allocated. The test drops only the memory of its keys
            // with these layouts, all of which was initialised.
            let bytes = unsafe { std::slice::from_raw_parts(at, layout.size()) };
            FREED.fetch_add(1, Ordering::Relaxed);
            DIRTY.fetch_add(usize::from(bytes.iter().any(|b| *b != 0)), Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watch = Watch;

/// The tests share the allocator and the process, so only one may run at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Calls `run`, and returns how many pieces of memory it freed. All of them must be zero.
fn freed_by(run: impl FnOnce()) -> usize {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = FREED.load(Ordering::Relaxed);
    WATCHING.set(true);
    run();
    WATCHING.set(false);
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0, "freed memory is not zero");
    FREED.load(Ordering::Relaxed) - before
}

/// A key that was moved to the heap, so that a copy left at a former address would be freed there
/// or missing here. No watched layout has this alignment: the key itself holds pointers, and only
/// what they point to must be zero.
#[repr(align(128))]
struct Moved<T>(T);

fn moved<T>(key: T) -> Box<Moved<T>> {
    Box::new(Moved(key))
}

// claim: memory-wiped
#[test]
fn dropped_aes_key_is_zeroed() {
    for (name, features) in available(aes::variants()) {
        for len in [16, 24, 32] {
            let key = moved(Aes::new(&[0xa5; 32][..len], features).unwrap());
            assert_ne!(key.0.encrypt_block(&[0; 16]), [0; 16]);
            assert_eq!(freed_by(|| drop(key)), 1, "{name}: expected one schedule");
        }
    }
}

// claim: memory-wiped
#[test]
fn dropped_eme_key_is_zeroed() {
    for (name, features) in available(aes::variants()) {
        let key = moved(Eme::new(&[0xa5; 32], features).unwrap());
        let freed = freed_by(|| key.0.decrypt(&[1; 16], &mut [0; 64]).unwrap());
        assert_eq!(freed, 0, "{name}: a message used the heap");
        assert_eq!(freed_by(|| drop(key)), 2, "{name}: expected one schedule and L");
    }
}

// claim: memory-wiped
#[test]
fn dropped_xsalsa20_poly1305_key_is_zeroed() {
    for (name, features) in available(xsalsa20_poly1305::variants()) {
        let key = moved(XSalsa20Poly1305::new(&[0xa5; 32], features).unwrap());
        // The state of Poly1305; a long message also needs its powers.
        for (len, pieces) in [(0, 1), (300, 1), (3000, 2)] {
            let (mut data, mut tag) = (vec![0; len], [0; 16]);
            let seal = || key.0.seal(&[1; 24], InOut::in_place(&mut data), &mut tag).unwrap();
            assert_eq!(freed_by(seal), pieces, "{name}: message of {len} bytes");
        }
        assert_eq!(freed_by(|| drop(key)), 1, "{name}: expected one key");
    }
}

// claim: memory-wiped
#[test]
fn dropped_chacha20_key_is_zeroed() {
    for (name, features) in available(chacha20::variants()) {
        let (short, long) = (ChaCha20::new(&[0xa5; 32], features), XChaCha20::new(&[0xa5; 32], features));
        let key = moved((short.unwrap(), long.unwrap()));
        let mut data = [0; 3000];
        let freed = freed_by(|| {
            key.0.0.xor_at(&[1; 12], 0, 0, InOut::in_place(&mut data)).unwrap();
            key.0.1.xor_at(&[1; 24], 0, 0, InOut::in_place(&mut data)).unwrap();
        });
        assert_eq!(freed, 0, "{name}: a message used the heap");
        let freed = freed_by(|| {
            drop(key.0.1.subkey(&[1; 16]));
            drop(key);
        });
        assert_eq!(freed, 3, "{name}: expected three keys");
    }
}

// claim: memory-wiped
#[test]
fn dropped_gcm_key_is_zeroed() {
    for (name, features) in available(gcm::variants()) {
        // A longer message needs more powers, and a very long one the precomputed first round.
        for (len, pieces) in [(64, 1), (65, 2), (1 << 16, 3)] {
            let key = moved(Gcm::new(&[0xa5; 32], features).unwrap());
            let (mut data, mut tag) = (vec![0; len], [0; 16]);
            key.0.seal(&[1; 12], &[], InOut::in_place(&mut data), &mut tag).unwrap();
            assert_eq!(freed_by(|| drop(key)), pieces, "{name}: message of {len} bytes");
        }
    }
}

// claim: memory-wiped
#[test]
fn dropped_gcm_stream_is_zeroed() {
    let gcm = Gcm::new(&[0xa5; 32], Features::detect()).unwrap();
    for finish in [false, true] {
        let mut stream = Stream::begin(&gcm, &[1; 12]).unwrap();
        stream.aad(&[7; 21]).unwrap();
        stream.encrypt(InOut::in_place(&mut [3; 100])).unwrap();
        let freed = freed_by(|| if finish { assert_ne!(stream.finish(), [0; 16]) } else { drop(stream) });
        assert_eq!(freed, 1, "expected one state");
    }
}

// claim: memory-wiped
#[test]
fn dropped_mac_is_zeroed() {
    for (name, features) in available(poly1305::variants()) {
        // A long message needs powers.
        for (len, pieces) in [(0, 1), (77, 1), (5001, 2)] {
            for finish in [false, true] {
                let mut mac = Poly1305::new(&[0xa5; 32], features).unwrap();
                mac.update(&vec![0x5a; len]);
                let key = moved(mac);
                let freed = freed_by(|| if finish { _ = key.0.finalize() } else { drop(key) });
                assert_eq!(freed, pieces, "{name}: message of {len} bytes");
            }
        }
    }
}

// claim: memory-wiped
#[test]
fn dropped_gcm_siv_key_is_zeroed() {
    for (name, features) in available(gcm_siv::variants()) {
        for len in [16, 32] {
            let key = moved(GcmSiv::new(&[0xa5; 32][..len], features).unwrap());
            let (mut data, mut tag) = ([0; 1000], [0; 16]);
            let freed = freed_by(|| {
                key.0.seal(&[1; 12], &[], InOut::in_place(&mut data), &mut tag).unwrap();
            });
            assert_eq!(freed, 0, "{name}: a message used the heap");
            assert_eq!(freed_by(|| drop(key)), 1, "{name}: expected one schedule");
        }
    }
}

// claim: memory-wiped
#[test]
fn dropped_aegis_key_is_zeroed() {
    for (name, features) in available(aegis::variants()) {
        for kind in Kind::ALL {
            let bytes = [0xa5; 32];
            let key = moved(Aegis::new(kind, &bytes[..kind.key_len()], features).unwrap());
            let (mut data, mut tag) = ([0; 1000], [0; 16]);
            let freed = freed_by(|| {
                key.0.seal(&bytes[..kind.nonce_len()], &[], InOut::in_place(&mut data), &mut tag).unwrap();
            });
            assert_eq!(freed, 0, "{name}: a message used the heap");
            assert_eq!(freed_by(|| drop(key)), 1, "{name}: expected one key");
        }
    }
}

// claim: memory-wiped
#[test]
fn dropped_speck_key_is_zeroed() {
    for (name, features) in available(speck::variants()) {
        for size in Size::ALL {
            let bytes = &[0xa5; 32][..size.key_len()];
            let key = moved(Speck::new(size, bytes, ByteOrder::Big, features).unwrap());
            let freed = freed_by(|| key.0.encrypt_blocks(InOut::in_place(&mut [0; 48 * 20])).unwrap());
            assert_eq!(freed, 0, "{name}: blocks used the heap");
            assert_eq!(freed_by(|| drop(key)), 1, "{name}: expected one schedule");
        }
    }
}

// claim: fork-nonces
#[test]
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64", not(miri)))]
fn fork_clears_the_mark() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mark) = kernels::fork::fork_mark() else {
        // SAFETY: invalid advice for no memory. A real kernel rejects it.
        let emulated = unsafe { libc::madvise(std::ptr::null_mut(), 0, -1) } == 0;
        assert!(emulated, "Linux has had this since 4.14");
        eprintln!("NOT RUN: fork mark (this emulator ignores madvise)");
        return;
    };
    assert!(std::ptr::eq(mark, kernels::fork::fork_mark().unwrap()));
    mark.store(0x1234_5678_9abc_def0, Ordering::Relaxed);
    // SAFETY: the child only reads an atomic and exits, which is allowed without the other threads
    // of the parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let erased = mark.load(Ordering::Relaxed) == 0;
        // SAFETY: ends the child without running code of the test harness.
        unsafe { libc::_exit(if erased { 17 } else { 1 }) }
    }
    let mut status = 0;
    // SAFETY: `status` is a valid pointer during the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status));
    assert_eq!(libc::WEXITSTATUS(status), 17, "the mark was not cleared in the child");
    assert_eq!(mark.load(Ordering::Relaxed), 0x1234_5678_9abc_def0, "the mark of the parent changed");
}

/// The registers are filled and read beside the call, because the compiler may use them between two
/// statements.
#[cfg(target_arch = "x86_64")]
#[test]
fn registers_are_wiped() {
    if !Features::detect().names().any(|name| name == "avx512f") {
        return;
    }
    let mut found = [0xffu8; 128];
    // SAFETY: the processor has AVX-512, the pointer is valid for both vectors, and a call of this
    // ABI may change the registers that the ABI names. `rbx` keeps the pointer, because calls
    // preserve it.
    unsafe {
        std::arch::asm!(
            "push rbx",
            "mov rbx, {found}",
            "vpternlogd zmm1, zmm1, zmm1, 0xff",
            "vpternlogd zmm17, zmm17, zmm17, 0xff",
            "sub rsp, 8",
            "call {wipe}",
            "add rsp, 8",
            "vmovdqu64 [rbx], zmm1",
            "vmovdqu64 [rbx + 64], zmm17",
            "pop rbx",
            found = in(reg) found.as_mut_ptr(),
            wipe = sym wiped,
            clobber_abi("sysv64"),
        );
    }
    assert_eq!(found, [0; 128]);

    extern "sysv64" fn wiped() {
        kernels::zero::wipe_registers();
    }
}
