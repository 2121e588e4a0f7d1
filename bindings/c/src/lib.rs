//! The C library of sealane, declared and documented in `include/sealane.h`.
//!
//! The macro `exports` (`call`) defines a function: it converts the arguments (`memory`), runs the
//! body, and converts errors to codes (`error`). Each handle in the header is a type here:
//! `sealane_encrypt_with` is `EncryptWith`. A test compares the header with this crate's functions,
//! structures and constants.
//!
//! Only `memory` has `unsafe` code; a test checks this. The attribute `unsafe(no_mangle)` exports a
//! function under its own name; the prefix `sealane_` avoids clashes with other libraries.

mod aead;
mod batch;
mod call;
mod constants;
mod error;
mod file_keys;
mod files;
mod filter;
mod hybrid;
mod keys;
mod library;
mod memory;
mod pieces;
mod poly1305;
mod reader;
mod signature;
mod speck;
mod stream;
