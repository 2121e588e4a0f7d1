//! minisign's keys and signatures.
//!
//! ```text
//! public key = "Ed" number[8] point[32]
//! secret key = "Ed" KDF[2] "B2" salt[32] opslimit[8] memlimit[8] (number[8] seed[32] point[32] checksum[32])
//! checksum   = BLAKE2b-256("Ed" || number || seed || point)
//! signature  = "ED" number[8] Ed25519(BLAKE2b-512(message))
//! comment's  = Ed25519(signature[64] || trusted comment)
//! ```
//!
//! Each is a line of base64 after a line with a comment. If the KDF is "Sc", what is in parentheses
//! is combined with the output of scrypt by XOR; else it is 00 00. The numbers are little-endian.
//! Sources: jedisct1.github.io/minisign, and `pickparams` of libsodium's `crypto_pwhash_scrypt.c`.

use crate::prelude::*;
use crate::scrypt::Params;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use base::error::Rejection;
use base64ct::{Base64, Encoding};
use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};

/// Length of an encoded secret key in bytes.
const SECRET_LEN: usize = 158;
/// Length of the part that a passphrase encrypts.
const ENCRYPTED_LEN: usize = 104;
/// Length of an encoded public key in bytes.
const PUBLIC_LEN: usize = 42;
/// Words of stack on which copies of the seed may be left.
const STACK: usize = 1 << 10;

const COMMENT: &str = "untrusted comment: ";
const TRUSTED: &str = "trusted comment: ";

const DAMAGED: Error = Error::Format("expected a minisign secret key, found a damaged one");
const UNKNOWN: Error = Error::Format(
    "unsupported encryption of a minisign secret key: expected scrypt (Sc) and BLAKE2b (B2), as minisign writes them",
);

pub(super) struct Private {
    key: Ed25519KeyPair,
    pub(super) public: Public,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Public {
    number: [u8; 8],
    point: [u8; 32],
}

impl Private {
    /// Parses a secret key; `None` for other text.
    pub(super) fn parse(text: &str, passphrase: Option<&str>) -> Result<Option<Self>> {
        let Some(encoded) = text.lines().nth(1) else { return Ok(None) };
        let mut bytes = Zeroizing::new([0; SECRET_LEN]);
        match Base64::decode(encoded.trim(), &mut *bytes) {
            Ok(found) if found.len() == SECRET_LEN && found.starts_with(b"Ed") => {}
            _ => return Ok(None),
        }
        let (head, secret) = bytes.split_at_mut(SECRET_LEN - ENCRYPTED_LEN);
        match (&head[2..6], passphrase) {
            (b"\0\0B2", None) => {}
            (b"\0\0B2", Some(_)) => return Err(Misuse::KeyNotEncrypted.into()),
            (b"ScB2", None) => return Err(Misuse::KeyPassphraseRequired.into()),
            (b"ScB2", Some(passphrase)) => {
                let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
                let params = params(number(38), number(46))?;
                let stream = params.derive(passphrase.as_bytes(), &head[6..38], ENCRYPTED_LEN)?;
                secret.iter_mut().zip(&*stream).for_each(|(byte, mask)| *byte ^= mask);
                let sum = Blake2b::<U32>::new().chain_update(b"Ed").chain_update(&secret[..72]).finalize();
                // It does not distinguish a wrong passphrase from damage.
                if sum[..] != secret[72..] {
                    return Err(Error::WrongPassphrase);
                }
            }
            _ => return Err(UNKNOWN),
        }
        let public = Public::new(&secret[..8], &secret[40..72]).ok_or(DAMAGED)?;
        // The error has no reason: the point is not the seed's.
        let key = wiping_stack::<STACK, _>(|| {
            Ed25519KeyPair::from_seed_and_public_key(&secret[8..40], &public.point)
        });
        Ok(Some(Self { key: key.map_err(|_| DAMAGED)?, public }))
    }

    /// Signs the hash of a message, and a comment.
    pub(super) fn sign(&self, hash: &[u8], comment: &str) -> String {
        let signature = self.key.sign(hash);
        let signature: &[u8] = signature.as_ref();
        let whole = self.key.sign(&[signature, comment.as_bytes()].concat());
        let line = Base64::encode_string(&[b"ED", &self.public.number[..], signature].concat());
        format!("{COMMENT}signature\n{line}\n{TRUSTED}{comment}\n{}\n", Base64::encode_string(whole.as_ref()))
    }
}

/// Chooses the parameters of scrypt as libsodium does.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] if they request too much work.
fn params(operations: u64, memory: u64) -> Result<Params> {
    const R: u64 = 8;
    let operations = operations.max(32768);
    let is_short = operations < memory / 32;
    let most = if is_short { operations / (4 * R) } else { memory / (128 * R) };
    // The first power of two above half of `most`.
    let log_n = (1..63).find(|log_n| 1 << log_n > most / 2).unwrap_or(63);
    let p = if is_short { 1 } else { ((operations / 4) >> log_n).min(0x3fff_ffff) / R };
    if p == 0 { Err(DAMAGED) } else { Params::from_file(log_n, R, p) }
}

impl Public {
    fn new(number: &[u8], point: &[u8]) -> Option<Self> {
        Some(Self { number: number.try_into().ok()?, point: point.try_into().ok()? })
    }

