//! Integration tests of the program `sealane`, run as a user would run it.

mod bad_input;
mod commands;
mod common;
mod interrupt;
mod recipients;
mod recursive;
mod round_trips;
