//! ChaCha20-Poly1305 (RFC 8439, section 2.8) and XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03,
//! section 2).

use crate::{chacha20, poly1305};

/// Returns ciphertext and tag for a nonce of 12 bytes, or 24 bytes for XChaCha20-Poly1305.
///
/// # Panics
/// Panics unless the nonce has 12 or 24 bytes.
pub fn seal_vartime(key: &[u8; 32], nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
    if let Ok(nonce) = <&[u8; 24]>::try_from(nonce) {
        let (head, tail) = nonce.split_first_chunk::<16>().expect("16 of 24 bytes");
        let subkey = chacha20::subkey_vartime(key, head);
        return seal_vartime(&subkey, &[&[0; 4], tail].concat(), aad, plaintext);
    }
    let nonce = nonce.try_into().expect("12 or 24 bytes");
    let first = chacha20::block_vartime(key, 0, nonce);
    let mut ciphertext = plaintext.to_vec();
    chacha20::xor_at_vartime(key, nonce, 1, 0, &mut ciphertext);
    let mut message = padded(aad);
    message.extend(padded(&ciphertext));
    message.extend((aad.len() as u64).to_le_bytes());
    message.extend((plaintext.len() as u64).to_le_bytes());
    let tag = poly1305::tag_vartime(first.first_chunk().expect("32 of 64 bytes"), &message);
    (ciphertext, tag)
}

/// Pads data with zeros to a multiple of 16 bytes.
fn padded(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    data.resize(data.len().next_multiple_of(16), 0);
    data
}
