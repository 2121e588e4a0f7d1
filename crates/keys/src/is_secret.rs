//! Recognizes secret keys that must not be printed.

use super::{KeyFile, LoadOptions};
use base64ct::{Base64Unpadded, Encoding};
use zeroize::Zeroizing;

/// Returns whether a text is a secret key in any format that [`load`](super::load) reads, even with
/// a typing error.
///
/// A program can check its arguments before it prints them: a key may stand where a file name was
/// expected. Keys of 64 hexadecimal digits do not count, see [`is_hexadecimal_key`].
pub fn is_secret(text: &str) -> bool {
    if is_hexadecimal_key(text) {
        return false;
    }
    let upper = text.to_ascii_uppercase();
    let marked =
        ["AGE-SECRET-KEY-", "AGE-PLUGIN-", "PRIVATE KEY-----"].iter().any(|mark| upper.contains(mark));
    let members =
        ["\"kty\"", "\"primaryKeyId\"", "\"primary_key_id\"", "\"encryptedKeyset\"", "\"encrypted_keyset\""];
    let json = text.contains('{') && members.iter().any(|member| text.contains(member));
    let parsed = || KeyFile::parse(text.as_bytes(), LoadOptions::default());
    marked || json || parsed().is_ok_and(|key| key.into_secret().is_ok())
}

/// Returns whether a text may be a key without any mark, or else the name of a file: 64 hexadecimal
/// digits, or base64, such as the `k` of a JSON Web Key, a Fernet key or minisign's secret key.
pub fn may_be_key(text: &str) -> bool {
    if is_hexadecimal_key(text) {
        return true;
    }
    let text = text.trim_end_matches('=');
    let standard = text.replace('-', "+").replace('_', "/");
    let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
    let mixed = [u8::is_ascii_digit, u8::is_ascii_uppercase, u8::is_ascii_lowercase].into_iter().all(has);
    let len = Base64Unpadded::decode_vec(&standard).map(Zeroizing::new).map(|key| key.len());
    // 158 bytes: minisign's.
    mixed && matches!(len, Ok(32 | 64 | 158))
}

/// Returns whether a text may be a secp256k1 or AES key in 64 hexadecimal digits. It may also be a
/// SHA-256 hash, a common file name.
pub fn is_hexadecimal_key(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn secrets_and_other_texts() {
        let age = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
        let jwk = r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#;
        for secret in [
            age,
            &age.to_lowercase(),
            &age[..30],
            jwk,
            "-----BEGIN PRIVATE KEY-----\nMC4=",
            "AGE-PLUGIN-YUBIKEY-1",
        ] {
            assert!(is_secret(secret), "{secret}");
        }
        for other in ["key.jwk", "age1qqqq", "ssh-ed25519 AAAA", "{\"k\":\"v\"}", "", "é", &"a1".repeat(32)]
        {
            assert!(!is_secret(other), "{other}");
        }
        assert!(
            is_hexadecimal_key(&"a1".repeat(32)) && is_hexadecimal_key(&format!("0x{}", "0F".repeat(32)))
        );
        assert!(!is_hexadecimal_key(&"a1".repeat(33)) && !is_hexadecimal_key(&"g1".repeat(32)));
    }

    #[test]
    fn keys_without_a_mark() {
        let url = "lpn1rY9uDDalycYtIWfuJV7Zf2BMPtKy6IWxXuk0Ijw";
        let fernet = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=";
        let minisign = format!("RWQAAEIy{}Ab0=", "Ab0/".repeat(50));
        for key in [
            url,
            &format!("{url}="),
            fernet,
            "Wj9/mXjTtWvlMmu4ETrEZwxQeLQlWBfy5yLAn1Ppnn8=",
            &"0f".repeat(32),
            &minisign,
        ] {
            assert!(may_be_key(key), "{key}");
        }
        for name in
            ["key.jwk", "", "=", "home/user/documents/projects/archive/backup", &url[1..], &"A1a".repeat(100)]
        {
            assert!(!may_be_key(name), "{name}");
        }
    }
}
