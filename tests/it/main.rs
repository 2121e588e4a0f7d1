//! Tests of the project as a whole.

mod architecture;
mod claims;
mod copies;
mod docs;
