//! The modes of HPKE (RFC 9180, section 5).

use base::{Error, Result, debug_text};

/// A pre-shared key and its identifier.
#[derive(Clone, Copy)]
pub struct Psk<'a> {
    pub(super) secret: &'a [u8],
    pub(super) id: &'a [u8],
}

impl<'a> Psk<'a> {
    /// Creates a pre-shared key from at least 32 uniformly random bytes (RFC 9180, section 9.5) and
    /// a public identifier.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if the secret is shorter or
    /// the identifier is empty.
    pub fn new(secret: &'a [u8], id: &'a [u8]) -> Result<Self> {
        if secret.len() < 32 || id.is_empty() {
            return Err(Error::unsuitable_key(
                "a pre-shared key of HPKE must have at least 32 bytes, and an identifier that is not empty",
            ));
        }
        Ok(Self { secret, id })
    }
}

debug_text!(Psk<'_>; |it| "Psk({} bytes)", it.secret.len());

/// How the sender is authenticated. `K` is a [`super::PrivateKey`] for the sender and a
/// [`super::PublicKey`] for the recipient.
#[derive(Debug)]
pub enum Mode<'a, K> {
    /// Not at all: the recipient's public key is enough to send.
    Base,
    /// By a pre-shared key of both sides.
    Psk(Psk<'a>),
    /// By the sender's key, of the recipient's KEM.
    Auth(&'a K),
    /// By the sender's key and a pre-shared key.
    AuthPsk(&'a K, Psk<'a>),
}

impl<'a, K> Mode<'a, K> {
    /// Returns the identifier of the mode, the sender's key and the pre-shared key.
    pub(super) fn parts(self) -> (u8, Option<&'a K>, Option<Psk<'a>>) {
        match self {
            Self::Base => (0, None, None),
            Self::Psk(psk) => (1, None, Some(psk)),
            Self::Auth(sender) => (2, Some(sender), None),
            Self::AuthPsk(sender, psk) => (3, Some(sender), Some(psk)),
        }
    }
}

// Not derived: `derive` would require `K: Copy`.
impl<K> Clone for Mode<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Mode<'_, K> {}
