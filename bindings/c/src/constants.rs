//! The header's constants, except the core's error codes. A test compares them.

/// Version of the ABI: functions, structures and constants.
pub(crate) const SEALANE_ABI: u32 = 0;

/// A bug in sealane.
pub(crate) const SEALANE_INTERNAL: i32 = -11;

/// Write an age file as text, with ASCII armor.
pub(crate) const SEALANE_ARMOR: u32 = 1;
/// Wait until the bytes are on disk.
pub(crate) const SEALANE_SYNCED: u32 = 2;
/// Replace an existing file.
pub(crate) const SEALANE_REPLACE: u32 = 4;
/// Read the source only on the calling thread, one read at a time.
pub(crate) const SEALANE_CALLING_THREAD: u32 = 8;

/// Unknown total of a progress report.
pub(crate) const SEALANE_UNKNOWN: u64 = u64::MAX;
