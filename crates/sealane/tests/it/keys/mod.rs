//! Key files of other software, of ours, and of nobody.

mod damage;
mod files;
mod fixtures;
mod interop;
mod openssl;
