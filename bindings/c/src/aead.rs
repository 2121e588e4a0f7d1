//! Messages: seal and open with random nonces, encrypt and decrypt with explicit nonces.

use crate::call::{exports, freed, terminated};
use crate::error::{CallError, Result};
use crate::keys::Secret;
use crate::memory::{AeadDescription, Handle, Input, Layout, Output, Owned, SizedOut, count};
use sealane::{Key, MessageKeys as Aead, hazmat, named};

/// Longest nonce or tag in bytes.
const MAX_LEN: usize = 32;

/// Makes a Speck-Poly1305 key with one of the core's constructors.
fn speck_poly1305(
    name: &str,
    key: &[u8],
    new: fn(hazmat::SpeckSize, &[u8]) -> Result<hazmat::Aead, sealane::Error>,
) -> Result<Owned<Aead>> {
    Ok(Owned::new(new(named::speck_size(name, "-poly1305")?, key)?.into()))
}

impl Handle for Aead {}

exports! {
    fn sealane_aead_new(algorithm: &str, key: &[u8][key_len], provider: Option<&str>) -> Owned<Aead> {
        Ok(Owned::new(named::aead(algorithm, &Key::from_bytes(key), provider)?))
    }

    fn sealane_aead_new_with_secret(algorithm: &str, secret: &Secret, provider: Option<&str>) -> Owned<Aead> {
        Ok(Owned::new(named::aead(algorithm, &secret.symmetric()?, provider)?))
    }

    fn sealane_hazmat_aead_new(algorithm: &str, key: &[u8][key_len]) -> Owned<Aead> {
        speck_poly1305(algorithm, key, hazmat::Aead::new)
    }

    fn sealane_hazmat_aead_new_block_nonce(algorithm: &str, key: &[u8][key_len]) -> Owned<Aead> {
        speck_poly1305(algorithm, key, hazmat::Aead::new_block_nonce)
    }

    fn sealane_hazmat_aead_new_small_block(algorithm: &str, key: &[u8][key_len]) -> Owned<Aead> {
        speck_poly1305(algorithm, key, hazmat::Aead::new_small_block)
    }
}

freed!(sealane_aead_free(aead: Aead));

exports! {
    fn sealane_aead_describe(aead: &Aead, description: SizedOut<AeadDescription>) -> i64 {
        let found = AeadDescription {
            size: size_of::<AeadDescription>(),
            nonce_len: aead.nonce_len(),
            tag_len: aead.tag_len(),
            max_plaintext_len: aead.max_plaintext_len(),
            algorithm: terminated(aead.primary().algorithm()),
            provider: terminated(aead.provider().name()),
            variant: terminated(aead.variant()),
        };
        description.put("description", found)?;
        Ok(0)
    }

    fn sealane_aead_seal(
        aead: &Aead, data: Input[data_len], aad: Input[aad_len], out: Output[out_len]
    ) -> i64 {
        let Layout { head, data, tail, others: [aad] } =
            out.arrange(aead.nonce_len(), data, aead.tag_len(), [aad])?;
        let len = head.len() + data.len() + tail.len();
        aead.seal_parts(head, aad, data, tail)?;
        Ok(count(len))
    }

    fn sealane_aead_open(
        aead: &Aead, sealed: Input[sealed_len], aad: Input[aad_len], out: Output[out_len]
    ) -> i64 {
        let (nonce, data) = sealed.split(aead.nonce_len()).ok_or(CallError::AUTHENTICATION)?;
        decrypt(aead, nonce, data, aad, out)
    }

    fn sealane_aead_encrypt(
        aead: &Aead, nonce: Input[nonce_len], data: Input[data_len], aad: Input[aad_len], out: Output[out_len]
    ) -> i64 {
        let Layout { data, tail, others: [nonce, aad], .. } =
            out.arrange(0, data, aead.tag_len(), [nonce, aad])?;
        let len = data.len() + tail.len();
        aead.encrypt_parts(nonce, aad, data, tail)?;
        Ok(count(len))
    }

    fn sealane_aead_decrypt(
        aead: &Aead, nonce: Input[nonce_len], data: Input[data_len], aad: Input[aad_len], out: Output[out_len]
    ) -> i64 {
        decrypt(aead, nonce, data, aad, out)
    }
}

/// Decrypts `data`, a ciphertext followed by its tag.
#[inline]
fn decrypt(aead: &Aead, nonce: Input<'_>, data: Input<'_>, aad: Input<'_>, out: Output<'_>) -> Result<i64> {
    // Checked before anything an attacker controls, as in the core.
    aead.check_nonce_len(nonce.len())?;
    let len = data.len().checked_sub(aead.tag_len()).ok_or(CallError::AUTHENTICATION)?;
    let (data, tag) = data.split(len).ok_or(CallError::AUTHENTICATION)?;
    // Copies: the output may be longer than the plaintext and overlap the message's nonce and tag.
    let (mut nonce_copy, mut tag_copy) = ([0; MAX_LEN], [0; MAX_LEN]);
    let (nonce, tag) = (nonce.copy(&mut nonce_copy), tag.copy(&mut tag_copy));
    let Layout { data, others: [aad], .. } = out.arrange(0, data, 0, [aad])?;
    aead.decrypt_parts(nonce, aad, data, tag)?;
    Ok(count(len))
}
