//! The calls that all keystreams share.

/// Implements three calls over the `xor` of a keystream, and a `Debug` that shows no secret.
macro_rules! keystream_calls {
    ($keystream:ident) => {
        impl $keystream {
            /// Returns `data` XOR the keystream from byte `offset` on.
            ///
            /// # Errors
            /// Returns [`Error::MessageLength`] if the data ends after the keystream. Nothing is written then, and the
            /// keystream never wraps.
            pub fn xor_at(&self, offset: u64, data: &[u8]) -> Result<Vec<u8>, Error> {
                let mut out = crate::memory::zeroed(data.len())?;
                self.xor(offset, InOut::apart(data, &mut out))?;
                Ok(out)
            }

            /// Writes `data` XOR the keystream to the start of `out`.
            ///
            /// # Errors
            /// Returns the errors of [`Self::xor_at`], and [`crate::Misuse::OutputTooShort`] if `out` is too short.
            pub fn xor_into(&self, offset: u64, data: &[u8], out: &mut [u8]) -> Result<(), Error> {
                self.xor(offset, InOut::apart(data, crate::memory::first(out, data.len())?))
            }

            /// XORs `data` with the keystream from `offset` on, in place.
            ///
            /// # Errors
            /// Returns the errors of [`Self::xor_at`].
            pub fn xor_in_place(&self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
                self.xor(offset, InOut::in_place(data))
            }
        }

        debug_fields!($keystream; |it| variant: it.variant());
    };
}
