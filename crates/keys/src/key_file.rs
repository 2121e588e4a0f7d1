//! Reads key files. The content decides what a file is, not its name.

use super::jwk;
use super::store::{self, MAX_LEN};
use super::{Keyring, PublicKey, SecretKey};
use crate::age;
use crate::asymmetric::secp256k1::Encoding;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::encoding::pkcs8::{self, Algorithm, Private};
use crate::encoding::{der, pbes2, pem, text::text_of};
use crate::openssh;
use crate::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;

const EXPECTED: Error = Error::Format(
    "expected a key file: a JSON Web Key, PEM, DER, AGE-SECRET-KEY-..., age1..., an SSH key, hexadecimal digits, a Tink \
     keyset, or one of these in an age file",
);
const FOUND_PUBLIC: Error = Error::Format(
    "expected a private key, found a public key; give the private key of the pair, or use the public key to encrypt",
);
const FOUND_PRIVATE: Error =
    Error::Format("expected a public key, found a private key; give the public key of the pair");
const FOUND_SYMMETRIC: Error = Error::Format("expected a public key, found a symmetric key, which has none");
const FOUND_KEYRING: Error = Error::Format("expected a single key, found a keyring (a Tink keyset)");
const INVALID_NUMBER: Error =
    Error::Format("expected a private key of 32 bytes, a number from 1 to the order of the curve minus 1");
const INVALID_X25519: Error = Error::Format("expected an X25519 private key of 32 bytes");
const INVALID_SEED: Error = Error::Format("expected an X-Wing seed of 32 bytes");
const INVALID_HEX: Error = Error::Format("expected hexadecimal digits, found other characters");

/// Words of stack on which parsers and decoders leave copies.
const STACK: usize = 2048;

const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";

/// The content of a key file.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyFile {
    /// A private or symmetric key. Keep it confidential.
    Secret(SecretKey),
    /// A public key; it may be published.
    Public(PublicKey),
    /// A keyring: a Tink keyset, in JSON or in the binary format.
    Keyring(Keyring),
}

/// Options for reading a key file.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    /// The passphrase, if the file is encrypted with one.
    pub passphrase: Option<&'a str>,
    /// Identities; one of them decrypts the file.
    pub identities: Option<&'a [age::Identity]>,
    /// The `kid` of the key in a JSON Web Key Set.
    pub kid: Option<&'a str>,
}

impl<'a> LoadOptions<'a> {
    /// Returns options with a passphrase, if any.
    pub fn passphrase(passphrase: Option<&'a str>) -> Self {
        Self { passphrase, ..Self::default() }
    }
}

impl KeyFile {
    /// Parses the content of a key file and recognizes its format.
    ///
    /// # Errors
    /// Returns [`Error::Format`] or [`Error::Truncated`] for content that is not a key file,
    /// [`Misuse::KeyPassphraseRequired`] or [`Misuse::KeyIdentityRequired`] if an encrypted file
    /// lacks the option to decrypt it, [`Misuse::KeyNotEncrypted`] if the option is given without
    /// need, [`Error::WrongPassphrase`] or [`Error::NoMatchingKey`] if it is wrong, and
    /// [`Misuse::KeyId`] if `kid` selects no key or several. If the passphrase would take too much
    /// work, returns [`Error::LimitExceeded`] or [`Error::WorkFactor`]; for a damaged age file, the
    /// errors of [`age::open`].
    pub fn parse(content: &[u8], options: LoadOptions<'_>) -> Result<Self> {
        wiping_stack::<STACK, _>(|| Self::parse_any(content, options))
    }

