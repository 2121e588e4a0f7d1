//! The methods that `sealane.Aead` and `sealane.hazmat.Aead` have in common.
//!
//! PyO3 methods cannot be generic. So the bodies are generic functions over [`Sealer`], and [`aead_methods`] defines the
//! methods of a class, each of which calls one of the functions.

use crate::buffer::{Layout, Slot, Source, Target, fresh_by, read};
use crate::detach::detached;
use crate::error::{raise, usage_limit_warning};
use crate::keyring_messages;
use crate::populate::Writers;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::{Error, InOut, KeyringAead, Misuse};

/// Defines the methods of a Python class whose field `core` is a [`Sealer`]. The methods in braces are its own.
///
/// `associated_data` and `buf` are documented as keywords, but declared as if they could be given by position. With keywords
/// only, 64 bytes take 4 % longer; with a dictionary, 30 % (`lab/record/open-zen4-2026-11-23.md`).
macro_rules! aead_methods {
    ($class:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            /// Encrypts ``plaintext`` under a fresh random nonce.
            ///
            /// Parameters
            /// ----------
            /// plaintext : bytes-like
            ///     At most ``max_plaintext_len`` bytes.
            /// aad : bytes-like, optional
            ///     Associated data, which is authenticated but not part of the result. Opening needs the same.
            ///
            /// Returns
            /// -------
            /// bytes
            ///     ``nonce || ciphertext || tag``, ``overhead`` bytes longer than the plaintext.
            ///
            /// Raises
            /// ------
            /// LimitExceededError
            ///     If the plaintext is longer than ``max_plaintext_len``.
            #[pyo3(signature = (plaintext, aad = None), text_signature = "($self, plaintext, aad=b'')")]
            fn seal<'py>(
                &self,
                plaintext: &Bound<'py, PyAny>,
                aad: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                sealer::seal(&self.core, plaintext, aad)
            }

            /// Decrypts and verifies a sealed message.
            ///
            /// Parameters
            /// ----------
            /// sealed : bytes-like
            ///     The result of ``seal``.
            /// aad : bytes-like, optional
            ///     The associated data that the message was sealed with.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     If the key or the associated data is another one, or the message was changed.
            #[pyo3(signature = (sealed, aad = None), text_signature = "($self, sealed, aad=b'')")]
            fn open<'py>(
                &self,
                sealed: &Bound<'py, PyAny>,
                aad: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                sealer::open(&self.core, sealed, aad)
            }

            /// Seals into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(plaintext) + overhead``. The message is sealed in place if the plaintext is at
            /// ``out[nonce_len:]``. ``aad`` is the associated data, as for ``seal``.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     If ``out`` is too short, or overlaps an argument in any other way. Nothing is written.
            /// TypeError
            ///     If ``out`` is read-only. Nothing is written.
            /// LimitExceededError
            ///     If the plaintext is longer than ``max_plaintext_len``.
            #[pyo3(signature = (plaintext, out, aad = None), text_signature = "($self, plaintext, out, aad=b'')")]
            fn seal_into(
                &self,
                plaintext: &Bound<'_, PyAny>,
                out: &Bound<'_, PyAny>,
                aad: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<usize> {
                sealer::seal_into(&self.core, plaintext, out, aad)
            }

            /// Opens into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(sealed) - overhead``. The message is opened in place if ``out`` starts at
            /// ``sealed[nonce_len:]``.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     As ``open`` does. The plaintext in ``out`` is overwritten with zeros.
            /// ValueError, TypeError
            ///     As ``seal_into`` does.
            #[pyo3(signature = (sealed, out, aad = None), text_signature = "($self, sealed, out, aad=b'')")]
            fn open_into(
                &self,
                sealed: &Bound<'_, PyAny>,
                out: &Bound<'_, PyAny>,
                aad: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<usize> {
                sealer::open_into(&self.core, sealed, out, aad)
            }

            /// Encrypts ``data`` under the nonce of the caller.
            ///
            /// .. warning::
            ///     Never use a nonce twice with one key: with most algorithms, this reveals the difference of the
            ///     two plaintexts and lets an attacker forge messages. ``seal`` picks nonces itself.
            ///
            /// Parameters
            /// ----------
            /// nonce : bytes-like
            ///     ``nonce_len`` bytes.
            /// data : bytes-like
            ///     The plaintext.
            /// aad : bytes-like, optional
            ///     Associated data, which is authenticated but not part of the result. The package cryptography calls it
            ///     ``associated_data``, which works as well.
            ///
            /// Returns
            /// -------
            /// bytes
            ///     ``ciphertext || tag``.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     If the nonce has another length.
            /// LimitExceededError
            ///     If the data is longer than ``max_plaintext_len``.
            #[pyo3(
                signature = (nonce, data, aad = None, associated_data = None),
                text_signature = "($self, nonce, data, aad=None, *, associated_data=None)"
            )]
            fn encrypt<'py>(
                &self,
                nonce: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                aad: Option<&Bound<'py, PyAny>>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let aad = crate::arguments::either("aad", aad, "associated_data", associated_data)?;
                sealer::encrypt(&self.core, nonce, data, aad)
            }

            /// Encrypts into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(data) + tag_len``. The data is encrypted in place if ``out`` starts where ``data``
            /// starts. The warning of ``encrypt`` applies. The package cryptography calls the last arguments
            /// ``associated_data`` and ``buf``, which works as well.
            ///
            /// Raises
            /// ------
            /// ValueError, TypeError, LimitExceededError
            ///     As ``encrypt`` and ``seal_into`` do.
            #[pyo3(
                signature = (nonce, data, aad = None, out = None, associated_data = None, buf = None),
                text_signature = "($self, nonce, data, aad=None, out=None, *, associated_data=None, buf=None)"
            )]
            fn encrypt_into(
                &self,
                nonce: &Bound<'_, PyAny>,
                data: &Bound<'_, PyAny>,
                aad: Option<&Bound<'_, PyAny>>,
                out: Option<&Bound<'_, PyAny>>,
                associated_data: Option<&Bound<'_, PyAny>>,
                buf: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<usize> {
                let aad = crate::arguments::either("aad", aad, "associated_data", associated_data)?;
                let out = crate::arguments::either("out", out, "buf", buf)?.ok_or_else(crate::arguments::no_output)?;
                sealer::encrypt_into(&self.core, nonce, data, aad, out)
            }

            /// Decrypts and verifies ``data``, which is ``ciphertext || tag``, under the nonce of the caller.
            ///
            /// ``aad`` is the associated data of ``encrypt``, also by the name ``associated_data``.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     If the key, the nonce or the associated data is another one, or the data was changed.
            /// ValueError
            ///     If the nonce has another length.
            #[pyo3(
                signature = (nonce, data, aad = None, associated_data = None),
                text_signature = "($self, nonce, data, aad=None, *, associated_data=None)"
            )]
            fn decrypt<'py>(
                &self,
                nonce: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                aad: Option<&Bound<'py, PyAny>>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let aad = crate::arguments::either("aad", aad, "associated_data", associated_data)?;
                sealer::decrypt(&self.core, nonce, data, aad)
            }

            /// Decrypts into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(data) - tag_len``. The data is decrypted in place if ``out`` starts where ``data``
            /// starts. ``aad`` and ``out`` are also called ``associated_data`` and ``buf``, as for ``encrypt_into``.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     As ``decrypt`` does. The plaintext in ``out`` is overwritten with zeros.
            /// ValueError, TypeError
            ///     As ``decrypt`` and ``seal_into`` do.
            #[pyo3(
                signature = (nonce, data, aad = None, out = None, associated_data = None, buf = None),
                text_signature = "($self, nonce, data, aad=None, out=None, *, associated_data=None, buf=None)"
            )]
            fn decrypt_into(
                &self,
                nonce: &Bound<'_, PyAny>,
                data: &Bound<'_, PyAny>,
                aad: Option<&Bound<'_, PyAny>>,
                out: Option<&Bound<'_, PyAny>>,
                associated_data: Option<&Bound<'_, PyAny>>,
                buf: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<usize> {
                let aad = crate::arguments::either("aad", aad, "associated_data", associated_data)?;
                let out = crate::arguments::either("out", out, "buf", buf)?.ok_or_else(crate::arguments::no_output)?;
                sealer::decrypt_into(&self.core, nonce, data, aad, out)
            }

            /// Name of the variant (the code for an instruction set) that computes the algorithm.
            ///
            /// It is "opaque" if another library picks the variant and does not tell.
            #[getter]
            fn variant(&self) -> &'static str {
                self.core.variant()
            }

            /// Length in bytes of a nonce of this algorithm.
            #[getter]
            fn nonce_len(&self) -> usize {
                self.core.nonce_len()
            }

            /// Length in bytes of a tag of this algorithm.
            #[getter]
            fn tag_len(&self) -> usize {
                self.core.tag_len()
            }

            /// Number of bytes by which a sealed message is longer than its plaintext: nonce and tag.
            #[getter]
            fn overhead(&self) -> usize {
                self.core.overhead()
            }

            /// Largest length in bytes of the plaintext of one message; a longer one raises LimitExceededError.
            #[getter]
            fn max_plaintext_len(&self) -> u64 {
                self.core.max_plaintext_len()
            }

            fn __reduce__(&self) -> PyResult<()> {
                Err(keys::never_pickled())
            }
        }
    };
}
pub(crate) use aead_methods;

