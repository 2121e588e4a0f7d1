//! The file engine: cuts files into jobs, runs them on several threads, and stages output on disk.
//!
//! The engine knows chunks, but no ciphers and no formats. A format implements
//! [`pipeline::ChunkCipher`] and describes where its chunks are in a [`plan::Layout`]. All formats
//! share the rest.
#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod attributes;
#[doc(hidden)]
pub mod file_id;
#[doc(hidden)]
pub mod folder;
pub mod io;
pub mod options;
#[doc(hidden)]
pub mod os;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod place;
#[doc(hidden)]
pub mod plan;
pub mod prefix;
mod prelude;
#[doc(hidden)]
pub mod reader;
#[doc(hidden)]
pub mod salvage;
#[doc(hidden)]
pub mod scratch;
pub mod staged;
