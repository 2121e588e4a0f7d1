//! Keys in DER without PEM. The first elements tell the kind of key, as the label does in PEM.
//!
//! ```text
//! PrivateKeyInfo          SEQUENCE { INTEGER, SEQUENCE, OCTET STRING, … }     PKCS#8
//! EncryptedPrivateKeyInfo SEQUENCE { SEQUENCE, OCTET STRING }                 PKCS#8
//! SubjectPublicKeyInfo    SEQUENCE { SEQUENCE, BIT STRING }
//! ECPrivateKey            SEQUENCE { INTEGER, OCTET STRING, … }               SEC 1
//! RSAPrivateKey           SEQUENCE { INTEGER 0, INTEGER, … }                  PKCS#1
//! RSAPublicKey            SEQUENCE { INTEGER, INTEGER }                       PKCS#1
//! ```

use super::pem::Block;
use crate::prelude::*;
use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Decode, SliceReader, Tag, Tagged};

/// Returns the key with its PEM label; `None` if `content` is not the DER of one key.
///
/// # Errors
/// Returns [`Error::OutOfMemory`].
pub(crate) fn read(content: &[u8]) -> Result<Option<Block>> {
    // Text is never mistaken for a key. It may begin with "0", the tag of a SEQUENCE, but every
    // structure also has the tag of an INTEGER, an OCTET STRING or a BIT STRING, and these are
    // control characters.
    let Some(label) = label(content) else { return Ok(None) };
    Ok(Some(Block { label: label.to_owned(), der: Zeroizing::new(memory::copy(content)?) }))
}

/// The labels in PEM whose content we recognize by its structure.
pub(crate) const LABELS: [&str; 6] = [
    "PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PUBLIC KEY",
    "EC PRIVATE KEY",
    "RSA PRIVATE KEY",
    "RSA PUBLIC KEY",
];

/// Returns the label that fits the structure of a key in DER.
pub(crate) fn label(content: &[u8]) -> Option<&'static str> {
    let outer = AnyRef::from_der(content).ok().filter(|outer| Tagged::tag(outer) == Tag::Sequence)?;
    let mut fields = SliceReader::new(outer.value()).ok()?;
    let first = AnyRef::decode(&mut fields).ok()?;
    let second = Tag::peek(&fields).ok()?;
    Some(match (Tagged::tag(&first), second) {
        (Tag::Integer, Tag::Sequence) => "PRIVATE KEY",
        (Tag::Sequence, Tag::OctetString) => "ENCRYPTED PRIVATE KEY",
        (Tag::Sequence, Tag::BitString) => "PUBLIC KEY",
        (Tag::Integer, Tag::OctetString) => "EC PRIVATE KEY",
        (Tag::Integer, Tag::Integer) if first.value() == [0] => "RSA PRIVATE KEY",
        (Tag::Integer, Tag::Integer) => "RSA PUBLIC KEY",
        _ => return None,
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn kinds() {
        let label = |content: &[u8]| read(content).unwrap().map(|block| block.label);
        for (content, expected) in [
            (&[0x30, 7, 2, 1, 0, 0x30, 0, 4, 0][..], Some("PRIVATE KEY")),
            (&[0x30, 4, 0x30, 0, 4, 0], Some("ENCRYPTED PRIVATE KEY")),
            (&[0x30, 5, 0x30, 0, 3, 1, 0], Some("PUBLIC KEY")),
            (&[0x30, 5, 2, 1, 1, 4, 0], Some("EC PRIVATE KEY")),
            (&[0x30, 6, 2, 1, 0, 2, 1, 9], Some("RSA PRIVATE KEY")),
            (&[0x30, 6, 2, 1, 7, 2, 1, 3], Some("RSA PUBLIC KEY")),
            // Other structures, lengths that do not fit, and text.
            (&[0x30, 0], None),
            (&[0x30, 3, 2, 1, 0], None),
            (&[0x30, 5, 4, 1, 0, 2, 0], None),
            (&[0x31, 5, 2, 1, 1, 4, 0], None),
            (&[0x30, 6, 2, 1, 1, 4, 0], None),
            (&[0x30, 5, 2, 1, 1, 4, 0, 0], None),
            (&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 2, 1, 0], None),
            (&[], None),
            (b"0A0123", None),
        ] {
            assert_eq!(label(content).as_deref(), expected, "{content:x?}");
        }
    }
}
