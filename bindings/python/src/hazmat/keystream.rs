//! What all keystreams have in common: a class with three calls.

/// A class over a keystream of the core. What is in braces stands beside the three calls.
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

            /// ``data`` XOR the keystream from ``offset`` on, as new bytes.
            fn xor_at<'py>(
                &self,
                py: Python<'py>,
                #[pyo3(from_py_with = number::bytes)] offset: u64,
                data: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let mut slot = Slot::new(py);
                let data = slot.read(data)?.bytes();
                fresh(py, data.len(), |out| {
                    detached(py, data.len(), || self.core.xor_into(offset, data, out))
                })
            }

            /// The same into the start of ``out``; returns the number of bytes written, ``len(src)``.
            ///
            /// In place where ``out`` starts where ``src`` does. Raises ValueError where ``out`` is too short
            /// or overlaps ``src`` in any other way, TypeError where it is read-only; nothing was written
            /// then.
            fn xor_into<'py>(
                &self,
                py: Python<'py>,
                #[pyo3(from_py_with = number::bytes)] offset: u64,
                src: &Bound<'py, PyAny>,
                out: &Bound<'py, PyAny>,
            ) -> PyResult<usize> {
                let (mut a, mut b) = (Slot::new(py), Slot::new(py));
                let src = a.read(src)?;
                let len = src.len();
                let layout = b.write(out)?.first(len)?.arrange(0, src, [])?;
                detached(py, len, || self.core.xor(offset, layout.data.in_out()))?;
                Ok(len)
            }

            /// The same in place.
            fn xor_in_place<'py>(
                &self,
                py: Python<'py>,
                #[pyo3(from_py_with = number::bytes)] offset: u64,
                buf: &Bound<'py, PyAny>,
            ) -> PyResult<()> {
                let mut slot = Slot::new(py);
                let data = slot.write(buf)?.bytes();
                detached(py, data.len(), || self.core.xor_in_place(offset, data))
            }

            /// Which build computes it.
            #[getter]
            fn variant(&self) -> &'static str {
                self.core.variant()
            }

            fn __repr__(&self) -> String {
                format!("<sealane.hazmat.{} ({})>", stringify!($name), self.core.variant())
            }

            fn __reduce__(&self) -> PyResult<()> {
                Err(keys::never_pickled())
            }
        }
    };
}

/// [`keystream`] of a key, a nonce and the number of the first block. Given are the start of the doc comment and
/// what it says of the nonce.
macro_rules! chacha {
    ($(#[$what:meta])* $name:ident; $(#[$nonce:meta])* nonce) => {
        keystream! {
            $(#[$what])*
            ///
            /// **No authentication**: whoever flips a bit of the ciphertext flips that bit of the plaintext. Two
            /// texts under one keystream give away their difference.
            ///
            /// Parameters
            /// ----------
            /// key : bytes-like or sealane.keys.Key
            ///     32 bytes. It is copied.
            /// nonce : bytes-like
            $(#[$nonce])*
            /// counter : int
            ///     The number of the block that offset 0 begins with, below 2**32.
            ///
            /// Every ``offset`` is in bytes from the start of the stream. Encrypting and decrypting are the same
            /// call. Block 2**32 raises LimitExceededError before any byte is written; nothing ever wraps. Safe to
            /// share between threads.
            $name {
                #[new]
                #[pyo3(signature = (key, nonce, counter = 0))]
                fn new(
                    py: Python<'_>,
                    key: &Bound<'_, PyAny>,
                    nonce: &Bound<'_, PyAny>,
                    #[pyo3(from_py_with = number::counter)] counter: u32,
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
