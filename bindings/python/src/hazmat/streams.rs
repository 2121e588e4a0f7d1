//! `sealane.hazmat.{AeadEncryptor, AeadDecryptor}`: one message in pieces.

use crate::prelude::*;
use crate::shared::Shared;
use crate::{arguments, keys};

/// Defines the class of a streamed core message, from its doc comment, `update`'s, and `finalize`
/// in braces.
macro_rules! aead_stream {
    ($(#[$doc:meta])* $name:ident; $(#[$update:meta])* update; { $($finalize:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "sealane.hazmat")]
        pub(crate) struct $name {
            /// The algorithm's name.
            #[pyo3(get)]
            algorithm: &'static str,
            core: Shared<sealane::hazmat::$name>,
        }

        #[pymethods]
        impl $name {
            #[new]
            fn new(py: Python<'_>, algorithm: &str, key: &Any<'_>, nonce: &Any<'_>) -> PyResult<Self> {
                let algorithm = arguments::algorithm(algorithm)?;
                let mut slot = Slot::new(py);
                let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
                let core = sealane::hazmat::$name::new(algorithm, key.as_bytes(), nonce).map_err(raise)?;
                Ok(Self { algorithm: algorithm.name(), core: Shared::new(core) })
            }

            /// Adds a piece of associated data and returns the object itself.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     After the first ``update``, and after ``finalize``.
            fn aad<'py>(slf: Bound<'py, Self>, piece: &Any<'py>) -> PyResult<Bound<'py, Self>> {
                let py = slf.py();
                read!(py; piece);
                slf.get().core.with(py, piece.len(), |message| message.aad(piece).map(drop))?;
                Ok(slf)
            }

            $(#[$update])*
            ///
            /// Raises
            /// ------
            /// LimitExceededError
            ///     If the message would be longer than the algorithm allows. The piece is not
            ///     processed.
            /// ValueError
            ///     After ``finalize``.
            fn update<'py>(&self, py: Python<'py>, data: &Any<'py>) -> PyResult<Bytes<'py>> {
                read!(py; data);
                fresh(py, data.len(), |out| {
                    self.core.with(py, data.len(), |message| message.xor(InOut::apart(data, out)))
                })
            }

            /// Like ``update``, but writes to the start of ``out`` and returns ``len(data)``.
            ///
            /// Works in place if ``out`` starts where ``data`` starts.
            ///
            /// Raises
            /// ------
            /// ValueError
            ///     If ``out`` is too short or otherwise overlaps ``data``. Nothing is written.
            /// TypeError
            ///     If ``out`` is read-only. Nothing is written.
            /// LimitExceededError
            ///     As ``update``.
            fn update_into<'py>(&self, py: Python<'py>, data: &Any<'py>, out: &Any<'py>) -> PyResult<usize> {
                let (mut a, mut b) = (Slot::new(py), Slot::new(py));
                let data = a.read(data)?;
                let len = data.len();
                let layout = b.write(out)?.first(len)?.arrange(0, data, [])?;
                self.core.with(py, len, |message| message.xor(layout.data.in_out()))?;
                Ok(len)
            }

            $($finalize)*

            fn __repr__(&self) -> String {
                format!("<sealane.hazmat.{} {}>", stringify!($name), self.algorithm)
            }
        }
    };
}

aead_stream! {
    /// Encrypts one message in pieces of any length: first associated data, then data, then the
    /// tag.
    ///
    /// The ciphertext is the same as for one call with the whole message, however it is divided.
    ///
    /// .. warning::
    ///     Never use a nonce twice with one key.
    ///
    /// Parameters
    /// ----------
    /// algorithm : str
    ///     "aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305" or
    ///     "xchacha20-poly1305".
    /// key : bytes-like or sealane.keys.Key
    ///     The key, of the length of the algorithm. It is copied.
    /// nonce : bytes-like
    ///     12 bytes, or 24 with XChaCha20.
    ///
    /// Notes
    /// -----
    /// After ``finalize``, every call raises ValueError. In a forked child, every call raises
    /// ForkedError, because the parent can encrypt other data under the same nonce. Threads may
    /// share an object: pieces are atomic and in call order.
    ///
    /// Examples
    /// --------
    /// >>> encryptor = AeadEncryptor("aes-256-gcm", key, nonce).aad(b"header")
    /// >>> ciphertext = encryptor.update(b"first ") + encryptor.update(b"second")
    /// >>> tag = encryptor.finalize()
    AeadEncryptor;

    /// Returns the ciphertext of a piece of plaintext, equally long, as new bytes.
    update;

    {
        /// Returns the tag of the whole message, 16 bytes. No call may follow.
        fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bytes<'py>> {
            Ok(PyBytes::new(py, &self.core.take(py)?.finalize().map_err(raise)?))
        }
    }
}

aead_stream! {
    /// Decrypts one message in pieces of any length: first associated data, then data, then the
    /// tag.
    ///
    /// .. warning::
    ///     ``update`` returns unverified plaintext. Until ``finalize(tag)`` returns, an attacker
    ///     may have chosen it: do not act on it, show it or parse it, and discard all of it if
    ///     ``finalize`` raises. ``sealane.Aead`` and ``sealane.decrypt_file`` verify before they
    ///     return plaintext.
    ///
    /// Parameters
    /// ----------
    /// algorithm : str
    ///     "aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305" or
    ///     "xchacha20-poly1305".
    /// key : bytes-like or sealane.keys.Key
    ///     The key, of the length of the algorithm. It is copied.
    /// nonce : bytes-like
    ///     12 bytes, or 24 with XChaCha20.
    ///
    /// Notes
    /// -----
    /// After ``finalize``, every call raises ValueError. Threads may share an object: pieces are
    /// atomic and in call order.
    ///
    /// Examples
    /// --------
    /// >>> decryptor = AeadDecryptor("aes-256-gcm", key, nonce).aad(b"header")
    /// >>> plaintext = decryptor.update(ciphertext[:5]) + decryptor.update(ciphertext[5:])
    /// >>> decryptor.finalize(tag)  # before this, the plaintext is not verified
    AeadDecryptor;

    /// Returns the unverified plaintext of a piece of ciphertext, equally long, as new bytes.
    update;

    {
        /// Verifies the whole message with ``tag`` and ends the object: it is the last call.
        ///
        /// Raises
        /// ------
        /// AuthenticationError
        ///     If the message is not authentic. Discard everything that ``update`` returned.
        fn finalize<'py>(&self, py: Python<'py>, tag: &Any<'py>) -> PyResult<()> {
            let tag = arguments::tag(tag)?;
            self.core.take(py)?.finalize(&tag).map_err(raise)
        }
    }
}
