//! Every provider and every native variant seals to the bytes of the reference implementation and
//! rejects changed messages.

use kernels::aegis::{self, Aegis, Kind};
use kernels::chacha20_poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::error::KeyError;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::variant;
use providers::{AeadKey, Algorithm, Entry, InOut, entries};
use crate::{repeated, rows};

pub(crate) fn run(input: (u8, [u8; 32], u16, u8, u8, Vec<u8>, Vec<u8>, Vec<u8>)) {
    let (choice, key, place, bit, times, nonce, aad, plaintext) = input;
    let [nonce, aad] = [nonce, aad].map(|bytes| repeated(bytes, times % 8, usize::MAX));
    let plaintext = repeated(plaintext, times, 1 << 16);
    let providers =
        |wanted| entries().filter(move |entry| entry.algorithm == wanted && entry.available().is_ok());
    // The algorithms with at least two implementations to compare.
    let all: Vec<_> = Algorithm::ALL.iter().filter(|one| providers(**one).count() > 1).collect();
    let algorithm = *all[usize::from(choice) % all.len()];
    let key = &key[..algorithm.key_len()];
    let expand = |entry: &Entry| (entry.provider.name(), Box::new(entry.key(key).expect("its length")) as _);
    let mut keys: Keys = providers(algorithm).map(expand).collect();

    let mut fits = Message { nonce, aad, plaintext };
    if let Some(own) = own(algorithm, key) {
        let mut short = fits.clone();
        short.plaintext.truncate(own.longest);
        if own.any_nonce {
            short.check(&own.variants, (own.reference_seal)(&short), place, bit);
        }
        short.nonce.resize(algorithm.nonce_len(), 0); // the entries accept no other length
        keys.extend(own.variants);
        short.check(&keys, (own.reference_seal)(&short), place, bit);
    }
    fits.nonce.resize(algorithm.nonce_len(), 0);
    fits.check(&keys, fits.seal(&*keys[0].1), place, bit);
}

type Keys = Vec<(&'static str, Box<dyn Key>)>;

/// The native variants and the reference implementation of an algorithm.
struct Own {
    variants: Keys,
    /// Ciphertext and tag.
    reference_seal: Box<dyn Fn(&Message) -> Vec<u8>>,
    /// Length in bytes up to which the reference is fast enough.
    longest: usize,
    any_nonce: bool,
}

fn own(algorithm: Algorithm, key: &[u8]) -> Option<Own> {
    let kind = |kind| {
        let variants =
            variants(aegis::variants(), |features| Aegis::new(kind, key, features), Aegis::variant);
        let cipher = reference::aegis::Aegis::new(key, kind.degree());
        let reference_seal = move |m: &Message| joined(cipher.seal_vartime(&m.nonce, &m.aad, &m.plaintext));
        Own { variants, reference_seal: Box::new(reference_seal), longest: 10_000, any_nonce: false }
    };
    let chacha = |variants| {
        let key: [u8; 32] = key.try_into().expect("32 bytes");
        let seal = reference::chacha20_poly1305::seal_vartime;
        let reference_seal = move |m: &Message| joined(seal(&key, &m.nonce, &m.aad, &m.plaintext));
        Own { variants, reference_seal: Box::new(reference_seal), longest: 20_000, any_nonce: false }
    };
    let pairs = chacha20_poly1305::variants;
    Some(match algorithm {
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
            let variants = variants(gcm::variants(), |features| Gcm::new(key, features), Gcm::variant);
            let cipher = reference::gcm::Gcm::new_vartime(key);
            let reference_seal =
                move |m: &Message| joined(cipher.seal_vartime(&m.nonce, &m.aad, &m.plaintext));
            Own { variants, reference_seal: Box::new(reference_seal), longest: 2048, any_nonce: true }
        }
        Algorithm::Aes128GcmSiv | Algorithm::Aes256GcmSiv => {
            let variants =
                variants(gcm_siv::variants(), |features| GcmSiv::new(key, features), GcmSiv::variant);
            let cipher = reference::gcm_siv::GcmSiv::new_vartime(key);
            let nonce = |m: &Message| *m.nonce.first_chunk().expect("12 bytes");
            let reference_seal =
                move |m: &Message| joined(cipher.seal_vartime(&nonce(m), &m.aad, &m.plaintext));
            Own { variants, reference_seal: Box::new(reference_seal), longest: 2048, any_nonce: false }
        }
        Algorithm::ChaCha20Poly1305 => {
            let new = |features| ChaCha20Poly1305::new(key.try_into().expect("32 bytes"), features);
            chacha(variants(pairs(), new, ChaCha20Poly1305::variant))
        }
        Algorithm::XChaCha20Poly1305 => {
            let new = |features| XChaCha20Poly1305::new(key.try_into().expect("32 bytes"), features);
            chacha(variants(pairs(), new, XChaCha20Poly1305::variant))
        }
        Algorithm::Aegis128L => kind(Kind::Aegis128L),
        Algorithm::Aegis128X2 => kind(Kind::Aegis128X2),
        Algorithm::Aegis128X4 => kind(Kind::Aegis128X4),
        Algorithm::Aegis256 => kind(Kind::Aegis256),
        Algorithm::Aegis256X2 => kind(Kind::Aegis256X2),
        Algorithm::Aegis256X4 => kind(Kind::Aegis256X4),
        _ => return None,
    })
}