/// An AEAD of the core that generates nonces.
pub(crate) trait Sealer: Sync {
    /// Returns the length in bytes of a nonce, which is the beginning of a sealed message.
    fn nonce_len(&self) -> usize;
    /// Returns the length in bytes of a tag, which is the end of a sealed message.
    fn tag_len(&self) -> usize;
    /// Encrypts under a fresh nonce, and writes the nonce to `nonce` and the tag to `tag`.
    fn seal_parts(&self, nonce: &mut [u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Error>;
    /// Encrypts under the nonce of the caller, and writes the tag to `tag`.
    fn encrypt_parts(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Error>;
    /// Decrypts the data if `tag` is authentic, and fails otherwise.
    fn decrypt_parts(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8]) -> Result<(), Error>;

    /// Returns how many threads write a result of `len` bytes.
    fn writers(&self, _len: usize) -> Writers {
        Writers::One
    }

    /// Returns whether a warning about the number of messages is due, once.
    #[inline]
    fn take_limit_warning(&self) -> bool {
        false
    }

    /// Returns the keyring if there are several keys that can open a message, whose overhead can differ.
    #[inline]
    fn keyring(&self) -> Option<&KeyringAead> {
        None
    }

    /// Checks the length of a nonce of the caller, before anything that an attacker controls.
    #[inline]
    fn check_nonce_len(&self, got: usize) -> Result<(), Error> {
        let want = self.nonce_len();
        if got == want { Ok(()) } else { Err(Misuse::NonceLength { got, want }.into()) }
    }

    // The same for whole messages. `out` has the length of the result.

    /// Encrypts `plaintext` under a random nonce and writes `nonce || ciphertext || tag` to `out`.
    #[inline]
    fn seal_into(&self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<(), Error> {
        let (nonce, body) = out.split_at_mut(self.nonce_len());
        let (ciphertext, tag) = body.split_at_mut(plaintext.len());
        self.seal_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)
    }
    /// Opens `nonce || ciphertext || tag`.
    #[inline]
    fn open_into(&self, sealed: &[u8], out: &mut [u8], aad: &[u8]) -> Result<(), Error> {
        let (nonce, body) = sealed.split_at_checked(self.nonce_len()).ok_or(Error::Authentication)?;
        self.decrypt_into(nonce, body, aad, out)
    }
    /// Encrypts `data` under the nonce of the caller and writes `ciphertext || tag` to `out`.
    #[inline]
    fn encrypt_into(&self, nonce: &[u8], data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let (ciphertext, tag) = out.split_at_mut(data.len());
        self.encrypt_parts(nonce, aad, InOut::apart(data, ciphertext), tag)
    }
    /// Decrypts `ciphertext || tag`.
    #[inline]
    fn decrypt_into(&self, nonce: &[u8], data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.check_nonce_len(nonce.len())?;
        let len = data.len().checked_sub(self.tag_len()).ok_or(Error::Authentication)?;
        let (data, tag) = data.split_at(len);
        self.decrypt_parts(nonce, aad, InOut::apart(data, out), tag)
    }
}

/// Returns a new `bytes` object of `len` bytes, which `core` writes in `fill`.
#[inline]
fn fresh<'py>(
    core: &impl Sealer,
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyBytes>> {
    fresh_by(py, len, || core.writers(len), fill)
}

// ---- sealed messages: nonce || ciphertext || tag ----------------------------------------------------------

/// Seals `plaintext` and returns the sealed message as a new `bytes` object.
#[inline]
pub(crate) fn seal<'py>(
    core: &impl Sealer,
    plaintext: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = plaintext.py();
    read!(py; plaintext; optional aad);
    let sealed = fresh(core, py, core.nonce_len() + plaintext.len() + core.tag_len(), |out| {
        detached(py, plaintext.len() + aad.len(), || core.seal_into(plaintext, out, aad))
    })?;
    warn_near_limit(core, py)?;
    Ok(sealed)
}

/// Raises the warning that is due near the limit of messages under one key.
#[inline]
pub(crate) fn warn_near_limit(core: &impl Sealer, py: Python<'_>) -> PyResult<()> {
    if core.take_limit_warning() { usage_limit_warning(py) } else { Ok(()) }
}

/// Verifies and decrypts `sealed` and returns the plaintext as a new `bytes` object.
#[inline]
pub(crate) fn open<'py>(
    core: &impl Sealer,
    sealed: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = sealed.py();
    read!(py; sealed; optional aad);
    if let Some(ring) = core.keyring() {
        return keyring_messages::open(ring, py, sealed, aad);
    }
    fresh(core, py, sealed.len().saturating_sub(core.nonce_len() + core.tag_len()), |out| {
        detached(py, sealed.len() + aad.len(), || core.open_into(sealed, out, aad))
    })
}

