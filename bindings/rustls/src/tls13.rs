//! Records of TLS 1.3 (RFC 8446, section 5.2).
//!
//! The nonce is the IV XOR the sequence number, and the associated data is the record's header. The
//! content type follows the plaintext.

use crate::aead::{RecordKey, TAG_LEN, secrets};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter, Nonce,
    OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm,
    UnsupportedOperationError, make_tls13_aad,
};
use rustls::{ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion};
use sealane::Algorithm;

/// Records of the cipher suites with an AEAD.
pub(crate) struct Records(pub(crate) Algorithm);

/// The key and IV for one direction.
struct Direction {
    key: RecordKey,
    iv: Iv,
}

impl Tls13AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Direction { key: RecordKey::new(self.0, &key), iv })
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Direction { key: RecordKey::new(self.0, &key), iv })
    }

    fn key_len(&self) -> usize {
        self.0.key_len()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        secrets(self.0, key, iv)
    }
}

impl MessageEncrypter for Direction {
    fn encrypt(&mut self, msg: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let len = self.encrypted_payload_len(msg.payload.len());
        let mut payload = PrefixedPayload::with_capacity(len);
        payload.extend_from_chunks(&msg.payload);
        payload.extend_from_slice(&msg.typ.to_array());
        self.key.seal(&Nonce::new(&self.iv, seq).0, &make_tls13_aad(len), &mut payload, 0)?;
        // On the wire, every encrypted record is TLS 1.2 application data.
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        payload_len + 1 + TAG_LEN
    }
}

impl MessageDecrypter for Direction {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let aad = make_tls13_aad(msg.payload.len());
        self.key.open(&Nonce::new(&self.iv, seq).0, &aad, &mut msg.payload, 0)?;
        msg.into_tls13_unpadded_message()
    }
}
