//! The file formats, in memory.

use super::Options;
use super::chunked::{Chunked, HEADER_LEN};
use crate::engine::join::{join, threads};
use crate::engine::pipeline::{Chunks, open_chunks, seal_chunks};
use crate::engine::plan::{Job, Plan};
use crate::{Error, Key, Misuse};
use std::sync::Mutex;

/// Below this many bytes a second thread costs more than it brings.
const WORTH_THREADS: usize = 4 << 20;

/// The bytes of an encrypted file with this plaintext.
///
/// # Errors
/// [`Misuse::KeyLength`].
pub fn encrypt(plaintext: &[u8], key: &Key, context: &[u8]) -> Result<Vec<u8>, Error> {
    let plan = Chunked::LAYOUT.plan_plain(plaintext.len() as u64)?;
    let mut out = vec![0; length(plan.sealed_len())?];
    encrypt_into(plaintext, key, context, &mut out)?;
    Ok(out)
}

/// Bytes of the file that [`encrypt_into`] writes for a plaintext of this length.
pub fn encrypted_len(plaintext_len: usize) -> Result<usize, Error> {
    length(Chunked::LAYOUT.plan_plain(plaintext_len as u64)?.sealed_len())
}

/// The same into the start of a buffer; [`encrypted_len`] bytes are written.
///
/// # Errors
/// [`Misuse::KeyLength`], [`Misuse::OutputTooShort`].
pub fn encrypt_into(plaintext: &[u8], key: &Key, context: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let plan = Chunked::LAYOUT.plan_plain(plaintext.len() as u64)?;
    let out = first(out, plan.sealed_len())?;
    let (chunked, header) = Chunked::create(key, context)?;
    let (head, body) = out.split_at_mut(HEADER_LEN);
    head.copy_from_slice(&header);
    each_job(plan, plaintext, body, Job::plain_len, Job::sealed_len, |job, plain, sealed| {
        seal_chunks(&chunked, job.first, plain, sealed)
    })
}

/// The plaintext of an encrypted file.
///
/// # Errors
/// [`Error::Authentication`], [`Error::Truncated`].
pub fn decrypt(file: &[u8], key: &Key, context: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = vec![0; decrypted_len(file.len())?];
    decrypt_into(file, key, context, &mut out)?;
    Ok(out)
}

/// Bytes of plaintext in a file of this length, if it is whole.
///
/// # Errors
/// [`Error::Truncated`].
pub fn decrypted_len(file_len: usize) -> Result<usize, Error> {
    length(Chunked::LAYOUT.plan_sealed(file_len as u64)?.plain_len)
}

/// The same into the start of a buffer; [`decrypted_len`] bytes are written, all of them zero on failure.
///
/// # Errors
/// Those of [`decrypt`]; [`Misuse::OutputTooShort`].
pub fn decrypt_into(file: &[u8], key: &Key, context: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let plan = Chunked::LAYOUT.plan_sealed(file.len() as u64)?;
    let out = first(out, plan.plain_len)?;
    let (header, body) = file.split_first_chunk().ok_or(Error::Truncated)?;
    let result = Chunked::open(key, context, header).and_then(|chunked| {
        each_job(plan, body, out, Job::sealed_len, Job::plain_len, |job, sealed, plain| {
            open_chunks(&chunked, job.first, sealed, plain)
        })
    });
    if result.is_err() {
        out.fill(0);
    }
    result
}

/// Cuts input and output by jobs and works on them with as many threads as they are worth.
fn each_job(
    plan: Plan,
    mut input: &[u8],
    mut output: &mut [u8],
    input_len: fn(&Job) -> usize,
    output_len: fn(&Job) -> usize,
    work: impl Fn(&Job, &[u8], &mut [u8]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let threads = if input.len() < WORTH_THREADS { 1 } else { threads(Options::default().threads) };
    let mut parts = Vec::new();
    for job in (0..plan.jobs()).map(|at| plan.job(at)) {
        let (from, rest) = input.split_at(input_len(&job));
        input = rest;
        let (to, rest) = output.split_at_mut(output_len(&job));
        output = rest;
        parts.push(Mutex::new((job, from, to)));
    }
    join(
        threads,
        plan.jobs(),
        || (),
        |at, ()| {
            let mut part = parts[at as usize].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (job, from, to) = &mut *part;
            work(job, from, to)
        },
        || Ok(()),
    )
}

fn first(out: &mut [u8], need: u64) -> Result<&mut [u8], Error> {
    let (got, need) = (out.len(), length(need)?);
    out.get_mut(..need).ok_or_else(|| Misuse::OutputTooShort { got, need }.into())
}

fn length(len: u64) -> Result<usize, Error> {
    usize::try_from(len).map_err(|_| Error::LimitExceeded("more than this machine can address"))
}