/// Seals `plaintext` into the start of `out`; returns the number of bytes written.
#[inline]
pub(crate) fn seal_into(
    core: &impl Sealer,
    plaintext: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    aad: Option<&Bound<'_, PyAny>>,
) -> PyResult<usize> {
    let py = plaintext.py();
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (plaintext, aad) = (a.read(plaintext)?, b.read_optional(aad)?);
    let len = core.nonce_len() + plaintext.len() + core.tag_len();
    seal_layout(core, py, c.write(out)?.first(len)?.arrange(core.nonce_len(), plaintext, [aad])?)?;
    warn_near_limit(core, py)?;
    Ok(len)
}

/// Opens `sealed` into the start of `out`; returns the number of bytes written.
#[inline]
pub(crate) fn open_into(
    core: &impl Sealer,
    sealed: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    aad: Option<&Bound<'_, PyAny>>,
) -> PyResult<usize> {
    let py = sealed.py();
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (sealed, aad, out) = (a.read(sealed)?, b.read_optional(aad)?, c.write(out)?);
    match core.keyring() {
        None => open_source(core, py, sealed, aad, out),
        Some(ring) => open_source_by_key(ring, py, sealed, aad, out),
    }
}

/// Opens a message under a keyring. Its length is known before it is opened only if one key can open it.
#[inline(never)]
fn open_source_by_key(
    ring: &KeyringAead,
    py: Python<'_>,
    sealed: Source<'_>,
    aad: Source<'_>,
    out: Target<'_>,
) -> PyResult<usize> {
    let first = sealed.first::<5>();
    let Some((aead, prefix_len)) = ring.only_candidate(first.as_ref().map_or(&[], |first| first)) else {
        return keyring_messages::open_into(ring, py, sealed, aad, out);
    };
    let (_, body) = sealed.split(prefix_len).ok_or_else(authentication_error)?;
    open_source(aead, py, body, aad, out)
}

