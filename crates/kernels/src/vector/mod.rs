//! The unsafe room.
#[allow(unsafe_code)]
pub(crate) mod inout;