/// A key of an entry or of a variant.
trait Key {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]);
    fn opens(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool;
}

impl Key for Box<dyn AeadKey> {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        (**self).seal(nonce, aad, data, tag).expect("not too long");
    }
    fn opens(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        (**self).open(nonce, aad, data, tag).is_ok()
    }
}

/// Implements `Key` for kernels with nonces of one length or of any.
macro_rules! own_keys {
    ($($key:ty),*) => {$(
        impl Key for $key {
            fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
                let nonce = nonce.try_into().expect("its length");
                Self::seal(self, nonce, aad, data, tag).expect("not too long");
            }
            fn opens(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
                Self::open(self, nonce.try_into().expect("its length"), aad, data, tag).is_ok()
            }
        }
    )*};
}
own_keys!(Gcm, GcmSiv, ChaCha20Poly1305, XChaCha20Poly1305, Aegis);

/// Returns a key for each variant that this machine can run.
fn variants<K: Key + 'static>(
    table: impl Iterator<Item = variant::Variant>,
    new: impl Fn(Features) -> Result<K, KeyError>,
    name: impl Fn(&K) -> &'static str,
) -> Keys {
    let key = |(row, features)| {
        let key = new(features).expect("a good length");
        assert_eq!(name(&key), row);
        (row, Box::new(key) as _)
    };
    rows(table).map(key).collect()
}

fn joined((ciphertext, tag): (Vec<u8>, [u8; 16])) -> Vec<u8> {
    [&ciphertext[..], &tag].concat()
}

#[derive(Clone)]
struct Message {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
}

impl Message {
    /// Ciphertext and tag.
    fn seal(&self, key: &dyn Key) -> Vec<u8> {
        let (mut data, mut tag) = (self.plaintext.clone(), [0; 16]);
        key.seal(&self.nonce, &self.aad, InOut::in_place(&mut data), &mut tag);
        [&data[..], &tag].concat()
    }

    /// Opens in place and apart. After a failed authentication, both destinations must be zero.
    fn open(&self, name: &str, key: &dyn Key, sealed: &[u8]) -> Option<Vec<u8>> {
        let (ciphertext, tag) = sealed.split_last_chunk().expect("a tag");
        let (mut here, mut there) = (ciphertext.to_vec(), vec![0xee; ciphertext.len()]);
        let opens = key.opens(&self.nonce, &self.aad, InOut::in_place(&mut here), tag);
        let apart = key.opens(&self.nonce, &self.aad, InOut::apart(ciphertext, &mut there), tag);
        assert!(opens == apart && here == there, "{name}: in place and apart differ");
        assert!(
            opens || here.iter().all(|byte| *byte == 0),
            "{name}: the destination is not zero after a failed authentication"
        );
        opens.then_some(here)
    }

    /// Checks that all `keys` seal to `sealed` and reject changed messages.
    fn check(&self, keys: &Keys, mut sealed: Vec<u8>, place: u16, bit: u8) {
        for (name, key) in keys {
            assert!(self.seal(&**key) == sealed, "{name}: wrong ciphertext or tag");
            let opened = self.open(name, &**key, &sealed);
            assert!(opened.is_some_and(|opened| opened == self.plaintext), "{name}: does not open");
        }
        let mut changed = self.clone();
        let fields = [&mut sealed, &mut changed.aad, &mut changed.nonce];
        let mut bytes: Vec<_> = fields.into_iter().flatten().collect();
        let place = usize::from(place) % bytes.len();
        *bytes[place] ^= 1 << (bit % 8);
        for (name, key) in keys {
            assert!(changed.open(name, &**key, &sealed).is_none(), "{name}: opens a changed message");
        }
    }
}
