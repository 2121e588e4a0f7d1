//! age.
mod file_key;
mod header;
mod scrypt { pub(super) const KIND: &str = "scrypt"; }
mod stanza;
mod text;
pub use header::{Header, Parsed};
pub use stanza::Stanza;
