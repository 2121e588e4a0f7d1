//! Tests that calls which fail free no memory with plaintext.

use sealane::file::{ByteQueue, CHUNK_LEN, DecryptWith, Decryptor, EncryptWith, encrypt};
use sealane::keys::{Keyring, Prefix};
use sealane::{Error, Key, KeyringAead};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The allocator of the system, which also checks memory before it is freed.
struct Watch;

thread_local! {
    /// The length of the memory that is checked on this thread; 0 if none is.
    static WATCHED: Cell<usize> = const { Cell::new(0) };
    /// Number of pieces of this length that were freed, and of those that were not zero.
    static FREED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

// SAFETY: every call is passed on unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // A thread that ends has no such variables any more, and is not watched.
        if WATCHED.try_with(Cell::get).is_ok_and(|len| len == layout.size()) {
            // SAFETY: the memory is still allocated. The tests free only initialised memory of this
            // length.
            let dirty =
                unsafe { std::slice::from_raw_parts(at, layout.size()) }.iter().any(|byte| *byte != 0);
            FREED.with(|freed| freed.set((freed.get().0 + 1, freed.get().1 + usize::from(dirty))));
        }
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watch = Watch;

/// Calls `run`, and returns how many pieces of memory of `len` bytes it freed, and how many of them
/// were not zero.
fn freed_by(len: usize, run: impl FnOnce()) -> (usize, usize) {
    FREED.set((0, 0));
    WATCHED.set(len);
    run();
    WATCHED.set(0);
    FREED.get()
}

/// A length that no other memory of these calls has.
const LEN: usize = 4099;

// claim: message-changed
#[test]
fn a_batch_of_a_keyring_that_fails_leaves_no_plaintext() {
    let mut ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
    let old = KeyringAead::new(&ring).unwrap();
    ring.rotate().unwrap();
    let aead = KeyringAead::new(&ring).unwrap();
    // Of one key, which is a batch of this key, and of two keys.
    for first in [&old, &aead] {
        let mut last = aead.seal(b"last", b"").unwrap();
        last[20] ^= 1;
        let sealed = [first.seal(&[0xa5; LEN], b"").unwrap(), aead.seal(&[0xa5; LEN], b"").unwrap(), last];
        let failed = |result: Result<(), Error>| {
            assert!(matches!(result, Err(Error::InBatch { index: 2, .. })), "{result:?}");
        };
        let list: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
        let freed = freed_by(LEN, || failed(aead.open_many(&list, None).map(drop)));
        assert_eq!(freed, (2, 0));
        let packed = sealed.concat();
        let mut offsets = vec![0];
        offsets.extend(sealed.iter().scan(0, |end, sealed| {
            *end += sealed.len() as i64;
            Some(*end)
        }));
        for len in [packed.len(), packed.len() - 3 * aead.overhead()] {
            let freed = freed_by(len, || failed(aead.open_packed(&packed, &offsets, b"").map(drop)));
            assert_eq!(freed.1, 0);
        }
    }
}

/// A queue is dropped with plaintext in it, and a buffer after it was cut to the last chunk.
#[test]
fn a_stream_leaves_no_plaintext() {
    let key = Key::generate(32).unwrap();
    for len in [LEN, CHUNK_LEN + LEN] {
        let file = encrypt(&vec![0xa5; len], &EncryptWith::key(&key, b"")).unwrap();
        for freed_len in [LEN, CHUNK_LEN, CHUNK_LEN + LEN] {
            let (freed, dirty) = freed_by(freed_len, || {
                let mut decryptor = Decryptor::new(ByteQueue::default(), &DecryptWith::key(&key, b""));
                decryptor.push(&file).unwrap();
                assert_eq!(decryptor.finish().unwrap().len(), len);
            });
            assert_eq!(dirty, 0, "{len} {freed_len}: {freed}");
            assert!(freed > 0 || (len, freed_len) != (LEN, LEN));
        }
    }
}
