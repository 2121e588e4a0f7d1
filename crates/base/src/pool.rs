//! The persistent worker pool of a process, for work of less than a millisecond.
//!
//! A woken thread may wait milliseconds for a core, beside a busy thread of another program, for
//! example. All the work of a call can take less, so the caller must never wait for a helper that
//! is not running yet:
//!
//! 1. The caller *calls* helpers (this wakes their threads) and begins to work.
//! 2. A helper is *ready* when its thread runs. It spins, and holds nothing of the caller's yet.
//! 3. Between two pieces of its own work, the caller *starts* the helpers that are ready. They
//!    borrow its data.
//! 4. At the end, the caller dismisses the others and waits for those it started.
//! 5. A helper without a caller stays awake for a moment: a program often calls again at once.
//!
//! Beside one busy thread on two cores, reading 512 KiB took 3,900 us when the caller waited for
//! all helpers; now it takes 180 us (measured, `lab/record/batches-zen4-2026-11-23.md`).

use super::affinity::HelperAffinity;
use super::os::without_signals;
use super::threads::threads_of_process;
use crate::OnDrop;
use crate::memory::{affordable_threads, threads_take_from_results};
use crate::random::process_mark;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, RwLock, TryLockError};

/// How often a caller polls for helpers that were awake before the call.
const POLLS_FOR_AWAKE: u32 = 100;
/// How often a helper without a caller yields before its thread sleeps. Without this, consecutive
/// reads of 512 KiB take 1.5 times as long (measured).
const YIELDS_OF_AWAKE: u32 = 200;
/// How often a caller polls for withdrawn helpers. Their threads may be asleep.
const POLLS_FOR_ASLEEP: u32 = 1500;
/// How often a ready helper polls before it withdraws: longer than most callers' pieces of work.
const POLLS_OF_READY: u32 = 5000;

/// The worker threads of this process. None of them keeps the process from ending.
struct WorkerPool {
    /// Mark of the process that made the pool. Not the process ID: that may have been an
    /// ancestor's.
    process: u64,
    /// Empty if there is one core, or if the system refuses threads.
    helpers: Vec<Helper>,
    affinity: Arc<HelperAffinity>,
}

/// One worker thread and its state.
struct Helper {
    /// A pool of this thread alone, so that no other thread takes its work.
    thread: ThreadPool,
    state: Arc<State>,
}

/// Use `try_*` only: after `fork()`, a lock that another thread of the parent held is never
/// released.
static POOL: RwLock<Option<&'static WorkerPool>> = RwLock::new(None);

/// Runs `caller` on the calling thread and, at the same time, `helper` on up to `max_helpers`
/// threads of the pool. Returns when all have returned.
///
/// `caller` should call its argument between two pieces of work: this starts the helpers whose
/// threads run. There may be no helper, so `caller` must be able to do all the work.
pub(super) fn run_with_helpers(
    max_helpers: usize,
    helper: impl Fn() + Sync,
    mut caller: impl FnMut(&dyn Fn()),
) {
    // While waiting here, a pool thread could be given work that needs a lock it holds.
    let nested = rayon_core::current_thread_index().is_some();
    let alone = max_helpers == 0 || nested || threads_take_from_results();
    match (!alone).then(WorkerPool::of_process).flatten() {
        Some(pool) => pool.run(max_helpers, &helper, &mut caller),
        None => caller(&|| ()),
    }
}

impl WorkerPool {
    /// Returns the pool of this process, making it on the first call. A forked child makes its own:
    /// threads do not survive `fork()`.
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
            // The parent's pool is leaked: dropping it would wait for its threads.
            _ => {
                // The calling thread works too, so we start one helper less than the default.
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
            let thread = without_signals(|| builder.build()).ok()?;
            Some(Helper { thread, state: Arc::new(State::new()) })
        });
        Self { process, helpers: helpers.collect(), affinity }
    }

    /// Implements [`run_with_helpers`].
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
            // Those that were not started, even if the caller panics.
            let _dismissed = OnDrop(|| called.0.iter().for_each(|helper| helper.state.dismiss()));
            let start_ready = || {
                // They were ready, but gave up spinning during a long piece of the caller's work.
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

/// Runs `caller` inside a scope for each thread of `helpers`. Its argument starts `work` on the
/// ready ones.
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
                // Waits for the next caller when its work ends, even by a panic.
                let ended = OnDrop(|| {
                    helper.state.change(STARTED, AWAKE);
                    helper.wait();
                });
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
    /// Waits until all of them are ready, but polls at most this often.
    fn wait(&self, polls: u32) {
        let ready = || self.0.iter().all(|helper| matches!(helper.state.get(), READY | STARTED));
        (0..polls).take_while(|_| !ready()).for_each(|_| spin_loop());
    }
}

/// The state of a helper, changed by its thread and one caller. Rayon synchronizes access to the
/// caller's data.
struct State(AtomicU8);

/// No caller has the helper. Its thread sleeps or is about to.
const ASLEEP: u8 = 0;
/// A caller has called the helper. Its thread has not noticed yet.
const CALLED: u8 = 1;
/// The thread runs and waits for the caller.
const READY: u8 = 2;
/// The helper borrows the data of the caller.
const STARTED: u8 = 3;
/// A caller has the helper. Its thread is not waiting yet, or no longer.
const WITHDRAWN: u8 = 4;
/// No caller has the helper. Its thread waits for the next one, or has not noticed its dismissal
/// yet.
const AWAKE: u8 = 5;

impl State {
    fn new() -> Self {
        Self(AtomicU8::new(ASLEEP))
    }

    fn get(&self) -> u8 {
        self.0.load(Relaxed)
    }

    /// Changes the state if it is `from`; returns whether it was.
    fn change(&self, from: u8, to: u8) -> bool {
        // Reading first keeps the cache line shared with a polling thread.
        self.get() == from && self.0.compare_exchange(from, to, Relaxed, Relaxed).is_ok()
    }

    fn dismiss(&self) {
        while !(self.change(CALLED, AWAKE)
            || self.change(READY, AWAKE)
            || self.change(WITHDRAWN, ASLEEP)
            || matches!(self.get(), STARTED | ASLEEP | AWAKE))
        {}
    }

    /// On the helper's thread: waits for a call, then to be started or dismissed.
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
    /// Takes the helper if no other caller has it; returns whether it was free.
    fn reserve(&self) -> bool {
        self.state.change(AWAKE, CALLED) || self.state.change(ASLEEP, WITHDRAWN)
    }

    /// Calls a reserved helper and wakes its thread. Returns false if the thread was awake.
    fn call(&self) -> bool {
        let withdrawn = self.state.change(WITHDRAWN, CALLED);
        if withdrawn {
            self.wait();
        }
        withdrawn
    }

    /// Makes the thread wait for a caller once it has done its other work.
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

    /// All helpers that the caller waits for take part.
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
                        // Longer than helpers wait the first time, so they withdraw and are called
                        // again.
                        (0..pieces).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(1)));
                        start();
                    }
                    all.wait();
                },
            );
        }
    }

    /// The helpers' threads are busy, as if they were waiting for a core.
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

    /// Callers share the helpers, and each gets its own work done.
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

    /// A helper that asks for helpers works alone: it could end up waiting for itself.
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
