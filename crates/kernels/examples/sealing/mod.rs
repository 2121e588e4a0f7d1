//! A common interface of the AEADs, for the examples that test whether time depends on secrets.
#![allow(dead_code, reason = "not every example uses everything")]

use kernels::InOut;
use kernels::aegis::{Aegis, Kind};
use kernels::chacha20_poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::gcm::{Gcm, Stream};
use kernels::gcm_siv::GcmSiv;
use kernels::segments::Threads;
use kernels::siv::Siv;
use kernels::xsalsa20_poly1305::XSalsa20Poly1305;

/// Number of messages of a batch: two groups of the widest variant, and one message alone.
pub(crate) const BATCH: usize = 9;

/// An AEAD of the kernels.
pub(crate) trait Sealing {
    const KEY_LENGTHS: &[usize];
    const NONCE_LENGTHS: &[usize];

    fn new(key: &[u8], features: Features) -> Self;
    fn variant(&self) -> &'static str;
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]);
    /// Seals in pieces. Returns false if the algorithm does not support it.
    fn seal_in_pieces(&self, _nonce: &[u8], _aad: &[u8], _data: &mut [u8], _tag: &mut [u8; 16]) -> bool {
        false
    }
    /// Seals the message several times in a batch, each to nonce, ciphertext and tag. Returns false
    /// if the algorithm or the length of the nonce is not supported.
    fn seal_batch(&self, _nonce: &[u8], _aad: &[u8], _plain: &[u8], _sealed: &mut [Vec<u8>; BATCH]) -> bool {
        false
    }
    /// Opens the messages of a batch, and returns whether they are authentic. `None` as in
    /// [`Self::seal_batch`].
    fn open_batch(
        &self,
        _aad: &[u8],
        _sealed: &[Vec<u8>; BATCH],
        _opened: &mut [Vec<u8>; BATCH],
    ) -> Option<bool> {
        None
    }
    /// Returns whether the message is authentic.
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool;
    /// Returns ciphertext and tag of the reference implementation.
    fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]);
}

macro_rules! in_batches {
    () => {
        fn seal_batch(&self, nonce: &[u8], aad: &[u8], plain: &[u8], sealed: &mut [Vec<u8>; BATCH]) -> bool {
            let Ok(nonce) = nonce.try_into() else { return false };
            let mut sealed = sealed.each_mut().map(|sealed| &mut sealed[..]);
            self.seal_batch(&[nonce; BATCH], aad, &[plain; BATCH], &mut sealed).expect("not too long");
            true
        }
        #[inline(never)] // the reports of valgrind must be in this function or in its callees
        fn open_batch(
            &self,
            aad: &[u8],
            sealed: &[Vec<u8>; BATCH],
            opened: &mut [Vec<u8>; BATCH],
        ) -> Option<bool> {
            let sealed = sealed.each_ref().map(|sealed| &sealed[..]);
            let mut opened = opened.each_mut().map(|opened| &mut opened[..]);
            Some(self.open_batch(aad, &sealed, &mut opened).is_ok())
        }
    };
}

impl Sealing for Gcm {
    const KEY_LENGTHS: &[usize] = &[16, 24, 32];
    /// Nonces of other lengths than 12 are hashed, so that even the counter is secret.
    const NONCE_LENGTHS: &[usize] = &[12, 8];

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key, features).expect("a good length")
    }
    fn variant(&self) -> &'static str {
        self.variant()
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        self.seal(nonce, aad, data, tag).expect("not too long");
    }
    fn seal_in_pieces(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8; 16]) -> bool {
        let mut stream = Stream::begin(self, nonce).expect("not too long");
        for piece in aad.chunks(100) {
            stream.aad(piece).expect("not too long");
        }
        for piece in data.chunks_mut(1500) {
            stream.encrypt(InOut::in_place(piece)).expect("not too long");
        }
        *tag = stream.finish();
        true
    }
    in_batches! {}
    #[inline(never)] // the reports of valgrind must be in this function or in its callees
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        self.open(nonce, aad, data, tag).is_ok()
    }
    fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference::gcm::Gcm::new_vartime(key).seal_vartime(nonce, aad, plain)
    }
}

impl Sealing for GcmSiv {
    const KEY_LENGTHS: &[usize] = &[16, 32];
    const NONCE_LENGTHS: &[usize] = &[12];

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key, features).expect("a good length")
    }
    fn variant(&self) -> &'static str {
        self.variant()
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        let nonce = nonce.try_into().expect("12 bytes");
        self.seal(nonce, aad, data, tag).expect("not too long");
    }
    in_batches! {}
    #[inline(never)] // the reports of valgrind must be in this function or in its callees
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        self.open(nonce.try_into().expect("12 bytes"), aad, data, tag).is_ok()
    }
    fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let nonce = nonce.try_into().expect("12 bytes");
        reference::gcm_siv::GcmSiv::new_vartime(key).seal_vartime(nonce, aad, plain)
    }
}

/// The synthetic IV is the tag; there is no nonce.
impl Sealing for Siv {
    const KEY_LENGTHS: &[usize] = &[32, 48, 64];
    const NONCE_LENGTHS: &[usize] = &[0];

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key, features).expect("a good length")
    }
    fn variant(&self) -> &'static str {
        self.variant()
    }
    fn seal(&self, _: &[u8], aad: &[u8], data: InOut<'_>, v: &mut [u8; 16]) {
        self.seal(&[aad], data, v);
    }
    #[inline(never)] // the reports of valgrind must be in this function or in its callees
    fn open(&self, _: &[u8], aad: &[u8], data: InOut<'_>, v: &[u8; 16]) -> bool {
        self.open(&[aad], data, v).is_ok()
    }
    fn seal_vartime(key: &[u8], _: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference::siv::Siv::new_vartime(key).seal_vartime(&[aad], plain)
    }
}

