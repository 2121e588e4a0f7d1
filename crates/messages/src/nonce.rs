//! Random nonces from bytes that no other thread, parent or forked child uses.
//!
//! A system call per message costs more than sealing it. So each thread has a buffer of 4 KiB of
//! AES-256-CTR keystream and uses every byte once. The key comes from the operating system and is
//! dropped as soon as the buffer is full. After a fork, the process mark differs, so the child
//! discards its copy of the buffer before it uses a byte.
//!
//! In a build with the feature `fips`, the generator of the FIPS module fills the buffer.
//!
//! A snapshot of a virtual machine copies the buffer, and the process cannot detect it. For
//! machines that run from snapshots, use an algorithm that tolerates a repeated nonce
//! (AES-GCM-SIV), or explicit nonces.

use crate::prelude::*;
use base::random::process_mark;
use std::cell::RefCell;

const BUFFER: usize = 4096;

struct Generator {
    bytes: [u8; BUFFER],
    /// Bytes already used.
    used: usize,
    /// The process mark when the buffer was filled.
    mark: u64,
}

thread_local! {
    static GENERATOR: RefCell<Generator> =
        const { RefCell::new(Generator { bytes: [0; BUFFER], used: BUFFER, mark: 0 }) };
}

/// Fills `nonce` with random bytes, used once.
#[doc(hidden)]
pub fn fill(nonce: &mut [u8]) -> Result<()> {
    if nonce.len() > BUFFER {
        return Ok(base::random::fill(nonce)?);
    }
    let drawn = GENERATOR.try_with(|generator| {
        nonce.copy_from_slice(generator.borrow_mut().take(nonce.len())?);
        Ok(())
    });
    // The thread is ending and its buffer has been dropped.
    drawn.unwrap_or_else(|_| Ok(base::random::fill(nonce)?))
}

/// Fills an array like [`fill`]. The constant length saves a call of `memcpy`; with it, `seal` is 7
/// % slower. Errors in the closure cost as much: it is no longer inlined.
///
/// Not returned by value: 32 bytes would be copied in pieces that the kernel cannot load before
/// they are in the cache (10 %).
#[inline(always)]
pub(crate) fn fill_array<const N: usize>(nonce: &mut [u8; N]) -> Result<()> {
    let drawn = GENERATOR.try_with(|generator| match generator.try_borrow_mut() {
        Ok(mut generator) => generator.draw(nonce),
        Err(_) => false,
    });
    if drawn == Ok(true) { Ok(()) } else { fill(nonce) }
}

/// Bytes of nonces from which on a batch gets its own key. Fewer come from the thread's buffer.
const KEYSTREAM_LEN: usize = 1024;

/// The nonces of a batch: drawn at once, readable by several threads.
pub(crate) struct BatchNonces {
    source: Source,
    mark: u64,
}

enum Source {
    /// Bytes from the thread's buffer.
    Drawn(Vec<u8>),
    /// Keystream under this batch's own key.
    Keystream(raw::Aes),
}

impl BatchNonces {
    /// Draws `len` bytes.
    pub(crate) fn new(len: usize) -> Result<Self> {
        let mark = process_mark()?;
        let source = if len < KEYSTREAM_LEN || providers::FIPS {
            let mut bytes = memory::zeroed(len)?;
            fill(&mut bytes)?;
            Source::Drawn(bytes)
        } else {
            Source::Keystream(random_key()?)
        };
        Ok(Self { source, mark })
    }

    /// Writes the bytes from `at` on to `nonces`.
    ///
    /// # Errors
    /// Returns [`Misuse::Forked`] in a forked child: the parent may use the same bytes.
    pub(crate) fn fill(&self, at: usize, nonces: &mut [u8]) -> Result<()> {
        if process_mark()? != self.mark {
            return Err(Misuse::Forked.into());
        }
        match &self.source {
            Source::Drawn(bytes) => nonces.copy_from_slice(&bytes[at..][..nonces.len()]),
            Source::Keystream(aes) => keystream(aes, at as u64, nonces),
        }
        Ok(())
    }
}

/// Returns an AES-256 key for a single use.
fn random_key() -> Result<raw::Aes> {
    let mut seed = Zeroizing::new([0; 32]);
    base::random::fill(&mut *seed)?;
    Ok(raw::aes(&*seed)?)
}

/// Writes keystream from byte `at` on.
fn keystream(aes: &raw::Aes, at: u64, out: &mut [u8]) {
    out.fill(0);
    aes.xor_at(&[0; 16], at, InOut::in_place(out)).expect("memory ends before 2^64");
}

impl Generator {
    /// Fills an array if the buffer is of this process and long enough.
    #[inline(always)]
    fn draw<const N: usize>(&mut self, nonce: &mut [u8; N]) -> bool {
        let next = self.bytes.get(self.used..).and_then(<[u8]>::first_chunk);
        match (next, process_mark()) {
            (Some(next), Ok(mark)) if mark == self.mark => *nonce = *next,
            _ => return false,
        }
        self.used += N;
        true
    }

    /// Returns the next `len` bytes, at most [`BUFFER`].
    #[inline(always)]
    fn take(&mut self, len: usize) -> Result<&[u8]> {
        let mark = process_mark()?;
        if self.mark != mark || self.used + len > BUFFER {
            self.refill(mark)?;
        }
        let taken = &self.bytes[self.used..][..len];
        self.used += len;
        Ok(taken)
    }

    #[cold]
    fn refill(&mut self, mark: u64) -> Result<()> {
        if providers::FIPS {
            base::random::fill(&mut self.bytes)?;
        } else {
            keystream(&random_key()?, 0, &mut self.bytes);
        }
        (self.used, self.mark) = (0, mark);
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::collections::HashSet;

    // claim: message-nonces
    #[test]
    fn nonces_do_not_repeat() {
        let drawn = || {
            (0..20_000).map(|_| {
                let mut nonces = [[0; 12]; 2];
                fill(&mut nonces[0]).unwrap();
                fill_array(&mut nonces[1]).unwrap();
                nonces
            })
        };
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(move || drawn().collect::<Vec<_>>())).collect();
        let mut all: HashSet<[u8; 12]> = HashSet::new();
        for thread in threads {
            for nonce in thread.join().unwrap().into_flattened() {
                assert!(all.insert(nonce));
            }
        }
    }

    // claim: fork-nonces
    #[test]
    fn nonces_of_a_batch() {
        let mut all = HashSet::new();
        for len in [0, 12, KEYSTREAM_LEN - 1, KEYSTREAM_LEN, 12 * 1000, 12 * 1000] {
            let batch = BatchNonces::new(len).unwrap();
            let mut whole = vec![0; len];
            batch.fill(0, &mut whole).unwrap();
            assert!(whole.as_chunks::<12>().0.iter().all(|nonce| all.insert(*nonce)), "a nonce was repeated");
            // The same in pieces, as several threads read them.
            for (at, piece) in whole.chunks(24).enumerate() {
                let mut again = vec![0; piece.len()];
                batch.fill(24 * at, &mut again).unwrap();
                assert_eq!(again, piece);
            }
            let forked = BatchNonces { mark: batch.mark ^ 2, ..batch };
            assert!(matches!(forked.fill(0, &mut []), Err(Error::Misuse(Misuse::Forked))));
        }
    }

    // claim: fork-nonces
    #[test]
    fn a_new_process_mark_discards_the_buffer() {
        let mut generator = Generator { bytes: [7; BUFFER], used: 0, mark: 1 };
        assert_ne!(generator.take(24).unwrap(), [7; 24]);
    }
}
