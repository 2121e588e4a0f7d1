//! The traits of every suite.

use base::{Error, Result, memory};

/// Seals messages for the holder of a private key.
///
/// Unless the suite says otherwise, a message does not name its sender: anyone with the public key
/// can seal.
pub trait Sealer: Send + Sync {
    /// Returns the difference in length between a message and its plaintext.
    fn overhead(&self) -> usize;

    /// Seals into `message`, of exactly the right length.
    ///
    /// # Errors
    /// Returns the errors of the suite.
    fn seal_exact(&self, plaintext: &[u8], aad: &[u8], message: &mut [u8]) -> Result<()>;

    /// Returns the length in bytes of a message for `plaintext_len` bytes.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the length does not fit in memory.
    fn sealed_len(&self, plaintext_len: usize) -> Result<usize> {
        plaintext_len
            .checked_add(self.overhead())
            .ok_or(Error::LimitExceeded("a message of this length does not fit in memory"))
    }

    /// Seals `plaintext` and authenticates `aad` with it. Returns the message.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_exact`] and [`Self::sealed_len`].
    fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut message = memory::zeroed(self.sealed_len(plaintext.len())?)?;
        self.seal_exact(plaintext, aad, &mut message)?;
        Ok(message)
    }

    /// Seals into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`] and
    /// [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort).
    fn seal_into(&self, plaintext: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        let len = self.sealed_len(plaintext.len())?;
        self.seal_exact(plaintext, aad, memory::first(out, len)?)?;
        Ok(len)
    }
}

/// Opens messages with a private key, whatever the suite.
pub trait Opener: Send + Sync {
    /// Returns the difference in length between a message and its plaintext.
    fn overhead(&self) -> usize;

    /// Opens into `plaintext`, of exactly the right length. The caller clears it after an error.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the key or associated data is wrong or the message was
    /// changed, and the errors of the suite.
    fn open_exact(&self, message: &[u8], aad: &[u8], plaintext: &mut [u8]) -> Result<()>;

    /// Returns the plaintext length in bytes of a message of `message_len` bytes.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if the message is shorter than the shortest one.
    fn opened_len(&self, message_len: usize) -> Result<usize> {
        message_len.checked_sub(self.overhead()).ok_or(Error::Truncated)
    }

    /// Opens `message`. Returns its plaintext.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open_exact`] and [`Self::opened_len`].
    fn open(&self, message: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = memory::zeroed(self.opened_len(message.len())?)?;
        self.open_into(message, aad, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Opens into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`] and
    /// [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort). After an error of
    /// [`Self::open_exact`], the plaintext's place in `out` is zero, whatever it held before.
    fn open_into(&self, message: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        let plaintext = memory::first(out, self.opened_len(message.len())?)?;
        memory::clear_on_error(plaintext, |plaintext| self.open_exact(message, aad, plaintext))?;
        Ok(plaintext.len())
    }
}
