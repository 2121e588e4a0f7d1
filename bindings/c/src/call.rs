//! The frame of every call: reports errors and stops panics.

use crate::constants::SEALANE_INTERNAL;
use crate::error::{ArgumentError, CallError, Result};
use crate::memory::{
    CText, Call, Destination, Given, Handle, In, Input, Out, Output, Owned, Shared, SizedIn, SizedOut, Unique,
};
use sealane::error::escaped;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Length of an error's text in bytes, including the terminating zero.
const TEXT_LEN: usize = 248;

/// The description of a failure, in caller memory.
#[repr(C)]
pub(crate) struct Error {
    /// One of the header's negative constants.
    code: i32,
    /// The operating system's error number, or 0.
    os_code: i32,
    /// Zero-terminated UTF-8. A longer text is cut.
    text: [u8; TEXT_LEN],
}

/// A call's result: the value, or the value that reports a failure.
pub(crate) trait Outcome {
    fn failed(code: i32) -> Self;
}

impl Outcome for i64 {
    fn failed(code: i32) -> Self {
        code.into()
    }
}

impl<T> Outcome for Owned<T> {
    fn failed(_: i32) -> Self {
        Self::NULL
    }
}

/// A type of arguments: `Raw` is what C passes, and `Self` what the call works with.
pub(crate) trait Passed {
    type Raw;

    /// Runs for every argument of a call before one is converted.
    fn prepare(_: &Self::Raw) {}
}

/// An argument that C passes as one value. `name` is the name in the header.
pub(crate) trait Argument<'a>: Passed + Sized {
    fn convert(raw: Self::Raw, call: &'a Call, name: &'static str) -> Result<Self, ArgumentError>;
}

/// An argument that C passes as a pointer and a length.
pub(crate) trait Buffer<'a>: Passed + Sized {
    fn convert(raw: Self::Raw, len: usize, call: &'a Call, name: &'static str)
    -> Result<Self, ArgumentError>;
}

macro_rules! arguments {
    ($([$($generics:tt)*] $type:ty: $raw:ident $(<$inner:ident>)?, $convert:ident;)*) => {$(
        impl<'a, $($generics)*> Passed for $type {
            type Raw = $raw $(<$inner>)?;
        }

        impl<'a, $($generics)*> Argument<'a> for $type {
            #[inline]
            fn convert(raw: Self::Raw, call: &'a Call, name: &'static str) -> Result<Self, ArgumentError> {
                raw.$convert(call, name)
            }
        }
    )*};
}

arguments! {
    [T: Handle] &'a T: Shared<T>, get;
    [T] &'a mut T: Unique<T>, get;
    [] &'a str: CText, required;
    [] Option<&'a str>: CText, optional;
    [] &'a Path: CText, path;
}

macro_rules! values {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Passed for $type {
            type Raw = Self;
        }

        impl<$($generics)*> Argument<'_> for $type {
            #[inline]
            fn convert(raw: Self, _: &Call, _: &'static str) -> Result<Self, ArgumentError> {
                Ok(raw)
            }
        }
    )*};
}

values! {
    [] u32;
    [] u64;
    [T] SizedIn<T>;
    [T] SizedOut<T>;
}

impl Passed for Destination<'_> {
    type Raw = Given;

    fn prepare(raw: &Given) {
        raw.clear();
    }
}

impl<'a> Argument<'a> for Destination<'a> {
    fn convert(raw: Given, call: &'a Call, name: &'static str) -> Result<Self, ArgumentError> {
        raw.get(call, name)
    }
}

macro_rules! buffers {
    ($($type:ty: $raw:ty, $convert:ident;)*) => {$(
        impl<'a> Passed for $type {
            type Raw = $raw;
        }

        impl<'a> Buffer<'a> for $type {
            #[inline]
            fn convert(raw: $raw, len: usize, call: &'a Call, name: &'static str)
            -> Result<Self, ArgumentError> {
                raw.$convert(call, name, len)
            }
        }
    )*};
}

buffers! {
    Input<'a>: In, input;
    &'a [u8]: In, bytes;
    Output<'a>: Out, output;
}

/// Defines functions of the library. Each converts its arguments in order and runs its body, which
/// returns a `Result` of the type given. A buffer is written with its length, as in
/// `data: Input[data_len]`. Every function has a last parameter `error`.
macro_rules! exports {
    ($(
        $(#[$doc:meta])*
        fn $function:ident($($name:ident: $type:ty $([$len:ident])?),* $(,)?) -> $result:ty $body:block
    )*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C" fn $function(
            $($name: <$type as crate::call::Passed>::Raw, $($len: usize,)?)*
            error: crate::memory::Unique<crate::call::Error>,
        ) -> $result {
            crate::call::guarded(error, |call| {
                $(<$type as crate::call::Passed>::prepare(&$name);)*
                $(let $name = crate::call::exports!(@convert call, $name, $type $(, $len)?);)*
                $body
            })
        }
    )*};
    (@convert $call:ident, $name:ident, $type:ty) => {
        <$type as crate::call::Argument<'_>>::convert($name, $call, stringify!($name))?
    };
    (@convert $call:ident, $name:ident, $type:ty, $len:ident) => {
        <$type as crate::call::Buffer<'_>>::convert($name, $len, $call, stringify!($name))?
    };
}
pub(crate) use exports;

