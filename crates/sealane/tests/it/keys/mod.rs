//! Tests of key files.

mod damage;
mod files;
mod fixtures;
mod interop;
mod openssl;
