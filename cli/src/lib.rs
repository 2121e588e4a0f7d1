//! The shell door of sealane.
