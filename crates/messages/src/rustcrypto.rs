//! The traits of RustCrypto's crate [`aead`], with a type per algorithm. Needs the feature
//! `aead-traits`.
//!
//! With these types, code generic over [`AeadInOut`] or [`aead::Aead`] uses the fastest
//! implementation on this machine. Nonces are explicit, and ciphertexts are `ciphertext || tag`, as
//! from [`Aead::encrypt`](crate::Aead::encrypt).
//!
//! ```
//! use sealane::rustcrypto::Aes256Gcm;
//! use sealane::rustcrypto::aead::{Aead, KeyInit, Nonce, Payload};
//!
//! let cipher = Aes256Gcm::new_from_slice(&[7; 32])?;
//! let nonce = Nonce::<Aes256Gcm>::from([1; 12]); // never twice with one key
//! let encrypted = cipher.encrypt(&nonce, Payload { msg: b"hello", aad: b"header" })?;
//! assert_eq!(cipher.decrypt(&nonce, Payload { msg: &encrypted, aad: b"header" })?, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! [`aead::Error`] has no details. [`KeyInit`] cannot return a provider's error (such as an invalid
//! `SEALANE_PROVIDER`): every call of such a key fails. `try_new` returns it.
//!
//! # Limits
//!
//! A buffer that does not authenticate is zero afterwards. Different input and output buffers cost
//! a copy.

pub use ::aead;

use crate::Key;
use crate::prelude::*;
use aead::array::typenum::Unsigned;
use aead::consts::{U12, U16, U24, U32};
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};
use std::sync::Arc;

macro_rules! types {
    ($($algorithm:ident key $key:ident nonce $nonce:ident;)*) => {$(
        #[doc = concat!("[`Algorithm::", stringify!($algorithm), "`] with a key, for the traits of the crate `aead`.")]
        ///
        /// `None` if the provider failed.
        #[derive(Clone, Debug)]
        pub struct $algorithm(Option<Arc<crate::Aead>>);

        impl $algorithm {
            /// Expands a key with the default provider.
            ///
            /// # Errors
            /// Returns the errors of [`Aead::new`](crate::Aead::new).
            pub fn try_new(key: &Key) -> Result<Self> {
                Ok(Self(Some(Arc::new(crate::Aead::new(Algorithm::$algorithm, key)?))))
            }
        }

        impl KeySizeUser for $algorithm {
            type KeySize = $key;
        }

        impl KeyInit for $algorithm {
            fn new(key: &aead::Key<Self>) -> Self {
                Self::try_new(&Key::from_bytes(key)).unwrap_or(Self(None))
            }
        }

        impl AeadCore for $algorithm {
            type NonceSize = $nonce;
            type TagSize = U16;
            const TAG_POSITION: TagPosition = TagPosition::Postfix;
        }

        impl AeadInOut for $algorithm {
            fn encrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                aad: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> aead::Result<Tag<Self>> {
                let key = self.0.as_ref().ok_or(aead::Error)?;
                let data = InOut::in_place(buffer.into_out_with_copied_in());
                let mut tag = Tag::<Self>::default();
                // The error of the trait has no details.
                key.encrypt_parts(nonce, aad, data, &mut tag).map_err(|_| aead::Error)?;
                Ok(tag)
            }

            fn decrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                aad: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &Tag<Self>,
            ) -> aead::Result<()> {
                let key = self.0.as_ref().ok_or(aead::Error)?;
                let data = InOut::in_place(buffer.into_out_with_copied_in());
                // The error of the trait has no details.
                key.decrypt_parts(nonce, aad, data, tag).map_err(|_| aead::Error)
            }
        }

        const _: () = assert!(Algorithm::$algorithm.key_len() == $key::USIZE);
        const _: () = assert!(Algorithm::$algorithm.nonce_len() == $nonce::USIZE);
    )*

        /// The algorithms with a type here.
        #[cfg(test)]
        const TYPES: &[Algorithm] = &[$(Algorithm::$algorithm),*];

        /// Calls a function generic over the traits with the type of each algorithm.
        #[cfg(test)]
        fn each(test: &mut impl test::Generic) {
            $(test.with::<$algorithm>(Algorithm::$algorithm, $algorithm(None));)*
        }
    };
}

