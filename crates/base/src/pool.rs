//! The persistent worker pool of a process, for work of less than a millisecond.
//!
//! A thread that was woken may wait for a core for milliseconds, for example beside a busy thread of another program. The
//! whole work of a call can take less, so the caller must never wait for a helper that does not run yet:
//!
//! 1. The caller *calls* helpers, which wakes their threads, and begins to work.
//! 2. A helper whose thread runs is *ready*. It spins, and has nothing of the caller so far.
//! 3. Between two pieces of its own work, the caller *starts* the helpers that are ready. They borrow its data.
//! 4. At the end, the caller dismisses all others, and waits for those that were started.
//! 5. A helper without a caller stays awake for a moment, because a program often calls again at once.
//!
//! Beside one busy thread on two cores, reading 512 KiB took 3,900 us when the caller waited for all helpers, and takes
//! 180 us now (measured, `lab/record/batches-zen4-2026-11-23.md`).

use super::affinity::HelperAffinity;
use super::threads::threads_of_process;
use crate::memory::affordable_threads;
use crate::random::process_mark;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, RwLock, TryLockError};

/// Number of times that a caller polls for helpers which were awake before the call.
const POLLS_FOR_AWAKE: u32 = 100;
/// Number of times that a helper without a caller yields before its thread sleeps. Without it, reads of 512 KiB one after
/// the other take 1.5 times as long (measured).
const YIELDS_OF_AWAKE: u32 = 200;
/// Number of polls for helpers that have withdrawn, whose threads may sleep.
const POLLS_FOR_ASLEEP: u32 = 1500;
/// Number of polls after which a ready helper withdraws. It is longer than one piece of work of most callers.
const POLLS_OF_READY: u32 = 5000;

/// The worker threads of this process, none of which keeps the process from ending.
struct WorkerPool {
    /// Mark of the process that made the pool. A process number would not do, because it may be that of an ancestor
    /// that has ended.
    process: u64,
    /// Empty if there is one core, or if the system refuses to make threads.
    helpers: Vec<Helper>,
    affinity: Arc<HelperAffinity>,
}

/// One worker thread and its state.
struct Helper {
    /// A pool of this thread alone, so that no other thread takes the work that is meant for it.
    thread: ThreadPool,
    state: Arc<State>,
}

/// Use `try_*` only: after `fork()`, a lock held by another thread of the parent is never released.
static POOL: RwLock<Option<&'static WorkerPool>> = RwLock::new(None);

/// Runs `caller` on the calling thread and `helper` on up to `max_helpers` threads of the pool at the same time.
/// Returns when all of them have returned.
///
/// A helper starts only when its thread runs and `caller` calls its argument, which it should do between two pieces of its
/// work. So perhaps no helper starts, and `caller` must be able to do all of the work.
pub(super) fn run_with_helpers(
    max_helpers: usize,
    helper: impl Fn() + Sync,
    mut caller: impl FnMut(&dyn Fn()),
) {
    // A pool thread that waited here could be given work that waits for a lock which that thread holds.
    let nested = rayon_core::current_thread_index().is_some();
    match WorkerPool::of_process().filter(|_| max_helpers > 0 && !nested) {
        Some(pool) => pool.run(max_helpers, &helper, &mut caller),
        None => caller(&|| ()),
    }
}

