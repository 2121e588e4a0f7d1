//! Another thread changes the ciphertext while an entry opens it: we get the plaintext or an
//! authentication failure.

use providers::{InOut, entries};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const LEN: usize = 70_000;

/// Stops the changing thread, also after a failed assertion.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

// claim: shared-providers
#[test]
fn every_entry_opens_what_it_authenticates() {
    for entry in entries().filter(|entry| entry.available().is_ok()) {
        let name = format!("{} from {}", entry.algorithm.name(), entry.provider.name());
        let key = entry.key(&vec![7; entry.algorithm.key_len()]).unwrap();
        let (nonce, mut sealed, mut tag) = (vec![1; entry.algorithm.nonce_len()], vec![0x5a; LEN], [0; 16]);
        key.seal(&nonce, b"", InOut::in_place(&mut sealed), &mut tag).unwrap();
        let memory: Vec<_> = sealed.into_iter().map(AtomicU8::new).collect();
        let (mut out, mut opened) = (vec![0; LEN], 0);
        for at in [100, LEN / 2, LEN - 5] {
            let (going, byte) = (AtomicBool::new(true), memory[at].load(Ordering::Relaxed));
            thread::scope(|scope| {
                scope.spawn(|| {
                    while going.load(Ordering::Relaxed) {
                        memory[at].store(byte ^ 0x41, Ordering::Relaxed);
                        (0..5).for_each(|_| std::hint::spin_loop());
                        memory[at].store(byte, Ordering::Relaxed);
                        (0..5).for_each(|_| std::hint::spin_loop());
                    }
                });
                let _stop = Stop(&going);
                let end = Instant::now() + Duration::from_millis(10);
                while Instant::now() < end {
                    // SAFETY: the bytes are valid for reads during the call. They change on
                    // purpose: the memory stands for a mapping that another process writes.
                    let sealed = unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<u8>(), LEN) };
                    let result = key.open(&nonce, b"", InOut::apart(sealed, &mut out), &tag);
                    let expected = if result.is_ok() { 0x5a } else { 0 };
                    assert_eq!(out[at], expected, "{name}, byte {at}: {result:?}");
                    opened += u32::from(result.is_ok());
                }
            });
        }
        assert!(opened > 0, "{name} opened nothing");
    }
}
