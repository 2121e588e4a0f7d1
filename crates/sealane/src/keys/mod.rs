//! Keys: made by the operating system's generator, wiped when dropped, kept in files that others read.

mod derive;
mod jwk;
mod pbes2;
mod pem;
mod pkcs8;
mod store;

pub use crate::key::Key;
pub use derive::{Cost, derive};
pub use jwk::{from_jwk, to_jwk};
pub use store::{load, save};
