//! Messages under the keys of an AEAD class: one [`MessageKeys`].
//!
//! PyO3 methods cannot be generic. So [`key_methods`] defines the methods that all classes with
//! such keys share, and [`aead_methods`] those of `sealane.Aead` and `sealane.hazmat.Aead`. Most
//! call a function below.

use crate::arguments;
use crate::batch::warn_near_limit;
use crate::buffer::Writers;
use crate::buffer::{Layout, Source, Target, fresh_by};
use crate::keys::Keyring;
use crate::prelude::*;
use sealane::MessageKey;

/// Defines the methods of every class with a field `core` of type [`MessageKeys`]: its own in
/// braces, those for packed messages, and these.
macro_rules! key_methods {
    ($class:ident { $($own:tt)* } packed { $($(#[$doc:meta])* $name:ident by $work:ident;)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            $(
                $(#[$doc])*
                #[pyo3(signature = (data, offsets, aad = None), text_signature = "($self, data, offsets, aad=b'')")]
                fn $name<'py>(
                    &self,
                    data: &Any<'py>,
                    offsets: &Any<'py>,
                    aad: Option<&Any<'py>>,
                ) -> PyResult<$crate::batch::Packed<'py>> {
                    $crate::batch::$work(&self.core, data, offsets, aad)
                }
            )*

            /// The algorithm's name.
            #[getter]
            fn algorithm(&self) -> &'static str {
                self.core.primary().algorithm()
            }

            /// Key length in bytes.
            #[getter]
            fn key_len(&self) -> usize {
                self.core.primary().key_len()
            }
        }
    };
}
pub(crate) use key_methods;

