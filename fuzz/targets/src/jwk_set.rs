//! The parser of JSON Web Key Sets does not panic on any text, and selects a key only if it is the
//! only one.
// claim: input-no-crash

use sealane::keys::{KeyFile, LoadOptions, SecretKey};

pub(crate) fn run(input: (Option<&str>, Vec<(Option<&str>, &[u8])>, &str)) {
    let (kid, keys, text) = input;
    let _ = KeyFile::parse(text.as_bytes(), LoadOptions { kid, ..LoadOptions::default() });
    let all: Vec<_> = keys
        .iter()
        .map(|(kid, bytes)| {
            let mut jwk = sealane::keys::Jwk::from(sealane::Key::from_bytes(bytes));
            jwk.kid = kid.map(str::to_owned);
            jwk.to_json().trim_end().to_owned()
        })
        .collect();
    let set = format!("{{\"keys\":[{}]}}", all.join(","));
    let found = KeyFile::parse(set.as_bytes(), LoadOptions { kid, ..LoadOptions::default() });
    // An empty key is damaged, and ignored beside a good one.
    let matching: Vec<_> =
        keys.iter().filter(|key| (kid.is_none() || key.0 == kid) && !key.1.is_empty()).collect();
    match found {
        Ok(KeyFile::Secret(SecretKey::Symmetric(jwk))) => {
            assert_eq!(matching.len(), 1);
            assert_eq!((jwk.key.as_bytes(), jwk.kid.as_deref()), (matching[0].1, matching[0].0));
        }
        Ok(other) => panic!("{other:?}"),
        Err(_) => assert!(matching.len() != 1 || set.len() > 1 << 18),
    }
}
