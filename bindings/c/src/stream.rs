//! Keystreams at any offset: AES-CTR, ChaCha20, XChaCha20 and Speck-CTR.

use crate::call::{exports, freed};
use crate::error::ArgumentError;
use crate::memory::{Handle, Input, Layout, Output, Owned, count};
use crate::speck::{order_named, size_named};
use sealane::Misuse;
use sealane::hazmat::{AesCtr, ChaCha20, SpeckCtr, XChaCha20};

/// A keystream with its key and IV.
pub(crate) enum Stream {
    AesCtr(AesCtr),
    ChaCha20(ChaCha20),
    XChaCha20(XChaCha20),
    Speck(SpeckCtr),
}

impl Handle for Stream {}

exports! {
    fn sealane_hazmat_stream_new(
        cipher: &str, key: &[u8][key_len], iv: &[u8][iv_len], counter: u32, byte_order: Option<&str>
    ) -> Owned<Stream> {
        let has_counter = matches!(cipher, "chacha20" | "xchacha20");
        if counter != 0 && !has_counter {
            // The IV is its first counter, so the caller means another position than the library
            // would use.
            return Err(ArgumentError::Range { name: "counter", found: counter.into(), max: 0 }.into());
        }
        let stream = match cipher {
            "aes-ctr" => Stream::AesCtr(AesCtr::new(key, iv)?),
            "chacha20" => Stream::ChaCha20(ChaCha20::new(key, iv, counter)?),
            "xchacha20" => Stream::XChaCha20(XChaCha20::new(key, iv, counter)?),
            name if name.starts_with("speck") => {
                let size = size_named(name, "")?;
                Stream::Speck(SpeckCtr::new(size, key, iv, order_named(byte_order)?)?)
            }
            _ => {
                let expected = "aes-ctr, chacha20, xchacha20, or a size of Speck, for example speck128-256";
                return Err(ArgumentError::Name { name: "cipher", expected: expected.into() }.into());
            }
        };
        if byte_order.is_some() && !matches!(stream, Stream::Speck(_)) {
            let expected = "a byte order is for Speck only; give a null pointer for other ciphers";
            return Err(ArgumentError::Unsuitable(expected).into());
        }
        Ok(Owned::new(stream))
    }
}

freed!(sealane_stream_free(stream: Stream));

exports! {
    fn sealane_stream_xor_at(
        stream: &Stream, offset: u64, data: Input[data_len], out: Output[out_len]
    ) -> i64 {
        let Layout { data, .. } = out.arrange(0, data, 0, [])?;
        let len = data.len();
        match stream {
            Stream::AesCtr(stream) => stream.xor(offset, data)?,
            Stream::ChaCha20(stream) => stream.xor(offset, data)?,
            Stream::XChaCha20(stream) => stream.xor(offset, data)?,
            Stream::Speck(stream) => stream.xor(offset, data)?,
        }
        Ok(count(len))
    }

    fn sealane_stream_xor_under(
        stream: &Stream, iv: Input[iv_len], offset: u64, data: Input[data_len], out: Output[out_len]
    ) -> i64 {
        let Stream::AesCtr(stream) = stream else {
            let expected = "another IV can be given for aes-ctr only; make a stream for each IV";
            return Err(ArgumentError::Unsuitable(expected).into());
        };
        let Layout { data, others: [iv], .. } = out.arrange(0, data, 0, [iv])?;
        // It fails only if the length is wrong.
        let iv = iv.try_into().map_err(|_| Misuse::NonceLength { got: iv_len, want: 16 })?;
        let len = data.len();
        stream.xor_under(iv, offset, data)?;
        Ok(count(len))
    }
}
