//! Tables of variants: one build of an algorithm for each instruction set, widest first.
//!
//! An algorithm is a generic function, its *body*, that takes a token of an instruction set (see
//! [`crate::vector`]). A variant consists of wrappers around the bodies, for example:
//!
//! ```text
//! #[target_feature(enable = "vaes", enable = "vpclmulqdq", …)]
//! fn wrapper(key: &Key, counter: u128, data: InOut<'_>) {
//!     gcm::apply_keystream::<_, 8, 10>(Vaes512Products::new(), key, counter, data)
//! }
//! ```
//!
//! The compiler inlines the body into the wrapper, so each call of a function is one indirect call.
//!
//! Two mistakes are impossible. A wrapper with the wrong token does not compile, because the
//! constructor of a token needs the features itself (see `vector::x86`). And a wrapper cannot be
//! called without its features: only `Entry::check` makes a `Selected`, and it needs [`Features`],
//! which can only be detected.
//!
//! A processor, an emulator or a compiler can be wrong, and data that was encrypted wrongly may be
//! lost. So each variant runs a self-test with known answers once in a process, when it is first
//! selected. A variant that fails is skipped.
//!
//! A table lists functions; each function has one body, or several that an index selects, for
//! example by the key size. The instruction sets are listed in `instruction_sets`, once for all
//! tables.

use crate::cpu::{Features, Needs};
use crate::error::KeyError;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A variant of a cipher, as lists show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The name of the variant in listings and error messages, for example `"vaes512"`.
    pub name: &'static str,
    /// The processor features the variant needs; this processor may lack them.
    pub needs: Needs,
}

impl Variant {
    /// Checks that these features suffice for this variant of this build. The self-test is not run.
    ///
    /// # Errors
    /// Returns the missing features.
    pub fn check(self, features: Features) -> Result<(), Needs> {
        match features.missing(self.needs) {
            none if none.is_empty() => Ok(()),
            missing => Err(missing),
        }
    }
}

/// The reason why a variant cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// These processor features are missing.
    MissingFeatures(Needs),
    /// The variant failed its self-test in this process, so it is not used.
    SelfTestFailed,
    /// The variant is built for this processor architecture only, for example `"aarch64"`.
    OtherArchitecture(&'static str),
}

/// All variants of a cipher, where `F` is the set of their functions.
pub(crate) struct Table<F: 'static> {
    /// The variants of this build, widest first.
    pub(crate) entries: &'static [Entry<F>],
    /// The variants of builds for other architectures, each with its architecture.
    pub(crate) elsewhere: &'static [(Variant, &'static str)],
}

/// A variant with its functions and the result of its self-test.
///
/// It is in read-only memory, so that a stray write cannot change a function pointer.
pub(crate) struct Entry<F: 'static> {
    pub(crate) variant: Variant,
    pub(crate) functions: F,
    /// The value of [`Token::SPILLS`].
    pub(crate) spills: bool,
    /// The value of [`Token::STITCHES`].
    pub(crate) stitches: bool,
    /// The largest of the numbers below that any thread stored.
    pub(crate) test_result: &'static AtomicU8,
}

pub(crate) const UNTESTED: u8 = 0;
const PASSED: u8 = 1;
const FAILED: u8 = 2;

/// A function that computes the known answers of a cipher on a variant and compares them. It takes
/// the variant and not a key, because making a key selects a variant.
pub(crate) type SelfTest<F> = fn(Selected<F>) -> bool;

impl<F> Entry<F> {
    #[inline]
    fn check(&'static self, features: Features, self_test: SelfTest<F>) -> Result<Selected<F>, Refusal> {
        self.variant.check(features).map_err(Refusal::MissingFeatures)?;
        // Relaxed, because nothing else is published with it.
        match self.test_result.load(Relaxed) {
            PASSED => Ok(Selected(self)),
            UNTESTED if self.run(self_test) => Ok(Selected(self)),
            _ => Err(Refusal::SelfTestFailed),
        }
    }