/// The AEGIS algorithm with a key of `KEY` bytes and this degree.
pub(crate) struct OneAegis<const KEY: usize, const DEGREE: usize>(Aegis);

impl<const KEY: usize, const DEGREE: usize> Sealing for OneAegis<KEY, DEGREE> {
    const KEY_LENGTHS: &[usize] = &[KEY];
    const NONCE_LENGTHS: &[usize] = &[KEY];

    fn new(key: &[u8], features: Features) -> Self {
        let fits = |kind: &Kind| (kind.key_len(), kind.degree()) == (KEY, DEGREE);
        let kind = Kind::ALL.into_iter().find(fits).expect("there is one");
        Self(Aegis::new(kind, key, features).expect("a good length"))
    }
    fn variant(&self) -> &'static str {
        self.0.variant()
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        self.0.seal(nonce, aad, data, tag).expect("not too long");
    }
    #[inline(never)] // the reports of valgrind must be in this function or in its callees
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        self.0.open(nonce, aad, data, tag).is_ok()
    }
    fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference::aegis::Aegis::new(key, DEGREE).seal_vartime(nonce, aad, plain)
    }
}

macro_rules! chacha {
    ($cipher:ident $nonce:literal $($own:tt)*) => {
        impl Sealing for $cipher {
            const KEY_LENGTHS: &[usize] = &[32];
            const NONCE_LENGTHS: &[usize] = &[$nonce];

            fn new(key: &[u8], features: Features) -> Self {
                Self::new(key.try_into().expect("32 bytes"), features).expect("a variant")
            }
            fn variant(&self) -> &'static str {
                self.variant()
            }
            fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
                self.seal(nonce.try_into().expect("its length"), aad, data, tag).expect("not too long");
            }
            $($own)*
            #[inline(never)] // the reports of valgrind must be in this function or in its callees
            fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
                self.open(nonce.try_into().expect("its length"), aad, data, tag).is_ok()
            }
            fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
                let key = key.try_into().expect("32 bytes");
                reference::chacha20_poly1305::seal_vartime(key, nonce, aad, plain)
            }
        }
    };
}

chacha! { ChaCha20Poly1305 12 in_batches! {} }
chacha! { XChaCha20Poly1305 24 }

/// Returns the nonce for a message with associated data: XSalsa20-Poly1305 has none, so they are a
/// part of the nonce.
pub(crate) fn nonce_with(nonce: &[u8], aad: &[u8]) -> [u8; 24] {
    let mut nonce: [u8; 24] = nonce.try_into().expect("24 bytes");
    aad.iter().enumerate().for_each(|(i, byte)| nonce[i % 24] ^= byte.rotate_left(i as u32 / 24));
    nonce
}

impl Sealing for XSalsa20Poly1305 {
    const KEY_LENGTHS: &[usize] = &[32];
    const NONCE_LENGTHS: &[usize] = &[24];

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key.try_into().expect("32 bytes"), features).expect("a variant")
    }
    fn variant(&self) -> &'static str {
        self.variant()
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        self.seal(&nonce_with(nonce, aad), data, tag).expect("not too long");
    }
    #[inline(never)] // the reports of valgrind must be in this function or in its callees
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        self.open(&nonce_with(nonce, aad), data, tag).is_ok()
    }
    fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let key = key.try_into().expect("32 bytes");
        reference::salsa20::seal_vartime(key, &nonce_with(nonce, aad), plain)
    }
}

/// An AEAD that divides each message into segments of 4096 bytes.
pub(crate) struct InSegments<A>(A);

/// Processes one segment after the other on the calling thread.
pub(crate) struct OneThread;

impl Threads for OneThread {
    fn segment_len(&self, _: usize) -> usize {
        4096
    }
    fn run(&self, segments: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..segments).for_each(work);
    }
}

macro_rules! in_segments {
    ($($cipher:ident),*) => {$(
        impl Sealing for InSegments<$cipher> {
            const KEY_LENGTHS: &[usize] = <$cipher as Sealing>::KEY_LENGTHS;
            const NONCE_LENGTHS: &[usize] = <$cipher as Sealing>::NONCE_LENGTHS;

            fn new(key: &[u8], features: Features) -> Self {
                Self(<$cipher as Sealing>::new(key, features))
            }
            fn variant(&self) -> &'static str {
                self.0.variant()
            }
            fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
                let nonce = nonce.try_into().expect("its length");
                self.0.seal_on(&OneThread, nonce, aad, data, tag).expect("not too long");
            }
            #[inline(never)] // the reports of valgrind must be in this function or in its callees
            fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
                self.0.open_on(&OneThread, nonce.try_into().expect("its length"), aad, data, tag).is_ok()
            }
            fn seal_vartime(key: &[u8], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
                <$cipher as Sealing>::seal_vartime(key, nonce, aad, plain)
            }
        }
    )*};
}

in_segments! { Gcm, GcmSiv, ChaCha20Poly1305, XChaCha20Poly1305 }
