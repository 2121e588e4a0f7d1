//! Counts the messages that a key object of AES-GCM or ChaCha20-Poly1305 seals under random nonces.
//!
//! By the birthday bound, two of 2^32 random 96-bit nonces are equal with a probability of 2^-33
//! (NIST SP 800-38D, section 8.3), so a key object seals no more messages. Other objects and
//! processes with the same key are not counted. AES-GCM-SIV has 96-bit nonces too, but a repeated
//! one reveals only whether two messages are equal (RFC 8452), and Tink sets no limit either: we do
//! not count it.
//!
//! An atomic addition per message costs 5 ns, and far more if several threads share a key. So a
//! thread takes numbers in blocks and keeps the rest of a block in a slot of its own. Its first
//! block of a key is one message; each later block is twice as long. If another key takes the slot,
//! the rest of the block is lost. So the count may be up to twice too high, but is never too low.

use super::counter::Counter;
use crate::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Maximum number of messages under random nonces of 96 bits.
const LIMIT: u64 = 1 << 32;
/// Messages at which a warning is due. It leaves 2^30 messages to rotate the key.
const WARNING: u64 = 3 << 30;
/// Below this distance to the limit, threads take single numbers.
const EXACT: u64 = 1 << 20;
/// Maximum messages in the block of a thread.
const MAX_BLOCK: u32 = 1024;
/// Keys per thread with a block.
const SLOTS: usize = 8;

const EXCEEDED: Error = Error::LimitExceeded(
    "a key of AES-GCM or ChaCha20-Poly1305 seals at most 2^32 messages under random nonces; rotate the key, or use \
     xaes-256-gcm or xchacha20-poly1305, whose nonces are longer",
);

/// What limits the number of messages of a key object.
pub(crate) enum Limit {
    /// Messages under random nonces.
    Random(Usage),
    /// Messages, or their blocks, under every nonce.
    Every(Counter),
    None,
}

/// The count of a key object.
pub(crate) struct Usage {
    /// The number of this object, unique in the process.
    serial: u64,
    /// Messages taken by threads.
    taken: AtomicU64,
    warned: AtomicBool,
}

/// Numbers that a thread has taken and not yet used.
#[derive(Clone, Copy)]
struct Block {
    serial: u64,
    left: u32,
    len: u32,
}

thread_local! {
    static BLOCKS: [Cell<Block>; SLOTS] =
        const { [const { Cell::new(Block { serial: 0, left: 0, len: 0 }) }; SLOTS] };
}

