//! Messages for the holder of a private key.

pub mod ecies;
