//! Recipients with a tag, for hardware keys: P-256, and MLKEM768-P256 (post-quantum). A plugin
//! decrypts.
//!
//! ```text
//! stanza = "p256tag" tag[4] enc[65]  body[32]                   "mlkem768p256tag" tag[4] enc[1153]  body[32]
//! enc, body = HPKE SealBase(KEM, HKDF-SHA-256, ChaCha20-Poly1305; info "age-encryption.org/" || type)
//! tag    = the first 4 bytes of HKDF-Extract-SHA-256(salt = info, ikm = enc || SHA-256(point)[:4])
//! text   = Bech32: age1tag1… over a compressed point[33]; age1tagpq1… over ek_M[1184] || point[65]
//! ```
//!
//! `point` is the P-256 key as in the text: compressed, but uncompressed in the hybrid. By the tag,
//! a plugin finds the key for a stanza without asking for each hardware key. Only holders of the
//! public key can compute it.
//!
//! Source: c2sp.org/age, "The p256tag recipient type" and "The mlkem768p256tag recipient type".

use super::file_key::FileKey;
use super::header::Writer;
use super::stanza::to_argument;
use super::text::{Case, encode};
use crate::asymmetric::{hpke, mlkem768_p256, p256};
use crate::prelude::*;
use hkdf::HkdfExtract;
use sha2::{Digest, Sha256};

/// Human-readable parts of the Bech32 encodings.
pub(super) const CLASSICAL: &str = "age1tag";
pub(super) const HYBRID: &str = "age1tagpq";

const AEAD: hpke::Aead = hpke::Aead::ChaCha20Poly1305;

/// Length in bytes of a tag, and of the public key's hash behind it.
const TAG_LEN: usize = 4;

/// A public key with tags in its stanzas.
#[derive(Clone)]
pub(super) enum Recipient {
    Classical(p256::PublicKey),
    Hybrid(Box<mlkem768_p256::PublicKey>),
}

impl Recipient {
    pub(super) fn classical(bytes: &[u8]) -> Result<Self> {
        const EXPECTED: Error =
            Error::Format("expected an age recipient with a compressed point of P-256, found another key");
        if bytes.len() != 33 {
            return Err(EXPECTED);
        }
        // The curve's error is about its own encodings.
        p256::PublicKey::from_sec1(bytes).map(Self::Classical).map_err(|_| EXPECTED)
    }

    pub(super) fn hybrid(bytes: &[u8]) -> Result<Self> {
        Ok(Self::Hybrid(Box::new(mlkem768_p256::PublicKey::from_bytes(bytes)?)))
    }

    pub(super) fn text(&self) -> Result<Zeroizing<String>> {
        match self {
            Self::Classical(key) => encode(CLASSICAL, &key.compressed(), Case::Lower),
            Self::Hybrid(key) => encode(HYBRID, key.as_bytes(), Case::Lower),
        }
    }

