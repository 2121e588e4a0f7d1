//! The one thing that every provider makes: a key that seals and opens whole messages.

use crate::{Failed, Forged, InOut, Parts};

/// A key of one algorithm, expanded by one provider.
///
/// The lengths of nonce and tag are checked one floor up; a nonce or tag of another length is refused here as well,
/// but without saying why.
pub trait AeadKey: Send + Sync {
    /// Encrypts `data` and fills `tag`.
    ///
    /// # Errors
    /// [`Failed`] where the message is longer than the algorithm or the provider can seal. What was apart from the
    /// plaintext is zero then.
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed>;

    /// Decrypts `data` if `tag` fits.
    ///
    /// # Errors
    /// [`Forged`]: the destination is zero, in place or not.
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8]) -> Result<(), Forged>;
}

/// For libraries that only work in place: the destination, holding the source.
///
/// A copy per cache-sized piece would be cheaper than one over the whole message, but a tag is over the whole message
/// and these libraries seal whole messages only.
pub(crate) fn copied(data: Parts<'_>) -> &mut [u8] {
    match data {
        Parts::InPlace(data) => data,
        Parts::Apart(from, to) => {
            to.copy_from_slice(from);
            to
        }
    }
}

/// Refuses a message and clears its destination.
pub(crate) fn forged(destination: &mut [u8]) -> Forged {
    destination.fill(0);
    Forged
}
