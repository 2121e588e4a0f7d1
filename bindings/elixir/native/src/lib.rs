//! The native functions of the Elixir package, which `Sealane.Native.Functions` declares.
//!
//! A function reads the binaries of the Erlang machine where they lie, calls the core, and writes the result into a new
//! binary where it stays. Errors are translated in `error`. A panic is caught by `rustler`: the caller gets the error
//! `:nif_panicked`, and the machine continues.
//!
//! A call on a normal scheduler must return within a millisecond, because other processes wait for it. A function whose
//! time depends on the length of its data therefore exists twice (`schedule`), and `Sealane.Native` chooses by length.
//! Functions for files and keys run on dirty schedulers always.
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
mod paths;
mod raw;
mod reader;
mod schedule;
mod shared;
mod speck;
mod writer;

/// The entry of the library.
mod init {
    #![allow(
        clippy::disallowed_methods,
        reason = "the macro forgets a table of functions, which is no secret"
    )]
    rustler::init!("Elixir.Sealane.Native.Functions");
}