    /// Runs the self-test. Several threads may do so at the same time; if their results differ, the
    /// variant has failed.
    #[cold]
    fn run(&'static self, self_test: SelfTest<F>) -> bool {
        let result = if self_test(Selected(self)) { PASSED } else { FAILED };
        self.test_result.fetch_max(result, Relaxed).max(result) == PASSED
    }
}

/// A variant with all its features present, so its functions may be called.
pub(crate) struct Selected<F: 'static>(pub(crate) &'static Entry<F>);

impl<F> Clone for Selected<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Selected<F> {}

impl<F> Selected<F> {
    pub(crate) fn name(self) -> &'static str {
        self.0.variant.name
    }

    /// Returns whether this is the variant without processor features.
    pub(crate) fn is_portable(self) -> bool {
        self.0.variant.needs.is_empty()
    }

    /// Returns whether a short message leaves keys on the stack.
    pub(crate) fn spills(self) -> bool {
        self.0.spills
    }

    /// Returns whether Poly1305 is computed between the rounds of ChaCha20.
    pub(crate) fn stitches(self) -> bool {
        self.0.stitches
    }
}

impl<F> Table<F> {
    /// Returns the first variant that these features allow and that passes its self-test.
    pub(crate) fn select(
        &'static self,
        features: Features,
        self_test: SelfTest<F>,
    ) -> Result<Selected<F>, KeyError> {
        let mut usable = self.entries.iter().filter_map(|entry| entry.check(features, self_test).ok());
        usable.next().ok_or(KeyError::SelfTestFailed)
    }

    /// Lists every variant with the reason why it cannot be used, if there is one.
    pub(crate) fn check(
        &'static self,
        features: Features,
        self_test: SelfTest<F>,
    ) -> impl Iterator<Item = (Variant, Result<(), Refusal>)> {
        let check =
            move |entry: &'static Entry<F>| (entry.variant, entry.check(features, self_test).map(drop));
        let refuse = |&(variant, architecture)| (variant, Err(Refusal::OtherArchitecture(architecture)));
        self.entries.iter().map(check).chain(self.elsewhere.iter().map(refuse))
    }

    /// Lists the variants of this build, whether this processor can run them or not.
    pub(crate) fn variants(&'static self) -> impl Iterator<Item = Variant> {
        self.entries.iter().map(|entry| entry.variant)
    }
}

