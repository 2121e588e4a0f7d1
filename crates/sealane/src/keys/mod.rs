//! Keys: made by the operating system's generator, wiped when dropped, kept in files that others read.

mod jwk;
mod store;

pub use crate::key::Key;
pub use jwk::{from_jwk, to_jwk};
pub use store::{load, save};