impl WorkerPool {
    /// Returns the pool of this process and makes it at the first call. A forked child makes its own, because threads
    /// do not survive `fork()`.
    fn of_process() -> Option<&'static Self> {
        let process = process_mark().ok()?;
        let found = match POOL.try_read() {
            Ok(pool) => *pool,
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(pool) = found.filter(|pool| pool.process == process) {
            return Some(pool);
        }
        let mut entry = match POOL.try_write() {
            Ok(entry) => entry,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        match *entry {
            Some(pool) if pool.process == process => Some(pool),
            // The pool of a parent is leaked: dropping it would wait for its threads.
            _ => {
                // The calling thread works too, so one helper less than the default is started.
                let helpers = affordable_threads(threads_of_process()) - 1;
                Some(entry.insert(Box::leak(Box::new(Self::new(process, helpers)))))
            }
        }
    }

    fn new(process: u64, helpers: usize) -> Self {
        let affinity = Arc::new(HelperAffinity::default());
        let helpers = (0..helpers).map_while(|_| {
            let of_thread = Arc::clone(&affinity);
            let builder = ThreadPoolBuilder::new()
                .num_threads(1)
                .thread_name(|_| "sealane".into())
                .start_handler(move |_| of_thread.register_helper());
            Some(Helper { thread: builder.build().ok()?, state: Arc::new(State::new()) })
        });
        Self { process, helpers: helpers.collect(), affinity }
    }

    /// Does the work of [`run_with_helpers`].
    fn run(&self, max_helpers: usize, helper: &(dyn Fn() + Sync), caller: &mut dyn FnMut(&dyn Fn())) {
        let called: Vec<_> =
            self.helpers.iter().filter(|helper| helper.reserve()).take(max_helpers).collect();
        if called.is_empty() {
            return caller(&|| ());
        }
        self.affinity.avoid_caller();
        let asleep = called.iter().filter(|helper| helper.call()).count();
        let called = Called(called);
        if asleep < called.0.len() {
            called.wait(POLLS_FOR_AWAKE);
        }
        with_scopes(&called.0, helper, &|| (), &mut |start| {
            let _dismissed = DismissOnDrop(&called);
            let start_ready = || {
                // They were ready, but a piece of the work of the caller took longer than they spin.
                if called.0.iter().filter(|helper| helper.call()).count() > 0 {
                    called.wait(POLLS_FOR_ASLEEP);
                }
                start();
            };
            start_ready();
            caller(&start_ready);
        });
    }
}

/// Runs `caller` inside a scope for each thread of `helpers`. Its argument starts `work` on those that are ready.
fn with_scopes(
    helpers: &[&Helper],
    work: &(dyn Fn() + Sync),
    start_others: &dyn Fn(),
    caller: &mut dyn FnMut(&dyn Fn()),
) {
    let Some((helper, rest)) = helpers.split_first() else { return caller(start_others) };
    helper.thread.in_place_scope(|scope| {
        let start = || {
            start_others();
            if helper.state.change(READY, STARTED) {
                let ended = WaitOnDrop(helper);
                scope.spawn(move |_| {
                    let _ended = ended;
                    work();
                });
            }
        };
        with_scopes(rest, work, &start, caller);
    });
}

/// The helpers that a caller has called.
struct Called<'a>(Vec<&'a Helper>);

impl Called<'_> {
    /// Waits until all of them are ready, for a limited number of polls.
    fn wait(&self, polls: u32) {
        let ready = || self.0.iter().all(|helper| matches!(helper.state.get(), READY | STARTED));
        (0..polls).take_while(|_| !ready()).for_each(|_| spin_loop());
    }
}

/// Dismisses the helpers that were not started, also if the caller panics.
struct DismissOnDrop<'a>(&'a Called<'a>);

impl Drop for DismissOnDrop<'_> {
    fn drop(&mut self) {
        self.0.0.iter().for_each(|helper| helper.state.dismiss());
    }
}

/// Lets a helper wait for the next caller when its work ends, also by a panic.
struct WaitOnDrop<'a>(&'a Helper);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        self.0.state.change(STARTED, AWAKE);
        self.0.wait();
    }
}

/// The state of a helper. Its thread and one caller change it. Access to the data of the caller is synchronized by rayon.
struct State(AtomicU8);

/// No caller has the helper, whose thread sleeps or is about to.
const ASLEEP: u8 = 0;
/// A caller has called the helper, whose thread has not noticed yet.
const CALLED: u8 = 1;
/// The thread runs and waits for the caller.
const READY: u8 = 2;
/// The helper borrows the data of the caller.
const STARTED: u8 = 3;
/// A caller has the helper, whose thread does not wait yet or does not wait any more.
const WITHDRAWN: u8 = 4;
/// No caller has the helper, whose thread waits for the next one, or has not noticed yet that it was dismissed.
const AWAKE: u8 = 5;

impl State {
    fn new() -> Self {
        Self(AtomicU8::new(ASLEEP))
    }

    fn get(&self) -> u8 {
        self.0.load(Relaxed)
    }

    /// Changes the state if it is `from`, and returns whether it was.
    fn change(&self, from: u8, to: u8) -> bool {
        // Reading first leaves the cache line shared with a thread that polls.
        self.get() == from && self.0.compare_exchange(from, to, Relaxed, Relaxed).is_ok()
    }

    fn dismiss(&self) {
        while !(self.change(CALLED, AWAKE)
            || self.change(READY, AWAKE)
            || self.change(WITHDRAWN, ASLEEP)
            || matches!(self.get(), STARTED | ASLEEP | AWAKE))
        {}
    }

    /// Waits, on the thread of the helper, to be called, and then to be started or dismissed.
    fn wait(&self) {
        let (mut polls, mut yields) = (0, 0);
        loop {
            match self.get() {
                CALLED => {
                    polls = 0;
                    self.change(CALLED, READY);
                }
                READY if polls < POLLS_OF_READY => {
                    polls += 1;
                    spin_loop();
                }
                READY if self.change(READY, WITHDRAWN) => return,
                AWAKE if yields < YIELDS_OF_AWAKE => {
                    yields += 1;
                    std::thread::yield_now();
                }
                AWAKE if self.change(AWAKE, ASLEEP) => return,
                READY | AWAKE => {}
                _ => return,
            }
        }
    }
}

