//! SEQUENCE in DER, for structures that the crates `pkcs8` and `sec1` do not define.

use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Encode, Result, Tag};
use zeroize::Zeroizing;

pub(super) trait Field {
    fn der(&self) -> Result<Zeroizing<Vec<u8>>>;
}

impl<T: Encode> Field for T {
    fn der(&self) -> Result<Zeroizing<Vec<u8>>> {
        self.to_der().map(Zeroizing::new)
    }
}

/// An encoded sequence, wiped on drop because it may hold a private key.
pub(super) struct Sequence(pub(super) Zeroizing<Vec<u8>>);

impl Field for Sequence {
    fn der(&self) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.0.clone())
    }
}

/// Encodes the sequence of `fields` as DER, in order.
pub(super) fn sequence(fields: &[&dyn Field]) -> Result<Sequence> {
    let fields = fields.iter().map(|field| field.der()).collect::<Result<Vec<_>>>()?;
    // Allocated at full length: a growing vector leaves copies behind. bounded: the fields are in
    // memory already, and a key file has at most 256 KiB.
    let mut content = Zeroizing::new(Vec::with_capacity(fields.iter().map(|field| field.len()).sum()));
    fields.iter().for_each(|field| content.extend_from_slice(field));
    AnyRef::new(Tag::Sequence, &content)?.der().map(Sequence)
}
