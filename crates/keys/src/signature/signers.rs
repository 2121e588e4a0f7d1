//! Public keys of accepted signers, and the restrictions in OpenSSH's lists of them.

use super::allowed::Allowed;
use super::key::{Private, SigningKey};
use super::{minisign_key, ssh};
use crate::encoding::text::text_of;
use crate::is_secret;
use crate::openssh;
use crate::prelude::*;

const PRIVATE: Error = Error::unsuitable_key(
    "expected public keys of signers, found a private key or a symmetric one; give the file of the public key, such as id_ed25519.pub",
);

const NO_SIGNERS: Misuse = Misuse::UnsuitableKey(
    "expected the public keys of signers, of type ssh-ed25519, found only keys of other types, certificates or \
     certificate authorities, which are not supported; list the signers' own keys",
);

/// OpenSSH reads the mark as a part of the principals, so it accepts no signature by this key.
const MARK: Error = Error::Format(
    "expected principals at the beginning of the list of signers, found a byte order mark; save the file without it",
);

/// The public keys of accepted signers.
#[derive(Clone, Debug)]
pub struct Signers(pub(super) Public);

#[derive(Clone, Debug)]
pub(super) enum Public {
    Ssh(Vec<(ssh::Public, Allowed)>),
    Minisign(minisign_key::Public),
}

impl Signers {
    /// The suffixes of signature files.
    pub const SUFFIXES: [&'static str; 2] = [".sig", ".minisig"];

    /// Parses public keys: a minisign public key, or one or more lines of OpenSSH. Such a line is a
    /// public key (`ssh-ed25519 AAAA… comment`), or one of a file of allowed signers
    /// (ssh-keygen(1)): principals, options (`namespaces`, `valid-after`, `valid-before`) and a
    /// public key. Lines of allowed signers with a key of another type or with `cert-authority` are
    /// skipped.
    ///
    /// A time without `Z` at its end is in a time zone that the file does not name. Such a key is
    /// accepted when it is valid in every time zone.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content, and
    /// [`Misuse::UnsuitableKey`] for a private key, and for an SSH key of another type than
    /// Ed25519.
    pub fn parse(content: &[u8]) -> Result<Self> {
        const EXPECTED: Error = Error::Format(
            "expected public keys of SSH (ssh-ed25519 AAAA...) or a minisign public key, found other content",
        );
        match Self::read(content, EXPECTED, false)? {
            (Self(Public::Ssh(keys)), lines) if keys.is_empty() => {
                Err(if lines == 0 { EXPECTED } else { NO_SIGNERS.into() })
            }
            (found, _) => Ok(found),
        }
    }

    /// Returns the suffix of the signature files that these keys verify.
    pub fn suffix(&self) -> &'static str {
        Self::SUFFIXES[usize::from(matches!(self.0, Public::Minisign(_)))]
    }

    /// Parses a list of revoked keys: public keys as in [`Self::parse`]. Keys of other types are
    /// skipped, because no signature with them is accepted. The list may be empty.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content, such as a binary revocation list of
    /// `ssh-keygen -k`.
    pub fn parse_revoked(content: &[u8]) -> Result<Self> {
        const EXPECTED: Error = Error::Format(
            "expected a list of revoked public keys (ssh-ed25519 AAAA...) or a minisign public key, found other content",
        );
        const BINARY: Error = Error::Format(
            "expected a list of revoked public keys, found a binary list of ssh-keygen -k; give the public keys, one a line",
        );
        let expected = if content.starts_with(b"SSHKRL\n\0") { BINARY } else { EXPECTED };
        Self::read(content, expected, true).map(|(found, _)| found)
    }

    /// Returns the keys and the number of lines, also of those that were skipped.
    fn read(content: &[u8], expected: Error, skips: bool) -> Result<(Self, usize)> {
        Computation::Signature.check()?;
        let text = text_of(content);
        if let Some(key) = minisign_key::Public::parse(&text) {
            return Ok((Self(Public::Minisign(key)), 1));
        }
        // A minisign secret key has no other mark.
        let key = || SigningKey::parse(content, None);
        let is_minisign = || matches!(key(), Ok(_) | Err(Error::Misuse(Misuse::KeyPassphraseRequired)));
        if is_secret(&text) || is_minisign() {
            return Err(PRIVATE);
        }
        let (mut keys, mut count) = (Vec::new(), 0);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let has_mark = content.starts_with(b"\xef\xbb\xbf") && !skips;
        for line in lines {
            count += 1;
            let is_plain = openssh::is_public(line);
            if has_mark && !is_plain && text.lines().next().map(str::trim) == Some(line) {
                return Err(MARK);
            }
            let found = if is_plain { Some((Allowed::default(), line)) } else { Allowed::parse(line)? };
            let Some((allowed, key)) = found else { return Err(expected) };
            match ssh::Public::parse(key) {
                Err(Error::Misuse(_)) if skips || !is_plain => {}
                _ if allowed.is_authority && !skips => {}
                key => keys.push((key?, allowed)),
            }
        }
        Ok((Self(Public::Ssh(keys)), count))
    }
}

/// The public key of a signing key.
impl From<&SigningKey> for Signers {
    fn from(key: &SigningKey) -> Self {
        Self(match &*key.0 {
            Private::Ssh(key) => Public::Ssh(vec![(key.public.clone(), Allowed::default())]),
            Private::Minisign(key) => Public::Minisign(key.public),
        })
    }
}
