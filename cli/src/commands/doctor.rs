//! `sealane doctor`: prints the facts that a bug report needs.

use crate::console::escaped;
use crate::defaults::{self, Found};
use crate::machine::{self, Machine, check_environment, document, fips_document, fips_line};
use crate::prelude::*;
use sealane::keys::{KeyFile, LoadOptions, Reference, TokenKey, files_in, is_hexadecimal_key};
use sealane::provider::{Features, features};
use sealane::{ListedVariant, Provider, os};
use std::collections::BTreeMap;
use std::fs;

/// Print the facts for a bug report: processor, self-tests, providers, versions, exposed key files
///
/// Runs the self-test of every variant that this processor can use, and looks for key files that
/// other users can read or change. The report contains names and modes of key files, but nothing of
/// their content.
///
/// Exits with status 1 if there is a problem: a failed self-test, an invalid environment variable,
/// or an exposed key file. The report lists all problems at its end.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane doctor
  sealane doctor ~/keys")]
pub(crate) struct Doctor {
    /// Key files to check, or folders (their files, but not subfolders). Default: the current
    /// folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Maximum number of files read per folder, so that a folder with millions of files takes a second.
const MAX_FILES: usize = 1000;

impl Run for Doctor {
    fn run(&self, Context { console, host, .. }: &Context<'_>) -> Result<()> {
        let here = [PathBuf::from(".")];
        let paths = if self.paths.is_empty() { &here[..] } else { &self.paths };
        let report = Report::new(host, check_keys(paths)?);
        if console.json {
            console.result(|| report.document(), "")?;
        } else if !console.quiet {
            console.print(&report.text())?;
        }
        let text = match report.problems.len() {
            0 => return Ok(()),
            1 => "1 problem found; the end of the report names it".to_owned(),
            n => format!("{n} problems found; the end of the report names them"),
        };
        Err(Failure::new(Kind::Problem, text))
    }
}

/// All facts that the command prints.
struct Report {
    machine: Machine,
    /// Processor features that the kernels may use.
    features: Vec<&'static str>,
    /// Detected features that `SEALANE_CPU` removes.
    removed: Vec<&'static str>,
    variants: Vec<ListedVariant>,
    keys: CheckedKeys,
    /// The default keys: the option, the reference, and where it was found.
    defaults: Vec<(&'static str, String, String)>,
    problems: Vec<String>,
}

impl Report {
    fn new(host: &str, mut keys: CheckedKeys) -> Self {
        let mut problems = Vec::new();
        problems.extend(check_environment().err().map(|failure| failure.to_string()));
        let allowed = features().unwrap_or(Features::NONE);
        let features: Vec<_> = allowed.names().collect();
        let removed = Features::detect().names().filter(|name| !features.contains(name)).collect();
        let variants = sealane::listing();
        let failed = variants.iter().filter(|entry| entry.reason.contains("self-test"));
        problems.extend(failed.map(|entry| {
            format!("{} {} {}: {}", entry.algorithm, entry.provider, entry.variant, entry.reason)
        }));
        let mut defaults = Vec::new();
        for option in ["key", "identity"] {
            match defaults::find(option) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    match found.path().map_or(Ok(CheckedKeys::default()), |path| check_keys(&[path])) {
                        Ok(checked) => keys.found.extend(checked.found),
                        Err(failure) => problems.push(format!("{}: {failure}", found.place)),
                    }
                    defaults.push((option, shown(&found), found.place));
                }
                Err(failure) => problems.push(failure.to_string()),
            }
        }
        problems
            .extend(keys.found.iter().filter_map(|key| Some(format!("{}: {}", key.name, key.problem()?))));
        // Both defaults are in one file.
        problems.dedup();
        Self { machine: Machine::detect(host), features, removed, variants, keys, defaults, problems }
    }

    fn document(&self) -> Value {
        json!({
            "machine": self.machine,
            "features": self.features,
            "removed_features": self.removed,
            "libraries": machine::libraries().into_iter().collect::<BTreeMap<_, _>>(),
            "fips": fips_document(),
            "variants": self.variants.iter().map(document).collect::<Value>(),
            "key_files": self.keys.found.iter().map(FoundKey::document).collect::<Value>(),
            "unread_files": self.keys.unread,
            "defaults": self.defaults.iter().map(|(option, reference, place)| {
                json!({"option": option, "reference": reference, "place": place})
            }).collect::<Value>(),
            "problems": self.problems,
        })
    }

    fn text(&self) -> String {
        let Machine { sealane, host, target, compiler, system, kernel, processor, threads } = &self.machine;
        let or_unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { escaped(text) };
        let libraries: Vec<_> =
            machine::libraries().into_iter().map(|(name, version)| format!("{name} {version}")).collect();
        let features = if self.features.is_empty() { "none".into() } else { self.features.join(" ") };
        let mut lines = vec![
            format!("sealane    {sealane} ({host}), {target}, {compiler}"),
            format!("system     {}, kernel {}", or_unknown(system), or_unknown(kernel)),
            format!("processor  {}; threads: {threads}", or_unknown(processor)),
            format!("features   {features}"),
        ];
        if !self.removed.is_empty() {
            lines.push(format!("           removed by SEALANE_CPU: {}", self.removed.join(" ")));
        }
        lines.push(format!("libraries  {}", libraries.join(", ")));
        lines.push(fips_line().trim_end().replacen("fips: ", "fips       ", 1));
        lines.push("\nvariants of the native kernels".into());
        lines.extend(self.native());
        lines.push("\nproviders in use".into());
        lines.extend(self.chosen());
        lines.push("\nkey files".into());
        lines.extend(self.keys.lines());
        lines.push("\ndefault keys".into());
        lines.extend(self.defaults.iter().map(|(option, reference, place)| {
            format!("  {option:<10} {}, from {}", escaped(reference), escaped(place))
        }));
        if self.defaults.is_empty() {
            lines.push("  none".into());
        }
        lines.push("\nproblems".into());
        match &self.problems[..] {
            [] => lines.push("  none".into()),
            problems => lines.extend(problems.iter().map(|text| format!("  {}", escaped(text)))),
        }
        lines.join("\n") + "\n"
    }

