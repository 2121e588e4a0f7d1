//! Encryption of the content (RFC 7518, section 5).
//!
//! ```text
//! A…GCM         = AES-GCM with an IV of 12 bytes and a tag of 16
//! A…CBC-HS…     = key: MAC_KEY || ENC_KEY, halves
//!                 E = AES-CBC(ENC_KEY, IV, plaintext with PKCS #7 padding)
//!                 T = first half of HMAC(MAC_KEY, A || IV || E || bits of A, 64 bits)
//! ```
//!
//! The HMAC is compared in constant time before anything is decrypted, so no error tells about the
//! padding.

use super::algorithm::{Cipher, Enc};
use crate::prelude::*;
use aws_lc_rs::cipher::{
    self, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hmac;
use messages::nonce;

/// Words of stack on which the library moves keys by value.
const STACK: usize = 1024;
const BLOCK_LEN: usize = 16;

/// An encrypted content.
pub(super) struct Sealed {
    pub(super) iv: Vec<u8>,
    pub(super) ciphertext: Vec<u8>,
    pub(super) tag: Vec<u8>,
}

const LENGTHS: Error =
    Error::Format("expected an iv, a ciphertext and a tag of the lengths of the token's enc, found others");

impl Enc {
    /// Encrypts under a fresh random IV.
    pub(super) fn encrypt(&self, cek: &Key, aad: &[u8], plaintext: &[u8]) -> Result<Sealed> {
        match self.cipher {
            Cipher::Gcm(algorithm) => {
                let mut iv = Aead::new(algorithm, cek)?.seal(plaintext, aad)?;
                let mut ciphertext = iv.split_off(algorithm.nonce_len());
                let tag = ciphertext.split_off(plaintext.len());
                Ok(Sealed { iv, ciphertext, tag })
            }
            Cipher::CbcHmac(hash, aes) => {
                let mut iv = [0; BLOCK_LEN];
                nonce::fill(&mut iv)?;
                encrypt_cbc(*hash, aes, cek, aad, iv, plaintext)
            }
        }
    }

    /// Checks the lengths, which are public and do not depend on a key.
    pub(super) fn check(&self, Sealed { iv, ciphertext, tag }: &Sealed) -> Result<()> {
        let fits = match self.cipher {
            Cipher::Gcm(gcm) => (iv.len(), tag.len()) == (gcm.nonce_len(), gcm.tag_len()),
            Cipher::CbcHmac(..) => {
                let is_padded = !ciphertext.is_empty() && ciphertext.len().is_multiple_of(BLOCK_LEN);
                is_padded && (iv.len(), tag.len()) == (BLOCK_LEN, self.key_len / 2)
            }
        };
        if fits { Ok(()) } else { Err(LENGTHS) }
    }

    /// Decrypts a content of checked lengths with a key of the right length.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] for whatever is wrong.
    pub(super) fn decrypt(&self, cek: &Key, aad: &[u8], sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>> {
        let Sealed { iv, ciphertext, tag } = sealed;
        match self.cipher {
            Cipher::Gcm(algorithm) => {
                let mut whole = memory::with_capacity(ciphertext.len() + tag.len())?;
                whole.extend_from_slice(ciphertext);
                whole.extend_from_slice(tag);
                Aead::new(algorithm, cek)?.decrypt(iv, &whole, aad).map(Zeroizing::new)
            }
            Cipher::CbcHmac(hash, aes) => {
                Computation::CbcHmac.check()?;
                let (mac_key, enc_key) = cek.as_bytes().split_at(self.key_len / 2);
                let expected = mac(*hash, mac_key, [aad, iv, ciphertext]);
                if !bool::from(expected[..mac_key.len()].ct_eq(tag)) {
                    return Err(Error::Authentication);
                }
                let mut plaintext = Zeroizing::new(memory::copy(ciphertext)?);
                let len = wiping_stack::<STACK, _>(|| {
                    let iv = iv.first_chunk().ok_or(Unspecified)?.into();
                    let key = PaddedBlockDecryptingKey::cbc_pkcs7(UnboundCipherKey::new(aes, enc_key)?)?;
                    key.decrypt(&mut plaintext, DecryptionContext::Iv128(iv)).map(|found| found.len())
                });
                // Only who has the key can make a wrong padding under a right HMAC.
                plaintext.truncate(len.map_err(|_| Error::Authentication)?);
                Ok(plaintext)
            }
        }
    }
}

/// Encrypts under this IV, which must be unpredictable.
pub(super) fn encrypt_cbc(
    hash: hmac::Algorithm,
    aes: &'static cipher::Algorithm,
    cek: &Key,
    aad: &[u8],
    iv: [u8; BLOCK_LEN],
    plaintext: &[u8],
) -> Result<Sealed> {
    Computation::CbcHmac.check()?;
    let (mac_key, enc_key) = cek.as_bytes().split_at(cek.as_bytes().len() / 2);
    // Full capacity at once: growing text leaves copies behind.
    let mut ciphertext = memory::with_capacity(plaintext.len() + BLOCK_LEN)?;
    ciphertext.extend_from_slice(plaintext);
    wiping_stack::<STACK, _>(|| {
        let key = PaddedBlockEncryptingKey::cbc_pkcs7(UnboundCipherKey::new(aes, enc_key)?)?;
        key.less_safe_encrypt(&mut ciphertext, EncryptionContext::Iv128(iv.into()))
    })
    // AWS-LC gives no reason, and refuses nothing of these lengths.
    .map_err(|_| Error::ProviderRefused("AWS-LC refused a key or a message of AES-CBC"))?;
    let tag = mac(hash, mac_key, [aad, &iv, &ciphertext])[..mac_key.len()].to_vec();
    Ok(Sealed { iv: iv.to_vec(), ciphertext, tag })
}

fn mac(hash: hmac::Algorithm, key: &[u8], parts: [&[u8]; 3]) -> Zeroizing<Vec<u8>> {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hash, key));
    parts.iter().for_each(|part| context.update(part));
    context.update(&(8 * parts[0].len() as u64).to_be_bytes());
    Zeroizing::new(context.sign().as_ref().to_vec())
}