impl Helper {
    /// Takes the helper if no other caller has it, and returns whether it was free.
    fn reserve(&self) -> bool {
        self.state.change(AWAKE, CALLED) || self.state.change(ASLEEP, WITHDRAWN)
    }

    /// Calls a reserved helper whose thread sleeps, and wakes it. Returns false if the thread is awake.
    fn call(&self) -> bool {
        let withdrawn = self.state.change(WITHDRAWN, CALLED);
        if withdrawn {
            self.wait();
        }
        withdrawn
    }

    /// Lets the thread wait for a caller when it has done its other work.
    fn wait(&self) {
        let state = Arc::clone(&self.state);
        self.thread.spawn(move || state.wait());
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;
    use std::sync::{Barrier, Mutex};

    #[test]
    fn helpers_share_the_data_of_the_caller() {
        let pool = WorkerPool::new(1, 3);
        for _ in 0..100 {
            let (left, done) = (AtomicUsize::new(1000), Mutex::new(0));
            let one = || left.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_ok();
            let count = || *done.lock().unwrap() += 1;
            pool.run(
                3,
                &|| {
                    while one() {
                        count()
                    }
                },
                &mut |start| {
                    while one() {
                        count();
                        start();
                    }
                },
            );
            assert_eq!(done.into_inner().unwrap(), 1000);
        }
    }

    /// All helpers that the caller waits for take part in the work.
    #[test]
    fn helpers_that_are_ready_start() {
        let pool = WorkerPool::new(1, 2);
        for pieces in [1, 1000] {
            let (began, all) = (AtomicUsize::new(0), Barrier::new(3));
            pool.run(
                2,
                &|| {
                    began.fetch_add(1, Relaxed);
                    all.wait();
                },
                &mut |start| {
                    while began.load(Relaxed) < 2 {
                        // Longer than helpers wait at the first time, so they withdraw and are called again.
                        (0..pieces).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(1)));
                        start();
                    }
                    all.wait();
                },
            );
        }
    }

    /// The thread of a helper does something else, as if the system let it wait for a core.
    #[test]
    fn helpers_without_a_core_do_not_delay_the_caller() {
        let pool = WorkerPool::new(1, 2);
        let (blocked, running) = channel();
        let gates: Vec<_> = pool
            .helpers
            .iter()
            .map(|helper| {
                let (open, gate) = channel::<()>();
                let blocked = blocked.clone();
                helper.thread.spawn(move || {
                    blocked.send(()).unwrap();
                    let _ = gate.recv();
                });
                open
            })
            .collect();
        running.iter().take(2).for_each(drop);
        let helped = AtomicUsize::new(0);
        let help = || {
            helped.fetch_add(1, Relaxed);
        };
        for _ in 0..3 {
            let mut calls = 0;
            pool.run(2, &help, &mut |start| {
                start();
                calls += 1;
            });
            assert_eq!((calls, helped.load(Relaxed)), (1, 0));
        }
        drop(gates);
        // The same helpers work again when their threads run.
        pool.run(2, &help, &mut |start| {
            while helped.load(Relaxed) < 2 {
                start()
            }
        });
    }

    #[test]
    fn panics_reach_the_caller_and_free_the_helpers() {
        let pool = WorkerPool::new(1, 1);
        let run = |helper: &(dyn Fn() + Sync), fails: bool| {
            let began = AtomicUsize::new(0);
            let work = || {
                began.fetch_add(1, Relaxed);
                helper();
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pool.run(1, &work, &mut |start| {
                    while began.load(Relaxed) == 0 {
                        start()
                    }
                    assert!(!fails);
                });
            }))
        };
        assert!(run(&|| panic!("of the helper"), false).is_err());
        assert!(run(&|| (), true).is_err());
        assert!(run(&|| (), false).is_ok());
    }

    /// Many callers share the helpers, and each gets its own work done.
    #[test]
    fn callers_at_the_same_time() {
        let pool = WorkerPool::new(1, 2);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..300 {
                        let (left, done) = (AtomicUsize::new(n), AtomicUsize::new(0));
                        let run = || {
                            while left.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_ok() {
                                done.fetch_add(1, Relaxed);
                            }
                        };
                        pool.run(2, &run, &mut |start| {
                            start();
                            run()
                        });
                        assert_eq!(done.into_inner(), n);
                    }
                });
            }
        });
        assert!(pool.helpers.iter().all(|helper| matches!(helper.state.get(), ASLEEP | AWAKE)));
    }

    /// A helper that asks for helpers works alone, because otherwise it could wait for itself.
    #[test]
    fn helper_gets_no_helpers() {
        let ran = AtomicUsize::new(0);
        let count = |_: &dyn Fn()| {
            ran.fetch_add(1, Relaxed);
        };
        run_with_helpers(
            1,
            || run_with_helpers(1, || (), count),
            |start| {
                start();
                count(start)
            },
        );
        assert!((1..=2).contains(&ran.load(Relaxed)));
    }
}
