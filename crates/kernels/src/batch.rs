//! Batches: many messages of an AEAD in one call. Runs of short messages are processed together,
//! longer ones one by one.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::ct;
use crate::error::{MessageError, OpenError};
use crate::zero::wipe;
use alloc::vec;

/// Number of messages that are decrypted before their tags are compared.
pub(crate) const GROUP: usize = 64;

/// Parts of a sealed message.
pub(crate) struct Sealed<'a, const NONCE_LEN: usize> {
    pub(crate) nonce: &'a mut [u8; NONCE_LEN],
    pub(crate) data: &'a mut [u8],
    pub(crate) tag: &'a mut [u8; 16],
}

impl<'a, const NONCE_LEN: usize> Sealed<'a, NONCE_LEN> {
    #[inline(always)]
    pub(crate) fn parts(sealed: &'a mut [u8]) -> Self {
        let (nonce, body) = sealed.split_first_chunk_mut().expect("a nonce");
        let (data, tag) = body.split_last_chunk_mut().expect("a tag");
        Self { nonce, data, tag }
    }
}

/// Returns the nonce, the ciphertext and the tag of a sealed message.
#[inline(always)]
pub(crate) fn parts<const NONCE_LEN: usize>(sealed: &[u8]) -> (&[u8; NONCE_LEN], &[u8], &[u8; 16]) {
    let (nonce, body) = sealed.split_first_chunk().expect("a nonce");
    let (ciphertext, tag) = body.split_last_chunk().expect("a tag");
    (nonce, ciphertext, tag)
}

/// Seals each of `plaintexts` under the nonce with its index, to `nonce || ciphertext || tag` in
/// the destination with its index. `short` seals runs of messages whose lengths are short, as many
/// of a run as `together` returns, and `single` any other message.
///
/// # Errors
/// Returns the error of the first message that has one, with its index.
///
/// # Panics
/// Panics if there is not one nonce and one destination of the right length for each message.
#[inline(always)]
pub(crate) fn seal<const NONCE_LEN: usize>(
    together: impl Fn(usize) -> usize,
    is_short: impl Fn(usize) -> bool,
    nonces: &[[u8; NONCE_LEN]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
    short: impl Fn(&[[u8; NONCE_LEN]], &[&[u8]], &mut [&mut [u8]]),
    single: impl Fn(&[u8; NONCE_LEN], InOut<'_>, &mut [u8; 16]) -> Result<(), MessageError>,
) -> Result<(), (usize, MessageError)> {
    assert_eq!((nonces.len(), sealed.len()), (plaintexts.len(), plaintexts.len()));
    let mut at = 0;
    while at < plaintexts.len() {
        let run = plaintexts[at..].iter().take_while(|plaintext| is_short(plaintext.len())).count();
        let run = together(run);
        if run == 0 {
            let to = Sealed::parts(sealed[at]);
            let data = InOut::apart(plaintexts[at], to.data);
            single(&nonces[at], data, to.tag).map_err(|error| (at, error))?;
            *to.nonce = nonces[at];
            at += 1;
            continue;
        }
        let range = at..at + run;
        short(&nonces[range.clone()], &plaintexts[range.clone()], &mut sealed[range]);
        at += run;
    }
    Ok(())
}

/// Opens each message `nonce || ciphertext || tag` of `sealed` to the destination with its index.
/// `short` decrypts runs of short messages, as many of a run as `together` returns, and stores the
/// tags that they should have; `single` opens any other message.
///
/// # Errors
/// Returns the error of the first message that has one, with its index. The destinations from this
/// one on are zero or unchanged.
///
/// # Panics
/// Panics if there is not one destination of the right length for each message.
#[inline(always)]
pub(crate) fn open<const NONCE_LEN: usize>(
    together: impl Fn(usize) -> usize,
    is_short: impl Fn(usize) -> bool,
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    short: impl Fn(&[&[u8]], &mut [&mut [u8]], &mut [[u8; 16]]),
    single: impl Fn(&[u8; NONCE_LEN], InOut<'_>, &[u8; 16]) -> Result<(), OpenError>,
) -> Result<(), (usize, OpenError)> {
    assert_eq!(sealed.len(), plaintexts.len());
    let mut at = 0;
    while at < sealed.len() {
        // Stops at a wrong length too, before a plaintext is written that is not verified.
        let is_short = |(sealed, plaintext): &(&&[u8], &&mut [u8])| {
            is_short(plaintext.len()) && sealed.len() == plaintext.len() + NONCE_LEN + 16
        };
        let group = sealed[at..].iter().zip(&plaintexts[at..]).take(GROUP);
        let run = together(group.take_while(is_short).count());
        if run == 0 {
            let (nonce, ciphertext, tag) = parts(sealed[at]);
            single(nonce, InOut::apart(ciphertext, plaintexts[at]), tag).map_err(|error| (at, error))?;
            at += 1;
            continue;
        }
        let (from, to) = (&sealed[at..at + run], &mut plaintexts[at..at + run]);
        let mut tags = [[0; 16]; GROUP];
        short(from, to, &mut tags[..run]);
        let authentic = |i: usize| from[i].last_chunk().is_some_and(|tag| ct::equal(&tags[i], tag));
        if let Some(forged) = (0..run).position(|i| !authentic(i)) {
            to[forged..].iter_mut().for_each(|plaintext| plaintext.fill(0));
            // With these tags, read from the stack, forged messages would be accepted.
            wipe(tags.as_flattened_mut());
            return Err((at + forged, OpenError::AuthenticationFailed));
        }
        at += run;
    }
    Ok(())
}

/// Returns whether a batch of messages of different lengths opens, as a batch and one by one, for
/// self-tests.
pub(crate) fn self_test(
    plain: &[u8],
    seal_batch: impl Fn(&[[u8; 12]], &[&[u8]], &mut [&mut [u8]]) -> bool,
    open_batch: impl Fn(&[&[u8]], &mut [&mut [u8]]) -> bool,
    open: impl Fn(&[u8; 12], InOut<'_>, &[u8; 16]) -> bool,
) -> bool {
    let plaintexts = [0, 20, 37, 59].map(|len| &plain[..len.min(plain.len())]);
    let mut sealed = plaintexts.map(|plain| vec![0; 12 + plain.len() + 16]);
    let mut opened = plaintexts.map(|plain| vec![0; plain.len()]);
    seal_batch(&[[7; 12]; 4], &plaintexts, &mut sealed.each_mut().map(|sealed| &mut sealed[..]))
        && open_batch(
            &sealed.each_ref().map(|sealed| &sealed[..]),
            &mut opened.each_mut().map(|opened| &mut opened[..]),
        )
        && opened == plaintexts
        && sealed.iter_mut().zip(plaintexts).all(|(sealed, plain)| {
            let Sealed { nonce, data, tag } = Sealed::parts(sealed);
            open(nonce, InOut::in_place(data), tag) && data == plain
        })
}
