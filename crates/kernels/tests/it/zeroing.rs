//! Keys are gone from the heap when they are dropped, and a fork erases the mark.

use kernels::InOut;
use kernels::aegis::{self, Aegis, Kind};
use kernels::aes::{self, Aes};
use kernels::chacha20::{self, ChaCha20, XChaCha20};
use kernels::cpu::Features;
use kernels::gcm::{self, Gcm, Stream};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::poly1305::{self, Poly1305};
use kernels::speck::{self, ByteOrder, Size, Speck};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The system's allocator, but it looks at what is given back while the memory is still ours to look at.
struct Watch;

thread_local! {
    /// Of this thread: another one may at any time give back memory of one of these layouts, so does the harness.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
}
/// Given back while watching: pieces as large as a schedule, and how many of those were not all zero.
static LARGE: AtomicUsize = AtomicUsize::new(0);
static DIRTY: AtomicUsize = AtomicUsize::new(0);
/// Sizes and alignments. A schedule has 15 round keys.
const SCHEDULE: (usize, usize) = (15 * 16, 16);
/// Two variants of a state.
const CHACHA20: (usize, usize) = (32, 16);
/// A schedule with the few powers of H: 8, and 4 zeros, twice.
const GCM_KEY: (usize, usize) = (15 * 16 + 12 * 32, 16);
/// Many powers: 36, and 4 zeros, twice.
const GCM_MANY: (usize, usize) = (40 * 32, 64);
/// The first round, made ahead: 256 sums and padding.
const FIRST_ROUND: (usize, usize) = ((2 + 256) * 16 + 32, 64);
/// A message of AES-GCM under way: counter, hash, the block that waits, and two lengths.
const GCM_STREAM: (usize, usize) = (64, align_of::<u128>());
/// Poly1305's sum in four words, its key in four, and a buffer.
const POLY1305: (usize, usize) = (8 * 8 + 16, align_of::<u64>());
/// Its powers, in words of limbs: a vector of the last, and those of all lanes.
const POLY1305_POWERS: (usize, usize) = ((48 + 144) * 8, 64);

