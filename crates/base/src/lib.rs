//! The foundation of sealane: errors, memory, random bytes, threads and fork detection.
#![forbid(unsafe_code)]

mod affinity;
mod debug;
pub mod error;
mod fork;
pub mod interrupt;
pub mod lanes;
pub mod memory;
mod on_drop;
pub mod os;
pub mod parallel;
mod pool;
pub mod random;
#[cfg(all(test, target_os = "linux"))]
mod test;
pub mod threads;

pub use error::{Error, FolderError, Misuse, Result};
pub use fork::ForkGuard;
pub use on_drop::OnDrop;
