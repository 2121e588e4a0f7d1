//! The table with the functions of Poly1305 that each instruction set computes in its own way.

use crate::InOut;
use crate::cpu::Needs;
use crate::poly1305::body::{self as poly1305, Powers};
use crate::poly1305::scalar::State;
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use core::sync::atomic::AtomicU8;

variants! {
    /// Poly1305: the powers of r, and data of any length. Short data needs no variant, see
    /// [`State`].
    POLY1305: Poly1305Functions for limbs {
        /// Calls [`poly1305::set_up`].
        fn set_up(state: &State, powers: &mut Powers, len: usize) = [poly1305::set_up];
        /// Calls [`poly1305::padded`].
        fn padded(state: &mut State, powers: &Powers, data: &[u8]) = [poly1305::padded];
        /// Calls [`poly1305::padded_copying`].
        fn padded_copying(state: &mut State, powers: &Powers, data: InOut<'_>) = [poly1305::padded_copying];
    }
}