#[inline]
fn open_source(
    core: &impl Sealer,
    py: Python<'_>,
    sealed: Source<'_>,
    aad: Source<'_>,
    out: Target<'_>,
) -> PyResult<usize> {
    let (nonce, body) = sealed.split(core.nonce_len()).ok_or_else(authentication_error)?;
    let len = body.len().checked_sub(core.tag_len()).ok_or_else(authentication_error)?;
    let (data, tag) = body.split(len).ok_or_else(authentication_error)?;
    open_layout(core, py, out.first(len)?.arrange(0, data, [nonce, aad, tag])?)?;
    Ok(len)
}

// ---- explicit nonces: ciphertext || tag -------------------------------------------------------------------

/// Encrypts `data` under the nonce of the caller into new `bytes`.
#[inline]
pub(crate) fn encrypt<'py>(
    core: &impl Sealer,
    nonce: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    read!(py; nonce, data; optional aad);
    fresh(core, py, data.len() + core.tag_len(), |out| {
        detached(py, data.len() + aad.len(), || core.encrypt_into(nonce, data, aad, out))
    })
}

/// Decrypts `data` under the nonce of the caller into new `bytes`.
#[inline]
pub(crate) fn decrypt<'py>(
    core: &impl Sealer,
    nonce: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    read!(py; nonce, data; optional aad);
    fresh(core, py, data.len().saturating_sub(core.tag_len()), |out| {
        detached(py, data.len() + aad.len(), || core.decrypt_into(nonce, data, aad, out))
    })
}

