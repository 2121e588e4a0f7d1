//! Vaults that other tools made, whole and changed.

mod changed;
#[cfg(unix)]
mod gocryptfs;
mod hostile;
mod keys;
mod memory;
mod rclone;
mod read;
mod tree;
