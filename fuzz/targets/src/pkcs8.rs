//! The parsers of DER and PEM do not panic on any bytes, and a parsed key round-trips. PBES2
//! (encrypted PKCS#8) is built with parameters that cost little, because a derivation of seconds
//! would leave no time for inputs.
// claim: key-file, input-no-crash

use sealane::Error;
use sealane::keys::{KeyFile, LoadOptions, SecretKey};

#[derive(Debug, arbitrary::Arbitrary)]
pub(crate) struct Input<'a> {
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
/// The last number of the identifiers of AES-256-CBC, AES-128-CBC and AES-192-CBC, and the lengths
/// of their keys.
const AES: [(u8, u8); 3] = [(42, 32), (2, 16), (22, 24)];
const AES_CBC: &[u8] = &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1];
/// The last numbers of the identifiers of HMAC with SHA-256, SHA-1, SHA-384 and SHA-512, and of one
/// that is not supported.
const HMAC: [u8; 5] = [9, 7, 10, 11, 8];

pub(crate) fn run(input: Input<'_>) {
    check(KeyFile::parse(input.der, LoadOptions::default()));
    let label = LABELS[usize::from(input.label) % LABELS.len()];
    check(KeyFile::parse(crate::pem(label, input.der).as_bytes(), LoadOptions::default()));

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
}

fn check(parsed: Result<KeyFile, Error>) {
    if let Ok(KeyFile::Secret(key)) = parsed {
        let text = key.to_text(None).expect("it was a file");
        let again = SecretKey::from_text(&text, None).expect("our own text");
        assert_eq!(again.public(), key.public());
    }
}

fn pbes2(input: &Input<'_>) -> Vec<u8> {
    let [r, p, rounds] = input.numbers.map(|n| [2, 1, n & 0x7f]);
    let salt = crate::der(4, &[&input.salt[..input.salt.len().min(100)]]);
    let (cipher, key_len) = AES[usize::from(input.label >> 1) % AES.len()];
    let key_len: &[u8] = if input.label & 0x80 == 0 { &[] } else { &[2, 1, key_len] };
    let kdf = match input.label & 1 {
        0 => {
            let n = 1_u32 << (input.log_n % 12);
            let n = crate::der(2, &[&[0], &n.to_be_bytes()[n.leading_zeros() as usize / 8..]]);
            [SCRYPT.to_vec(), crate::der(0x30, &[&salt, &n, &r, &p, key_len])].concat()
        }
        _ => {
            let hmac = match usize::from(input.label >> 3) % (HMAC.len() + 1) {
                0 => Vec::new(),
                n => crate::der(0x30, &[&[6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 2, HMAC[n - 1]], &[5, 0]]),
            };
            [PBKDF2.to_vec(), crate::der(0x30, &[&salt, &rounds, key_len, &hmac])].concat()
        }
    };
    let cipher = [AES_CBC.to_vec(), vec![cipher], crate::der(4, &[input.iv])].concat();
    let parameters =
        crate::der(0x30, &[&crate::der(0x30, &[&kdf]), &crate::der(0x30, &[&cipher])]);
    crate::der(
        0x30,
        &[&crate::der(0x30, &[PBES2, &parameters]), &crate::der(4, &[input.ciphertext])],
    )
}
