//! What this processor can do.
#![forbid(unsafe_code)]

use core::fmt;
use std::sync::OnceLock;

/// Every feature we know, on any architecture, after everything that it builds on.
///
/// The names are those of the Rust reference, which are those that the field writes.
const KNOWN: [(&str, &[&str]); 15] = [
    ("neon", &[]),
    // Arm and x86 share the name; only on Arm it works on NEON's registers.
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

/// A set of processor features. It can be detected and reduced, never invented, so holding one is a proof.
///
/// A feature is present only together with everything that it builds on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Features(u32);

/// A set of feature names that something asks for. It proves nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Needs(u32);

impl Features {
    /// Nothing: only portable rows remain.
    pub const NONE: Self = Self(0);

    /// What this processor has and the operating system lets us use.
    pub fn detect() -> Self {
        static FOUND: OnceLock<Features> = OnceLock::new();
        *FOUND.get_or_init(|| Self(detected()).settled())
    }

    /// Without the named feature and everything that builds on it; `None` where no feature has that name.
    ///
    /// The names of all architectures are known on each, so that one setting serves a mixed fleet.
    pub fn without(self, name: &str) -> Option<Self> {
        let index = KNOWN.iter().position(|(known, _)| *known == name)?;
        Some(Self(self.0 & !(1 << index)).settled())
    }

    /// Only those features that `needs` names, as far as they are here.
    pub fn only(self, needs: Needs) -> Self {
        Self(self.0 & needs.0).settled()
    }

    /// Those of `needs` that are not here.
    pub fn lacks(self, needs: Needs) -> Needs {
        Needs(needs.0 & !self.0)
    }

    /// The names of the features that are here.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        names(self.0)
    }

    /// All names that [`Features::without`] understands.
    pub fn known() -> impl Iterator<Item = &'static str> {
        names(!0)
    }

    /// Drops what misses something that it builds on. Hypervisors do mask AVX2 and leave VAES.
    fn settled(self) -> Self {
        let settled = KNOWN.iter().enumerate().fold(0, |set, (i, (_, below))| {
            let here = self.0 >> i & 1 == 1 && below.iter().all(|name| set & bit(name) != 0);
            set | u32::from(here) << i
        });
        Self(settled)
    }
}

impl Needs {
    /// These features and everything that they build on. A name that we do not know does not compile.
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

    /// These and others.
    pub(crate) fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether whoever has these has all of `others`.
    pub(crate) fn cover(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// Whether nothing is asked for.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names, those that others build on first.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        names(self.0)
    }
}

/// The bit of a known name.
const fn bit(name: &str) -> u32 {
    let mut i = 0;
    while !same(KNOWN[i].0, name) {
        i += 1;
    }
    1 << i
}

/// `a == b`, which is not yet a constant function.
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

/// The union of those features that `$detected` reports. The detection macros want literals.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! found {
    ($detected:ident: $($name:tt)*) => { 0 $(| if std::arch::$detected!($name) { bit($name) } else { 0 })* };
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

/// The names, with spaces between them.
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

    /// Everything at once, as no processor has it: removal must be right on machines that we do not own.
    const ALL: Features = Features((1 << KNOWN.len()) - 1);

    fn left(name: &str) -> Vec<&'static str> {
        let left = ALL.without(name).unwrap();
        Features::known().filter(|name| !left.names().any(|l| l == *name)).collect()
    }

    #[test]
    fn what_builds_on_a_feature_goes_with_it() {
        let avx512 = ["avx512f", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi", "avx512vbmi2"];
        assert_eq!(left("avx512f"), avx512);
        assert_eq!(left("avx2"), [&["avx2", "vaes"], &avx512[..]].concat());
        assert_eq!(left("pclmulqdq"), ["pclmulqdq", "vpclmulqdq"]);
        assert_eq!(left("bmi2"), ["bmi2"]);
        assert_eq!(left("aes"), ["aes", "vaes"]);
        assert_eq!(left("neon").contains(&"aes"), cfg!(target_arch = "aarch64"));
    }

    #[test]
    fn below_comes_first() {
        for (i, (name, below)) in KNOWN.iter().enumerate() {
            for b in *below {
                assert!(bit(b) < 1 << i, "{b} stands after {name}");
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
    fn a_feature_without_its_base_is_not_there() {
        let masked = Features(ALL.0 & !bit("avx2")).settled();
        assert_eq!(masked, ALL.without("avx2").unwrap());
        assert_eq!(ALL.only(Needs(bit("vaes"))), Features::NONE);
        assert_eq!(ALL.only(Needs::of(&["vaes"])).names().count(), Needs::of(&["vaes"]).names().count());
    }
}