impl Usage {
    /// Returns the count of a new key object; `None` if random nonces of the algorithm need no
    /// limit.
    pub(super) fn of(algorithm: Algorithm) -> Option<Self> {
        let is_limited = algorithm.max_random_messages_log2() == LIMIT.ilog2();
        (is_limited && !algorithm.resists_nonce_misuse()).then(Self::new)
    }

    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { serial: NEXT.fetch_add(1, Relaxed), taken: AtomicU64::new(0), warned: AtomicBool::new(false) }
    }

    /// Counts one message.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if it would exceed the limit.
    #[inline]
    pub(super) fn count_one(&self) -> Result<()> {
        let is_counted = |block: &Cell<Block>| {
            let Block { serial, left, len } = block.get();
            let is_left = serial == self.serial && left > 0;
            if is_left {
                block.set(Block { serial, left: left - 1, len });
            }
            is_left
        };
        match BLOCKS.try_with(|blocks| is_counted(&blocks[self.serial as usize % SLOTS])) {
            Ok(true) => Ok(()),
            _ => self.count_in_block(),
        }
    }

    #[cold]
    fn count_in_block(&self) -> Result<()> {
        let counted = BLOCKS.try_with(|blocks| self.take_block(&blocks[self.serial as usize % SLOTS]));
        // The thread is ending and its blocks have been dropped.
        counted.unwrap_or_else(|_| self.count(1))
    }

    fn take_block(&self, slot: &Cell<Block>) -> Result<()> {
        let old = slot.get();
        let is_near = self.taken.load(Relaxed) >= LIMIT - EXACT;
        let len = if old.serial == self.serial && !is_near { (2 * old.len).clamp(1, MAX_BLOCK) } else { 1 };
        self.count(len.into())?;
        slot.set(Block { serial: self.serial, left: len - 1, len });
        Ok(())
    }

    /// Counts `messages` at once, or none.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if they would exceed the limit.
    pub(super) fn count(&self, messages: u64) -> Result<()> {
        let counted = self.taken.fetch_update(Relaxed, Relaxed, |taken| {
            taken.checked_add(messages).filter(|&total| total <= LIMIT)
        });
        // The error is the count; callers cannot use it.
        counted.map(drop).map_err(|_| EXCEEDED)
    }

    /// Returns the number of messages counted.
    pub(super) fn get(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Returns true once, if a warning is due.
    #[inline]
    pub(super) fn take_warning(&self) -> bool {
        self.taken.load(Relaxed) >= WARNING && self.first_warning()
    }

    #[cold]
    fn first_warning(&self) -> bool {
        !self.warned.swap(true, Relaxed)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::thread;

    #[test]
    fn one_thread_and_one_key_are_counted_without_loss() {
        let usage = Usage::new();
        for messages in 1..10_000 {
            usage.count_one().unwrap();
            let counted = usage.get();
            assert!(counted >= messages && counted < 2 * messages + 1, "{messages} {counted}");
            assert!(counted - messages < MAX_BLOCK.into());
        }
    }

    /// Each thread and each other key wastes at most as many numbers as messages.
    // claim: message-limit
    #[test]
    fn several_threads_and_keys_are_never_undercounted() {
        let usages: Vec<_> = (0..3 * SLOTS).map(|_| Usage::new()).collect();
        thread::scope(|scope| {
            for start in 0..4 {
                let usages = &usages;
                scope.spawn(move || {
                    for message in 0..40 * usages.len() {
                        // Runs of several messages, so that blocks grow before another key takes
                        // the slot.
                        usages[(start + message / 5 * 5) % usages.len()].count_one().unwrap();
                    }
                });
            }
        });
        let messages = (4 * 40 * usages.len()) as u64;
        let counted: u64 = usages.iter().map(Usage::get).sum();
        assert!(counted >= messages && counted <= 2 * messages, "{counted}");
    }

    /// The first block is one message; each later one is twice as long, up to the largest.
    #[test]
    fn blocks_double() {
        let usage = Usage::new();
        let mut taken = 0;
        for block in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024] {
            for _ in 0..block {
                usage.count_one().unwrap();
                assert_eq!(usage.get(), taken + block);
            }
            taken += block;
        }
        // Another key in the slot begins with one message again, and so does this one afterwards.
        let slot = Cell::new(Block { serial: usage.serial + 1, left: 5, len: 64 });
        usage.take_block(&slot).unwrap();
        assert_eq!(usage.get(), taken + 1);
        let Block { serial, left, len } = slot.get();
        assert_eq!((serial, left, len), (usage.serial, 0, 1));
    }

    /// Near the limit, threads take single numbers, to lose none.
    #[test]
    fn blocks_end_before_the_limit() {
        let usage = Usage::new();
        for (taken, expected) in
            [(LIMIT - EXACT - 1, 128), (LIMIT - EXACT, 1), (LIMIT - EXACT + 1, 1), (LIMIT - 1, 1)]
        {
            usage.taken.store(taken, Relaxed);
            let slot = Cell::new(Block { serial: usage.serial, left: 0, len: 64 });
            usage.take_block(&slot).unwrap();
            assert_eq!((usage.get() - taken, slot.get().left), (expected, expected as u32 - 1), "{taken}");
        }
    }

    // claim: message-limit
    #[test]
    fn the_limit_is_exact_and_the_warning_comes_once() {
        let usage = Usage::new();
        usage.count(WARNING - 1).unwrap();
        assert!(!usage.take_warning());
        usage.count_one().unwrap();
        assert!(usage.take_warning() && !usage.take_warning());
        usage.count(LIMIT - WARNING - 2).unwrap();
        assert!(usage.count(3).is_err());
        usage.count_one().unwrap();
        usage.count_one().unwrap();
        for _ in 0..3 {
            assert!(matches!(usage.count_one(), Err(Error::LimitExceeded(text)) if text.contains("2^32")));
        }
        assert!(usage.count(u64::MAX).is_err());
        assert_eq!(usage.get(), LIMIT);
    }
}
