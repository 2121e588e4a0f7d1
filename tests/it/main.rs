//! Tests of the project as a whole.

mod architecture;
mod c_header;
mod claims;
mod copies;
mod docs;