/// Encrypts `data` under the nonce of the caller into the start of `out`; returns the number of bytes written.
#[inline]
pub(crate) fn encrypt_into(
    core: &impl Sealer,
    nonce: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    aad: Option<&Bound<'_, PyAny>>,
    out: &Bound<'_, PyAny>,
) -> PyResult<usize> {
    let py = data.py();
    let (mut a, mut b, mut c, mut d) = (Slot::new(py), Slot::new(py), Slot::new(py), Slot::new(py));
    let (nonce, data, aad) = (a.read(nonce)?, b.read(data)?, c.read_optional(aad)?);
    let len = data.len() + core.tag_len();
    let Layout { data, tail: tag, others: [nonce, aad], .. } =
        d.write(out)?.first(len)?.arrange(0, data, [nonce, aad])?;
    detached(py, len + aad.len(), || core.encrypt_parts(nonce, aad, data.in_out(), tag))?;
    Ok(len)
}

/// Decrypts `data` under the nonce of the caller into the start of `out`; returns the number of bytes written.
#[inline]
pub(crate) fn decrypt_into(
    core: &impl Sealer,
    nonce: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    aad: Option<&Bound<'_, PyAny>>,
    out: &Bound<'_, PyAny>,
) -> PyResult<usize> {
    let py = data.py();
    let (mut a, mut b, mut c, mut d) = (Slot::new(py), Slot::new(py), Slot::new(py), Slot::new(py));
    let (nonce, data, aad, out) = (a.read(nonce)?, b.read(data)?, c.read_optional(aad)?, d.write(out)?);
    core.check_nonce_len(nonce.len()).map_err(raise)?;
    let len = data.len().checked_sub(core.tag_len()).ok_or_else(authentication_error)?;
    let (data, tag) = data.split(len).ok_or_else(authentication_error)?;
    open_layout(core, py, out.first(len)?.arrange(0, data, [nonce, aad, tag])?)?;
    Ok(len)
}

// ---- layouts ----------------------------------------------------------------------------------------------

/// Seals the data of a layout. The nonce is written to its head, the tag to its tail; `others` is the associated data.
#[inline(always)]
pub(crate) fn seal_layout(core: &impl Sealer, py: Python<'_>, layout: Layout<'_, 1>) -> PyResult<()> {
    let Layout { head: nonce, data, tail: tag, others: [aad] } = layout;
    let len = data.len() + aad.len();
    detached(py, len, || core.seal_parts(nonce, aad, data.in_out(), tag))
}

/// Opens the data of a layout. `others` are nonce, associated data and tag.
#[inline(always)]
fn open_layout(core: &impl Sealer, py: Python<'_>, layout: Layout<'_, 3>) -> PyResult<()> {
    let Layout { data, others: [nonce, aad, tag], .. } = layout;
    let len = data.len() + aad.len();
    detached(py, len, || core.decrypt_parts(nonce, aad, data.in_out(), tag))
}

#[cold]
pub(crate) fn authentication_error() -> PyErr {
    raise(Error::Authentication)
}
