//! The table with the functions of ChaCha20 that each instruction set computes in its own way.

use crate::InOut;
use crate::chacha20::batch::{self, Blocks};
use crate::chacha20::body::{self as chacha20, Key};
use crate::cpu::Needs;
use crate::poly1305::scalar::State;
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use core::sync::atomic::AtomicU8;

variants! {
    /// ChaCha20: the keystream, and the keys that XChaCha20 derives.
    CHACHA20: ChaCha20Functions for words {
        /// Calls [`chacha20::xor`].
        fn xor(key: &Key, nonce: &[u8; 12], counter: u32, skip: usize, data: InOut<'_>) = [chacha20::xor::<_, W>];
        /// Calls [`chacha20::begin`].
        fn begin(key: &Key, nonce: &[u8; 12], first: &mut [u8; 64], data: InOut<'_>) = [chacha20::begin::<_, W>];
        /// Calls [`chacha20::stitched`] to seal or to open, where [`Selected::stitches`].
        fn stitched(
            key: &Key, nonce: &[u8; 12], counter: u32, before: &mut [u8; 64], aad: Option<&[u8]>,
            mac: &mut State, data: InOut<'_>
        ) by bool = [chacha20::stitched::<_, W, false>, chacha20::stitched::<_, W, true>];
        /// Calls [`batch::seal`].
        fn seal_batch(key: &Key, blocks: &mut Blocks, aad: &[u8], nonces: &[[u8; 12]], plaintexts: &[&[u8]], sealed: &mut [&mut [u8]]) =
            [batch::seal::<_, W>];
        /// Calls [`batch::open`].
        fn open_batch(key: &Key, blocks: &mut Blocks, aad: &[u8], sealed: &[&[u8]], plaintexts: &mut [&mut [u8]], expected_tags: &mut [[u8; 16]]) =
            [batch::open::<_, W>];
        /// Calls [`chacha20::subkey`].
        fn subkey(key: &Key, nonce: &[u8; 16], to: &mut Key) = [chacha20::subkey];
    }
}
