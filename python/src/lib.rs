//! The Python door of sealane.
