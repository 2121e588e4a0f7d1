//! Vaults that other tools made, whole and changed.

mod memory;
mod read;
mod tree;
