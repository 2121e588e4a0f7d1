//! The traits that every suite implements.

use base::{Error, memory};

/// Seals messages for the holder of one private key.
///
/// A message does not name its sender, unless the suite says otherwise: the public key is all that is needed to seal.
pub trait Sealer: Send + Sync {
    /// Returns the number of bytes by which a message is longer than its plaintext.
    fn overhead(&self) -> usize;

    /// Seals into `message`, which has exactly the length of the message.
    ///
    /// # Errors
    /// Returns the errors of the suite.
    fn seal_exact(&self, plaintext: &[u8], aad: &[u8], message: &mut [u8]) -> Result<(), Error>;

    /// Returns the length in bytes of a message with a plaintext of `plaintext_len` bytes.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the length does not fit in memory.
    fn sealed_len(&self, plaintext_len: usize) -> Result<usize, Error> {
        plaintext_len
            .checked_add(self.overhead())
            .ok_or(Error::LimitExceeded("a message of this length does not fit in memory"))
    }

    /// Seals `plaintext`, authenticates `aad` with it, and returns the sealed message.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_exact`] and [`Self::sealed_len`].
    fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut message = memory::zeroed(self.sealed_len(plaintext.len())?)?;
        self.seal_exact(plaintext, aad, &mut message)?;
        Ok(message)
    }

    /// Seals into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`], and [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort) if `out` is too short.
    fn seal_into(&self, plaintext: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let len = self.sealed_len(plaintext.len())?;
        self.seal_exact(plaintext, aad, memory::first(out, len)?)?;
        Ok(len)
    }
}

/// Opens messages with one private key, independent of the suite.
pub trait Opener: Send + Sync {
    /// Returns the number of bytes by which a message is longer than its plaintext.
    fn overhead(&self) -> usize;

    /// Opens into `plaintext`, which has exactly the length of the plaintext. The caller clears it after an error.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] for another key or other associated data, or a message that was changed; the
    /// errors of the suite.
    fn open_exact(&self, message: &[u8], aad: &[u8], plaintext: &mut [u8]) -> Result<(), Error>;

    /// Returns the length in bytes of the plaintext of a message of `message_len` bytes.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if the message is shorter than the shortest one.
    fn opened_len(&self, message_len: usize) -> Result<usize, Error> {
        message_len.checked_sub(self.overhead()).ok_or(Error::Truncated)
    }

    /// Opens `message` and returns its plaintext.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open_exact`] and [`Self::opened_len`].
    fn open(&self, message: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut plaintext = memory::zeroed(self.opened_len(message.len())?)?;
        self.open_into(message, aad, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Opens into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`], and [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort) if `out` is too short. After an error
    /// of [`Self::open_exact`], the place of the plaintext in `out` is zero, whatever it held before.
    fn open_into(&self, message: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let plaintext = memory::first(out, self.opened_len(message.len())?)?;
        memory::clear_on_error(plaintext, |plaintext| self.open_exact(message, aad, plaintext))?;
        Ok(plaintext.len())
    }
}
