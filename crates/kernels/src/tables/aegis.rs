//! The table with the functions of AEGIS that each instruction set computes in its own way.

use crate::InOut;
use crate::aegis::body::{self as aegis, Key};
use crate::aegis::kind::Kind;
use crate::cpu::Needs;
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use core::sync::atomic::AtomicU8;

variants! {
    /// AEGIS with 16-byte tags: messages.
    AEGIS: AegisFunctions for aes_instructions {
        /// Calls [`aegis::register_degree`].
        fn register_degree(degree: &mut usize) = [aegis::register_degree];
        /// [`aegis::eight`] or [`aegis::six`], sealing.
        fn seal(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) by Kind = [
            aegis::eight::<_, 1, true>, aegis::eight::<_, 2, true>, aegis::eight::<_, 4, true>,
            aegis::six::<_, 1, true>, aegis::six::<_, 2, true>, aegis::six::<_, 4, true>,
        ];
        /// [`aegis::eight`] or [`aegis::six`], opening.
        fn open(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) by Kind = [
            aegis::eight::<_, 1, false>, aegis::eight::<_, 2, false>, aegis::eight::<_, 4, false>,
            aegis::six::<_, 1, false>, aegis::six::<_, 2, false>, aegis::six::<_, 4, false>,
        ];
    }
}