    fn parse_any(content: &[u8], options: LoadOptions<'_>) -> Result<Self> {
        if content.len() > MAX_LEN {
            return Err(Error::Format("expected a key file, found more than 256 KiB"));
        }
        let text = text_of(content);
        let found = match Format::detect(content, &text)? {
            Format::Age(file) => {
                let content = decrypt_age(file, options)?;
                return Format::detect(&content, &text_of(&content))?.parse(options.kid);
            }
            Format::OpenSsh(text) if options.identities.is_none() => {
                check_kid(false, options.kid)?;
                let identity = age::Identity::from_ssh(text, options.passphrase)?;
                return Ok(Self::Secret(SecretKey::Age(identity)));
            }
            Format::Block(block) if block.label == ENCRYPTED => {
                check_kid(false, options.kid)?;
                return decrypt_pkcs8(&block.der, options).map(Self::Secret);
            }
            format => format.parse(options.kid)?,
        };
        // The caller believes that the file is encrypted.
        if options.passphrase.is_some() || options.identities.is_some() {
            return Err(Misuse::KeyNotEncrypted.into());
        }
        Ok(found)
    }

    /// Returns the private or symmetric key.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if the file holds a public key or a keyring.
    pub fn into_secret(self) -> Result<SecretKey> {
        match self {
            Self::Secret(key) => Ok(key),
            Self::Public(_) => Err(FOUND_PUBLIC),
            Self::Keyring(_) => Err(FOUND_KEYRING),
        }
    }

    /// Returns the symmetric key, without the members of its JSON Web Key.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] if the file holds a private or public key, and
    /// [`Error::Format`] if it holds a keyring.
    pub fn into_symmetric(self) -> Result<Key> {
        match self {
            Self::Secret(key) => key.into_symmetric(),
            Self::Public(_) => Err(Error::unsuitable_key(
                "expected a symmetric key, found a public key; give it as a recipient to encrypt",
            )),
            Self::Keyring(_) => Err(FOUND_KEYRING),
        }
    }

    /// Returns the public key.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if the file holds a private or symmetric key, or a keyring.
    pub fn into_public(self) -> Result<PublicKey> {
        match self {
            Self::Public(key) => Ok(key),
            Self::Secret(SecretKey::Symmetric(_)) => Err(FOUND_SYMMETRIC),
            Self::Secret(_) => Err(FOUND_PRIVATE),
            Self::Keyring(_) => Err(FOUND_KEYRING),
        }
    }

    fn from_block(block: &pem::Block) -> Result<Self> {
        Ok(match &block.label[..] {
            "PRIVATE KEY" => Self::Secret(private_key(pkcs8::private(&block.der)?)?),
            "EC PRIVATE KEY" => Self::Secret(private_key(pkcs8::private_sec1(&block.der)?)?),
            "RSA PRIVATE KEY" => {
                let pkcs8 = pkcs8::to_private(Algorithm::Rsa, &block.der, &[])?;
                Self::Secret(private_key(pkcs8::private(&pkcs8)?)?)
            }
            "PUBLIC KEY" => Self::Public(public_key(&block.der)?),
            "RSA PUBLIC KEY" => Self::Public(public_key(&pkcs8::to_public(Algorithm::Rsa, &block.der)?)?),
            ENCRYPTED => {
                return Err(Error::Format(
                    "expected a key, found an encrypted key inside an age file; decrypt the age file first",
                ));
            }
            _ => {
                return Err(Error::Format(
                    "unsupported label of a PEM block: expected -----BEGIN PRIVATE KEY----- or -----BEGIN PUBLIC KEY-----",
                ));
            }
        })
    }
}

impl SecretKey {
    /// Parses a private or symmetric key; see [the table](crate).
    ///
    /// # Errors
    /// Returns the errors of [`KeyFile::parse`] and [`KeyFile::into_secret`].
    pub fn from_text(text: &str, passphrase: Option<&str>) -> Result<Self> {
        KeyFile::parse(text.as_bytes(), LoadOptions::passphrase(passphrase))?.into_secret()
    }
}

