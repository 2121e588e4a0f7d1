//! One file a command.

mod cat;
mod completions;
mod crew;
mod decrypt;
mod encrypt;
mod inspect;
mod keygen;
mod lab;
mod providers;
mod transfer;
mod tree;
mod verify;

pub(crate) use cat::cat;
pub(crate) use completions::completions;
pub(crate) use decrypt::decrypt;
pub(crate) use encrypt::encrypt;
pub(crate) use inspect::inspect;
pub(crate) use keygen::keygen;
pub(crate) use lab::lab;
pub(crate) use providers::providers;
pub(crate) use verify::verify;
