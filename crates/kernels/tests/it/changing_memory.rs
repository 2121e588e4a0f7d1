//! Ciphertext that another thread changes while it is opened: the result is the plaintext or a
//! failed tag.
//!
//! A key that reads its source twice, to authenticate and to decrypt it, returns a plaintext that
//! was not authenticated.

use crate::every_aegis::One;
use crate::layout::Aead;
use crate::variants::available;
use kernels::InOut;
use kernels::chacha20_poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::gcm::Gcm;
use kernels::gcm_siv::GcmSiv;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Stops the thread that changes the memory, also after a failed assertion.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Changes a byte of `memory` back and forth while `open` is called again and again, with a view of
/// the memory.
fn while_it_changes(memory: &[AtomicU8], at: usize, mut open: impl FnMut(&[u8])) {
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
            // SAFETY: the bytes are valid for reads during the call. That they change is what is
            // tested: the memory stands for a mapping that another process writes.
            open(unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<u8>(), memory.len()) });
        }
    });
}

fn opens_what_it_authenticates<A: Aead>() {
    for (name, features) in available(A::variants()) {
        for bits in A::KEY_BITS {
            let (key, nonce) = (A::new(&[7; 32][..bits / 8], features), &[1; 32][..A::NONCE]);
            let mut opened = 0;
            for len in [600, 3000, 70_000] {
                let (plain, mut sealed, mut tag) = (vec![0x5a; len], vec![0x5a; len], [0; 16]);
                key.seal(nonce, b"header", InOut::in_place(&mut sealed), &mut tag).unwrap();
                let memory: Vec<_> = sealed.into_iter().map(AtomicU8::new).collect();
                let mut out = vec![0; len];
                for at in [0, len / 2, len - 5] {
                    while_it_changes(&memory, at, |sealed| {
                        let result = key.open(nonce, b"header", InOut::apart(sealed, &mut out), &tag);
                        let expected = if result.is_ok() { plain[at] } else { 0 };
                        assert_eq!(out[at], expected, "{name}-{bits}, byte {at} of {len}: {result:?}");
                        opened += u32::from(result.is_ok());
                    });
                }
            }
            assert!(opened > 0, "{name}-{bits} opened nothing");
        }
    }
}

macro_rules! tests {
    ($($name:ident: $aead:ty;)*) => {
        $(
            #[test]
            #[cfg_attr(miri, ignore = "a data race")]
            fn $name() {
                opens_what_it_authenticates::<$aead>();
            }
        )*
    };
}

tests! {
    aegis_128l: One<128, 1>;
    aegis_256: One<256, 1>;
    aegis_256x4: One<256, 4>;
    chacha20_poly1305: ChaCha20Poly1305;
    gcm: Gcm;
    gcm_siv: GcmSiv;
    xchacha20_poly1305: XChaCha20Poly1305;
}
