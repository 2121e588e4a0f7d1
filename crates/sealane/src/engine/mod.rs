//! The file engine: cuts files into jobs, runs jobs on several threads, and stages output on disk.
//!
//! The engine knows chunks but no ciphers and no formats. A format implements [`pipeline::ChunkCipher`] and describes
//! the positions of its chunks in a [`plan::Layout`]; everything else is shared by all formats.

mod affinity;
pub(crate) mod attributes;
pub(crate) mod close;
pub(crate) mod file_id;
pub(crate) mod folder;
pub(crate) mod io;
pub(crate) mod jobs;
pub(crate) mod lanes;
pub(crate) mod options;
pub(crate) mod parallel;
pub(crate) mod pipeline;
pub(crate) mod place;
pub(crate) mod plan;
mod pool;
pub(crate) mod prefix;
mod rights;
pub(crate) mod salvage;
pub(crate) mod scratch;
pub(crate) mod staged;
pub(crate) mod threads;