/// A key of AEGIS.
const AEGIS_KEY: (usize, usize) = (32, 16);
/// Round keys of Speck: 34 words.
const SPECK: (usize, usize) = (34 * 8, align_of::<u64>());

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let ours = [
            SCHEDULE,
            CHACHA20,
            GCM_KEY,
            GCM_MANY,
            FIRST_ROUND,
            GCM_STREAM,
            AEGIS_KEY,
            POLY1305,
            POLY1305_POWERS,
            SPECK,
        ]
        .contains(&(layout.size(), layout.align()));
        if ours && WATCHING.get() {
            // SAFETY: still allocated, and the test drops nothing of these layouts but what its keys own, all of
            // which was written when it was made.
            let bytes = unsafe { std::slice::from_raw_parts(at, layout.size()) };
            LARGE.fetch_add(1, Ordering::Relaxed);
            DIRTY.fetch_add(usize::from(bytes.iter().any(|b| *b != 0)), Ordering::Relaxed);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watch = Watch;

/// The tests here share the allocator and the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn dropped_aes_key_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in aes::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        for len in [16, 24, 32] {
            let aes = Aes::new(&[0xa5; 32][..len], Features::detect().only(variant.needs)).unwrap();
            // Moved, so that a copy in a former place would be found missing here.
            let moved = Box::new(aes);
            assert_ne!(moved.encrypt_block(&[0; 16]), [0; 16]);
            let before = LARGE.load(Ordering::Relaxed);
            WATCHING.set(true);
            drop(moved);
            WATCHING.set(false);
            assert_eq!(
                LARGE.load(Ordering::Relaxed),
                before + 1,
                "the schedule was not where this test looks"
            );
        }
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_chacha20_key_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in chacha20::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        let features = Features::detect().only(variant.needs);
        let (short, long) = (ChaCha20::new(&[0xa5; 32], features), XChaCha20::new(&[0xa5; 32], features));
        let moved = Box::new((short.unwrap(), long.unwrap()));
        let mut data = [0; 3000];
        let before = LARGE.load(Ordering::Relaxed);
        WATCHING.set(true);
        // What a call derives is not on the heap.
        moved.0.xor_at(&[1; 12], 0, 0, InOut::in_place(&mut data)).unwrap();
        moved.1.xor_at(&[1; 24], 0, 0, InOut::in_place(&mut data)).unwrap();
        assert_eq!(LARGE.load(Ordering::Relaxed), before, "a message used the heap");
        drop(moved.1.subkey(&[1; 16]));
        drop(moved);
        WATCHING.set(false);
        let seen = LARGE.load(Ordering::Relaxed) - before;
        assert_eq!(seen, 3, "the keys were not where this test looks");
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_gcm_key_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in gcm::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        // A short message needs few powers, a longer one has many made, and a very long one the first round.
        for (len, pieces) in [(64, 1), (65, 2), (1 << 16, 3)] {
            let gcm = Gcm::new(&[0xa5; 32], Features::detect().only(variant.needs)).unwrap();
            let moved = Box::new(gcm);
            let (mut data, mut tag) = (vec![0; len], [0; 16]);
            moved.seal(&[1; 12], &[], InOut::in_place(&mut data), &mut tag).unwrap();
            let before = LARGE.load(Ordering::Relaxed);
            WATCHING.set(true);
            drop(moved);
            WATCHING.set(false);
            let seen = LARGE.load(Ordering::Relaxed) - before;
            assert_eq!(seen, pieces, "the key was not where this test looks");
        }
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_gcm_stream_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let gcm = Gcm::new(&[0xa5; 32], Features::detect()).unwrap();
    for finish in [false, true] {
        let mut stream = Stream::begin(&gcm, &[1; 12]).unwrap();
        stream.aad(&[7; 21]).unwrap();
        stream.encrypt(InOut::in_place(&mut [3; 100])).unwrap();
        let before = LARGE.load(Ordering::Relaxed);
        WATCHING.set(true);
        if finish {
            assert_ne!(stream.finish(), [0; 16]);
        } else {
            drop(stream);
        }
        WATCHING.set(false);
        assert_eq!(LARGE.load(Ordering::Relaxed), before + 1, "the state was not where this test looks");
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_mac_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in poly1305::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        // A long message has powers made. Finished or not, it is gone.
        for (len, pieces) in [(0, 1), (77, 1), (5001, 2)] {
            for finish in [false, true] {
                let mut mac = Poly1305::new(&[0xa5; 32], Features::detect().only(variant.needs)).unwrap();
                mac.update(&vec![0x5a; len]);
                let moved = Box::new(mac);
                let before = LARGE.load(Ordering::Relaxed);
                WATCHING.set(true);
                if finish {
                    _ = moved.finalize()
                } else {
                    drop(moved)
                }
                WATCHING.set(false);
                let seen = LARGE.load(Ordering::Relaxed) - before;
                assert_eq!(seen, pieces, "{}: the key was not where this test looks", variant.name);
            }
        }
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_gcm_siv_key_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in gcm_siv::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        for len in [16, 32] {
            let siv = GcmSiv::new(&[0xa5; 32][..len], Features::detect().only(variant.needs)).unwrap();
            let moved = Box::new(siv);
            let before = LARGE.load(Ordering::Relaxed);
            WATCHING.set(true);
            // What a long message derives is not on the heap.
            let (mut data, mut tag) = ([0; 1000], [0; 16]);
            moved.seal(&[1; 12], &[], InOut::in_place(&mut data), &mut tag).unwrap();
            assert_eq!(LARGE.load(Ordering::Relaxed), before, "a message used the heap");
            drop(moved);
            WATCHING.set(false);
            let seen = LARGE.load(Ordering::Relaxed) - before;
            assert_eq!(seen, 1, "the schedule was not where this test looks");
        }
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_aegis_key_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in aegis::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        for kind in Kind::ALL {
            let key = [0xa5; 32];
            let features = Features::detect().only(variant.needs);
            let moved = Box::new(Aegis::new(kind, &key[..kind.key_len()], features).unwrap());
            let before = LARGE.load(Ordering::Relaxed);
            WATCHING.set(true);
            let (mut data, mut tag) = ([0; 1000], [0; 16]);
            moved.seal(&key[..kind.nonce_len()], &[], InOut::in_place(&mut data), &mut tag).unwrap();
            assert_eq!(LARGE.load(Ordering::Relaxed), before, "a message used the heap");
            drop(moved);
            WATCHING.set(false);
            let seen = LARGE.load(Ordering::Relaxed) - before;
            assert_eq!(seen, 1, "the key was not where this test looks");
        }
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
fn dropped_speck_key_is_zeroed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for variant in speck::variants() {
        if let Err(missing) = variant.check(Features::detect()) {
            eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name);
            continue;
        }
        for size in Size::ALL {
            let (key, features) = (&[0xa5; 32][..size.key_len()], Features::detect().only(variant.needs));
            let moved = Box::new(Speck::new(size, key, ByteOrder::Big, features).unwrap());
            let before = LARGE.load(Ordering::Relaxed);
            WATCHING.set(true);
            moved.encrypt_blocks(InOut::in_place(&mut [0; 48 * 20])).unwrap();
            assert_eq!(LARGE.load(Ordering::Relaxed), before, "blocks used the heap");
            drop(moved);
            WATCHING.set(false);
            let seen = LARGE.load(Ordering::Relaxed) - before;
            assert_eq!(seen, 1, "the round keys were not where this test looks");
        }
    }
    assert_eq!(DIRTY.load(Ordering::Relaxed), 0);
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
fn fork_clears_the_mark() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mark) = kernels::zero::fork_mark() else {
        // SAFETY: nonsense advice on no memory at all; a real kernel refuses it.
        let emulated = unsafe { libc::madvise(std::ptr::null_mut(), 0, -1) } == 0;
        assert!(emulated, "Linux has had this since 4.14");
        eprintln!("NOT RUN: fork mark (this emulator ignores madvise)");
        return;
    };
    assert!(std::ptr::eq(mark, kernels::zero::fork_mark().unwrap()));
    mark.store(0x1234_5678_9abc_def0, Ordering::Relaxed);
    // SAFETY: the child only reads an atomic and exits, which is allowed also where other threads were lost.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let erased = mark.load(Ordering::Relaxed) == 0;
        // SAFETY: ends the child without running anything of the test harness.
        unsafe { libc::_exit(if erased { 17 } else { 1 }) }
    }
    let mut status = 0;
    // SAFETY: `status` is ours for the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status));
    assert_eq!(libc::WEXITSTATUS(status), 17, "the child still saw its parent's mark");
    assert_eq!(mark.load(Ordering::Relaxed), 0x1234_5678_9abc_def0, "the parent keeps it");
}