/// Defines the methods of a Python class with a field `core` of type [`MessageKeys`]. The methods
/// in braces are the class's own.
///
/// `associated_data` and `buf` are documented as keywords but declared as positional. Keyword-only,
/// 64 bytes take 4 % longer; with a dictionary, 30 % (`lab/record/open-zen4-2026-11-23.md`).
macro_rules! aead_methods {
    ($class:ident { $($own:tt)* } $(packed { $($packed:tt)* })?) => {
        aead_methods! {
        $class { $($own)* }
        packed { $($($packed)*)? }
        fresh {
            /// Encrypts ``data`` under the given nonce.
            ///
            /// .. warning::
            ///     Never use a nonce twice with one key: with most algorithms, this reveals the XOR
            ///     of the two plaintexts and lets an attacker forge messages. ``seal`` generates
            ///     its own nonces.
            ///
            /// Parameters
            /// ----------
            /// nonce : bytes-like
            ///     ``nonce_len`` bytes.
            /// data : bytes-like
            ///     The plaintext.
            /// aad : bytes-like, optional
            ///     Associated data: authenticated, but not part of the result. pyca's name
            ///     ``associated_data`` works too.
            ///
            /// Returns
            /// -------
            /// bytes
            ///     ``ciphertext || tag``.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     If the nonce length is wrong.
            /// LimitExceededError
            ///     If the data is longer than ``max_plaintext_len``.
            encrypt by encrypt_into, usize::saturating_add;
            /// Decrypts and verifies ``data``, ``ciphertext || tag``, under the given nonce.
            ///
            /// ``aad`` is the associated data of ``encrypt``, also named ``associated_data``.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     If the key, the nonce or the associated data is wrong, or the data was modified.
            /// ValueError
            ///     If the nonce length is wrong.
            decrypt by decrypt_into, usize::saturating_sub;
        }
        into {
            /// Encrypts into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(data) + tag_len``. The data is encrypted in place if ``out``
            /// starts where ``data`` starts. The warning of ``encrypt`` applies. pyca's names for
            /// the last arguments, ``associated_data`` and ``buf``, work too.
            ///
            /// Raises
            /// ------
            /// ValueError, TypeError, LimitExceededError
            ///     As ``encrypt`` and ``seal_into``.
            encrypt_into;
            /// Decrypts into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(data) - tag_len``. The data is decrypted in place if ``out``
            /// starts where ``data`` starts. ``aad`` and ``out`` are also named ``associated_data``
            /// and ``buf``, as for ``encrypt_into``.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     As ``decrypt``. The plaintext in ``out`` is overwritten with zeros.
            /// ValueError, TypeError
            ///     As ``decrypt`` and ``seal_into``.
            decrypt_into;
        }
        }
    };
    (
        $class:ident { $($own:tt)* }
        packed { $($packed:tt)* }
        fresh { $($(#[$fresh_doc:meta])* $fresh:ident by $work:ident, $len:path;)* }
        into { $($(#[$into_doc:meta])* $into:ident;)* }
    ) => {
        $crate::sealer::key_methods! { $class {
            $($own)*

            /// Encrypts ``plaintext`` under a fresh random nonce.
            ///
            /// Parameters
            /// ----------
            /// plaintext : bytes-like
            ///     At most ``max_plaintext_len`` bytes.
            /// aad : bytes-like, optional
            ///     Associated data: authenticated, but not part of the result. Opening needs the
            ///     same.
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
            fn seal<'py>(&self, plaintext: &Any<'py>, aad: Option<&Any<'py>>) -> PyResult<Bytes<'py>> {
                sealer::seal(&self.core, plaintext, aad)
            }

            /// Decrypts and verifies a sealed message.
            ///
            /// Parameters
            /// ----------
            /// sealed : bytes-like
            ///     A result of ``seal``.
            /// aad : bytes-like, optional
            ///     The associated data it was sealed with.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     If the key or the associated data is wrong, or the message was modified.
            #[pyo3(signature = (sealed, aad = None), text_signature = "($self, sealed, aad=b'')")]
            fn open<'py>(&self, sealed: &Any<'py>, aad: Option<&Any<'py>>) -> PyResult<Bytes<'py>> {
                sealer::open(&self.core, sealed, aad)
            }

            /// Seals into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(plaintext) + overhead``. The message is sealed in place if the
            /// plaintext is at ``out[nonce_len:]``. ``aad`` is the associated data, as for
            /// ``seal``.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     If ``out`` is too short or otherwise overlaps an argument. Nothing is written.
            /// TypeError
            ///     If ``out`` is read-only. Nothing is written.
            /// LimitExceededError
            ///     If the plaintext is longer than ``max_plaintext_len``.
            #[pyo3(signature = (plaintext, out, aad = None), text_signature = "($self, plaintext, out, aad=b'')")]
            fn seal_into(
                &self,
                plaintext: &Any<'_>,
                out: &Any<'_>,
                aad: Option<&Any<'_>>,
            ) -> PyResult<usize> {
                sealer::seal_into(&self.core, plaintext, out, aad)
            }

            /// Opens into the start of ``out`` and returns the number of bytes written.
            ///
            /// The number is ``len(sealed) - overhead``. The message is opened in place if ``out``
            /// starts at ``sealed[nonce_len:]``.
            ///
            /// Raises
            /// ------
            /// AuthenticationError
            ///     As ``open``. The plaintext in ``out`` is overwritten with zeros.
            /// ValueError, TypeError
            ///     As ``seal_into``.
            #[pyo3(signature = (sealed, out, aad = None), text_signature = "($self, sealed, out, aad=b'')")]
            fn open_into(&self, sealed: &Any<'_>, out: &Any<'_>, aad: Option<&Any<'_>>) -> PyResult<usize> {
                sealer::open_into(&self.core, sealed, out, aad)
            }

            $(
                $(#[$fresh_doc])*
                #[pyo3(
                    signature = (nonce, data, aad = None, associated_data = None),
                    text_signature = "($self, nonce, data, aad=None, *, associated_data=None)"
                )]
                fn $fresh<'py>(
                    &self,
                    nonce: &Any<'py>,
                    data: &Any<'py>,
                    aad: Option<&Any<'py>>,
                    associated_data: Option<&Any<'py>>,
                ) -> PyResult<Bytes<'py>> {
                    let aad = crate::arguments::either("aad", aad, "associated_data", associated_data)?;
                    let (core, py) = (&self.core, data.py());
                    read!(py; nonce, data; optional aad);
                    sealer::fresh(core.primary(), py, $len(data.len(), core.tag_len()), |out| {
                        detached(py, data.len() + aad.len(), || core.$work(nonce, data, aad, out).map(drop))
                    })
                }
            )*

            $(
                $(#[$into_doc])*
                #[pyo3(
                    signature = (nonce, data, aad = None, out = None, associated_data = None, buf = None),
                    text_signature = "($self, nonce, data, aad=None, out=None, *, associated_data=None, buf=None)"
                )]
                fn $into(
                    &self,
                    nonce: &Any<'_>,
                    data: &Any<'_>,
                    aad: Option<&Any<'_>>,
                    out: Option<&Any<'_>>,
                    associated_data: Option<&Any<'_>>,
                    buf: Option<&Any<'_>>,
                ) -> PyResult<usize> {
                    let aad = crate::arguments::either("aad", aad, "associated_data", associated_data)?;
                    let out = crate::arguments::either("out", out, "buf", buf)?.ok_or_else(crate::arguments::no_output)?;
                    sealer::$into(&self.core, nonce, data, aad, out)
                }
            )*

            /// The variant (the code for an instruction set) in use.
            ///
            /// "opaque" if another library picks the variant and does not tell.
            #[getter]
            fn variant(&self) -> &'static str {
                self.core.variant()
            }

            /// Nonce length in bytes.
            #[getter]
            fn nonce_len(&self) -> usize {
                self.core.nonce_len()
            }

            /// Tag length in bytes.
            #[getter]
            fn tag_len(&self) -> usize {
                self.core.tag_len()
            }

            /// Number of bytes that sealing adds: nonce and tag.
            #[getter]
            fn overhead(&self) -> usize {
                self.core.overhead()
            }

            /// Maximum plaintext length of a message in bytes; a longer one raises
            /// LimitExceededError.
            #[getter]
            fn max_plaintext_len(&self) -> u64 {
                self.core.max_plaintext_len()
            }
        } packed { $($packed)* } }
    };
}
pub(crate) use aead_methods;

/// Makes an object's keys from an algorithm and a key, or from a keyring.
pub(crate) fn new(
    py: Python<'_>,
    (algorithm, key): (Option<&str>, Option<&Any<'_>>),
    keyring: Option<&Bound<'_, Keyring>>,
    threads: Option<usize>,
    of_key: impl FnOnce(&str, &Any<'_>) -> PyResult<MessageKeys>,
    of_keyring: impl FnOnce(&sealane::keys::Keyring) -> PyResult<MessageKeys>,
) -> PyResult<MessageKeys> {
    let core = match (algorithm, key, keyring) {
        (Some(algorithm), Some(key), None) => of_key(algorithm, key)?,
        (None, None, Some(keyring)) => of_keyring(&keyring.get().keyring(py)?)?,
        _ => return Err(PyTypeError::new_err("expected an algorithm and a key, or a keyring alone")),
    };
    Ok(match arguments::threads(threads)? {
        Some(threads) => core.with_threads(threads),
        None => core,
    })
}

/// Describes the keys for an object's `repr`.
pub(crate) fn description(core: &MessageKeys) -> String {
    match core.is_keyring() {
        true => format!("with a keyring of {}, {}", core.len(), core.primary().algorithm()),
        false => core.primary().algorithm().into(),
    }
}

/// Returns a new `bytes` object of `len` bytes, written by `key` in `fill`.
#[inline]
pub(crate) fn fresh<'py>(
    key: &MessageKey,
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bytes<'py>> {
    fresh_by(py, len, || Writers::of(key.divides(len)), fill)
}

// ---- sealed messages: nonce || ciphertext || tag ----

/// Seals `plaintext` and returns the sealed message as a new `bytes` object.
#[inline]
pub(crate) fn seal<'py>(
    core: &MessageKeys,
    plaintext: &Any<'py>,
    aad: Option<&Any<'py>>,
) -> PyResult<Bytes<'py>> {
    let py = plaintext.py();
    read!(py; plaintext; optional aad);
    let sealed = fresh(core.primary(), py, plaintext.len() + core.overhead(), |out| {
        detached(py, plaintext.len() + aad.len(), || core.seal_into(plaintext, out, aad).map(drop))
    })?;
    warn_near_limit(core, py)?;
    Ok(sealed)
}

