//! Every variant of Poly1305 against the reference implementation, with any key, message and
//! lengths of the pieces.

use kernels::poly1305::{self, Poly1305};
use reference::poly1305::tag_vartime;
use crate::{pieces, repeated, rows};

/// Blocks with maximal carries, and blocks at the edges of the reduction.
const EDGES: [u128; 8] = [u128::MAX, u128::MAX - 1, u128::MAX - 4, 0, 1, 5, u128::MAX << 44, u128::MAX >> 64];

pub(crate) fn run(input: ([u8; 32], u8, u8, Vec<u16>, Vec<u8>)) {
    let (mut key, edges, times, cuts, message) = input;
    let mut message = repeated(message, times, 20_000);
    if edges & 1 > 0 {
        let r = EDGES[usize::from(edges >> 2) % EDGES.len()];
        key[..16].copy_from_slice(&r.to_le_bytes());
    }
    if edges & 2 > 0 {
        // All bytes but the last few are edge cases.
        for block in message.chunks_exact_mut(16) {
            let edge = EDGES[usize::from(block[0]) % EDGES.len()];
            block.copy_from_slice(&edge.to_le_bytes());
        }
    }
    let want = tag_vartime(&key, &message);
    for (name, features) in rows(poly1305::variants()) {
        for cuts in [&cuts[..], &[]] {
            let mut mac = Poly1305::new(&key, features).unwrap();
            assert_eq!(mac.variant(), name);
            pieces(&message, cuts).into_iter().for_each(|piece| mac.update(piece));
            assert_eq!(mac.finalize(), want, "{name}: {} bytes cut at {cuts:?}", message.len());
        }
    }
}
