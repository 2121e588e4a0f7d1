//! Integration tests of the providers: the contract, selection, and published vectors.

mod contract;
mod selection;
mod vectors;
