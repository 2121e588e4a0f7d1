//! Records of TLS 1.2: AES-GCM (RFC 5288) and ChaCha20-Poly1305 (RFC 7905).
//!
//! An AES-GCM record begins with 8 bytes of its nonce; the other 4 are derived with the key. rustls
//! draws a random start and XORs it with the sequence number, so no nonce repeats.
//! ChaCha20-Poly1305 records use TLS 1.3's nonces.

use crate::aead::{RecordKey, TAG_LEN, secrets};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter,
    MessageEncrypter, NONCE_LEN, Nonce, OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload,
    Tls12AeadAlgorithm, UnsupportedOperationError, make_tls12_aad,
};
use rustls::{ConnectionTrafficSecrets, Error};
use sealane::Algorithm;

/// Nonce bytes in each AES-GCM record.
const EXPLICIT_LEN: usize = 8;
/// Maximum plaintext bytes per record (RFC 5246, section 6.2.1).
const MAX_FRAGMENT_LEN: usize = 1 << 14;

/// Records of the cipher suites with an AEAD, with this number of nonce bytes in each.
pub(crate) struct Records(Algorithm, usize);

/// The key and the start of the nonces for one direction. `explicit` is the number of nonce bytes
/// before the ciphertext.
struct Direction {
    key: RecordKey,
    iv: Iv,
    explicit: usize,
}

impl Records {
    pub(crate) fn of(algorithm: Algorithm) -> Self {
        Self(algorithm, if algorithm == Algorithm::ChaCha20Poly1305 { 0 } else { EXPLICIT_LEN })
    }

    fn direction(&self, key: &AeadKey, iv: &[u8], explicit: &[u8]) -> Direction {
        Direction { key: RecordKey::new(self.0, key), iv: self.iv(iv, explicit), explicit: self.1 }
    }

    /// Joins the two parts of a nonce. The first is a whole one if a record has no nonce bytes.
    fn iv(&self, fixed: &[u8], explicit: &[u8]) -> Iv {
        let mut iv = [0; NONCE_LEN];
        let (start, end) = iv.split_at_mut(NONCE_LEN - self.1);
        start.copy_from_slice(fixed);
        end.copy_from_slice(&explicit[..self.1]);
        Iv::new(iv)
    }
}

impl Tls12AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: &[u8], extra: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(self.direction(&key, iv, extra))
    }

    fn decrypter(&self, key: AeadKey, iv: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(self.direction(&key, iv, &[0; EXPLICIT_LEN]))
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape {
            enc_key_len: self.0.key_len(),
            fixed_iv_len: NONCE_LEN - self.1,
            explicit_nonce_len: self.1,
        }
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: &[u8],
        explicit: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        secrets(self.0, key, self.iv(iv, explicit))
    }
}

impl MessageEncrypter for Direction {
    fn encrypt(&mut self, msg: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let mut payload = PrefixedPayload::with_capacity(self.encrypted_payload_len(msg.payload.len()));
        let nonce = Nonce::new(&self.iv, seq).0;
        payload.extend_from_slice(&nonce[NONCE_LEN - self.explicit..]);
        payload.extend_from_chunks(&msg.payload);
        let aad = make_tls12_aad(seq, msg.typ, msg.version, msg.payload.len());
        self.key.seal(&nonce, &aad, &mut payload, self.explicit)?;
        Ok(OutboundOpaqueMessage::new(msg.typ, msg.version, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        self.explicit + payload_len + TAG_LEN
    }
}

impl MessageDecrypter for Direction {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let overhead = self.explicit + TAG_LEN;
        let len = msg.payload.len().checked_sub(overhead).ok_or(Error::DecryptError)?;
        let mut nonce = Nonce::new(&self.iv, seq).0;
        // The sender chooses these bytes, not always as the XOR with the sequence number.
        nonce[NONCE_LEN - self.explicit..].copy_from_slice(&msg.payload[..self.explicit]);
        let aad = make_tls12_aad(seq, msg.typ, msg.version, len);
        self.key.open(&nonce, &aad, &mut msg.payload, self.explicit)?;
        if msg.payload.len() > MAX_FRAGMENT_LEN {
            return Err(Error::PeerSentOversizedRecord);
        }
        Ok(msg.into_plain_message())
    }
}
