//! Every variant of AES-GCM-SIV against the reference implementation.

use crate::layout::{Aead, hex, pattern};
use crate::variants::available;
use kernels::InOut;
use kernels::cpu::Features;
use kernels::error::{MessageError, OpenError};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::variant::Variant;
use reference::gcm_siv::GcmSiv as Reference;

impl Aead for GcmSiv {
    type Reference = Reference;

    const KEY_BITS: &'static [usize] = &[128, 256];
    const NONCES: &'static [usize] = &[12];
    const LONGEST: u64 = 1 << 36;
    const LONGEST_AAD: Option<u64> = Some(1 << 36);

    fn variants() -> impl Iterator<Item = Variant> {
        gcm_siv::variants()
    }

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key, features).unwrap()
    }

    fn variant(&self) -> &'static str {
        self.variant()
    }

    fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        self.seal(nonce.try_into().unwrap(), aad, data, tag)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError> {
        self.open(nonce.try_into().unwrap(), aad, data, tag)
    }

    fn reference(key: &[u8]) -> Reference {
        Reference::new_vartime(key)
    }

    fn seal_vartime(reference: &Reference, nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference.seal_vartime(nonce.try_into().unwrap(), aad, plain)
    }

    /// The counter is part of the tag, so a whole block of the plaintext is chosen to determine it.
    fn wrapping(reference: &Reference, before: u32, len: usize) -> Option<[Vec<u8>; 3]> {
        let changed = (before as usize).checked_rem(len / 16)?;
        let (nonce, aad, start) = ([0x5a; 12], pattern(3, 0x91), 0u32.wrapping_sub(before));
        let plain = reference.plaintext_for_vartime(&nonce, &aad, &pattern(len, 0x3c), changed, start);
        let (_, tag) = reference.seal_vartime(&nonce, &aad, &plain);
        assert_eq!(tag[..4], start.to_le_bytes(), "the tag does not begin with the counter");
        Some([nonce.to_vec(), aad, plain])
    }
}

in_every_layout!(GcmSiv);

/// Checks tags with either value of the top bit of the last byte. It is set in the counter block
/// only, not in the tag.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn tags_with_either_top_bit() {
    crate::layout::each_size::<GcmSiv>(|bits, reference, keys| {
        let mut seen = [0; 2];
        for salt in 0..32 {
            let (nonce, plain) = ([salt; 12], pattern(33, salt));
            let (sealed, tag) = reference.seal_vartime(&nonce, &[], &plain);
            seen[usize::from(tag[15] >> 7)] += 1;
            for key in keys {
                let (mut data, mut made) = (plain.clone(), [0; 16]);
                key.seal(&nonce, &[], InOut::in_place(&mut data), &mut made).unwrap();
                assert!(data == sealed && made == tag, "{} AES-{bits}", key.variant());
            }
        }
        assert!(seen[0] > 0 && seen[1] > 0);
    });
}

/// RFC 8452, appendix C: cases of each key size with associated data and more than one block, and
/// both cases that wrap.
#[test]
fn rfc_8452_appendix_c() {
    // Key, nonce, associated data, plaintext, ciphertext with tag.
    const CASES: [[&str; 5]; 6] = [
        [
            "01000000000000000000000000000000",
            "030000000000000000000000",
            "01",
            "02000000000000000000000000000000030000000000000000000000000000000400000000000000\
             000000000000000005000000000000000000000000000000",
            "2f5c64059db55ee0fb847ed513003746aca4e61c711b5de2e7a77ffd02da42feec601910d3467bb8\
             b36ebbaebce5fba30d36c95f48a3e7980f0e7ac299332a80cdc46ae475563de037001ef84ae21744",
        ],
        [
            "f901cfe8a69615a93fdf7a98cad48179",
            "6245709fb18853f68d833640",
            "7576f7028ec6eb5ea7e298342a94d4b202b370ef9768ec6561c4fe6b7e7296fa859c21",
            "e42a3c02c25b64869e146d7b233987bddfc240871d",
            "391cc328d484a4f46406181bcd62efd9b3ee197d052d15506c84a9edd65e13e9d24a2a6e70",
        ],
        [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "030000000000000000000000",
            "01",
            "02000000000000000000000000000000030000000000000000000000000000000400000000000000\
             000000000000000005000000000000000000000000000000",
            "67fd45e126bfb9a79930c43aad2d36967d3f0e4d217c1e551f59727870beefc98cb933a8fce9de88\
             7b1e40799988db1fc3f91880ed405b2dd298318858467c895bde0285037c5de81e5b570a049b62a0",
        ],
        [
            "3c535de192eaed3822a2fbbe2ca9dfc88255e14a661b8aa82cc54236093bbc23",
            "688089e55540db1872504e1c",
            "734320ccc9d9bbbb19cb81b2af4ecbc3e72834321f7aa0f70b7282b4f33df23f167541",
            "ced532ce4159b035277d4dfbb7db62968b13cd4eec",
            "626660c26ea6612fb17ad91e8e767639edd6c9faee9d6c7029675b89eaf4ba1ded1a286594",
        ],
        [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "000000000000000000000000",
            "",
            "000000000000000000000000000000004db923dc793ee6497c76dcc03a98e108",
            "f3f80f2cf0cb2dd9c5984fcda908456cc537703b5ba70324a6793a7bf218d3eaffffffff00000000\
             0000000000000000",
        ],
        [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "000000000000000000000000",
            "",
            "eb3640277c7ffd1303c7a542d02d3e4c0000000000000000",
            "18ce4f0b8cb4d0cac65fea8f79257b20888e53e72299e56dffffffff000000000000000000000000",
        ],
    ];
    for (name, features) in available(gcm_siv::variants()) {
        for [key, nonce, aad, plain, sealed] in CASES {
            let siv = GcmSiv::new(&hex(key), features).unwrap();
            let nonce: [u8; 12] = hex(nonce).try_into().unwrap();
            let (mut data, mut tag) = (hex(plain), [0; 16]);
            siv.seal(&nonce, &hex(aad), InOut::in_place(&mut data), &mut tag).unwrap();
            assert_eq!([&data[..], &tag].concat(), hex(sealed), "{name} plaintext {plain}");
            let opened = siv.open(&nonce, &hex(aad), InOut::in_place(&mut data), &tag);
            assert!(opened.is_ok() && data == hex(plain), "{name} plaintext {plain}");
        }
    }
}

#[test]
fn accepts_only_keys_of_16_and_32_bytes() {
    for len in 0..100 {
        let made = GcmSiv::new(&vec![1; len], Features::detect());
        assert_eq!(made.is_ok(), matches!(len, 16 | 32), "{len} bytes");
    }
}

#[test]
fn keys_are_send_and_sync() {
    fn crosses<T: Send + Sync>(_: &T) {}
    crosses(&GcmSiv::new(&[0x6b; 32], Features::NONE).unwrap());
}
