//! Tables of rows: one build of an algorithm per instruction set, widest first.
//!
//! A row is a wrapper that enables its features, makes the token of its instruction set and calls the one body
//! with it. Two mistakes cannot be made. A wrapper with the wrong token does not compile, because a token's
//! constructor carries the features itself (see `vector::x86`). And a wrapper cannot be called without its features:
//! only `Variant::check` makes a `Picked`, and it wants [`Features`], which can only be detected.
//!
//! A processor, an emulator or a compiler can be wrong, and what is encrypted wrongly may never be decrypted. So a row
//! is used only after it has computed a known answer, once in a process, when it is first wanted. One that does not is
//! passed over.

use crate::cpu::{Features, Needs};
use crate::error::KeyError;
use crate::vector::Token;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What a table says of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, like `"vaes512"`.
    pub name: &'static str,
    /// What the processor must have.
    pub needs: Needs,
}

impl Row {
    /// Whether it runs with these features; if not, what is missing. Whether it is right is another question.
    pub fn check(self, features: Features) -> Result<(), Needs> {
        match features.lacks(self.needs) {
            none if none.is_empty() => Ok(()),
            missing => Err(missing),
        }
    }
}

/// Why a row is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// These features are missing.
    Missing(Needs),
    /// It computed something else than the known answer.
    WrongAnswer,
}

/// A row with its functions, the set of which is `F`.
pub(crate) struct Variant<F: 'static> {
    row: Row,
    functions: F,
    /// [`Token::SPILLS`].
    spills: bool,
    /// Whether it computes the known answer. It gets the row and not a key, which would have to pick one.
    proof: fn(Picked<F>) -> bool,
    /// What came of it: the largest of these numbers that anybody found.
    proved: &'static AtomicU8,
}

const UNPROVED: u8 = 0;
const RIGHT: u8 = 1;
const WRONG: u8 = 2;

impl<F> Variant<F> {
    #[inline]
    fn check(&'static self, features: Features) -> Result<Picked<F>, Refusal> {
        self.row.check(features).map_err(Refusal::Missing)?;
        let row = Picked(self);
        // Relaxed, because nothing else is published with it.
        match self.proved.load(Relaxed) {
            RIGHT => Ok(row),
            UNPROVED if row.prove() => Ok(row),
            _ => Err(Refusal::WrongAnswer),
        }
    }
}

/// A row that may be called.
pub(crate) struct Picked<F: 'static>(&'static Variant<F>);

impl<F> Clone for Picked<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Picked<F> {}

impl<F> Picked<F> {
    pub(crate) fn name(self) -> &'static str {
        self.0.row.name
    }

    /// Whether a short message leaves keys on the stack.
    pub(crate) fn spills(self) -> bool {
        self.0.spills
    }

    /// Threads that come at the same time may each do it. If they disagree, the row is wrong.
    #[cold]
    fn prove(self) -> bool {
        let found = if (self.0.proof)(self) { RIGHT } else { WRONG };
        self.0.proved.fetch_max(found, Relaxed).max(found) == RIGHT
    }
}

/// The first row of the table that these features allow and that computes its known answer.
pub(crate) fn pick<F>(table: &'static [Variant<F>], features: Features) -> Result<Picked<F>, KeyError> {
    table.iter().find_map(|variant| variant.check(features).ok()).ok_or(KeyError::SelfTestFailed)
}

/// All rows of a table, with what speaks against using them.
pub(crate) fn check<F>(
    table: &'static [Variant<F>],
    features: Features,
) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    table.iter().map(move |variant| (variant.row, variant.check(features).map(drop)))
}

/// All rows of a table.
pub(crate) fn rows<F>(table: &'static [Variant<F>]) -> impl Iterator<Item = Row> {
    table.iter().map(|variant| variant.row)
}

