//! Vaults that other tools made, whole and changed.

mod memory;
mod rclone;
mod read;
mod tree;
