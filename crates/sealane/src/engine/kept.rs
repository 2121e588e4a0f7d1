//! What stays from call to call, for work too short to make it anew: threads and a buffer.

use super::cores::Cores;
use super::threads::default_threads;
use crate::random::process_mark;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, TryLockError};

/// The threads of this process, none of which keeps it from ending.
struct Crew {
    /// The mark of its process: its number may be that of an ancestor that is gone.
    process: u64,
    /// `None` where there is one core, or the system gives no threads.
    pool: Option<ThreadPool>,
    /// Threads that nobody asked for. Whoever finds none works alone, and so never waits for somebody else's work.
    free: AtomicUsize,
    cores: Arc<Cores>,
}

/// Only ever tried: in a forked child, a lock that another thread of the parent held is held for good.
static CREW: RwLock<Option<&'static Crew>> = RwLock::new(None);

/// Runs `help` on up to `most` threads that are kept, while `own` runs on the calling one; `help` begins whenever its
/// thread wakes up, perhaps when nothing is left to do.
pub(crate) fn beside(most: usize, help: impl Fn() + Sync, own: impl FnOnce()) {
    // A thread of the crew that came to wait here might be handed work that waits for what it holds itself.
    let crew = if rayon_core::current_thread_index().is_some() { None } else { Crew::here() };
    let Some((crew, pool)) = crew.and_then(|crew| Some((crew, crew.pool.as_ref()?))) else { return own() };
    let hands: Vec<_> = (0..most).map_while(|_| Hand::take(crew)).collect();
    if hands.is_empty() {
        return own();
    }
    crew.cores.keep_off_the_callers();
    let help = &help;
    pool.in_place_scope(|scope| {
        for hand in hands {
            scope.spawn(move |_| {
                let _hand = hand;
                help();
            });
        }
        own();
    });
}

impl Crew {
    /// That of this process, which is made when first asked for: threads do not survive `fork`.
    fn here() -> Option<&'static Self> {
        let process = process_mark().ok()?;
        let found = match CREW.try_read() {
            Ok(crew) => *crew,
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(crew) = found.filter(|crew| crew.process == process) {
            return Some(crew);
        }
        let mut place = match CREW.try_write() {
            Ok(place) => place,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        match *place {
            Some(crew) if crew.process == process => Some(crew),
            // A parent's is left as it is: to end it would be to wait for its threads.
            _ => Some(place.insert(Box::leak(Box::new(Self::new(process))))),
        }
    }

    fn new(process: u64) -> Self {
        // The calling thread is one of them.
        let helpers = default_threads() - 1;
        let cores = Arc::new(Cores::default());
        let own = Arc::clone(&cores);
        let builder = ThreadPoolBuilder::new()
            .num_threads(helpers)
            .thread_name(|_| "sealane".into())
            .start_handler(move |_| own.helper_begins());
        // Zero would mean as many as there are cores.
        let pool = (helpers > 0).then(|| builder.build().ok()).flatten();
        Self { process, free: AtomicUsize::new(pool.as_ref().map_or(0, |_| helpers)), pool, cores }
    }
}

/// A thread of the crew that was asked for, until it is done.
struct Hand(&'static Crew);

impl Hand {
    fn take(crew: &'static Crew) -> Option<Self> {
        crew.free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1))
            .ok()
            .map(|_| Self(crew))
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// Bytes of a thread's room, which is used from one end to the other before it begins again. Linux copies to where
/// nothing was for a while 5 to 30 % faster than into what is still in L2 (Zen 4, measured).
const ROOM_LEN: usize = 1 << 20;
/// More than this is not kept.
const MOST_ROOM: usize = 2 << 20;
/// It copies two to six times slower to an address that lies less than half of this after that of the source, both
/// counted from the start of their pages (Zen 4, measured).
const NEAR: usize = 64;
const PAGE: usize = 4096;

struct Room {
    bytes: Vec<u8>,
    used: usize,
}

impl Room {
    const EMPTY: Self = Self { bytes: Vec::new(), used: 0 };
}

thread_local! {
    static ROOM: Cell<Room> = const { Cell::new(Room::EMPTY) };
}

/// Shows `len` bytes of the thread's own, for what lies at `offset` in a file. Anything may stand in them, and what is
/// written stays: no secret.
pub(crate) fn with_room<T>(len: usize, offset: u64, see: impl FnOnce(&mut [u8]) -> T) -> T {
    // Taken, not borrowed: what is called may come here again. Nothing is there in a thread that is about to end.
    let mut room = ROOM.try_with(|kept| kept.replace(Room::EMPTY)).unwrap_or(Room::EMPTY);
    let need = len + NEAR;
    if room.bytes.len() < need.max(ROOM_LEN) {
        room.bytes.resize(need.max(ROOM_LEN), 0);
    }
    let mut start = if room.used + need <= room.bytes.len() { room.used } else { 0 };
    let address = room.bytes.as_ptr().addr() + start;
    if address.wrapping_sub(offset as usize) % PAGE < NEAR {
        start += NEAR;
    }
    let seen = see(&mut room.bytes[start..start + len]);
    room.used = start + len;
    if room.bytes.len() <= MOST_ROOM {
        let _ = ROOM.try_with(|kept| kept.set(room));
    }
    seen
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn those_who_help_see_what_the_caller_lends() {
        for _ in 0..100 {
            let (left, done) = (AtomicUsize::new(1000), Mutex::new(0));
            let run = || {
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
                    *done.lock().unwrap() += 1;
                }
            };
            beside(3, run, run);
            assert_eq!(done.into_inner().unwrap(), 1000);
        }
    }

    /// Whoever helps and asks for help does without: it would wait among those it waits for.
    #[test]
    fn help_within_help() {
        let ran = AtomicUsize::new(0);
        let count = || {
            ran.fetch_add(1, Ordering::Relaxed);
        };
        beside(1, || beside(1, || (), count), count);
        assert!((1..=2).contains(&ran.into_inner()));
    }

    #[test]
    fn rooms_within_rooms_share_no_byte() {
        for len in [0, 1, 4096, ROOM_LEN, MOST_ROOM + 1] {
            for offset in [0, 1, 56, 4095, u64::MAX] {
                with_room(len, offset, |outer| {
                    assert_eq!(outer.len(), len);
                    let near = outer.as_ptr().addr().wrapping_sub(offset as usize) % PAGE;
                    assert!(near >= NEAR, "{near}");
                    outer.fill(1);
                    with_room(len, 0, |inner| inner.fill(2));
                    assert!(outer.iter().all(|&byte| byte == 1));
                });
            }
        }
    }
}
