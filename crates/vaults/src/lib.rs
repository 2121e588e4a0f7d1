//! Encrypted folders that are read by their plaintext names: those of other tools, and ours that
//! have a description.
//!
//! | part | what it is |
//! |---|---|
//! | [`Storage`] | where the encrypted files lie: a [`LocalFolder`], or a store that a binding calls |
//! | [`Vault`] | an encrypted folder with its keys: plaintext names, sizes and bytes |
//! | [`Contents`] | an encrypted file: its plaintext, at any position, verified |
//! | [`Walk`], [`find`], [`list`] | what a vault contains |
//! | [`VaultJob`] | decryption or verification of all files |
//!
//! Paths are bytes with `/` between names, relative to the vault; the vault itself is the empty
//! path. They need not be UTF-8.
#![forbid(unsafe_code)]

mod contents;
mod cryptomator;
mod eme_name;
mod formats;
mod gocryptfs;
mod job;
mod listing;
mod local;
mod own;
mod passphrase;
mod prelude;
mod rclone;
mod single;
mod storage;
mod tree;
mod vault;
mod walk;

pub use formats::{Format, check_remains, detect, marks, unlock};
pub use job::VaultJob;
pub use listing::Listing;
pub use local::LocalFolder;
pub use own::OwnFolder;
pub use rclone::{Rclone, rclone_config};
pub use single::SingleFile;
pub use storage::{Entry, EntryKind, Storage};
pub use vault::{Contents, Vault};
pub use walk::{Walk, find, join, list, open_file, split};

#[cfg(test)]
mod test;