impl PublicKey {
    /// Parses a public key: `age1…`, an SSH public key, SPKI or PKCS#1 in PEM, or secp256k1 in
    /// hexadecimal (33, 65 or, as Ethereum writes them, 64 bytes, with or without `0x`).
    ///
    /// # Errors
    /// Returns [`Error::Format`] and [`Error::Truncated`] if the text is not a public key.
    pub fn from_text(text: &str) -> Result<Self> {
        Self::parse(text.as_bytes())
    }

    /// Loads a public key from a file.
    ///
    /// # Errors
    /// Returns [`Error::Io`], and the errors of [`Self::from_text`].
    pub fn load(path: &Path) -> Result<Self> {
        Self::parse(&store::read(path)?)
    }

    fn parse(content: &[u8]) -> Result<Self> {
        match KeyFile::parse(content, LoadOptions::default()) {
            // Only private keys are encrypted, so this file holds no public key.
            Err(Error::Misuse(Misuse::KeyPassphraseRequired | Misuse::KeyIdentityRequired)) => {
                Err(FOUND_PRIVATE)
            }
            found => found?.into_public(),
        }
    }
}

/// Returns whether a JSON object is a Tink keyset. A member's name may also be a value (a JSON Web
/// Key's `kid`, for example), so we parse the text. Text that is not JSON, such as half a keyset,
/// is searched.
fn is_tink(text: &str) -> bool {
    /// Members that only a keyset has.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Members {
        #[serde(alias = "primary_key_id")]
        primary_key_id: Option<IgnoredAny>,
        #[serde(alias = "encrypted_keyset")]
        encrypted_keyset: Option<IgnoredAny>,
    }
    match serde_json::from_str::<Members>(text) {
        Ok(members) => members.primary_key_id.is_some() || members.encrypted_keyset.is_some(),
        // The position of the error does not help.
        Err(_) => ["\"primaryKeyId\"", "\"encryptedKeyset\""].iter().any(|name| text.contains(name)),
    }
}

