//! `sealane.hazmat.Aead`: Speck-Poly1305. In the native module it is `SpeckAead`, because `Aead` is
//! taken.

use crate::prelude::*;
use crate::sealer::{self, aead_methods};
use crate::{arguments, keys};
use sealane::hazmat::{Aead, SpeckSize};

/// Authenticated encryption with Speck and Poly1305, compatible with the Elixir library SpeckEx.
///
/// The methods are those of ``sealane.Aead``. A sealed message is ``nonce || ciphertext || tag``.
///
/// .. warning::
///     Prefer ``sealane.Aead``. No analysis of this construction has been published. Never share a
///     key with ``SpeckCtr``: its keystream under the same key and iv contains a message's one-time
///     key.
///
/// Parameters
/// ----------
/// algorithm : str
///     "speck128-128-poly1305", "speck128-192-poly1305" or "speck128-256-poly1305". For smaller
///     blocks, see ``Aead.new_small_block``.
/// key : bytes-like or sealane.keys.Key
///     The key, of the length of the algorithm. It is copied.
///
/// Notes
/// -----
/// A message is limited to 2**36 - 32 bytes, and an object to 2**32 sealed messages. Two objects
/// with one key count separately. Threads may share an object.
///
/// Examples
/// --------
/// >>> aead = sealane.hazmat.Aead("speck128-256-poly1305", key)
/// >>> aead.open(aead.seal(b"hello", aad=b"header"), aad=b"header")
/// b'hello'
#[pyclass(frozen, module = "sealane.hazmat", name = "SpeckAead")]
pub(crate) struct SpeckAead {
    core: MessageKeys,
}

aead_methods! {
    SpeckAead {
        #[new]
        fn new(algorithm: &str, key: &Any<'_>) -> PyResult<Self> {
            let aead = Aead::new(size(algorithm)?, keys::extract(key)?.as_bytes()).map_err(raise)?;
            Ok(Self { core: aead.into() })
        }

        /// Creates an object with a 32- to 96-bit block, for example "speck64-128-poly1305".
        ///
        /// .. warning::
        ///     Use it only to read existing data. The nonce is the whole counter block, and the
        ///     counter ranges of messages must not overlap: a message uses one number per block,
        ///     and one per block of the 32 bytes before them. So ``seal`` and ``seal_into`` raise
        ///     ValueError; count nonces and use ``encrypt``.
        ///
        /// One object seals at most 2**(bits / 2) blocks, and the counter never wraps.
        #[staticmethod]
        fn new_small_block(algorithm: &str, key: &Any<'_>) -> PyResult<Self> {
            let aead = Aead::new_small_block(size(algorithm)?, keys::extract(key)?.as_bytes()).map_err(raise)?;
            Ok(Self { core: aead.into() })
        }

        fn __repr__(&self) -> String {
            format!("<sealane.hazmat.Aead {} ({})>", self.algorithm(), self.core.variant())
        }
    }
}

/// The end of the algorithm names; they begin with the size.
const SUFFIX: &str = "-poly1305";

fn size(algorithm: &str) -> PyResult<SpeckSize> {
    let size = algorithm.strip_suffix(SUFFIX).and_then(SpeckSize::from_name);
    let known = || SpeckSize::ALL.iter().map(|size| format!("{}{SUFFIX}", size.name()));
    size.ok_or_else(|| arguments::unknown("algorithm", algorithm, known()))
}
