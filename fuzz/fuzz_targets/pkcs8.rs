//! The parsers of DER and PEM do not panic on any bytes, and a parsed key round-trips. PBES2 (encrypted PKCS#8) is built
//! with parameters that cost little, because a derivation of seconds would leave no time for inputs.
#![no_main]

use sealane::Error;
use sealane::keys::{KeyFile, LoadOptions, SecretKey};

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    der: &'a [u8],
    label: u8,
    salt: &'a [u8],
    log_n: u8,
    numbers: [u8; 3],
    iv: &'a [u8],
    ciphertext: &'a [u8],
    /// Bytes of the built structure that are changed.
    changes: Vec<(u16, u8)>,
}

const LABELS: [&str; 6] =
    ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE"];
const SCRYPT: &[u8] = &[6, 9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11];
const PBKDF2: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 12];
const PBES2: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13];
const AES_256: &[u8] = &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42];

libfuzzer_sys::fuzz_target!(|input: Input<'_>| {
    check(KeyFile::parse(input.der, LoadOptions::default()));
    let label = LABELS[usize::from(input.label) % LABELS.len()];
    check(KeyFile::parse(sealane_fuzz::pem(label, input.der).as_bytes(), LoadOptions::default()));

    let encrypted = pbes2(&input);
    let opened = KeyFile::parse(&encrypted, LoadOptions::passphrase(Some("x")));
    assert!(!matches!(opened, Err(Error::OutOfMemory { .. })), "the parameters cost little");
    let mut changed = encrypted;
    // The numbers are not changed, so the work stays small. They are in the first 60 bytes.
    for (at, mask) in input.changes {
        let len = changed.len();
        if usize::from(at) % len > 60 + input.salt.len() {
            changed[usize::from(at) % len] ^= mask;
        }
    }
    let _ = KeyFile::parse(&changed, LoadOptions::passphrase(Some("x")));
});

fn check(parsed: Result<KeyFile, Error>) {
    if let Ok(KeyFile::Secret(key)) = parsed {
        let text = key.to_text(None).expect("it was a file");
        let again = SecretKey::from_text(&text, None).expect("our own text");
        assert_eq!(again.public(), key.public());
    }
}

fn pbes2(input: &Input<'_>) -> Vec<u8> {
    let [r, p, rounds] = input.numbers.map(|n| [2, 1, n & 0x7f]);
    let salt = sealane_fuzz::der(4, &[&input.salt[..input.salt.len().min(100)]]);
    let kdf = match input.label & 1 {
        0 => {
            let n = 1_u32 << (input.log_n % 12);
            let n = sealane_fuzz::der(2, &[&[0], &n.to_be_bytes()[n.leading_zeros() as usize / 8..]]);
            [SCRYPT.to_vec(), sealane_fuzz::der(0x30, &[&salt, &n, &r, &p])].concat()
        }
        _ => [PBKDF2.to_vec(), sealane_fuzz::der(0x30, &[&salt, &rounds])].concat(),
    };
    let cipher = [AES_256.to_vec(), sealane_fuzz::der(4, &[input.iv])].concat();
    let parameters =
        sealane_fuzz::der(0x30, &[&sealane_fuzz::der(0x30, &[&kdf]), &sealane_fuzz::der(0x30, &[&cipher])]);
    sealane_fuzz::der(
        0x30,
        &[&sealane_fuzz::der(0x30, &[PBES2, &parameters]), &sealane_fuzz::der(4, &[input.ciphertext])],
    )
}
