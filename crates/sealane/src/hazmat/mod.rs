//! Raw parts. They hide nothing from whoever can change the data, and nothing at all when a keystream is used twice.
//! If you are not sure that you need them, you want [`crate::Aead`] or [`crate::file`].

mod aes_ctr;

pub use aes_ctr::AesCtr;
