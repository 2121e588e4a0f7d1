//! Closes files and returns the system's error.

use std::fs::File;
use std::io;

/// Writes out what the operating system still holds of a file, as closing it does. NFS and quotas
/// may report a full disk only on close, and dropping a [`File`] ignores that error.
///
/// Closes a second descriptor: the first is still needed to give the file its name.
///
/// # Errors
/// Returns the system's error for the close.
#[cfg(unix)]
pub fn flush(file: &File) -> io::Result<()> {
    loop {
        match nix::unistd::close(file.try_clone()?) {
            // The descriptor is closed, but we cannot know whether everything was written.
            Err(nix::errno::Errno::EINTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Does nothing: this system reports all errors when data is written.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn flush(_: &File) -> io::Result<()> {
    Ok(())
}
