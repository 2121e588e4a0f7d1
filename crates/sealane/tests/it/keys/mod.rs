//! Tests of key files: other software, round trips, and files with changed bytes.

mod damage;
mod encodings;
mod files;
mod fixtures;
mod grammar;
mod interop;
#[cfg(unix)]
mod openssl;
