//! Processor features: detection, and sets of features.
#![forbid(unsafe_code)]

use core::fmt;
#[cfg(feature = "std")]
use std::sync::OnceLock;

/// All known features of all architectures, each with the features that it extends, which precede
/// it.
///
/// The names are those of the Rust reference.
const KNOWN: [(&str, &[&str]); 15] = [
    ("neon", &[]),
    // Arm and x86 share this name; only the Arm feature uses the registers of NEON.
    ("aes", if cfg!(target_arch = "aarch64") { &["neon"] } else { &[] }),
    ("sha3", &["neon"]),
    ("pclmulqdq", &[]),
    ("bmi2", &[]),
    ("avx", &[]),
    ("avx2", &["avx"]),
    ("vaes", &["aes", "avx2"]),
    ("vpclmulqdq", &["pclmulqdq", "avx"]),
    ("avx512f", &["avx2"]),
    ("avx512bw", &["avx512f"]),
    ("avx512vl", &["avx512f"]),
    ("avx512ifma", &["avx512f"]),
    ("avx512vbmi", &["avx512bw"]),
    ("avx512vbmi2", &["avx512bw"]),
];

/// A set of features that this processor has.
///
/// A set can be detected and reduced but not composed, so code that holds one may use its features.
/// A feature is in a set only together with the features that it extends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Features(u32);

/// A set of features that a variant needs and that the processor may not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Needs(u32);

impl Features {
    /// The empty set: only portable variants can be used.
    pub const NONE: Self = Self(0);

    /// Detects the features that the processor has and the operating system enables.
    #[cfg(feature = "std")]
    pub fn detect() -> Self {
        static FOUND: OnceLock<Features> = OnceLock::new();
        *FOUND.get_or_init(|| Self(detected()).closed())
    }

    /// Returns the features the crate is compiled for.
    ///
    /// `core` has no detection: whether registers may be used depends on the operating system too,
    /// which may not save them.
    #[cfg(not(feature = "std"))]
    pub fn detect() -> Self {
        Self(detected()).closed()
    }

    /// Removes the named feature and all features that extend it. Returns `None` if no feature has
    /// that name.
    ///
    /// The names of all architectures are accepted on each architecture, so that one setting serves
    /// a mixed fleet.
    pub fn without(self, name: &str) -> Option<Self> {
        let index = KNOWN.iter().position(|(known, _)| *known == name)?;
        Some(Self(self.0 & !(1 << index)).closed())
    }

    /// Keeps the features that are in `needs`, without those that extend a feature that is not
    /// kept.
    pub fn intersection(self, needs: Needs) -> Self {
        Self(self.0 & needs.0).closed()
    }

    /// Returns the features of `needs` that are not in this set.
    pub fn missing(self, needs: Needs) -> Needs {
        Needs(needs.0 & !self.0)
    }

    /// Lists the names of the features in this set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        names(self.0)
    }

    /// Lists the names of all known features, as accepted by [`Features::without`].
    pub fn known() -> impl Iterator<Item = &'static str> {
        names(!0)
    }

    /// Removes features that extend a missing feature. For example, some hypervisors mask AVX2 and
    /// leave VAES.
    fn closed(self) -> Self {
        let closed = KNOWN.iter().enumerate().fold(0, |set, (i, (_, extended))| {
            let present = self.0 >> i & 1 == 1 && extended.iter().all(|name| set & bit(name) != 0);
            set | u32::from(present) << i
        });
        Self(closed)
    }
}

impl Needs {
    /// Returns the set of these features and of those that they extend. An unknown name is a
    /// compile error.
    pub(crate) const fn of(names: &[&str]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < names.len() {
            set |= bit(names[i]);
            i += 1;
        }
        let mut i = KNOWN.len();
        while i > 0 {
            i -= 1;
            if set >> i & 1 == 1 {
                set |= Self::of(KNOWN[i].1).0;
            }
        }
        Self(set)
    }

    /// Returns the union of two sets, that is, the features that either needs.
    pub(crate) fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns whether all of `others` are in this set.
    pub(crate) fn contains(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// Returns whether no feature is in this set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Lists the names, each after the features that it extends.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        names(self.0)
    }
}

/// Returns the bit of a known name.
const fn bit(name: &str) -> u32 {
    let mut i = 0;
    while !same(KNOWN[i].0, name) {
        i += 1;
    }
    1 << i
}

/// Compares two strings; `==` is not yet a constant function.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