types! {
    Aes128Gcm key U16 nonce U12;
    Aes192Gcm key U24 nonce U12;
    Aes256Gcm key U32 nonce U12;
    Aes128GcmSiv key U16 nonce U12;
    Aes256GcmSiv key U32 nonce U12;
    ChaCha20Poly1305 key U32 nonce U12;
    XChaCha20Poly1305 key U32 nonce U24;
    Xaes256Gcm key U32 nonce U24;
    Aegis128L key U16 nonce U16;
    Aegis128X2 key U16 nonce U16;
    Aegis128X4 key U16 nonce U16;
    Aegis256 key U32 nonce U32;
    Aegis256X2 key U32 nonce U32;
    Aegis256X4 key U32 nonce U32;
}

#[cfg(test)]
mod test {
    use super::*;
    use aead::{Aead, Payload};

    /// A test generic over the traits. `broken` is a key from a failed provider.
    pub(super) trait Generic {
        fn with<C: Aead + AeadInOut + KeyInit>(&mut self, algorithm: Algorithm, broken: C);
    }

    #[test]
    fn every_algorithm_has_a_type() {
        assert_eq!(TYPES, Algorithm::ALL);
    }

    struct EqualsOurs;

    impl Generic for EqualsOurs {
        fn with<C: Aead + AeadInOut + KeyInit>(&mut self, algorithm: Algorithm, broken: C) {
            let bytes: Vec<u8> = (1..=algorithm.key_len() as u8).collect();
            let ours = crate::Aead::new(algorithm, &Key::from_bytes(&bytes)).unwrap();
            let cipher = C::new_from_slice(&bytes).unwrap();
            assert!(C::new_from_slice(&bytes[1..]).is_err());
            let nonce = Nonce::<C>::from_fn(|i| i as u8);
            for len in [0, 1, 15, 16, 17, 255, 5000] {
                let message: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
                let expected = ours.encrypt(&nonce, &message, b"aad").unwrap();
                let payload = Payload { msg: &message, aad: b"aad" };
                assert_eq!(cipher.encrypt(&nonce, payload).unwrap(), expected, "{algorithm:?}, {len} bytes");
                let open = |msg: &[u8], aad| cipher.decrypt(&nonce, Payload { msg, aad });
                assert_eq!(open(&expected, b"aad").unwrap(), message);
                assert_eq!(open(&expected, b"aae"), Err(aead::Error));
                assert_eq!(open(&expected[..expected.len() - 1], b"aad"), Err(aead::Error));

                // From one buffer to another.
                let mut sealed = vec![0; message.len()];
                let between = InOutBuf::new(&message, &mut sealed).unwrap();
                let tag = cipher.encrypt_inout_detached(&nonce, b"aad", between).unwrap();
                assert_eq!([&sealed[..], &tag[..]].concat(), expected);
                let mut opened = vec![1; message.len()];
                let between = InOutBuf::new(&sealed, &mut opened).unwrap();
                cipher.decrypt_inout_detached(&nonce, b"aad", between, &tag).unwrap();
                assert_eq!(opened, message);

                // No plaintext without the right tag.
                let mut wrong = tag.clone();
                wrong[15] ^= 1;
                let between = InOutBuf::new(&sealed, &mut opened).unwrap();
                assert!(cipher.decrypt_inout_detached(&nonce, b"aad", between, &wrong).is_err());
                assert_eq!(opened, vec![0; message.len()]);
            }
            assert_eq!(broken.encrypt(&nonce, &b"hello"[..]), Err(aead::Error));
            assert_eq!(broken.decrypt(&nonce, &[0; 16][..]), Err(aead::Error));
        }
    }

    #[test]
    fn the_traits_compute_what_our_own_functions_compute() {
        each(&mut EqualsOurs);
    }

    #[test]
    fn debug_shows_no_key() {
        let shown = format!("{:?}", Aes256Gcm::try_new(&Key::from_bytes(&[0xab; 32])).unwrap());
        assert!(
            shown.contains("aes-256-gcm") && !shown.contains("171") && !shown.contains("ab, ab"),
            "{shown}"
        );
    }
}
