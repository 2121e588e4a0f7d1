//! The Elixir package's native functions, declared in `Sealane.Native.Functions`.
//!
//! A function reads Erlang binaries in place, calls the core, and writes the result directly into a
//! new binary. `error` translates errors. `rustler` catches panics: the caller gets the error
//! `:nif_panicked`, and the machine continues.
//!
//! A call on a normal scheduler must return within a millisecond, because other processes wait for
//! it. So a function whose time depends on its data's length exists twice (`schedule`), and
//! `Sealane.Native` chooses by length. All others that take a text or bytes, which may be long, run
//! on dirty schedulers. A test lists the rest with their reasons.
#![forbid(unsafe_code)]

mod aead;
mod error;
mod file_keys;
mod files;
mod filter;
mod hybrid;
mod keys;
mod library;
mod output;
mod prelude;
mod raw;
mod reader;
mod schedule;
mod shared;
mod signature;
mod speck;
mod writer;

/// The library's entry point.
mod init {
    #![allow(
        clippy::disallowed_methods,
        reason = "the macro forgets a table of functions, which is no secret"
    )]
    rustler::init!("Elixir.Sealane.Native.Functions");
}
