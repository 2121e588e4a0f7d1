//! Closing files with the error that the system reports.

use std::fs::File;
use std::io;

/// Writes out what the operating system still holds of a file, as far as closing it does that. NFS and quotas, for
/// example, report a full disk only when a file is closed, and [`File`] ignores that error when it is dropped.
///
/// A second descriptor of the file is closed, because the first is still needed to give the file its name.
///
/// # Errors
/// Returns the error that the system reports for the close.
#[cfg(unix)]
pub fn flush(file: &File) -> io::Result<()> {
    loop {
        match nix::unistd::close(file.try_clone()?) {
            // The descriptor is closed, but whether everything was written is unknown.
            Err(nix::errno::Errno::EINTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Does nothing, because this system reports all errors when data is written.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn flush(_: &File) -> io::Result<()> {
    Ok(())
}
