//! Every row of an AEAD, and every variant of our own AES-GCM and AES-GCM-SIV, seal to the same bytes, open them, and refuse changed ones.
#![no_main]

use kernels::aes::NoKey;
use kernels::cpu::Features;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::variant;
use providers::{AeadKey, Algorithm, InOut, ROWS, Row};

libfuzzer_sys::fuzz_target!(|input: (u8, [u8; 32], u16, u8, u8, Vec<u8>, Vec<u8>, Vec<u8>)| {
    let (choice, key, place, bit, times, nonce, aad, plaintext) = input;
    // The fuzzer begins with few bytes and stays there for long.
    let [nonce, aad] = [nonce, aad].map(|bytes| bytes.repeat(1 + usize::from(times % 8)));
    let mut plaintext = plaintext.repeat(1 + usize::from(times));
    plaintext.truncate(1 << 16);
    let rows = |wanted| ROWS.iter().filter(move |row| row.algorithm == wanted && row.available().is_ok());
    // Those with something to compare.
    let all: Vec<_> = Algorithm::ALL.iter().filter(|one| rows(**one).count() > 1).collect();
    let algorithm = *all[usize::from(choice) % all.len()];
    let key = &key[..algorithm.key_len()];
    let expand = |row: &Row| (row.provider.name(), Box::new(row.key(key).expect("its length")) as _);
    let mut keys: Keys = rows(algorithm).map(expand).collect();

    let mut fits = Message { nonce, aad, plaintext };
    let mut short = fits.clone();
    short.plaintext.truncate(2048); // the twins go bit by bit
    if matches!(algorithm, Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm) {
        let twin = reference::gcm::Gcm::new_vartime(key);
        let twin = |m: &Message| joined(twin.seal_vartime(&m.nonce, &m.aad, &m.plaintext));
        let variants = variants(gcm::variants(), |features| Gcm::new(key, features), Gcm::variant);
        short.check(&variants, twin(&short), place, bit);
        short.nonce.resize(12, 0); // the rows take no other
        short.check(&keys, twin(&short), place, bit);
        keys.extend(variants);
    }
    if matches!(algorithm, Algorithm::Aes128GcmSiv | Algorithm::Aes256GcmSiv) {
        short.nonce.resize(12, 0);
        let twin = reference::gcm_siv::GcmSiv::new_vartime(key);
        let twin =
            joined(twin.seal_vartime(short.nonce[..].try_into().unwrap(), &short.aad, &short.plaintext));
        keys.extend(variants(gcm_siv::variants(), |features| GcmSiv::new(key, features), GcmSiv::variant));
        short.check(&keys, twin, place, bit);
    }
    fits.nonce.resize(algorithm.nonce_len(), 0);
    fits.check(&keys, fits.seal(&*keys[0].1), place, bit);
});

type Keys = Vec<(&'static str, Box<dyn Key>)>;

/// A row's key, or a variant's.
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

impl Key for Gcm {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        Self::seal(self, nonce, aad, data, tag).expect("not too long");
    }
    fn opens(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        Self::open(self, nonce, aad, data, tag).is_ok()
    }
}

impl Key for GcmSiv {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) {
        Self::seal(self, nonce.try_into().expect("12 bytes"), aad, data, tag).expect("not too long");
    }
    fn opens(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> bool {
        Self::open(self, nonce.try_into().expect("12 bytes"), aad, data, tag).is_ok()
    }
}

/// A key for each variant that runs here.
fn variants<K: Key + 'static>(
    rows: impl Iterator<Item = variant::Row>,
    new: impl Fn(Features) -> Result<K, NoKey>,
    name: impl Fn(&K) -> &'static str,
) -> Keys {
    let mut keys = Keys::new();
    for row in rows.filter(|row| row.check(Features::detect()).is_ok()) {
        let key = new(Features::detect().only(row.needs)).expect("a good length");
        assert_eq!(name(&key), row.name);
        keys.push((row.name, Box::new(key)));
    }
    keys
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

    /// Opens in place and apart, and either way into zeros where it is forged.
    fn open(&self, name: &str, key: &dyn Key, sealed: &[u8]) -> Option<Vec<u8>> {
        let (ciphertext, tag) = sealed.split_last_chunk().expect("a tag");
        let (mut here, mut there) = (ciphertext.to_vec(), vec![0xee; ciphertext.len()]);
        let opens = key.opens(&self.nonce, &self.aad, InOut::in_place(&mut here), tag);
        let apart = key.opens(&self.nonce, &self.aad, InOut::apart(ciphertext, &mut there), tag);
        assert!(opens == apart && here == there, "{name}: in place and apart differ");
        assert!(opens || here.iter().all(|byte| *byte == 0), "{name}: something is left of a forged message");
        opens.then_some(here)
    }

    /// `sealed` is what `keys` make of this, and no other.
    fn check(&self, keys: &Keys, mut sealed: Vec<u8>, place: u16, bit: u8) {
        for (name, key) in keys {
            assert!(self.seal(&**key) == sealed, "{name}: another ciphertext or tag");
            let opened = self.open(name, &**key, &sealed);
            assert!(opened.is_some_and(|opened| opened == self.plaintext), "{name}: does not open");
        }
        let mut changed = self.clone();
        let fields = [&mut sealed, &mut changed.aad, &mut changed.nonce];
        let mut bytes: Vec<_> = fields.into_iter().flatten().collect();
        let place = usize::from(place) % bytes.len();
        *bytes[place] ^= 1 << (bit % 8);
        for (name, key) in keys {
            assert!(changed.open(name, &**key, &sealed).is_none(), "{name}: opens a forged message");
        }
    }
}
