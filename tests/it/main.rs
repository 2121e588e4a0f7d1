//! Tests of the project as a whole.

mod architecture;
mod copies;
mod docs;
