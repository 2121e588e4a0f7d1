//! Messages of a keyring, whose overhead depends on the key that sealed them.

use crate::batch::{self, Item, MESSAGE_COST, Offsets, Packed, aads_of, elements, sources, view_of_offsets};
use crate::buffer::{Slot, Source, Target, copied, fresh, fresh_by, read, with_memory};
use crate::detach::detached;
use crate::populate::Writers;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealane::{Error, KeyringAead, KeyringDeterministicAead};
use zeroize::Zeroizing;

/// Opens a message of any key of a keyring into new `bytes`.
#[inline(never)]
pub(crate) fn open<'py>(
    ring: &KeyringAead,
    py: Python<'py>,
    sealed: &[u8],
    aad: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    match ring.only_candidate(sealed) {
        Some((aead, prefix_len)) => {
            let sealed = &sealed[prefix_len..];
            let len = sealed.len().saturating_sub(aead.overhead());
            let writers = || Writers::of(aead.divides(len));
            fresh_by(py, len, writers, |out| {
                detached(py, sealed.len() + aad.len(), || aead.open_into(sealed, out, aad).map(drop))
            })
        }
        None => {
            let plaintext =
                detached(py, sealed.len() + aad.len(), || ring.open(sealed, aad).map(Zeroizing::new))?;
            copied(py, &plaintext)
        }
    }
}

/// Opens a message that several keys of a keyring may have sealed into the start of `out`; returns the number of bytes
/// written.
pub(crate) fn open_into(
    ring: &KeyringAead,
    py: Python<'_>,
    sealed: Source<'_>,
    aad: Source<'_>,
    out: Target<'_>,
) -> PyResult<usize> {
    // The length depends on the key, so the plaintext is copied when the key is known.
    let (sealed, aad) = (sealed.bytes(), aad.bytes());
    let plaintext = detached(py, sealed.len() + aad.len(), || ring.open(sealed, aad).map(Zeroizing::new))?;
    out.first(plaintext.len())?.bytes().copy_from_slice(&plaintext);
    Ok(plaintext.len())
}

/// Seals or opens messages with a keyring, whose results have lengths that depend on the key.
pub(crate) fn many<'py>(
    messages: &Bound<'py, PyAny>,
    aads: Option<&Bound<'py, PyAny>>,
    work: impl Fn(&[&[u8]], Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>, Error> + Send + Sync,
) -> PyResult<Bound<'py, PyList>> {
    let py = messages.py();
    let (messages, aads) = (elements("messages", messages)?, aads_of(py, aads)?);
    let mut slots = batch::slots(py, &messages)?;
    let messages = sources(&messages, &mut slots)?;
    let mut aad_slots = aads.as_ref().map_or(Ok(Vec::new()), |aads| batch::slots(py, aads))?;
    let aads = aads.as_ref().map(|aads| sources(aads, &mut aad_slots)).transpose()?;
    let cost = messages.iter().map(|message| message.len() + MESSAGE_COST).sum();
    let results = detached(py, cost, || work(&messages, aads.as_deref()).map(Zeroizing::new))?;
    let mut objects = with_memory(results.len())?;
    for result in results.iter() {
        objects.push(copied(py, result)?);
    }
    PyList::new(py, objects)
}

/// Seals packed messages with a keyring.
pub(crate) fn seal_packed<'py>(
    ring: &KeyringAead,
    data: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Packed<'py>> {
    match Offsets::read(offsets)? {
        Offsets::Narrow(offsets) => packed(data, &offsets, aad, |d, o, a| ring.seal_packed(d, o, a)),
        Offsets::Wide(offsets) => packed(data, &offsets, aad, |d, o, a| ring.seal_packed(d, o, a)),
    }
}

/// Opens packed messages with a keyring.
pub(crate) fn open_packed<'py>(
    ring: &KeyringAead,
    data: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Packed<'py>> {
    match Offsets::read(offsets)? {
        Offsets::Narrow(offsets) => packed(data, &offsets, aad, |d, o, a| ring.open_packed(d, o, a)),
        Offsets::Wide(offsets) => packed(data, &offsets, aad, |d, o, a| ring.open_packed(d, o, a)),
    }
}

/// Decrypts a message of any key of a keyring into new `bytes`.
pub(crate) fn decrypt<'py>(
    ring: &KeyringDeterministicAead,
    py: Python<'py>,
    data: &[u8],
    aad: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    match ring.only_candidate(data) {
        Some((daead, prefix_len)) => {
            let data = &data[prefix_len..];
            fresh(py, data.len().saturating_sub(daead.overhead()), |out| {
                detached(py, data.len() + aad.len(), || daead.decrypt_into(data, aad, out)).map(drop)
            })
        }
        None => {
            let decrypt = || ring.decrypt(data, aad).map(Zeroizing::new);
            copied(py, &detached(py, data.len() + aad.len(), decrypt)?)
        }
    }
}

/// Encrypts a message with each enabled key of a keyring.
pub(crate) fn encrypt_with_all_keys<'py>(
    ring: &KeyringDeterministicAead,
    data: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = data.py();
    read!(py; data; optional aad);
    let cost = (data.len() + aad.len()).saturating_mul(ring.len());
    let results = detached(py, cost, || ring.encrypt_with_all_keys(data, aad))?;
    let mut objects = with_memory(results.len())?;
    for result in &results {
        objects.push(copied(py, result)?);
    }
    PyList::new(py, objects)
}

/// Encrypts packed messages with the primary key of a keyring.
pub(crate) fn encrypt_packed<'py>(
    ring: &KeyringDeterministicAead,
    data: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Packed<'py>> {
    match Offsets::read(offsets)? {
        Offsets::Narrow(offsets) => packed(data, &offsets, aad, |d, o, a| ring.encrypt_packed(d, o, a)),
        Offsets::Wide(offsets) => packed(data, &offsets, aad, |d, o, a| ring.encrypt_packed(d, o, a)),
    }
}

/// Decrypts packed messages of any keys of a keyring.
pub(crate) fn decrypt_packed<'py>(
    ring: &KeyringDeterministicAead,
    data: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Packed<'py>> {
    match Offsets::read(offsets)? {
        Offsets::Narrow(offsets) => packed(data, &offsets, aad, |d, o, a| ring.decrypt_packed(d, o, a)),
        Offsets::Wide(offsets) => packed(data, &offsets, aad, |d, o, a| ring.decrypt_packed(d, o, a)),
    }
}

fn packed<'py, O: Item>(
    data: &Bound<'py, PyAny>,
    offsets: &[O],
    aad: Option<&Bound<'py, PyAny>>,
    work: impl Fn(&[u8], &[O], &[u8]) -> Result<(Vec<u8>, Vec<O>), Error> + Send + Sync,
) -> PyResult<Packed<'py>> {
    let py = data.py();
    let (mut a, mut b) = (Slot::new(py), Slot::new(py));
    let (data, aad) = (a.read(data)?.bytes(), b.read_optional(aad)?.bytes());
    let cost = data.len() + aad.len() + offsets.len() * MESSAGE_COST;
    let (out, new_offsets) =
        detached(py, cost, || work(data, offsets, aad).map(|(out, offsets)| (Zeroizing::new(out), offsets)))?;
    Ok((copied(py, &out)?, view_of_offsets(py, &new_offsets)?))
}