/// Verifies and decrypts `sealed` and returns the plaintext as a new `bytes` object.
#[inline]
pub(crate) fn open<'py>(
    core: &MessageKeys,
    sealed: &Any<'py>,
    aad: Option<&Any<'py>>,
) -> PyResult<Bytes<'py>> {
    let py = sealed.py();
    read!(py; sealed; optional aad);
    let cost = sealed.len() + aad.len();
    let Some((key, prefix_len)) = core.only_candidate(sealed) else {
        return copied(py, &detached(py, cost, || core.open(sealed, aad).map(Zeroizing::new))?);
    };
    fresh(key, py, sealed.len().saturating_sub(prefix_len + key.overhead()), |out| {
        detached(py, cost, || key.open_into(&sealed[prefix_len..], out, aad).map(drop))
    })
}

/// Seals `plaintext` into the start of `out`; returns the number of bytes written.
#[inline]
pub(crate) fn seal_into(
    core: &MessageKeys,
    plaintext: &Any<'_>,
    out: &Any<'_>,
    aad: Option<&Any<'_>>,
) -> PyResult<usize> {
    let py = plaintext.py();
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (plaintext, aad) = (a.read(plaintext)?, b.read_optional(aad)?);
    let len = plaintext.len() + core.overhead();
    seal_layout(core, py, c.write(out)?.first(len)?.arrange(core.nonce_len(), plaintext, [aad])?)?;
    warn_near_limit(core, py)?;
    Ok(len)
}