fn names(set: u32) -> impl Iterator<Item = &'static str> {
    KNOWN.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, (name, _))| *name)
}

/// The features that `$detected` reports. The detection macros only accept literals.
#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! found {
    ($detected:ident: $($name:tt)*) => { 0 $(| if std::arch::$detected!($name) { bit($name) } else { 0 })* };
}
#[cfg(all(not(feature = "std"), any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! found {
    ($detected:ident: $($name:tt)*) => { 0 $(| if cfg!(target_feature = $name) { bit($name) } else { 0 })* };
}

#[cfg(target_arch = "x86_64")]
fn detected() -> u32 {
    found!(is_x86_feature_detected:
        "aes" "pclmulqdq" "bmi2" "avx" "avx2" "vaes" "vpclmulqdq" "avx512f" "avx512bw" "avx512vl"
        "avx512ifma" "avx512vbmi" "avx512vbmi2")
}

#[cfg(target_arch = "aarch64")]
fn detected() -> u32 {
    found!(is_aarch64_feature_detected: "neon" "aes" "sha3")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detected() -> u32 {
    0
}

/// Returns whether Intel made the processor, which decides between ways of computing that are
/// faster on some processors and slower on others.
pub(crate) fn is_intel() -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        // Virtual machines emulate this instruction; that takes a microsecond or more.
        static IS_INTEL: OnceLock<bool> = OnceLock::new();
        *IS_INTEL.get_or_init(|| {
            let vendor = core::arch::x86_64::__cpuid(0);
            [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
        })
    }
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    false
}

/// Writes the names, separated by spaces.
fn write_names(set: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, name) in names(set).enumerate() {
        write!(f, "{}{name}", if i > 0 { " " } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_names(self.0, f)
    }
}
impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_names(self.0, f)
    }
}
impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Features({self})")
    }
}
impl fmt::Debug for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Needs({self})")
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// All features of all architectures, to test removal for processors that the tests do not run
    /// on.
    const ALL: Features = Features((1 << KNOWN.len()) - 1);

    fn removed_with(name: &str) -> Vec<&'static str> {
        let left = ALL.without(name).unwrap();
        Features::known().filter(|name| !left.names().any(|l| l == *name)).collect()
    }

    #[test]
    fn removing_a_feature_removes_its_extensions() {
        let avx512 = ["avx512f", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi", "avx512vbmi2"];
        assert_eq!(removed_with("avx512f"), avx512);
        assert_eq!(removed_with("avx2"), [&["avx2", "vaes"], &avx512[..]].concat());
        assert_eq!(removed_with("pclmulqdq"), ["pclmulqdq", "vpclmulqdq"]);
        assert_eq!(removed_with("bmi2"), ["bmi2"]);
        assert_eq!(removed_with("aes"), ["aes", "vaes"]);
        assert_eq!(removed_with("neon").contains(&"aes"), cfg!(target_arch = "aarch64"));
    }

    #[test]
    fn extended_features_come_first() {
        for (i, (name, extended)) in KNOWN.iter().enumerate() {
            for other in *extended {
                assert!(bit(other) < 1 << i, "{other} comes after {name}");
            }
        }
    }

    #[test]
    fn names_are_exact() {
        for name in ["", "AES", "avx512", "avx512ff", " aes", "sse2"] {
            assert_eq!(ALL.without(name), None, "{name:?}");
        }
        assert!(Features::known().all(|name| ALL.without(name).is_some()));
    }

    #[test]
    fn names_are_shown_in_order() {
        let avx2 = Needs::of(&["vaes", "avx2"]);
        let expected =
            if cfg!(target_arch = "aarch64") { "neon aes avx avx2 vaes" } else { "aes avx avx2 vaes" };
        assert_eq!((avx2.to_string(), format!("{avx2:?}")), (expected.into(), format!("Needs({expected})")));
        let all = ALL.intersection(avx2);
        assert_eq!((all.to_string(), format!("{all:?}")), (expected.into(), format!("Features({expected})")));
        assert_eq!(Features::NONE.to_string(), "");
    }

    #[test]
    fn an_extension_of_a_missing_feature_is_missing() {
        let masked = Features(ALL.0 & !bit("avx2")).closed();
        assert_eq!(masked, ALL.without("avx2").unwrap());
        assert_eq!(ALL.intersection(Needs(bit("vaes"))), Features::NONE);
        assert_eq!(
            ALL.intersection(Needs::of(&["vaes"])).names().count(),
            Needs::of(&["vaes"]).names().count()
        );
    }
}
