//! The parts that the benchmarks share: a clock, page-aligned buffers, and the speed limits that
//! the instructions set.

pub mod aes_limit;
pub mod buffer;
pub mod clock;
#[cfg(target_arch = "x86_64")]
pub mod mix;

/// Returns the words of the command line, without the options that Cargo adds, for example
/// `--bench`.
pub fn words() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|word| !word.starts_with('-'))
}
