//! Speck-Poly1305 against its definition, built from reference implementations. Changed messages
//! are rejected.

use reference::poly1305::tag_vartime;
use reference::speck::{Order, Speck as Reference};
use sealane::Error;
use sealane::hazmat::{Aead, SpeckSize};
use crate::{check, repeated};

pub(crate) fn run(input: (u8, [u8; 32], [u8; 16], u16, u8, u8, Vec<u8>, Vec<u8>)) {
    let (choice, key, mut nonce, place, bit, times, mut aad, data) = input;
    let data = repeated(data, times, 10_000);
    let size = SpeckSize::ALL[usize::from(choice) % SpeckSize::ALL.len()];
    let (block, key) = (size.block_len(), &key[..size.key_len()]);
    let aead = || if block < 16 { Aead::new_small_block(size, key) } else { Aead::new(size, key) }.unwrap();
    let nonce = &mut nonce[..aead().nonce_len()];
    if choice >= 128 {
        // Near the maximum of the counter.
        nonce[..block.min(12) - 1].fill(0xff);
    }

    let blocks = (data.len() + 32).div_ceil(block) as u128;
    let first = nonce.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
    let fits = block == 16 || first + blocks <= 1 << (8 * block) && blocks <= 1 << (4 * block);
    let (ciphertext, tag) =
        seal_by_definition(&Reference::new_vartime(8 * block as u32, key, Order::Big), nonce, &aad, &data);
    let name = size.name();
    // An object limits the number of sealed messages, so each message has its own object.
    check(name, &data, fits.then_some(&ciphertext), |data| {
        let mut found = [0xee; 16];
        let sealed = aead().encrypt_parts(nonce, &aad, data, &mut found);
        assert_eq!(found, if sealed.is_ok() { tag } else { [0xee; 16] }, "{name}: wrong tag");
        sealed
    });
    check(name, &ciphertext, fits.then_some(&data), |data| aead().decrypt_parts(nonce, &aad, data, &tag));
    if !fits {
        return;
    }
    if block == 16 {
        let sealed = aead().seal(&data, &aad).unwrap();
        assert!(aead().open(&sealed, &aad).unwrap() == data, "{name}: wrong plaintext");
    }

    let mut body = [ciphertext, tag.to_vec()].concat();
    let mut bytes: Vec<_> = [&mut body[..], &mut aad, nonce].into_iter().flatten().collect();
    let place = usize::from(place) % bytes.len();
    *bytes[place] ^= 1 << (bit % 8);
    let opened = aead().decrypt(nonce, &body, &aad);
    // A changed nonce of a small block may be too close to the maximum of the counter.
    assert!(
        matches!(opened, Err(Error::Authentication))
            || block < 16 && matches!(opened, Err(Error::LimitExceeded(_))),
        "{name}: opens a changed message"
    );
}

/// Seals as SpeckEx defines it: the keystream begins with the one-time key, and the tag is that of
/// RFC 8439, section 2.8.
fn seal_by_definition(cipher: &Reference, nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut iv = nonce.to_vec();
    iv.resize(cipher.block_len(), 0);
    let (mut once, mut ciphertext) = ([0; 32], plaintext.to_vec());
    cipher.xor_at_vartime(&iv, 0, &mut once);
    cipher.xor_at_vartime(&iv, 32, &mut ciphertext);
    let mut message = Vec::new();
    for part in [aad, &ciphertext] {
        message.extend(part);
        message.resize(message.len().next_multiple_of(16), 0);
    }
    message.extend((aad.len() as u64).to_le_bytes());
    message.extend((plaintext.len() as u64).to_le_bytes());
    (ciphertext, tag_vartime(&once, &message))
}