/// Defines a function that frees a handle.
macro_rules! freed {
    ($function:ident($name:ident: $type:ty)) => {
        #[unsafe(no_mangle)]
        extern "C" fn $function($name: crate::memory::Owned<$type>) {
            crate::call::infallible(|| $name.free());
        }
    };
}
pub(crate) use freed;

/// Runs the body of a call. An error is written to `error`, and a panic becomes
/// [`SEALANE_INTERNAL`].
#[inline]
pub(crate) fn guarded<T: Outcome>(error: Unique<Error>, work: impl FnOnce(&Call) -> Result<T>) -> T {
    // A value that changes marks itself as failed first, so it refuses to continue after a panic.
    match catch_unwind(AssertUnwindSafe(|| Call::lend(work))) {
        Ok(Ok(value)) => value,
        Ok(Err(found)) => report(error, &found),
        Err(_) => report_text(error, SEALANE_INTERNAL, 0, "a bug in sealane: please report it"),
    }
}

/// Runs a call that cannot report an error, such as a free. A panic ends here.
pub(crate) fn infallible(work: impl FnOnce()) {
    // All we can do with a value that panics on drop is to leak it.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

#[cold]
fn report<T: Outcome>(error: Unique<Error>, found: &CallError) -> T {
    report_text(error, found.code(), found.os_code(), &escaped(&found.to_string()))
}

#[cold]
fn report_text<T: Outcome>(error: Unique<Error>, code: i32, os_code: i32, words: &str) -> T {
    error.put(Error { code, os_code, text: terminated(words) });
    T::failed(code)
}

/// Copies a text to a zero-terminated array. A longer text is cut between characters.
pub(crate) fn terminated<const N: usize>(words: &str) -> [u8; N] {
    let mut text = [0; N];
    let mut len = words.len().min(N - 1);
    while !words.is_char_boundary(len) {
        len -= 1;
    }
    text[..len].copy_from_slice(&words.as_bytes()[..len]);
    text
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::error::ArgumentError;
    use crate::memory::lent;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn failed(work: impl FnOnce(&Call) -> Result<i64>) -> (i64, Error) {
        let mut error = Error { code: 7, os_code: 7, text: [7; TEXT_LEN] };
        let result = guarded(lent(&mut error), work);
        (result, error)
    }

    fn text(error: &Error) -> &str {
        std::ffi::CStr::from_bytes_until_nul(&error.text).unwrap().to_str().unwrap()
    }

    #[test]
    fn a_panic_is_an_error() {
        let (result, error) = failed(|_| panic!("on purpose"));
        assert_eq!((result, error.code, error.os_code), (-11, SEALANE_INTERNAL, 0));
        assert!(text(&error).contains("please report"));
        infallible(|| panic!("on purpose"));
    }

    #[test]
    fn a_success_leaves_the_error_alone() {
        let (result, error) = failed(|_| Ok(5));
        assert_eq!((result, error.code, error.text[0]), (5, 7, 7));
    }

    /// Returns the header's error codes, without `SEALANE_`.
    fn codes() -> BTreeMap<&'static str, i32> {
        let header = include_str!("../include/sealane.h").lines();
        let code = |line: &'static str| {
            let (name, rest) = line.strip_prefix("#define SEALANE_")?.split_once(" (")?;
            Some((name, rest.split_once(')')?.0.parse().unwrap()))
        };
        header.filter_map(code).collect()
    }

    #[test]
    fn errors_have_codes_and_text() {
        use sealane::{Error as E, Misuse};
        let not_found = std::io::Error::from_raw_os_error(2);
        let codes = codes();
        let mut unseen = codes.clone();
        for (error, name, os_code) in [
            (E::Authentication.into(), "AUTHENTICATION", 0),
            (E::DamagedChunk { index: 1, offset: 2 }.into(), "AUTHENTICATION", 0),
            (E::Format("expected").into(), "FORMAT", 0),
            (E::Truncated.into(), "TRUNCATED", 0),
            (E::UnsupportedVersion("v1").into(), "UNSUPPORTED_VERSION", 0),
            (E::WrongPassphrase.into(), "NO_MATCHING_KEY", 0),
            (E::SelfTest("AES").into(), "PROVIDER_UNAVAILABLE", 0),
            (E::WorkFactor { requested: 30, max: 20 }.into(), "LIMIT_EXCEEDED", 0),
            (Misuse::Forked.into(), "MISUSE", 0),
            (ArgumentError::Null { name: "key" }.into(), "MISUSE", 0),
            (E::io(Path::new("/nowhere"), not_found).into(), "IO", 2),
            (E::Cancelled.into(), "CANCELLED", 0),
            (CallError::out_of_memory(5), "OUT_OF_MEMORY", 0),
        ] {
            let (error, code): (CallError, _) = (error, codes[name]);
            unseen.remove(name);
            let words = error.to_string();
            let (result, found) = failed(|_| Err(error));
            assert_eq!((result, found.code, found.os_code), (code.into(), code, os_code));
            assert_eq!(text(&found), words);
        }
        assert_eq!(unseen, BTreeMap::from([("INTERNAL", SEALANE_INTERNAL)]));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let words = "ä".repeat(200);
        let text: [u8; 10] = terminated(&words);
        assert_eq!(&text, "ääää\0\0".as_bytes());
    }
}
