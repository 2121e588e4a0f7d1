//! Ranges of a file, as `sealane.fs` fetches them: bytes that a server made up are an error or the
//! plaintext.
// claim: file-reader, input-no-crash

use sealane::Key;
use sealane::file::{self, DecryptWith, EncryptWith, RangeDecryptor, sealed_range};

pub(crate) fn run(input: (u32, (u32, u32), Vec<(u32, u8)>, u32, Vec<u8>)) {
    let (len, (start, extent), changes, cut, more) = input;
    let key = Key::from_bytes(&[7; 32]);
    let plain: Vec<u8> = (0..len % 100_000).map(|i| (i % 251) as u8).collect();
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).expect("a good key");
    assert_eq!(file::sealed_len(plain.len() as u64).expect("a short file"), sealed.len() as u64);
    assert_eq!(file::plain_len(sealed.len() as u64).expect("our own length"), plain.len() as u64);
    let _ = (file::sealed_len(u64::from(start) << 32 | u64::from(extent)), file::plain_len(u64::from(cut)));

    let start = u64::from(start % 120_000);
    let wanted = start..start + u64::from(extent % 120_000);
    let range = sealed_range(wanted.clone());
    let at = |at: u64| (at as usize).min(sealed.len());
    let mut fetched = sealed[at(range.start)..at(range.end)].to_vec();
    let whole = fetched.clone();
    for (at, mask) in changes {
        if !fetched.is_empty() {
            let at = at as usize % fetched.len();
            fetched[at] ^= mask;
        }
    }
    fetched.truncate(fetched.len() - cut as usize % (fetched.len() + 1));
    fetched.extend_from_slice(&more[..more.len().min(1000)]);

    let decryptor = RangeDecryptor::new(&sealed, &DecryptWith::key(&key, b"")).expect("our own header");
    let Ok(found) = decryptor.range(wanted.clone(), &fetched) else {
        let past_the_end = wanted.start >= plain.len() as u64;
        assert!(fetched != whole || past_the_end, "undamaged");
        return;
    };
    let mut out = vec![1; found.len()];
    match found.decrypt_into(&mut out) {
        Ok(()) => {
            let plain = &plain[(wanted.start as usize).min(plain.len())..];
            assert!(plain.starts_with(&out), "made-up plaintext");
        }
        Err(_) => assert!(out.iter().all(|&byte| byte == 0) && fetched != whole),
    }
}
