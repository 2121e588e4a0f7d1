//! Where operating systems differ: the terminal, signals, standard streams, locks and the shell.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    ask, block_file_length_signal, duplicate, exists, fill_closed_streams, handle_ending_signals, is_narrow,
    lock, open_descriptor, receive_ending_signals, restore, shell, show,
};

/// Whether names that differ only in case are one file.
pub(crate) const IGNORES_CASE: bool = cfg!(windows);