    pub(super) fn wrap(&self, file_key: &FileKey, header: &mut Writer) -> Result<()> {
        let (kind, recipient, hash) = match self {
            Self::Classical(key) => ("p256tag", key.clone().into(), Sha256::digest(key.compressed())),
            Self::Hybrid(key) => {
                ("mlkem768p256tag", (**key).clone().into(), Sha256::digest(key.p256().as_bytes()))
            }
        };
        let info = ["age-encryption.org/", kind].concat();
        let (enc, body) = hpke::seal(&recipient, AEAD, info.as_bytes(), b"", file_key.as_bytes())?;
        let mut extract = HkdfExtract::<Sha256>::new(Some(info.as_bytes()));
        extract.input_ikm(&enc);
        extract.input_ikm(&hash[..TAG_LEN]);
        let tag = extract.finalize().0;
        header.stanza(&[kind, &to_argument(&tag[..TAG_LEN]), &to_argument(&enc)], &body);
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::age;
    use crate::age::recipient::Public;
    use crate::age::stanza::argument;
    use crate::age::{Armor, Header, Kind, seal};
    use base::Misuse;

    /// The recipients of age 1.3's program `age-plugin-tagtest`; the long one is left out.
    const CLASSICAL_TEXT: &str = "age1tag1qwe0kafsjrar4txm6heqnhpfuggzr0gvznz7fvygxrlq90u5mq2pysxtw6h";

    #[test]
    fn texts_round_trip() {
        let recipient: age::Recipient = CLASSICAL_TEXT.parse().unwrap();
        assert_eq!(recipient.to_string(), CLASSICAL_TEXT);
        assert!(!recipient.is_post_quantum() && recipient.plugin().is_none() && recipient.kind().is_none());
        let key = mlkem768_p256::PrivateKey::generate().unwrap().public();
        let text = encode(HYBRID, key.as_bytes(), Case::Lower).unwrap();
        let recipient: age::Recipient = text.parse().unwrap();
        assert!(recipient.to_string() == *text && recipient.is_post_quantum());
        for (prefix, bytes) in
            [(CLASSICAL, &key.as_bytes()[..]), (CLASSICAL, &[2; 32]), (CLASSICAL, &[5; 33])]
        {
            let text = encode(prefix, bytes, Case::Lower).unwrap();
            assert!(matches!(text.parse::<age::Recipient>(), Err(Error::Format(_))));
        }
        let uncompressed = encode(CLASSICAL, key.p256().as_bytes(), Case::Lower).unwrap();
        assert!(matches!(uncompressed.parse::<age::Recipient>(), Err(Error::Format(_))));
        let short = encode(HYBRID, &key.as_bytes()[1..], Case::Lower).unwrap();
        assert!(matches!(short.parse::<age::Recipient>(), Err(Error::Format(_))));
    }

    /// Unwraps the only stanza of a file and checks its tag, like a plugin.
    fn unwrap(file: &[u8], private: &hpke::PrivateKey, info: &[u8], point: &[u8]) -> Vec<u8> {
        let (header, _) = Header::parse_whole(file).unwrap();
        let stanza = header.stanzas().next().unwrap();
        let [tag, enc]: [&str; 2] = stanza.exactly("two arguments").unwrap();
        let enc = match private {
            hpke::PrivateKey::P256(_) => argument::<65>(enc, "").unwrap().to_vec(),
            _ => argument::<1153>(enc, "").unwrap().to_vec(),
        };
        let ikm = [&enc[..], &Sha256::digest(point)[..4]].concat();
        let expected = hkdf::Hkdf::<Sha256>::extract(Some(info), &ikm).0;
        assert_eq!(argument::<4>(tag, "").unwrap(), expected[..4]);
        hpke::open(private, AEAD, &enc, info, b"", &stanza.body::<32>("").unwrap()).unwrap()
    }

    #[test]
    fn stanzas() {
        let key = p256::PrivateKey::generate().unwrap();
        let recipient = age::Recipient(Public::Tag(Recipient::Classical(key.public())));
        let file = seal(b"hello", std::slice::from_ref(&recipient), Armor::Binary).unwrap();
        assert!(file.starts_with(b"age-encryption.org/v1\n-> p256tag "));
        let point = key.public().compressed();
        assert_eq!(unwrap(&file, &key.into(), b"age-encryption.org/p256tag", &point).len(), 16);

        let key = mlkem768_p256::PrivateKey::generate().unwrap();
        let hybrid = age::Recipient(Public::Tag(Recipient::Hybrid(Box::new(key.public()))));
        let file = seal(b"hello", std::slice::from_ref(&hybrid), Armor::Binary).unwrap();
        assert!(file.starts_with(b"age-encryption.org/v1\n-> mlkem768p256tag "));
        let point = *key.public().p256().as_bytes();
        assert_eq!(unwrap(&file, &key.into(), b"age-encryption.org/mlkem768p256tag", &point).len(), 16);

        let quantum = age::Identity::generate(Kind::Hybrid).unwrap();
        let classical = age::Identity::generate(Kind::X25519).unwrap();
        for (tag, other) in [(&recipient, &classical), (&hybrid, &quantum)] {
            let file = seal(b"hello", &[tag.clone(), other.recipient()], Armor::Binary).unwrap();
            assert_eq!(*age::open(&file, std::slice::from_ref(other)).unwrap(), b"hello");
        }
        for (tag, other) in [(&recipient, &quantum), (&hybrid, &classical)] {
            let mixed = seal(b"hello", &[tag.clone(), other.recipient()], Armor::Binary);
            assert!(matches!(mixed, Err(Error::Misuse(Misuse::InvalidRecipients(_)))));
        }
    }
}
