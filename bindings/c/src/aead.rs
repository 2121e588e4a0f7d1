//! Messages: seal and open with random nonces, encrypt and decrypt with explicit nonces.

use crate::call::{Error, guarded, infallible, terminated};
use crate::error::CallError;
use crate::keys::Secret;
use crate::library::{algorithm_named, provider_named};
use crate::memory::{
    AeadDescription, CText, Call, In, Input, Layout, Out, Output, Owned, Shared, SizedOut, Unique, count,
};
use crate::speck::size_named;
use sealane::{Key, MessageKeys as Aead, hazmat};

/// Longest nonce or tag in bytes.
const MAX_LEN: usize = 32;

/// Makes a handle of a core algorithm with the key from `key`.
fn aead(
    (algorithm, provider): (CText, CText),
    error: Unique<Error>,
    key: impl FnOnce(&Call) -> Result<Key, CallError>,
) -> Owned<Aead> {
    guarded(error, |call| {
        let algorithm = algorithm_named(algorithm.required(call, "algorithm")?)?;
        let provider = provider_named(provider.optional(call, "provider")?)?;
        Ok(Owned::new(sealane::Aead::with_provider(algorithm, &key(call)?, provider)?.into()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_new(
    algorithm: CText,
    key: In,
    key_len: usize,
    provider: CText,
    error: Unique<Error>,
) -> Owned<Aead> {
    aead((algorithm, provider), error, |call| Ok(Key::from_bytes(key.bytes(call, "key", key_len)?)))
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_new_with_secret(
    algorithm: CText,
    secret: Shared<Secret>,
    provider: CText,
    error: Unique<Error>,
) -> Owned<Aead> {
    aead((algorithm, provider), error, |call| secret.get(call, "secret")?.symmetric())
}

/// Makes a Speck-Poly1305 key with one of the core's constructors.
fn speck_poly1305(
    (name, key, key_len): (CText, In, usize),
    error: Unique<Error>,
    new: fn(hazmat::SpeckSize, &[u8]) -> Result<hazmat::Aead, sealane::Error>,
) -> Owned<Aead> {
    guarded(error, |call| {
        let size = size_named(name.required(call, "algorithm")?, "-poly1305")?;
        Ok(Owned::new(new(size, key.bytes(call, "key", key_len)?)?.into()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_aead_new(
    algorithm: CText,
    key: In,
    key_len: usize,
    error: Unique<Error>,
) -> Owned<Aead> {
    speck_poly1305((algorithm, key, key_len), error, hazmat::Aead::new)
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_aead_new_block_nonce(
    algorithm: CText,
    key: In,
    key_len: usize,
    error: Unique<Error>,
) -> Owned<Aead> {
    speck_poly1305((algorithm, key, key_len), error, hazmat::Aead::new_block_nonce)
}

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_aead_new_small_block(
    algorithm: CText,
    key: In,
    key_len: usize,
    error: Unique<Error>,
) -> Owned<Aead> {
    speck_poly1305((algorithm, key, key_len), error, hazmat::Aead::new_small_block)
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_free(aead: Owned<Aead>) {
    infallible(|| aead.free());
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_describe(
    aead: Shared<Aead>,
    description: SizedOut<AeadDescription>,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let aead = aead.get(call, "aead")?;
        description.put(
            "description",
            AeadDescription {
                size: size_of::<AeadDescription>(),
                nonce_len: aead.nonce_len(),
                tag_len: aead.tag_len(),
                max_plaintext_len: aead.max_plaintext_len(),
                algorithm: terminated(aead.primary().algorithm()),
                provider: terminated(aead.provider().name()),
                variant: terminated(aead.variant()),
            },
        )?;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_seal(
    aead: Shared<Aead>,
    data: In,
    data_len: usize,
    aad: In,
    aad_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let aead = aead.get(call, "aead")?;
        let (data, aad) = (data.input(call, "data", data_len)?, aad.input(call, "aad", aad_len)?);
        let out = out.output(call, "out", out_len)?;
        let Layout { head, data, tail, others: [aad] } =
            out.arrange(aead.nonce_len(), data, aead.tag_len(), [aad])?;
        let len = head.len() + data.len() + tail.len();
        aead.seal_parts(head, aad, data, tail)?;
        Ok(count(len))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_open(
    aead: Shared<Aead>,
    sealed: In,
    sealed_len: usize,
    aad: In,
    aad_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let aead = aead.get(call, "aead")?;
        let (sealed, aad) = (sealed.input(call, "sealed", sealed_len)?, aad.input(call, "aad", aad_len)?);
        let out = out.output(call, "out", out_len)?;
        let (nonce, data) = sealed.split(aead.nonce_len()).ok_or(CallError::AUTHENTICATION)?;
        decrypt(aead, nonce, data, aad, out)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_encrypt(
    aead: Shared<Aead>,
    nonce: In,
    nonce_len: usize,
    data: In,
    data_len: usize,
    aad: In,
    aad_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let aead = aead.get(call, "aead")?;
        let (nonce, data, aad) = inputs(call, (nonce, nonce_len), (data, data_len), (aad, aad_len))?;
        let out = out.output(call, "out", out_len)?;
        let Layout { data, tail, others: [nonce, aad], .. } =
            out.arrange(0, data, aead.tag_len(), [nonce, aad])?;
        let len = data.len() + tail.len();
        aead.encrypt_parts(nonce, aad, data, tail)?;
        Ok(count(len))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_aead_decrypt(
    aead: Shared<Aead>,
    nonce: In,
    nonce_len: usize,
    data: In,
    data_len: usize,
    aad: In,
    aad_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let aead = aead.get(call, "aead")?;
        let (nonce, data, aad) = inputs(call, (nonce, nonce_len), (data, data_len), (aad, aad_len))?;
        decrypt(aead, nonce, data, aad, out.output(call, "out", out_len)?)
    })
}

#[inline]
fn inputs<'a>(
    call: &'a Call,
    (nonce, nonce_len): (In, usize),
    (data, data_len): (In, usize),
    (aad, aad_len): (In, usize),
) -> Result<(Input<'a>, Input<'a>, Input<'a>), CallError> {
    let nonce = nonce.input(call, "nonce", nonce_len)?;
    Ok((nonce, data.input(call, "data", data_len)?, aad.input(call, "aad", aad_len)?))
}

/// Decrypts `data`, a ciphertext followed by its tag.
#[inline]
fn decrypt(
    aead: &Aead,
    nonce: Input<'_>,
    data: Input<'_>,
    aad: Input<'_>,
    out: Output<'_>,
) -> Result<i64, CallError> {
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
