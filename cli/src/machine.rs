//! The machine, the build of this program and its implementations, for bug reports.

use crate::prelude::*;
use sealane::hazmat::AesCtr;
use sealane::provider::{FIPS, computations, fips_module};
use sealane::{Aead, Algorithm, Key, ListedVariant};
use serde::Serialize;
use std::env::consts;
use std::fs;
use std::thread;

/// A machine and a build of sealane.
#[derive(Serialize)]
pub(crate) struct Machine {
    /// Version of sealane.
    pub(crate) sealane: &'static str,
    /// The process that runs the command line, such as `"program"` or `"Python 3.14.0"`.
    pub(crate) host: String,
    /// Architecture, system and libraries of this build.
    pub(crate) target: String,
    /// Version of the compiler of this build.
    pub(crate) compiler: &'static str,
    /// Name of the distribution or the operating system.
    pub(crate) system: String,
    /// Version of the operating system's kernel; empty if unknown.
    pub(crate) kernel: String,
    /// Name of the processor; empty if unknown.
    pub(crate) processor: String,
    /// Number of threads that this process can run at once.
    pub(crate) threads: usize,
}

impl Machine {
    /// Describes this machine. What cannot be found out stays empty.
    pub(crate) fn detect(host: &str) -> Self {
        let release = read("/etc/os-release");
        let system = field(&release, "PRETTY_NAME", '=').map(|name| name.trim_matches('"').to_owned());
        let processors = read("/proc/cpuinfo");
        let processor = field(&processors, "model name", ':').or_else(|| field(&processors, "CPU part", ':'));
        Self {
            sealane: env!("CARGO_PKG_VERSION"),
            host: host.to_owned(),
            target: target(),
            compiler: env!("SEALANE_COMPILER"),
            system: system.unwrap_or_else(|| consts::OS.to_owned()),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            processor: processor.unwrap_or_default(),
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Returns the target of this build, such as `x86_64-linux-gnu`.
fn target() -> String {
    let environment = match () {
        () if cfg!(target_env = "gnu") => "-gnu",
        () if cfg!(target_env = "musl") => "-musl",
        () if cfg!(target_env = "msvc") => "-msvc",
        () => "",
    };
    format!("{}-{}{environment}", consts::ARCH, consts::OS)
}

/// Lists the linked libraries and their versions, from this build's lock file.
pub(crate) fn libraries() -> Vec<(&'static str, &'static str)> {
    env!("SEALANE_LIBRARIES").split(' ').filter_map(|library| library.split_once('=')).collect()
}

/// Reports an environment variable with an invalid value. Without this, the table would just show
/// nothing as chosen, and only the first use of an algorithm would report the variable.
pub(crate) fn check_environment() -> Result<()> {
    let key = Key::from_bytes(&[0; 16]);
    let aead = Aead::new(Algorithm::Aes128Gcm, &key).map(drop);
    let stream = AesCtr::new(key.as_bytes(), &[0; 16]).map(drop);
    for probe in [aead, stream] {
        if let Err(error @ Error::Environment(_)) = probe {
            return Err(Failure::misuse(error.to_string()));
        }
    }
    Ok(())
}

pub(crate) fn document(entry: &ListedVariant) -> Value {
    json!({
        "algorithm": entry.algorithm,
        "provider": entry.provider,
        "variant": entry.variant,
        "available": entry.available,
        "reason": entry.reason,
        "chosen": entry.chosen,
    })
}

/// Returns the FIPS module of this build, and what a FIPS build may compute besides the listed
/// algorithms.
pub(crate) fn fips_document() -> Value {
    let named =
        |wanted| computations().filter(move |(_, approved)| *approved == wanted).map(|(name, _)| name);
    json!({
        "enabled": FIPS,
        "module": fips_module(),
        "approved": named(true).collect::<Vec<_>>(),
        "refused": named(false).collect::<Vec<_>>(),
    })
}

/// Returns one line about FIPS, such as `fips: off`.
pub(crate) fn fips_line() -> String {
    fips_module().map_or_else(|| "fips: off\n".into(), |module| format!("fips: on; {module}\n"))
}

fn read(path: &str) -> String {
    fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// Returns the value of the first line `name SEPARATOR value`.
fn field(text: &str, name: &str, separator: char) -> Option<String> {
    let pairs = text.lines().filter_map(|line| line.split_once(separator));
    pairs.into_iter().find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn fields_of_system_files() {
        let processors = "processor\t: 0\nmodel name\t: Example: 3 GHz\nmodel name\t: Other\n";
        assert_eq!(field(processors, "model name", ':').as_deref(), Some("Example: 3 GHz"));
        assert_eq!(field(processors, "CPU part", ':'), None);
        assert!(target().starts_with(consts::ARCH));
    }

    #[test]
    fn libraries_have_versions() {
        let libraries = libraries();
        assert!(libraries.iter().any(|(name, _)| *name == "aws-lc-rs"), "{libraries:?}");
        assert!(libraries.iter().all(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit())));
    }
}
