//! Integration tests of the providers: the contract, selection, and published vectors.

mod changing_memory;
mod contract;
mod selection;
mod siv;
mod vectors;