/// Defines a table: its name, the type of its functions, its list of [`instruction_sets`], and the
/// functions with their bodies.
///
/// A function has one body, or, with `by Index`, one body for each value of the type `Index`, in
/// the order of its values. In a body, `W` is the number of vectors in flight. With `; R = 10, 12,
/// 14` a body is compiled for each of these numbers of rounds of AES; the portable variant compiles
/// it once, with [`AT_RUN_TIME`](crate::vector::AT_RUN_TIME).
macro_rules! variants {
    ($(#[$doc:meta])* $table:ident: $functions:ident for $instruction_sets:ident $bodies:tt) => {
        functions! { $functions $bodies }
        $instruction_sets! { $(#[$doc])* $table: $functions $bodies }
    };
}

/// Defines the static of a table from its bodies and its list of instruction sets.
macro_rules! table {
    (
        { $(#[$doc:meta])* $table:ident: $functions:ident $bodies:tt }
        $( $architecture:literal: $name:literal = $token:ty, $width:literal, $features:tt; )*
        $( any: $portable_name:literal = $portable:ty, $portable_width:literal; )*
    ) => {
        $(#[$doc])*
        pub(crate) static $table: Table<$functions> = Table {
            entries: &[
                $(
                    #[cfg(target_arch = $architecture)]
                    entry!($functions $bodies $name, $token, $width, $features),
                )*
                $( entry!($functions $bodies $portable_name, $portable, $portable_width, []), )*
            ],
            elsewhere: &[
                $(
                    #[cfg(not(target_arch = $architecture))]
                    (Variant { name: $name, needs: Needs::of(&$features) }, $architecture),
                )*
            ],
        };
    };
}

/// Makes one entry of a table.
macro_rules! entry {
    ($functions:ident $bodies:tt $name:literal, $token:ty, $width:literal, $features:tt) => {
        Entry {
            variant: Variant { name: $name, needs: Needs::of(&$features) },
            functions: wrappers!($functions $bodies $token, $width, $features),
            spills: <$token as crate::vector::Token>::SPILLS,
            stitches: <$token as crate::vector::Token>::STITCHES,
            test_result: {
                static TEST_RESULT: AtomicU8 = AtomicU8::new(UNTESTED);
                &TEST_RESULT
            },
        }
    };
}

/// Defines the type of a variant's functions, and the methods of a selected variant that call them.
macro_rules! functions {
    ($functions:ident {
        $(
            $(#[$doc:meta])*
            fn $name:ident($($arg:ident: $type:ty),*) $(by $index:ty)? =
                [$($body:expr),* $(,)? $(; R = $($rounds:literal),*)?];
        )*
    }) => {
        pub(crate) struct $functions {
            $( $name: [unsafe fn($($type),*); [$(stringify!($body)),*].len() $(* [$($rounds),*].len())?], )*
        }

        impl Selected<$functions> {
            $(
                $(#[$doc])*
                #[inline]
                #[allow(clippy::too_many_arguments)] // as many as the body has
                pub(crate) fn $name(self, $(index: $index,)? $($arg: $type),*) {
                    let wrapper = self.0.functions.$name[0 $(+ index as $index as usize)?];
                    // SAFETY: the wrapper is unsafe only for the features that it enables. `self`
                    // was made by `Entry::check`, which found them all in a `Features`, and that
                    // cannot be made up.
                    unsafe { wrapper($($arg),*) }
                }
            )*
        }
    };
}

/// Makes the functions of one variant.
macro_rules! wrappers {
    ($functions:ident {
        $( $(#[$doc:meta])* fn $name:ident $args:tt $(by $index:ty)? = $bodies:tt; )*
    } $token:ty, $width:literal, $features:tt) => {
        $functions { $( $name: wrappers_of!($bodies $features $args $token, $width), )* }
    };
}

/// Makes the wrappers of one function of one variant. The portable variant needs no features.
macro_rules! wrappers_of {
    ([$body:expr; R = $($rounds:literal),*] [] $args:tt $token:ty, $width:literal) => {{
        each_key_size!($body, $token, $width; $args);
        [$( wrapper!(each_key_size, <$token>::with_rounds($rounds), $width; [] $args) ),*]
    }};
    ([$body:expr; R = $($rounds:literal),*] $features:tt $args:tt $token:ty, $width:literal) => {
        [$( wrapper!($body, <$token>::new(), $width, $rounds; $features $args) ),*]
    };
    ([$($body:expr),* $(,)?] $features:tt $args:tt $token:ty, $width:literal) => {
        [$( wrapper!($body, <$token>::new(), $width; $features $args) ),*]
    };
}

/// Defines the code that the portable wrappers for all key sizes call.
macro_rules! each_key_size {
    ($body:expr, $token:ty, $width:literal; ($($arg:ident: $type:ty),*)) => {
        #[inline(never)]
        #[allow(clippy::too_many_arguments)] // as many as the body has
        fn each_key_size(token: $token, $($arg: $type),*) {
            #[allow(dead_code)] // not every body has a width
            const W: usize = $width;
            const R: usize = crate::vector::AT_RUN_TIME;
            ($body)(token, $($arg),*)
        }
    };
}

macro_rules! wrapper {
    ($body:expr, $token:expr, $width:literal $(, $rounds:literal)?; [$($feature:tt),*] ($($arg:ident: $type:ty),*)) => {{
        $(#[target_feature(enable = $feature)])*
        #[allow(clippy::too_many_arguments)] // as many as the body has
        fn wrapper($($arg: $type),*) {
            #[allow(dead_code)] // not every body has a width
            const W: usize = $width;
            $( const R: usize = $rounds; )?
            ($body)($token, $($arg),*)
        }
        wrapper
    }};
}

/// Defines what the module of each cipher has: the lists of its variants, their selection with the
/// self-test, and a check of the self-test, for the tests.
///
/// `passes` is the function that compares one known answer. All copies of a known answer in
/// `changed` must fail.
macro_rules! cipher {
    (
        $table:ident: $functions:ident;
        known_answers: $known_answers:expr;
        passes: $passes:ident;
        changed: |$answer:ident| $changed:expr;
    ) => {
        /// Lists all variants of this build, widest first. The last one, `"portable"`, needs no
        /// processor features.
        pub fn variants() -> impl Iterator<Item = Variant> {
            $table.variants()
        }

        /// Lists every variant with `Ok(())` or the reason it cannot be used. Runs self-tests that
        /// have not run yet.
        ///
        /// The variants of other processor architectures come last.
        pub fn check(features: Features) -> impl Iterator<Item = (Variant, Result<(), Refusal>)> {
            $table.check(features, self_test)
        }

        /// Returns the widest variant that `features` allow and that passes its self-test.
        pub(crate) fn select(features: Features) -> Result<Selected<$functions>, KeyError> {
            $table.select(features, self_test)
        }

        fn self_test(variant: Selected<$functions>) -> bool {
            $known_answers.iter().all(|answer| $passes(variant, answer))
        }

        /// Returns whether the variant that `features` select reproduces all known answers, and no
        /// changed copy of one.
        #[doc(hidden)]
        pub fn rejects_changed_answers(features: Features) -> bool {
            let Ok(variant) = select(features) else { return false };
            $known_answers.iter().copied().all(|$answer| {
                $passes(variant, &$answer) && !$changed.iter().any(|changed| $passes(variant, changed))
            })
        }
    };
}

/// Defines `variant()` and a `Debug` without secrets, of a key with a field `variant` and some
/// public fields.
macro_rules! describe_key {
    ($key:ident { $($field:ident),* }) => {
        impl $key {
            /// Returns the name of the variant that computes, for example `"portable"`.
            pub fn variant(&self) -> &'static str {
                self.variant.name()
            }
        }

        $crate::variant::debug_key! { $key { $($field),* } }
    };
}

/// Defines a `Debug` without secrets, of a key with a method `variant` and some public fields.
macro_rules! debug_key {
    ($key:ident { $($field:ident),* }) => {
        impl core::fmt::Debug for $key {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($key))
                    $( .field(stringify!($field), &self.$field) )*
                    .field("variant", &self.variant())
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use {cipher, debug_key, describe_key};

#[macro_use]
mod instruction_sets;

#[cfg(test)]
#[path = "../tests/it/linear_ghash.rs"]
mod linear_ghash;
#[cfg(test)]
#[path = "../tests/it/words.rs"]
mod words;

#[cfg(test)]
mod test {
    use super::*;
    use crate::vector::Token;
    use crate::vector::portable::Portable;
    use std::sync::Mutex;

    /// Doubles `x` where `W` is 1, so that one body makes correct variants and wrong ones.
    fn double<B: Token, const W: usize>(_: B, x: usize, y: &mut usize) {
        *y = x + x * W;
    }

    /// Adds, to show that an index selects the body.
    fn add<B: Token, const N: usize>(_: B, x: usize, y: &mut usize) {
        *y = x + N;
    }

    /// The names of the variants that were tested, in order.
    static TESTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());

    fn times_tested(name: &str) -> usize {
        TESTED.lock().unwrap().iter().filter(|tested| **tested == name).count()
    }

    fn self_test(variant: Selected<Doubles>) -> bool {
        TESTED.lock().unwrap().push(variant.name());
        let mut y = 0;
        variant.double(21, &mut y);
        y == 42
    }

    macro_rules! wrong_before_right {
        ($($table:tt)*) => {
            table! { { $($table)* }
                "x86_64": "missing" = Portable, 1, ["aes"];
                "aarch64": "missing" = Portable, 1, ["aes"];
                any: "wrong" = Portable, 2;
                any: "right" = Portable, 1;
                any: "last" = Portable, 3;
            }
        };
    }

    variants! {
        /// A wrong variant before a correct one.
        SOME: Doubles for wrong_before_right {
            fn double(x: usize, y: &mut usize) = [double::<_, W>];
            fn add(x: usize, y: &mut usize) by bool = [add::<_, 3>, add::<_, 5>];
        }
    }

    macro_rules! all_wrong {
        ($($table:tt)*) => {
            table! { { $($table)* }
                any: "wrong" = Portable, 2;
                any: "last" = Portable, 3;
            }
        };
    }

    variants! {
        /// Wrong variants only.
        NONE: Triples for all_wrong {
            fn double(x: usize, y: &mut usize) = [double::<_, W>];
        }
    }

    fn fails(variant: Selected<Triples>) -> bool {
        let mut y = 0;
        variant.double(21, &mut y);
        y == 42
    }

    #[test]
    fn a_wrong_variant_is_skipped_and_tested_once() {
        for _ in 0..3 {
            assert_eq!(SOME.select(Features::NONE, self_test).map(Selected::name), Ok("right"));
        }
        let tested = || ["missing", "wrong", "right", "last"].map(times_tested);
        assert_eq!(tested(), [0, 1, 1, 0], "the last variant was not needed");
        for _ in 0..3 {
            let checked = SOME.check(Features::NONE, self_test).filter(|(v, _)| v.name != "missing");
            let checked: Vec<_> = checked.map(|(variant, check)| (variant.name, check)).collect();
            let failed = Err(Refusal::SelfTestFailed);
            assert_eq!(checked, [("wrong", failed), ("right", Ok(())), ("last", failed)]);
        }
        assert_eq!(tested(), [0, 1, 1, 1]);
    }

    #[test]
    fn an_index_selects_the_body() {
        let variant = SOME.select(Features::NONE, |_| true).unwrap();
        let mut y = 0;
        for (index, n) in [(false, 3), (true, 5)] {
            variant.add(index, 10, &mut y);
            assert_eq!(y, 10 + n);
        }
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn missing_features_are_reported_before_the_self_test() {
        let missing = SOME.check(Features::NONE, self_test).next().map(|(_, check)| check);
        assert_eq!(missing, Some(Err(Refusal::MissingFeatures(Needs::of(&["aes"])))));
        assert_eq!(times_tested("missing"), 0);
    }

    #[test]
    fn variants_of_other_architectures_come_last() {
        let checked = SOME.check(Features::NONE, self_test).map(|(variant, check)| (variant.name, check));
        let mut after = checked.skip_while(|(name, _)| *name != "last").skip(1);
        for other in ["x86_64", "aarch64"].into_iter().filter(|other| *other != std::env::consts::ARCH) {
            assert_eq!(after.next(), Some(("missing", Err(Refusal::OtherArchitecture(other)))));
        }
        assert_eq!(after.next(), None);
        assert_eq!(SOME.variants().last().map(|variant| variant.name), Some("last"));
    }

    #[test]
    fn no_correct_variant_is_an_error() {
        let selected = NONE.select(Features::detect(), fails).map(Selected::name);
        assert_eq!(selected, Err(KeyError::SelfTestFailed));
        let mut checked = NONE.check(Features::detect(), fails);
        assert!(checked.all(|(_, check)| check == Err(Refusal::SelfTestFailed)));
    }
}
