//! Names encrypted with EME, padded to whole blocks as in PKCS #7 (RFC 5652, section 6.3).

use base::Result;
use providers::raw::Eme;

/// Returns the encrypted name.
pub(crate) fn encrypt(eme: &Eme, tweak: &[u8; 16], name: &[u8]) -> Result<Vec<u8>> {
    let pad = 16 - name.len() % 16;
    let mut padded = [name, &[pad as u8; 16][..pad]].concat();
    eme.encrypt(tweak, &mut padded)?;
    Ok(padded)
}

/// Returns the plaintext of an encrypted name; `None` if it has none.
pub(crate) fn decrypt(eme: &Eme, tweak: &[u8; 16], mut name: Vec<u8>) -> Option<Vec<u8>> {
    // Refuses a name that is not 1 to 128 blocks.
    eme.decrypt(tweak, &mut name).ok()?;
    let pad = usize::from(*name.last()?);
    let len = name.len().checked_sub(pad).filter(|_| (1..=16).contains(&pad))?;
    name[len..].iter().all(|byte| usize::from(*byte) == pad).then(|| name[..len].to_vec())
}
