//! The file engine: cuts files into jobs, runs jobs on several threads, and stages output on disk.
//!
//! The engine knows chunks but no ciphers and no formats. A format implements [`pipeline::ChunkCipher`] and describes
//! the positions of its chunks in a [`plan::Layout`]; everything else is shared by all formats.

mod affinity;
#[cfg(feature = "files")]
pub(crate) mod attributes;
#[cfg(feature = "files")]
pub(crate) mod close;
#[cfg(feature = "files")]
pub(crate) mod file_id;
#[cfg(feature = "files")]
pub(crate) mod folder;
#[cfg(feature = "files")]
pub(crate) mod io;
#[cfg(feature = "files")]
pub(crate) mod jobs;
#[cfg(feature = "files")]
pub(crate) mod lanes;
#[cfg(feature = "files")]
pub(crate) mod options;
pub(crate) mod parallel;
#[cfg(feature = "files")]
pub(crate) mod pipeline;
#[cfg(feature = "files")]
pub(crate) mod place;
#[cfg(feature = "files")]
pub(crate) mod plan;
mod pool;
#[cfg(feature = "files")]
pub(crate) mod prefix;
#[cfg(feature = "files")]
mod rights;
#[cfg(feature = "files")]
pub(crate) mod salvage;
#[cfg(feature = "files")]
pub(crate) mod scratch;
#[cfg(feature = "files")]
pub(crate) mod staged;
pub(crate) mod threads;
