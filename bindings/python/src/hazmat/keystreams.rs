//! `sealane.hazmat.{AesCtr, ChaCha20, XChaCha20, SpeckCtr}`: keystreams with three calls each.

use crate::buffer::Writers;
use crate::buffer::fresh_by;
use crate::prelude::*;
use crate::{arguments, integers, keys};

/// Defines the class of a core keystream. The constructor is in braces.
macro_rules! keystream {
    ($(#[$doc:meta])* $name:ident { $($constructor:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "sealane.hazmat")]
        pub(crate) struct $name {
            core: sealane::hazmat::$name,
        }

        #[pymethods]
        impl $name {
            $($constructor)*

            /// Returns ``data`` XOR the keystream from byte ``offset`` on, as new bytes.
            ///
            /// Raises
            /// ------
            /// LimitExceededError
            ///     If the range exceeds the keystream.
            fn xor_at<'py>(
                &self,
                py: Python<'py>,
                #[pyo3(from_py_with = integers::byte_count)] offset: u64,
                data: &Any<'py>,
            ) -> PyResult<Bytes<'py>> {
                read!(py; data);
                fresh_by(py, data.len(), || Writers::Several, |out| {
                    detached(py, data.len(), || self.core.xor_into(offset, data, out))
                })
            }

            /// Writes ``src`` XOR the keystream from ``offset`` to the start of ``out``; returns
            /// ``len(src)``.
            ///
            /// Works in place if ``out`` starts where ``src`` starts.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     If ``out`` is too short or otherwise overlaps ``src``. Nothing is written.
            /// TypeError
            ///     If ``out`` is read-only. Nothing is written.
            /// LimitExceededError
            ///     If the range exceeds the keystream. Nothing is written.
            fn xor_into<'py>(
                &self,
                py: Python<'py>,
                #[pyo3(from_py_with = integers::byte_count)] offset: u64,
                src: &Any<'py>,
                out: &Any<'py>,
            ) -> PyResult<usize> {
                let (mut a, mut b) = (Slot::new(py), Slot::new(py));
                let src = a.read(src)?;
                let len = src.len();
                let layout = b.write(out)?.first(len)?.arrange(0, src, [])?;
                detached(py, len, || self.core.xor(offset, layout.data.in_out()))?;
                Ok(len)
            }

            /// XORs the keystream from ``offset`` on into ``buf``. Raises the errors of
            /// ``xor_into``.
            fn xor_in_place<'py>(
                &self,
                py: Python<'py>,
                #[pyo3(from_py_with = integers::byte_count)] offset: u64,
                buf: &Any<'py>,
            ) -> PyResult<()> {
                let mut slot = Slot::new(py);
                let data = slot.write(buf)?.bytes();
                detached(py, data.len(), || self.core.xor_in_place(offset, data))
            }

            /// The variant (the code for an instruction set) in use for the keystream.
            #[getter]
            fn variant(&self) -> &'static str {
                self.core.variant()
            }

            fn __repr__(&self) -> String {
                format!("<sealane.hazmat.{} ({})>", stringify!($name), self.core.variant())
            }
        }
    };
}

