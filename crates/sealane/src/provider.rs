//! Providers: the implementations that compute an algorithm.
//!
//! [`crate::Aead`] uses the first provider that applies: the argument of
//! [`crate::Aead::with_provider`], the process default ([`crate::set_default`]), the environment
//! variable `SEALANE_PROVIDER`, or the available entry of the lowest rank. There is no silent
//! fallback. [`crate::listing()`] shows all of them.
//!
//! # Adding a provider
//!
//! A provider can live in any crate. It implements [`AeadKey`] for its keys, describes each
//! algorithm by an [`Entry`], and the application calls [`register`] once at its start. From then
//! on the provider takes part in selection, in the listing and in `SEALANE_PROVIDER`. Keys that
//! exist already keep their provider. The name of a built-in provider cannot be used.
//!
//! The functions in [`contract`] check that an entry behaves as every other provider does; run them
//! in a test.
//!
//! ```
//! use chacha20poly1305::aead::{AeadInOut, KeyInit, inout::InOutBuf};
//! use sealane::provider::{
//!     AeadKey, AuthenticationError, Entry, InOut, KeyError, MessageError, Parts, Provider, SealError, contract,
//!     register,
//! };
//! use sealane::{Aead, Algorithm, Key};
//!
//! struct ExampleKey(chacha20poly1305::ChaCha20Poly1305);
//!
//! fn buffer(data: InOut<'_>) -> InOutBuf<'_, '_, u8> {
//!     match data.into_parts() {
//!         Parts::InPlace(data) => InOutBuf::from(data),
//!         Parts::Apart(from, to) => InOutBuf::new(from, to).unwrap(),
//!     }
//! }
//!
//! impl AeadKey for ExampleKey {
//!     fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
//!         let wrong_length = MessageError::InvalidNonceLength { found: nonce.len(), expected: 12 };
//!         let nonce = nonce.try_into().map_err(|_| wrong_length)?;
//!         let sealed = self.0.encrypt_inout_detached(nonce, aad, buffer(data));
//!         tag.copy_from_slice(&sealed.map_err(|_| SealError::Unspecified)?);
//!         Ok(())
//!     }
//!
//!     fn open(
//!         &self,
//!         nonce: &[u8],
//!         aad: &[u8],
//!         mut data: InOut<'_>,
//!         tag: &[u8; 16],
//!     ) -> Result<(), AuthenticationError> {
//!         let opened = match nonce.try_into() {
//!             Ok(nonce) => {
//!                 let len = data.len();
//!                 self.0.decrypt_inout_detached(nonce, aad, buffer(data.part(0, len)), &(*tag).into())
//!             }
//!             Err(_) => Err(chacha20poly1305::aead::Error),
//!         };
//!         // After a failure, the destination must be zero.
//!         opened.map_err(|_| {
//!             data.target().fill(0);
//!             AuthenticationError
//!         })
//!     }
//! }
//!
//! const EXAMPLE: Provider = Provider::new("example");
//! static ENTRIES: [Entry; 1] = [Entry::new(Algorithm::ChaCha20Poly1305, EXAMPLE, 0, |key| {
//!     Ok(Box::new(ExampleKey(KeyInit::new_from_slice(key).map_err(|_| KeyError::Unspecified)?)))
//! })];
//!
//! register(&ENTRIES)?;
//! let aead = Aead::new(Algorithm::ChaCha20Poly1305, &Key::generate(32)?)?;
//! assert_eq!(aead.provider(), EXAMPLE); // rank 0 comes before every built-in entry
//! assert_eq!(aead.open(&aead.seal(b"hello", b"")?, b"")?, b"hello");
//!
//! // In a test:
//! contract::round_trip(&ENTRIES[0]);
//! contract::rejects_changes(&ENTRIES[0]);
//! contract::rejects_lengths(&ENTRIES[0]);
//! contract::division(&ENTRIES[0]);
//! contract::sharing(&ENTRIES[0]);
//! let native = sealane::provider::choose(Algorithm::ChaCha20Poly1305, Some(Provider::Native))?;
//! contract::agreement(&ENTRIES[0], native);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "files")]
pub use ::keys::approved::computations;
pub use providers::{
    AeadKey, AuthenticationError, DefaultAlreadySet, Entry, Expand, FIPS, Features, InOut, KeyError,
    ListedVariant, MessageError, MessagePart, Parts, Provider, Reason, RegisterError, Request, SealError,
    SourceCopy, Unavailable, VariableError, VariableProblem, choose, contract, entries, features,
    fips_module, listing, register, set_default,
};