/// Opens `sealed` into the start of `out`; returns the number of bytes written.
#[inline]
pub(crate) fn open_into(
    core: &MessageKeys,
    sealed: &Any<'_>,
    out: &Any<'_>,
    aad: Option<&Any<'_>>,
) -> PyResult<usize> {
    let py = sealed.py();
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (sealed, aad, out) = (a.read(sealed)?, b.read_optional(aad)?, c.write(out)?);
    match core.is_keyring() {
        false => open_source(core.primary(), py, sealed, aad, out),
        true => open_source_by_key(core, py, sealed, aad, out),
    }
}

/// Opens a message under a keyring. The plaintext length is known in advance only if just one key
/// can open it.
#[inline(never)]
fn open_source_by_key(
    core: &MessageKeys,
    py: Python<'_>,
    sealed: Source<'_>,
    aad: Source<'_>,
    out: Target<'_>,
) -> PyResult<usize> {
    let first = sealed.first::<5>();
    if let Some((key, prefix_len)) = core.only_candidate(first.as_ref().map_or(&[], |first| first)) {
        let (_, body) = sealed.split(prefix_len).ok_or_else(authentication_error)?;
        return open_source(key, py, body, aad, out);
    }
    // The length depends on which key opens it, so open first and copy.
    let (sealed, aad) = (sealed.bytes(), aad.bytes());
    let open = || core.open(sealed, aad).map(Zeroizing::new);
    let plaintext = detached(py, sealed.len() + aad.len(), open)?;
    out.first(plaintext.len())?.bytes().copy_from_slice(&plaintext);
    Ok(plaintext.len())
}

#[inline]
fn open_source(
    key: &MessageKey,
    py: Python<'_>,
    sealed: Source<'_>,
    aad: Source<'_>,
    out: Target<'_>,
) -> PyResult<usize> {
    let (nonce, body) = sealed.split(key.nonce_len()).ok_or_else(authentication_error)?;
    let len = body.len().checked_sub(key.tag_len()).ok_or_else(authentication_error)?;
    let (data, tag) = body.split(len).ok_or_else(authentication_error)?;
    open_layout(key, py, out.first(len)?.arrange(0, data, [nonce, aad, tag])?)?;
    Ok(len)
}

// ---- explicit nonces: ciphertext || tag ----

/// Encrypts `data` under the nonce of the caller into the start of `out`; returns the number of
/// bytes written.
#[inline]
pub(crate) fn encrypt_into(
    core: &MessageKeys,
    nonce: &Any<'_>,
    data: &Any<'_>,
    aad: Option<&Any<'_>>,
    out: &Any<'_>,
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

/// Decrypts `data` under the nonce of the caller into the start of `out`; returns the number of
/// bytes written.
#[inline]
pub(crate) fn decrypt_into(
    core: &MessageKeys,
    nonce: &Any<'_>,
    data: &Any<'_>,
    aad: Option<&Any<'_>>,
    out: &Any<'_>,
) -> PyResult<usize> {
    let py = data.py();
    let (mut a, mut b, mut c, mut d) = (Slot::new(py), Slot::new(py), Slot::new(py), Slot::new(py));
    let (nonce, data, aad, out) = (a.read(nonce)?, b.read(data)?, c.read_optional(aad)?, d.write(out)?);
    core.check_nonce_len(nonce.len()).map_err(raise)?;
    let len = data.len().checked_sub(core.tag_len()).ok_or_else(authentication_error)?;
    let (data, tag) = data.split(len).ok_or_else(authentication_error)?;
    open_layout(core.primary(), py, out.first(len)?.arrange(0, data, [nonce, aad, tag])?)?;
    Ok(len)
}

// ---- layouts ----

/// Seals the data of a layout. The nonce goes to its head, the tag to its tail; `others` is the
/// associated data.
#[inline(always)]
pub(crate) fn seal_layout(core: &MessageKeys, py: Python<'_>, layout: Layout<'_, 1>) -> PyResult<()> {
    let Layout { head: nonce, data, tail: tag, others: [aad] } = layout;
    let len = data.len() + aad.len();
    detached(py, len, || core.seal_parts(nonce, aad, data.in_out(), tag))
}

/// Opens the data of a layout. `others` are nonce, associated data and tag.
#[inline(always)]
fn open_layout(key: &MessageKey, py: Python<'_>, layout: Layout<'_, 3>) -> PyResult<()> {
    let Layout { data, others: [nonce, aad, tag], .. } = layout;
    let len = data.len() + aad.len();
    detached(py, len, || key.decrypt_parts(nonce, aad, data.in_out(), tag))
}

#[cold]
pub(crate) fn authentication_error() -> PyErr {
    raise(Error::Authentication)
}