/// A table: its functions with the bodies that they call, the proof that each row must pass, then its rows.
///
/// In a body, `W` is the row's number of vectors in flight.
macro_rules! variants {
    (
        $(#[$doc:meta])* $table:ident: $functions:ident $bodies:tt
        proof = $proof:expr;
        $( $(#[$cfg:meta])* $name:literal = $token:ident, $width:literal, $features:tt; )*
    ) => {
        functions! { $functions $bodies }

        $(#[$doc])*
        pub(crate) static $table: &[Variant<$functions>] = &[
            $( $(#[$cfg])* Variant {
                row: Row { name: $name, needs: Needs::of(&$features) },
                functions: wrappers!($functions $bodies $token $width $features),
                spills: <$token as Token>::SPILLS,
                proof: $proof,
                proved: {
                    static PROVED: AtomicU8 = AtomicU8::new(UNPROVED);
                    &PROVED
                },
            }, )*
        ];
    };
}

/// The type of a row's functions, and their calls for whoever holds a picked row.
macro_rules! functions {
    ($functions:ident { $( $(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) = $body:expr; )* }) => {
        pub(crate) struct $functions {
            $( $name: unsafe fn($($type),*), )*
        }

        impl Picked<$functions> {
            $(
                $(#[$doc])*
                #[inline]
                #[allow(clippy::too_many_arguments)] // as many as the body has
                pub(crate) fn $name(self, $($arg: $type),*) {
                    // SAFETY: the wrapper is unsafe only for the features that it enables. `self` was made by
                    // `Variant::check`, which found them all in a `Features`, and that cannot be made up.
                    unsafe { (self.0.functions.$name)($($arg),*) }
                }
            )*
        }
    };
}

/// The functions of one row.
macro_rules! wrappers {
    ($functions:ident { $( $(#[$doc:meta])* fn $name:ident $args:tt = $body:expr; )* } $token:ident $width:literal $features:tt) => {
        $functions { $( $name: wrapper!($features $args $token $width $body), )* }
    };
}

/// One function of one row.
macro_rules! wrapper {
    ([$($feature:tt),*] ($($arg:ident: $type:ty),*) $token:ident $width:literal $body:expr) => {{
        $(#[target_feature(enable = $feature)])*
        #[allow(clippy::too_many_arguments)] // as many as the body has
        fn wrapper($($arg: $type),*) {
            #[allow(dead_code)] // not every body has a width
            const W: usize = $width;
            ($body)($token::new(), $($arg),*)
        }
        wrapper
    }};
}
mod aegis;
mod aes;
mod chacha20;
mod gcm;
mod gcm_siv;
mod poly1305;
mod speck;
#[cfg(test)]
mod words;

pub(crate) use aegis::{AEGIS, AegisFunctions};
pub(crate) use aes::{AES, AesFunctions};
pub(crate) use chacha20::{CHACHA20, ChaCha20Functions};
pub(crate) use gcm::{GCM, GcmFunctions};
pub(crate) use gcm_siv::{SIV, SivFunctions};
pub(crate) use poly1305::{POLY1305, Poly1305Functions};
pub(crate) use speck::{SPECK, SpeckFunctions};

#[cfg(test)]
mod test {
    use super::*;
    use crate::vector::portable::Portable;
    use std::sync::Mutex;

    /// Twice `x` where `W` is 1, so that one body makes good rows and bad ones.
    fn double<B: Token, const W: usize>(_: B, x: usize, y: &mut usize) {
        *y = x + x * W;
    }

    /// The rows that were proved, in order.
    static SEEN: Mutex<Vec<&str>> = Mutex::new(Vec::new());

    fn seen(row: &str) -> usize {
        SEEN.lock().unwrap().iter().filter(|name| **name == row).count()
    }

    fn proof(row: Picked<Doubles>) -> bool {
        SEEN.lock().unwrap().push(row.name());
        let mut y = 0;
        row.double(21, &mut y);
        y == 42
    }

    variants! {
        /// A bad row before good ones.
        SOME: Doubles {
            /// Twice as much.
            fn double(x: usize, y: &mut usize) = double::<_, W>;
        }
        proof = proof;
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        "missing" = Portable, 1, ["aes"];
        "bad" = Portable, 2, [];
        "good" = Portable, 1, [];
        "better not" = Portable, 3, [];
    }

    mod none {
        use super::*;

        fn proof(row: Picked<Triples>) -> bool {
            let mut y = 0;
            row.double(21, &mut y);
            y == 42
        }

        variants! {
            /// Bad rows only.
            NONE: Triples {
                /// Twice as much.
                fn double(x: usize, y: &mut usize) = double::<_, W>;
            }
            proof = proof;
            "bad" = Portable, 2, [];
            "worse" = Portable, 3, [];
        }
    }

    #[test]
    fn a_bad_row_is_passed_over() {
        for _ in 0..3 {
            assert_eq!(pick(SOME, Features::NONE).map(Picked::name), Ok("good"));
        }
        // Nobody got as far as the last one.
        assert_eq!([seen("missing"), seen("bad"), seen("good"), seen("better not")], [0, 1, 1, 0]);
        let checked = || check(SOME, Features::NONE).skip_while(|(row, _)| row.name == "missing");
        for _ in 0..3 {
            let checked: Vec<_> = checked().map(|(row, check)| (row.name, check)).collect();
            let wrong = Err(Refusal::WrongAnswer);
            assert_eq!(checked, [("bad", wrong), ("good", Ok(())), ("better not", wrong)]);
        }
        assert_eq!([seen("missing"), seen("bad"), seen("good"), seen("better not")], [0, 1, 1, 1]);
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn a_missing_feature_comes_before_any_answer() {
        let missing = check(SOME, Features::NONE).next().map(|(_, check)| check);
        assert_eq!(missing, Some(Err(Refusal::Missing(Needs::of(&["aes"])))));
        assert_eq!(seen("missing"), 0);
    }

    #[test]
    fn no_row_is_an_error() {
        let picked = pick(none::NONE, Features::detect()).map(Picked::name);
        assert_eq!(picked, Err(KeyError::SelfTestFailed));
        let mut checked = check(none::NONE, Features::detect());
        assert!(checked.all(|(_, check)| check == Err(Refusal::WrongAnswer)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn every_row_passes() {
        let here = Features::detect();
        let of = |(row, check): (Row, Result<(), Refusal>)| {
            assert_eq!(check, row.check(here).map_err(Refusal::Missing), "{}", row.name);
        };
        check(AEGIS, here).for_each(of);
        check(AES, here).for_each(of);
        check(CHACHA20, here).for_each(of);
        check(GCM, here).for_each(of);
        check(SIV, here).for_each(of);
        check(POLY1305, here).for_each(of);
        check(SPECK, here).for_each(of);
    }
}
