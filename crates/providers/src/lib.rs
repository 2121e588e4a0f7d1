//! THE CHOICE: who computes an algorithm on this machine.
#![forbid(unsafe_code)]