    /// Parses a public key file, or only its line of base64; `None` for other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (first, second) = (lines.next()?, lines.next());
        let mut bytes = [0; PUBLIC_LEN];
        // Longer data does not fit.
        let found = Base64::decode(second.unwrap_or(first), &mut bytes).ok()?.strip_prefix(b"Ed")?;
        Self::new(found.get(..8)?, found.get(8..)?)
    }

    /// Returns the number of the key as `minisign` prints it.
    pub(super) fn number(&self) -> String {
        format!("{:X}", u64::from_le_bytes(self.number))
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Rejection> {
        // The error has no reason.
        UnparsedPublicKey::new(&ED25519, self.point)
            .verify(message, signature)
            .map_err(|_| Rejection::Invalid)
    }
}

pub(super) struct Signature {
    is_prehashed: bool,
    number: [u8; 8],
    signature: [u8; 64],
    comment: String,
    whole: [u8; 64],
}

impl Signature {
    pub(super) fn parse(text: &str) -> Result<Self, Rejection> {
        let mut lines = text.lines();
        // The trusted comment is signed with its blanks.
        let mut line = |prefix| lines.next()?.strip_prefix(prefix);
        let fields = (|| Some((line(COMMENT)?, line("")?, line(TRUSTED)?, line("")?)))();
        let fields = fields.filter(|(_, _, comment, _)| !comment.contains('\0'));
        let (_, first, comment, whole) = fields.ok_or(Rejection::Malformed)?;
        // The errors say no more than the rejection.
        let decode = |text: &str| Base64::decode_vec(text).map_err(|_| Rejection::Malformed);
        let (first, whole) = (decode(first)?, decode(whole)?);
        let fields = || {
            let (kind, rest) = first.split_first_chunk()?;
            let (number, signature) = rest.split_first_chunk()?;
            let is_prehashed = [(b"ED", true), (b"Ed", false)].into_iter().find(|(name, _)| *name == kind)?.1;
            let (signature, whole) = (signature.try_into().ok()?, whole[..].try_into().ok()?);
            Some(Self { is_prehashed, number: *number, signature, comment: comment.to_owned(), whole })
        };
        fields().ok_or(Rejection::Malformed)
    }

    /// Verifies that the key signed a message with this hash. Returns the trusted comment.
    pub(super) fn verify(&self, key: &Public, hash: &[u8]) -> Result<&str, Rejection> {
        if key.number != self.number {
            return Err(Rejection::OtherSigner);
        }
        if !self.is_prehashed {
            return Err(Rejection::NotPrehashed);
        }
        key.verify(hash, &self.signature)?;
        key.verify(&[&self.signature, self.comment.as_bytes()].concat(), &self.whole)?;
        Ok(&self.comment)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Values of libsodium's `pickparams`, and the limits of key files.
    // claim: key-file
    #[test]
    fn parameters_of_scrypt() {
        let of = |operations, memory| params(operations, memory).map(|found| (found.log_n, found.r, found.p));
        // minisign's own keys, and those of the crate `minisign`.
        assert_eq!(of(1 << 25, 1 << 30).unwrap(), (20, 8, 1));
        assert_eq!(of(1 << 20, 1 << 25).unwrap(), (15, 8, 1));
        assert_eq!(of(0, 1 << 30).unwrap(), (10, 8, 1));
        assert_eq!(of(1 << 22, 1 << 24).unwrap(), (14, 8, 8));
        for (operations, memory) in [
            // 2^20 with p = 100000 would take years, and 2^30 - 1 lanes 1 TiB.
            (4 * (1 << 23) * 100_000, 1 << 30),
            (8 * 0x3fff_ffff, 2048),
            (u64::MAX, u64::MAX),
            (1 << 40, 1 << 40),
            (u64::MAX, 0),
        ] {
            assert!(
                matches!(params(operations, memory), Err(Error::LimitExceeded(_))),
                "{operations} {memory}"
            );
        }
    }
}
