#[test]
fn smoke() {
    use super::*;
    let keys = [PrivateKey::from(x25519::PrivateKey::generate().unwrap()), p256::PrivateKey::generate().unwrap().into(), xwing::PrivateKey::generate().unwrap().into()];
    for key in &keys { for aead in [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305] {
        let (enc, ct) = seal(&key.public(), aead, b"info", b"aad", b"hello").unwrap();
        assert_eq!(enc.len(), key.kem().encapsulation_len());
        assert_eq!(open(key, aead, &enc, b"info", b"aad", &ct).unwrap(), b"hello");
        assert!(open(key, aead, &enc, b"info", b"aax", &ct).is_err());
    }}
}