/// Defines a [`keystream`] with a key, a nonce and a block counter. Takes its first doc lines and
/// the nonce's.
macro_rules! chacha {
    ($(#[$summary:meta])* $name:ident; $(#[$nonce:meta])* nonce) => {
        keystream! {
            $(#[$summary])*
            ///
            /// .. warning::
            ///     There is no authentication: flipping a bit of the ciphertext flips that bit of
            ///     the plaintext. Two texts under one keystream reveal their XOR.
            ///
            /// Parameters
            /// ----------
            /// key : bytes-like or sealane.keys.Key
            ///     32 bytes, copied.
            /// nonce : bytes-like
            $(#[$nonce])*
            /// counter : int
            ///     The block counter at offset 0, below 2**32.
            ///
            /// Notes
            /// -----
            /// Encryption and decryption are the same call. Reaching block 2**32 raises
            /// LimitExceededError before any byte is written; the counter never wraps. Threads may
            /// share an object.
            ///
            /// Examples
            /// --------
            #[doc = concat!(">>> stream = ", stringify!($name), "(key, nonce)")]
            /// >>> ciphertext = stream.xor_at(0, b"hello world")
            /// >>> stream.xor_at(6, ciphertext[6:])
            /// b'world'
            $name {
                #[new]
                #[pyo3(signature = (key, nonce, counter = 0))]
                fn new(
                    py: Python<'_>,
                    key: &Any<'_>,
                    nonce: &Any<'_>,
                    #[pyo3(from_py_with = integers::block_counter)] counter: u32,
                ) -> PyResult<Self> {
                    let mut slot = Slot::new(py);
                    let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
                    let core = sealane::hazmat::$name::new(key.as_bytes(), nonce, counter).map_err(raise)?;
                    Ok(Self { core })
                }
            }
        }
    };
}

keystream! {
    /// The AES keystream in counter mode (NIST SP 800-38A) at any offset, up to 2**64 bytes.
    ///
    /// .. warning::
    ///     There is no authentication: flipping a bit of the ciphertext flips that bit of the
    ///     plaintext. Two texts under one keystream reveal their XOR.
    ///
    /// Parameters
    /// ----------
    /// key : bytes-like or sealane.keys.Key
    ///     16, 24 or 32 bytes, copied.
    /// iv : bytes-like
    ///     The first counter block, 16 bytes, a big-endian counter modulo 2**128.
    ///
    /// Notes
    /// -----
    /// Encryption and decryption are the same call. Exceeding 2**64 bytes raises LimitExceededError
    /// before any byte is written; the offset never wraps. Threads may share an object.
    ///
    /// Examples
    /// --------
    /// >>> stream = AesCtr(key, iv)
    /// >>> ciphertext = stream.xor_at(0, b"hello world")
    /// >>> stream.xor_at(6, ciphertext[6:])
    /// b'world'
    AesCtr {
        #[new]
        fn new(py: Python<'_>, key: &Any<'_>, iv: &Any<'_>) -> PyResult<Self> {
            let mut slot = Slot::new(py);
            let (key, iv) = (keys::extract(key)?, slot.read(iv)?.bytes());
            Ok(Self { core: sealane::hazmat::AesCtr::new(key.as_bytes(), iv).map_err(raise)? })
        }
    }
}

chacha! {
    /// The ChaCha20 keystream (RFC 8439) at any offset, 2**32 blocks of 64 bytes per nonce.
    ChaCha20;

    ///     12 bytes.
    nonce
}

chacha! {
    /// The XChaCha20 keystream (draft-irtf-cfrg-xchacha-03) at any offset, 2**32 blocks of 64 bytes
    /// per nonce.
    XChaCha20;

    ///     24 bytes; may be random.
    nonce
}

keystream! {
    /// The Speck keystream in counter mode at any offset.
    ///
    /// .. warning::
    ///     Prefer AesCtr or ChaCha20. There is no authentication: flipping a bit of the ciphertext
    ///     flips that bit of the plaintext. Two texts under one keystream reveal their XOR. Never
    ///     share a key with a ``hazmat.Aead``, which takes its one-time keys from the same
    ///     keystream.
    ///
    /// Parameters
    /// ----------
    /// variant : str
    ///     "speck32-64", "speck48-72", "speck48-96", "speck64-96", "speck64-128", "speck96-96",
    ///     "speck96-144", "speck128-128", "speck128-192" or "speck128-256": block and key size in
    ///     bits. Blocks of 32, 48 and 64 bits are distinguishable from random after 2**16, 2**24
    ///     and 2**32 blocks.
    /// key : bytes-like or sealane.keys.Key
    ///     The key, of the length of the variant. It is copied.
    /// iv : bytes-like
    ///     The first counter block. The whole block is a big-endian counter in both byte orders.
    /// byte_order : str
    ///     "big", as in the paper's test vectors (ePrint 2013/404), or "little", as in the NSA's
    ///     implementation guide, Linux and Crypto++.
    ///
    /// Notes
    /// -----
    /// Encryption and decryption are the same call. Exceeding 2**64 bytes, or wrapping a small
    /// counter, raises LimitExceededError before any byte is written. Threads may share an object.
    ///
    /// Examples
    /// --------
    /// >>> stream = SpeckCtr("speck128-256", key, iv)
    /// >>> buffer = bytearray(b"hello world")
    /// >>> stream.xor_in_place(0, buffer)
    /// >>> stream.xor_at(0, buffer)
    /// b'hello world'
    SpeckCtr {
        #[new]
        #[pyo3(signature = (variant, key, iv, byte_order = "big"))]
        fn new(
            variant: &str,
            key: &Any<'_>,
            iv: &Any<'_>,
            byte_order: &str,
        ) -> PyResult<Self> {
            let (size, order) = (arguments::speck_size(variant)?, arguments::byte_order(byte_order)?);
            let mut slot = Slot::new(key.py());
            let (key, iv) = (keys::extract(key)?, slot.read(iv)?.bytes());
            let core = sealane::hazmat::SpeckCtr::new(size, key.as_bytes(), iv, order).map_err(raise)?;
            Ok(Self { core })
        }
    }
}
