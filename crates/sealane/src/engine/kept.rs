//! What stays from call to call, for work too short to make it anew: threads and a buffer.

use super::join::threads;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, TryLockError};

/// The threads of this process, none of which keeps it from ending.
struct Crew {
    process: u32,
    /// `None` where there is one core, or the system gives no threads.
    pool: Option<ThreadPool>,
    /// Threads that nobody asked for. Whoever finds none works alone, and so never waits for somebody else's work.
    free: AtomicUsize,
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
        let process = std::process::id();
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

    fn new(process: u32) -> Self {
        // The calling thread is one of them.
        let helpers = threads(None) - 1;
        let builder = ThreadPoolBuilder::new().num_threads(helpers).thread_name(|_| "sealane".into());
        // Zero would mean as many as there are cores.
        let pool = (helpers > 0).then(|| builder.build().ok()).flatten();
        Self { process, free: AtomicUsize::new(pool.as_ref().map_or(0, |_| helpers)), pool }
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

/// More than this is given back to the system after each use.
const MOST_ROOM: usize = 2 << 20;

thread_local! {
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Shows `len` bytes in which anything may stand, the thread's own. For what is no secret: nobody wipes them.
pub(crate) fn with_room<T>(len: usize, see: impl FnOnce(&mut [u8]) -> T) -> T {
    // Taken, not borrowed: what is called may come here again. Nothing is there in a thread that is about to end.
    let mut room = ROOM.try_with(Cell::take).unwrap_or_default();
    if room.len() < len {
        room.resize(len, 0);
    }
    let seen = see(&mut room[..len]);
    if room.len() <= MOST_ROOM {
        let _ = ROOM.try_with(|kept| kept.set(room));
    }
    seen
}
