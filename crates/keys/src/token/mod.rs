//! Keys of PKCS#11 tokens (smart cards, USB tokens, hardware security modules) that wrap keyrings.
//!
//! A key that cannot leave the token encrypts a keyring; the result lies beside the data as a Tink
//! encrypted keyset. An AES key encrypts it with AES-GCM, with the context as associated data:
//! `nonce || ciphertext || tag`. An RSA key decrypts the key of an [`envelope`].

#![cfg_attr(not(feature = "pkcs11"), allow(dead_code, reason = "without the feature, URIs are only parsed"))]

mod failure;
#[cfg(feature = "pkcs11")]
mod modules;
mod pin;
#[cfg(feature = "pkcs11")]
mod session;
mod uri;

pub use pin::{PinPrompt, set_pin_prompt};

use crate::prelude::*;
use failure::Failure;
use uri::Uri;

/// Maximum length of a wrapped keyring in bytes: 4 KiB, as with key services.
pub const MAX_KEYSET_LEN: usize = 4096;
/// A ciphertext may be longer, by the header of an envelope.
const MAX_CIPHERTEXT_LEN: usize = 1 << 16;

/// The name of a PKCS#11 token's key, a URI of RFC 7512, with the context that keyrings are bound
/// to.
///
/// The query attribute `context` is ours. `Display` and `Debug` hide the value of `pin-value`.
/// Every call opens a session with the token, logs in and ends the session, so it works in a forked
/// child. Calls from several threads wait for each other.
///
/// ```
/// use sealane::keys::TokenKey;
///
/// let key = TokenKey::parse("pkcs11:token=backup;object=sales?module-name=softhsm2&pin-value=1234")?;
/// assert_eq!(key.to_string(), "pkcs11:token=backup;object=sales?module-name=softhsm2&pin-value=***");
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TokenKey {
    uri: Uri,
    text: Zeroizing<String>,
}

impl TokenKey {
    /// Parses a URI such as `pkcs11:token=backup;object=sales?pin-source=/etc/pin&context=sales`.
    ///
    /// # Errors
    /// Returns [`Misuse::Reference`](base::Misuse::Reference) for an unknown, malformed or missing
    /// attribute.
    pub fn parse(text: &str) -> Result<Self> {
        let attributes = text
            .strip_prefix("pkcs11:")
            .ok_or(Misuse::Reference("expected a PKCS#11 URI, for example pkcs11:token=NAME;object=NAME"))?;
        Ok(Self { uri: Uri::parse(attributes)?, text: Zeroizing::new(text.to_owned()) })
    }

    /// Returns the URI, with the PIN if it contains one.
    pub(super) fn with_pin(&self) -> &str {
        &self.text
    }

    /// Returns a reference without anything that may be a PIN. The text need not be well-formed:
    /// only known attributes with possible values are shown.
    pub fn without_pin(text: &str) -> String {
        uri::without_pin(text)
    }

    /// Encrypts a keyring in the binary format. Checks that the token decrypts it, and only for
    /// this context.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] above [`MAX_KEYSET_LEN`], [`Error::KeyNotFound`] if there
    /// is no such module, token or key, or several match, [`Error::KeyRefused`] if the PIN is
    /// missing or wrong, or the key may not encrypt and decrypt, and [`Error::KeyService`] if the
    /// module fails. Each text begins with the URI.
    pub fn encrypt(&self, keyset: &[u8]) -> Result<Vec<u8>> {
        if keyset.len() > MAX_KEYSET_LEN {
            return Err(Error::LimitExceeded("a token wraps keyrings of at most 4 KiB; use fewer keys"));
        }
        self.about(encrypt(&self.uri, keyset))
    }

    /// Decrypts what [`Self::encrypt`] returned, for the same context.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the key or context is wrong or the data was changed,
    /// and the errors of [`Self::encrypt`].
    pub fn decrypt(&self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        if ciphertext.len() > MAX_CIPHERTEXT_LEN {
            return Err(Error::Authentication);
        }
        self.about(decrypt(&self.uri, ciphertext))
    }

    fn about<T>(&self, result: Result<T, Failure>) -> Result<T> {
        result.map_err(|failure| failure.about(self))
    }
}

impl fmt::Display for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Self::without_pin(&self.text))
    }
}

debug_text!(TokenKey; |it| "TokenKey({it})");

#[cfg(feature = "pkcs11")]
fn encrypt(uri: &Uri, keyset: &[u8]) -> Result<Vec<u8>, Failure> {
    use super::keyring::envelope;
    use session::{Kind, TokenKey};

    let key = TokenKey::open(uri)?;
    if key.kind == Kind::Rsa {
        return envelope::seal(keyset, &uri.context, |message| key.wrap(message));
    }
    let sealed = key.seal(keyset, &uri.context)?;
    // A module could ignore the associated data, and no reader would notice.
    let other = [&uri.context[..], b"?"].concat();
    match key.open_sealed(&sealed, &other) {
        Err(Failure::Other(Error::Authentication)) => {}
        Err(failure) => return Err(failure),
        Ok(_) => {
            return Err(Failure::Service("the token does not bind the context to what it encrypts".into()));
        }
    }
    match key.open_sealed(&sealed, &uri.context) {
        Ok(found) if found[..] == *keyset => Ok(sealed),
        Err(failure @ (Failure::Refused(_) | Failure::NotFound(_))) => Err(failure),
        _ => Err(Failure::Service("the token decrypts something else than it encrypted".into())),
    }
}

#[cfg(feature = "pkcs11")]
fn decrypt(uri: &Uri, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
    use super::keyring::envelope;
    use session::{Kind, TokenKey};

    let key = TokenKey::open(uri)?;
    match key.kind {
        Kind::Aes => key.open_sealed(ciphertext, &uri.context),
        Kind::Rsa => envelope::open(ciphertext, &uri.context, |wrapped| key.unwrap(wrapped)),
    }
}

#[cfg(not(feature = "pkcs11"))]
use {missing as encrypt, missing as decrypt};

#[cfg(not(feature = "pkcs11"))]
fn missing<T>(_: &Uri, _: &[u8]) -> Result<T, Failure> {
    const WITHOUT: &str = "this program was built without tokens; build sealane with the feature pkcs11";
    Err(Failure::Service(WITHOUT.into()))
}
