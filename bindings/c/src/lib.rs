//! The C library of sealane, which `include/sealane.h` declares and documents.
//!
//! A function converts its arguments (`memory`), calls the core, and converts errors to codes (`error`, `call`). Each handle of
//! the header is a type here, with the name in another style: `sealane_encrypt_with` is `EncryptWith`. A test compares the
//! header with the functions, the structures and the constants of this crate.
//!
//! `unsafe` code is in `memory` only, which a test checks. The attribute `unsafe(no_mangle)` exports a function under its
//! own name; the prefix `sealane_` keeps the names of other libraries apart.

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
mod speck;
mod stream;