/// The format of some content, judged by its beginning.
enum Format<'a> {
    /// A JSON object with a key or a set of keys.
    Jwk(&'a str),
    /// A JSON object with a Tink keyset.
    Tink(&'a str),
    /// A Tink keyset in the binary format.
    TinkBinary(&'a [u8]),
    /// A key in PEM or DER.
    Block(pem::Block),
    /// A text with an OpenSSH private key.
    OpenSsh(&'a str),
    /// An age file with an encrypted key, armored or not.
    Age(&'a [u8]),
    /// An age identity, on the only line that is not a comment.
    Identity(&'a str),
    /// An age or SSH recipient, on the only line that is not a comment.
    Recipient(&'a str),
    /// As many hexadecimal digits as in a private key.
    PrivateHex(&'a str),
    /// As many hexadecimal digits as in a public key: compressed, uncompressed, or Ethereum's.
    PublicHex(&'a str),
}

impl<'a> Format<'a> {
    /// `text` is the text of `content`.
    fn detect(content: &'a [u8], text: &'a str) -> Result<Self> {
        if content.starts_with(b"age-encryption.org/v1") {
            return Ok(Self::Age(content));
        }
        // The first field is the number of the primary key, or a key. No text begins with these
        // control characters.
        if let Some(0x08 | 0x12) = content.first() {
            return Ok(Self::TinkBinary(content));
        }
        if let Some(block) = der::read(content)? {
            return Ok(Self::Block(block));
        }
        let text = text.trim();
        if text.starts_with('{') {
            if std::str::from_utf8(content).is_err() {
                return Err(Error::Format("expected a key in JSON, found bytes that are not UTF-8 text"));
            }
            return Ok(if is_tink(text) { Self::Tink(text) } else { Self::Jwk(text) });
        }
        if text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----") {
            return Ok(Self::Age(text.as_bytes()));
        }
        if pem::is_pem(text) {
            let mut block = pem::read(text)?;
            if block.label == openssh::LABEL {
                return Ok(Self::OpenSsh(text));
            }
            // Some programs write another label, so the structure decides.
            if let Some(label) = der::label(&block.der).filter(|_| der::LABELS.contains(&&*block.label)) {
                block.label = label.to_owned();
            }
            return Ok(Self::Block(block));
        }
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().ok_or(EXPECTED)?;
        let format = Self::of_line(line).ok_or(EXPECTED)?;
        match lines.next() {
            None => Ok(format),
            Some(_) => {
                Err(Error::Format("expected a file with one key, found several lines; split the file"))
            }
        }
    }

    /// Recognizes a line by its prefix or length. Its digits are checked later, by a decoder
    /// without tables.
    fn of_line(line: &'a str) -> Option<Self> {
        if ["AGE-SECRET-KEY-", "AGE-PLUGIN-"].iter().any(|prefix| line.starts_with(prefix)) {
            return Some(Self::Identity(line));
        }
        if line.starts_with("age1") || openssh::is_public(line) {
            return Some(Self::Recipient(line));
        }
        let digits = line.strip_prefix("0x").unwrap_or(line);
        match digits.len() {
            64 => Some(Self::PrivateHex(digits)),
            66 | 128 | 130 => Some(Self::PublicHex(digits)),
            _ => None,
        }
    }

    /// Parses decrypted content.
    fn parse(self, kid: Option<&str>) -> Result<KeyFile> {
        check_kid(matches!(self, Self::Jwk(_)), kid)?;
        Ok(match self {
            Self::Jwk(text) => KeyFile::Secret(SecretKey::Symmetric(jwk::select(text, kid)?)),
            Self::Tink(text) => KeyFile::Keyring(Keyring::from_json(text)?),
            Self::TinkBinary(bytes) => KeyFile::Keyring(Keyring::from_bytes(bytes)?),
            Self::OpenSsh(text) => KeyFile::Secret(SecretKey::Age(age::Identity::from_ssh(text, None)?)),
            Self::Block(block) => KeyFile::from_block(&block)?,
            Self::Identity(line) => KeyFile::Secret(SecretKey::Age(line.parse()?)),
            Self::Recipient(line) => KeyFile::Public(PublicKey::Age(line.parse()?)),
            Self::PrivateHex(digits) => {
                let mut bytes = Zeroizing::new([0; 32]);
                // The decoder's error names no position.
                base16ct::mixed::decode(digits, &mut *bytes).map_err(|_| INVALID_HEX)?;
                // The number is zero, or not below the order of the curve.
                let key = secp256k1::PrivateKey::from_bytes(&bytes).map_err(|_| INVALID_NUMBER)?;
                KeyFile::Secret(SecretKey::Secp256k1(key))
            }
            Self::PublicHex(digits) => {
                // The decoder's error names no position.
                let bytes = base16ct::mixed::decode_vec(digits).map_err(|_| INVALID_HEX)?;
                KeyFile::Public(PublicKey::Secp256k1(secp256k1::PublicKey::from_bytes(&bytes)?))
            }
            Self::Age(_) => {
                return Err(Error::Format("expected a key, found an age file inside an age file"));
            }
        })
    }
}

/// Refuses a `kid` for keys that have none: the caller believes that it selects one.
fn check_kid(is_jwk: bool, kid: Option<&str>) -> Result<()> {
    match kid.filter(|_| !is_jwk) {
        None => Ok(()),
        Some(_) => Err(Error::unsuitable_key(
            "only a JSON Web Key has a kid, and the file has another format; omit the kid",
        )),
    }
}

fn decrypt_pkcs8(der: &[u8], options: LoadOptions<'_>) -> Result<SecretKey> {
    let der = pbes2::open(der, options.passphrase.ok_or(Misuse::KeyPassphraseRequired)?)?;
    // One wrong passphrase in 256 gives valid padding, so we check the result too.
    if pkcs8::is_private(&der) { private_key(pkcs8::private(&der)?) } else { Err(Error::WrongPassphrase) }
}

fn decrypt_age(file: &[u8], options: LoadOptions<'_>) -> Result<Zeroizing<Vec<u8>>> {
    let binary = age::armor::decode(file)?;
    let (header, _) = age::Header::parse_whole(&binary)?;
    match (header.has_passphrase(), options.passphrase, options.identities) {
        (true, Some(passphrase), _) => age::open(&binary, &[age::Identity::passphrase(passphrase)]),
        (false, _, Some(identities)) => age::open(&binary, identities),
        (true, None, _) => Err(Misuse::KeyPassphraseRequired.into()),
        (false, _, None) => Err(Misuse::KeyIdentityRequired.into()),
    }
}

fn private_key(private: Private<'_>) -> Result<SecretKey> {
    let bytes = private.secret;
    // The conversion fails only if the length is wrong.
    let number = || <&[u8; 32]>::try_from(bytes).map_err(|_| INVALID_NUMBER);
    match private.algorithm {
        Algorithm::Rsa => rsa::PrivateKey::from_pkcs8(bytes).map(SecretKey::Rsa),
        Algorithm::P256 => {
            // The library's error does not help and could quote a secret.
            let key = p256::PrivateKey::from_bytes(number()?).map_err(|_| INVALID_NUMBER)?;
            private.check(key.public().as_bytes())?;
            Ok(SecretKey::P256(key))
        }
        Algorithm::Secp256k1 => {
            // The library's error does not help and could quote a secret.
            let key = secp256k1::PrivateKey::from_bytes(number()?).map_err(|_| INVALID_NUMBER)?;
            private.check(&key.public().to_bytes(Encoding::Uncompressed))?;
            Ok(SecretKey::Secp256k1(key))
        }
        Algorithm::X25519 => {
            // The conversion fails only if the length is wrong.
            let key = x25519::PrivateKey::from_bytes(bytes.try_into().map_err(|_| INVALID_X25519)?)?;
            private.check(key.public().as_bytes())?;
            Ok(SecretKey::X25519(key))
        }
        Algorithm::XWing => {
            // The conversion fails only if the length is wrong.
            let key = xwing::PrivateKey::from_seed(bytes.try_into().map_err(|_| INVALID_SEED)?)?;
            private.check(key.public().as_bytes())?;
            Ok(SecretKey::XWing(key))
        }
    }
}

fn public_key(spki: &[u8]) -> Result<PublicKey> {
    let (algorithm, bytes) = pkcs8::public(spki)?;
    Ok(match algorithm {
        Algorithm::P256 => PublicKey::P256(p256::PublicKey::from_sec1(bytes)?),
        Algorithm::Rsa => PublicKey::Rsa(rsa::PublicKey::from_spki(bytes)?),
        Algorithm::Secp256k1 => {
            // Ethereum's 64 bytes are not a point in the sense of SEC 1.
            let bytes = Some(bytes).filter(|bytes| bytes.len() != 64).ok_or(pkcs8::INVALID_PUBLIC)?;
            PublicKey::Secp256k1(secp256k1::PublicKey::from_bytes(bytes)?)
        }
        Algorithm::X25519 => {
            // The conversion fails only if the length is wrong.
            let bytes = bytes.try_into().map_err(|_| pkcs8::INVALID_PUBLIC)?;
            PublicKey::X25519(x25519::PublicKey::from_bytes(bytes))
        }
        Algorithm::XWing => PublicKey::XWing(xwing::PublicKey::from_bytes(bytes)?),
    })
}

#[cfg(test)]
mod test {
    use super::*;

    /// One wrong passphrase in 256 gives valid padding; the content shows that it was wrong.
    #[test]
    fn decrypted_bytes_that_are_no_key_mean_a_wrong_passphrase() {
        let der = pbes2::seal(b"not a key", "p").unwrap();
        let refused = decrypt_pkcs8(&der, LoadOptions::passphrase(Some("p")));
        assert!(matches!(refused, Err(Error::WrongPassphrase)));
    }
}
