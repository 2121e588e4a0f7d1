//! Functions exported for both kinds of schedulers.

use rustler::Env;

/// Bytes that count as 1 % of the millisecond after which a scheduler switches processes. A
/// portable kernel needs about 10 microseconds for them.
const BYTES_PER_PERCENT: usize = 1 << 12;

/// Counts the work of a call on a normal scheduler. Without it, a process that calls in a loop
/// would be preempted only after 4,000 calls, however long each takes.
#[inline]
pub(crate) fn count_work(env: Env<'_>, bytes: usize) {
    let percent = bytes / BYTES_PER_PERCENT;
    if percent > 0 {
        // It fits: longer data goes to the dirty schedulers.
        rustler::schedule::consume_timeslice(env, percent.min(100) as i32);
    }
}

/// Defines a function that the library has under two names, for the normal and the dirty
/// schedulers. The binaries in brackets are the long ones, and the word before them names the
/// function of `error` that translates the result.
macro_rules! on_both_schedulers {
    ($(
        $(#[$doc:meta])*
        $normal:ident, $dirty:ident($env:ident $(, $name:ident: $kind:ident $(<$of:ident>)?)*),
        $answer:ident [$($long:ident),*] $work:block
    )*) => {$(
        $(#[$doc])*
        #[rustler::nif]
        fn $normal(env: rustler::Env<'_>
            $(, $name: $kind $(<$of>)?)*
        ) -> $crate::error::Answer<impl rustler::Encoder> {
            let $env = env;
            $crate::schedule::count_work($env, 0 $(+ $long.len())*);
            let work = || -> Result<_, $crate::error::CallError> { $work };
            $crate::error::$answer(work())
        }

        #[rustler::nif(schedule = "DirtyCpu")]
        fn $dirty(env: rustler::Env<'_>
            $(, $name: $kind $(<$of>)?)*
        ) -> $crate::error::Answer<impl rustler::Encoder> {
            let $env = env;
            // If both of two cores encrypt, another process's scheduler waits up to 17 ms.
            let work = || -> Result<_, $crate::error::CallError> { $work };
            $crate::error::$answer(sealane::on_one_thread(work))
        }
    )*};
}
pub(crate) use on_both_schedulers;

/// Defines functions on dirty schedulers. The word before `fn` names the function of `error` that
/// translates the result. `[env]` names the environment.
macro_rules! on_dirty_scheduler {
    ($schedule:tt: $(
        $(#[$doc:meta])*
        $answer:ident fn $name:ident $([$env:ident])? ($($arguments:tt)*) $work:block
    )*) => {$(
        $(#[$doc])*
        #[rustler::nif(schedule = $schedule)]
        fn $name(env: rustler::Env<'_>, $($arguments)*) -> $crate::error::Answer<impl rustler::Encoder> {
            let _ = env;
            $(let $env = env;)?
            let work = || -> Result<_, $crate::error::CallError> { $work };
            $crate::error::$answer(work())
        }
    )*};
}
pub(crate) use on_dirty_scheduler;
