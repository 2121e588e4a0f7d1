//! The shape of the work: how it is cut, spread over threads, and brought to disk. Knows chunks, not ciphers.

mod cores;
pub(crate) mod io;
pub(crate) mod join;
pub(crate) mod kept;
pub(crate) mod options;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod staged;
pub(crate) mod threads;
