//! Encryption at the speed of the hardware.