    /// One line per variant and self-test result, with the algorithms that have it.
    fn native(&self) -> Vec<String> {
        let native = self.variants.iter().filter(|entry| entry.provider == Provider::Native.name());
        grouped(native.filter(|entry| entry.variant != "extended").map(|entry| {
            let result = if entry.available { "self-test passed" } else { &entry.reason };
            (format!("  {:<10} {result}", entry.variant), entry.algorithm.to_owned())
        }))
    }

    /// One line per provider and variant in use, with its algorithms.
    fn chosen(&self) -> Vec<String> {
        let chosen = self.variants.iter().filter(|entry| entry.chosen);
        grouped(
            chosen.map(|entry| {
                (format!("  {:<10} {}", entry.provider, entry.variant), entry.algorithm.to_owned())
            }),
        )
    }
}

/// Returns a default's reference, without a token's PIN.
fn shown(found: &Found) -> String {
    let text = name(&found.reference);
    if text.contains("pkcs11:") { TokenKey::without_pin(&text) } else { text }
}

/// Joins the values of equal names into one line `name: value, value`, in order of first
/// occurrence.
fn grouped(pairs: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => groups.push((name, vec![value])),
        }
    }
    groups.into_iter().map(|(name, values)| format!("{name}: {}", values.join(", "))).collect()
}

/// The key files below the given paths.
#[derive(Default)]
struct CheckedKeys {
    found: Vec<FoundKey>,
    /// Number of files not read because their folder has too many.
    unread: usize,
}

/// A file with an unencrypted secret key.
struct FoundKey {
    name: String,
    /// Permission bits; `None` on systems without them.
    mode: Option<u32>,
}

impl CheckedKeys {
    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.found.iter().map(FoundKey::line).collect();
        if lines.is_empty() {
            lines.push("  none found".into());
        }
        if self.unread > 0 {
            lines.push(format!(
                "  {} files were not read; name the key files instead of their folder",
                self.unread
            ));
        }
        lines
    }
}

impl FoundKey {
    /// Returns the problem with the file's permissions, and the command that fixes it.
    fn problem(&self) -> Option<String> {
        let able = match self.mode? {
            mode if mode & 0o044 != 0 => "read",
            mode if mode & 0o022 != 0 => "change",
            _ => return None,
        };
        Some(format!("others can {able} this key; run 'chmod 600 {}'", self.name))
    }

    fn line(&self) -> String {
        let name = escaped(&self.name);
        let Some(mode) = self.mode else { return format!("  {name}: rights not checked on this system") };
        let state = if self.problem().is_some() { "exposed" } else { "ok" };
        format!("  {name}: mode {mode:04o}, {state}")
    }

    fn document(&self) -> Value {
        let mode = self.mode.map(|mode| format!("{mode:04o}"));
        json!({ "path": self.name, "mode": mode, "problem": self.problem() })
    }
}

/// Finds key files among files and in folders. A path given by the user must be readable.
/// Unreadable files in a folder are skipped: this user cannot leak them either.
fn check_keys(paths: &[PathBuf]) -> Result<CheckedKeys> {
    let mut checked = CheckedKeys::default();
    for path in paths {
        let about = |error| Failure::io(&name(path), &error);
        if !fs::metadata(path).map_err(about)?.is_dir() {
            let content = Reference::File(path.clone()).read().map_err(|e| Failure::about(&name(path), e))?;
            if holds_secret(&content) {
                checked.found.push(FoundKey { name: name(path), mode: mode(path) });
            }
            continue;
        }
        let files = files_in(path).map_err(|e| Failure::about(&name(path), e))?;
        checked.unread += files.len().saturating_sub(MAX_FILES);
        for file in files.iter().take(MAX_FILES) {
            let Ok(content) = Reference::File(file.clone()).read() else { continue };
            let digits = std::str::from_utf8(&content).is_ok_and(|text| is_hexadecimal_key(text.trim()));
            // In a file that the user did not name, 64 hexadecimal digits are more likely a hash
            // than a key.
            if !digits && holds_secret(&content) {
                let shown = file.strip_prefix(".").unwrap_or(file);
                checked.found.push(FoundKey { name: name(shown), mode: mode(file) });
            }
        }
    }
    Ok(checked)
}

/// Returns whether a key file holds an unencrypted secret.
fn holds_secret(content: &[u8]) -> bool {
    match KeyFile::parse(content, LoadOptions::default()) {
        Ok(KeyFile::Public(_)) | Err(_) => false,
        Ok(_) => true,
    }
}

fn mode(path: &Path) -> Option<u32> {
    path.metadata().ok().and_then(|found| os::mode(&found))
}
