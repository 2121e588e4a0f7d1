//! The constants of the header. A test compares the two.

/// Version of the binary interface: functions, structures and constants.
pub(crate) const SEALANE_ABI: u32 = 0;

/// Wrong key, nonce or associated data, or data that was changed.
pub(crate) const SEALANE_AUTHENTICATION: i32 = -1;
/// The input is not in the expected format.
pub(crate) const SEALANE_FORMAT: i32 = -2;
/// The input ends too early.
pub(crate) const SEALANE_TRUNCATED: i32 = -3;
/// The version of the format is not supported.
pub(crate) const SEALANE_UNSUPPORTED_VERSION: i32 = -4;
/// None of the given keys opens the data.
pub(crate) const SEALANE_NO_MATCHING_KEY: i32 = -5;
/// The provider cannot compute the algorithm on this machine.
pub(crate) const SEALANE_PROVIDER_UNAVAILABLE: i32 = -6;
/// A limit of the algorithm, the format or the machine is exceeded.
pub(crate) const SEALANE_LIMIT_EXCEEDED: i32 = -7;
/// A mistake in the call, for example a key of the wrong length.
pub(crate) const SEALANE_MISUSE: i32 = -8;
/// An error of the operating system, whose number is in `os_code`.
pub(crate) const SEALANE_IO: i32 = -9;
/// The progress callback cancelled the operation.
pub(crate) const SEALANE_CANCELLED: i32 = -10;
/// A bug in sealane.
pub(crate) const SEALANE_INTERNAL: i32 = -11;
/// The system does not have the memory for a buffer.
pub(crate) const SEALANE_OUT_OF_MEMORY: i32 = -12;

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
