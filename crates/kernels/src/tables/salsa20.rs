//! The table with the functions of Salsa20 that each instruction set computes in its own way.

use crate::InOut;
use crate::chacha20::Key;
use crate::cpu::Needs;
use crate::salsa20::body::{subkey, xor};
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use core::sync::atomic::AtomicU8;

variants! {
    /// Salsa20: the keystream, and the keys that XSalsa20 derives.
    SALSA20: Salsa20Functions for words {
        /// Calls [`xor`].
        fn xor(key: &Key, nonce: &[u8; 8], counter: u32, data: InOut<'_>) = [xor::<_, W>];
        /// Calls [`subkey`].
        fn subkey(key: &Key, nonce: &[u8; 16], to: &mut Key) = [subkey];
    }
}
