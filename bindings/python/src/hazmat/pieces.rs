//! What `AeadEncryptor` and `AeadDecryptor` have in common: one message in pieces.

/// A class over a message of the core. Given are its doc comment, that of `update`, and in braces the call that
/// ends the message.
macro_rules! pieces {
    ($(#[$doc:meta])* $name:ident; $(#[$update:meta])* update; { $($finalize:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "sealane.hazmat")]
        pub(crate) struct $name {
            algorithm: &'static str,
            core: Shared<sealane::hazmat::$name>,
        }

        #[pymethods]
        impl $name {
            #[new]
            fn new(
                py: Python<'_>,
                algorithm: &str,
                key: &Bound<'_, PyAny>,
                nonce: &Bound<'_, PyAny>,
            ) -> PyResult<Self> {
                let algorithm = algorithm_of(algorithm)?;
                let mut slot = Slot::new(py);
                let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
                let core = sealane::hazmat::$name::new(algorithm, key.as_bytes(), nonce).map_err(raise)?;
                Ok(Self { algorithm: algorithm.name(), core: Shared::new(core) })
            }

            /// A piece of associated data; returns the object itself. Raises ValueError after data.
            fn aad<'py>(slf: Bound<'py, Self>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let py = slf.py();
                let mut slot = Slot::new(py);
                let piece = slot.read(piece)?.bytes();
                slf.get().core.with(py, piece.len(), |message| message.aad(piece).map(drop))?;
                Ok(slf)
            }

            $(#[$update])*
            fn update<'py>(
                &self,
                py: Python<'py>,
                data: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let mut slot = Slot::new(py);
                let data = slot.read(data)?.bytes();
                fresh(py, data.len(), |out| {
                    self.core.with(py, data.len(), |message| message.xor(InOut::apart(data, out)))
                })
            }

            /// The same into the start of ``out``; returns the number of bytes written, ``len(data)``.
            ///
            /// In place where ``out`` starts where ``data`` does. Raises ValueError where ``out`` is too short or
            /// overlaps ``data`` in any other way, TypeError where it is read-only; nothing was written then.
            fn update_into<'py>(
                &self,
                py: Python<'py>,
                data: &Bound<'py, PyAny>,
                out: &Bound<'py, PyAny>,
            ) -> PyResult<usize> {
                let (mut a, mut b) = (Slot::new(py), Slot::new(py));
                let data = a.read(data)?;
                let len = data.len();
                let layout = b.write(out)?.first(len)?.arrange(0, data, [])?;
                self.core.with(py, len, |message| message.xor(layout.data.in_out()))?;
                Ok(len)
            }

            $($finalize)*

            /// What is computed: the name of the algorithm.
            #[getter]
            fn algorithm(&self) -> &'static str {
                self.algorithm
            }

            fn __repr__(&self) -> String {
                format!("<sealane.hazmat.{} {}>", stringify!($name), self.algorithm)
            }

            fn __reduce__(&self) -> PyResult<()> {
                Err(keys::never_pickled())
            }
        }
    };
}
