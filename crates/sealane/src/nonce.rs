//! Random nonces, made of bytes that no other thread and no parent or forked child of this process uses.
//!
//! A system call per message costs more than sealing it. Each thread has a buffer of 4 KiB of AES-256-CTR keystream and
//! uses every byte once. The key comes from the operating system and is dropped as soon as the buffer is full. After a
//! fork, the process mark differs, so the child discards its copy of the buffer before it uses a byte.
//!
//! A snapshot of a virtual machine copies the buffer, and the process cannot detect that. For machines that run from
//! snapshots, use an algorithm that tolerates a repeated nonce (AES-GCM-SIV), or explicit nonces.

use crate::Error;
use crate::random::process_mark;
use std::cell::RefCell;
use zeroize::Zeroizing;

const BUFFER: usize = 4096;

struct Generator {
    bytes: [u8; BUFFER],
    /// Number of bytes of the buffer that were already used.
    used: usize,
    /// The process mark under which the buffer was filled.
    mark: u64,
}

thread_local! {
    static GENERATOR: RefCell<Generator> =
        const { RefCell::new(Generator { bytes: [0; BUFFER], used: BUFFER, mark: 0 }) };
}

/// Fills `nonce`, of at most [`BUFFER`] bytes, with random bytes that are used once.
///
/// It is inlined so that an array is filled without a call of `memcpy`, whose bytes a kernel waits for.
#[inline(always)]
pub(crate) fn fill(nonce: &mut [u8]) -> Result<(), Error> {
    GENERATOR
        .try_with(|generator| generator.borrow_mut().take(nonce))
        // The thread is ending and its buffer has been dropped.
        .unwrap_or_else(|_| Ok(crate::random::fill(nonce)?))
}

impl Generator {
    #[inline(always)]
    fn take(&mut self, nonce: &mut [u8]) -> Result<(), Error> {
        let mark = process_mark()?;
        if self.mark != mark || self.used + nonce.len() > BUFFER {
            self.refill(mark)?;
        }
        nonce.copy_from_slice(&self.bytes[self.used..][..nonce.len()]);
        self.used += nonce.len();
        Ok(())
    }

    #[cold]
    fn refill(&mut self, mark: u64) -> Result<(), Error> {
        let mut seed = Zeroizing::new([0; 32]);
        crate::random::fill(&mut *seed)?;
        let aes = providers::raw::aes(&*seed)?;
        self.bytes.fill(0);
        aes.xor_at(&[0; 16], 0, providers::InOut::in_place(&mut self.bytes))
            .expect("4 KiB from offset 0 end before 2^64");
        (self.used, self.mark) = (0, mark);
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn nonces_do_not_repeat() {
        let draw = || {
            (0..20_000).map(|_| {
                let mut nonce = [0; 12];
                fill(&mut nonce).unwrap();
                nonce
            })
        };
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(move || draw().collect::<Vec<_>>())).collect();
        let mut all: HashSet<[u8; 12]> = HashSet::new();
        for thread in threads {
            for nonce in thread.join().unwrap() {
                assert!(all.insert(nonce));
            }
        }
    }

    #[test]
    fn a_new_process_mark_discards_the_buffer() {
        let mut generator = Generator { bytes: [7; BUFFER], used: 0, mark: 1 };
        let mut nonce = [0; 24];
        generator.take(&mut nonce).unwrap();
        assert_ne!(nonce, [7; 24]);
    }
}
