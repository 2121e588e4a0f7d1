//! Private keys that sign.

use super::{minisign_key, ssh};
use crate::encoding::{pem, text::text_of};
use crate::prelude::*;

/// A private signing key, wiped on drop and hidden from `Debug`.
#[derive(Clone)]
pub struct SigningKey(pub(super) Arc<Private>);

pub(super) enum Private {
    Ssh(ssh::Private),
    Minisign(minisign_key::Private),
}

impl SigningKey {
    /// Parses an OpenSSH private key or a minisign secret key, decrypting it with `passphrase` if
    /// it is encrypted.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content,
    /// [`Misuse::KeyPassphraseRequired`](base::Misuse::KeyPassphraseRequired) or
    /// [`Error::WrongPassphrase`] if the passphrase is missing or wrong,
    /// [`Misuse::KeyNotEncrypted`](base::Misuse::KeyNotEncrypted) if there is one but the key is
    /// not encrypted, and [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for an SSH key of
    /// another type than Ed25519.
    pub fn parse(content: &[u8], passphrase: Option<&str>) -> Result<Self> {
        Computation::Signature.check()?;
        const EXPECTED: Error =
            Error::Format("expected an OpenSSH private key or a minisign secret key, found other content");
        let text = text_of(content);
        let key = match pem::is_pem(&text) {
            true => Private::Ssh(ssh::Private::parse(&text, passphrase)?),
            false => Private::Minisign(minisign_key::Private::parse(&text, passphrase)?.ok_or(EXPECTED)?),
        };
        Ok(Self(Arc::new(key)))
    }

    /// Returns the suffix of a signature file: `.sig` for SSH, `.minisig` for minisign.
    pub fn suffix(&self) -> &'static str {
        if self.format() == "ssh" { ".sig" } else { ".minisig" }
    }

    /// Returns the name of the signatures' format, `ssh` or `minisign`.
    pub fn format(&self) -> &'static str {
        if let Private::Ssh(_) = &*self.0 { "ssh" } else { "minisign" }
    }
}

debug_text!(SigningKey; |it| "SigningKey({})", if it.format() == "ssh" { "SSH" } else { "minisign" });
