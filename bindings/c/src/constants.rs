//! The constants of the header, except the codes of errors of the core. A test compares them.

/// Version of the binary interface: functions, structures and constants.
pub(crate) const SEALANE_ABI: u32 = 0;

/// A bug in sealane.
pub(crate) const SEALANE_INTERNAL: i32 = -11;

/// An age file is written as text, with ASCII armor.
pub(crate) const SEALANE_ARMOR: u32 = 1;
/// The call waits until the disk has the bytes.
pub(crate) const SEALANE_SYNCED: u32 = 2;
/// A file that exists is replaced.
pub(crate) const SEALANE_REPLACE: u32 = 4;
/// The source is read by one thread at a time, the one that calls the library.
pub(crate) const SEALANE_CALLING_THREAD: u32 = 8;

/// The total of a progress report that is not known.
pub(crate) const SEALANE_UNKNOWN: u64 = u64::MAX;
