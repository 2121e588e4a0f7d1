//! Keystreams at any offset: AES-CTR, ChaCha20, XChaCha20 and Speck-CTR.

use crate::call::{Error, guarded, infallible};
use crate::error::ArgumentError;
use crate::memory::{CText, In, Layout, Out, Owned, Shared, Unique, count};
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

#[unsafe(no_mangle)]
extern "C" fn sealane_hazmat_stream_new(
    cipher: CText,
    key: In,
    key_len: usize,
    iv: In,
    iv_len: usize,
    counter: u32,
    byte_order: CText,
    error: Unique<Error>,
) -> Owned<Stream> {
    guarded(error, |call| {
        let (key, iv) = (key.bytes(call, "key", key_len)?, iv.bytes(call, "iv", iv_len)?);
        let (cipher, order) = (cipher.required(call, "cipher")?, byte_order.optional(call, "byte_order")?);
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
                Stream::Speck(SpeckCtr::new(size, key, iv, order_named(order)?)?)
            }
            _ => {
                let expected = "aes-ctr, chacha20, xchacha20, or a size of Speck, for example speck128-256";
                return Err(ArgumentError::Name { name: "cipher", expected: expected.into() }.into());
            }
        };
        if order.is_some() && !matches!(stream, Stream::Speck(_)) {
            let expected = "a byte order is for Speck only; give a null pointer for other ciphers";
            return Err(ArgumentError::Unsuitable(expected).into());
        }
        Ok(Owned::new(stream))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_stream_free(stream: Owned<Stream>) {
    infallible(|| stream.free());
}

#[unsafe(no_mangle)]
extern "C" fn sealane_stream_xor_at(
    stream: Shared<Stream>,
    offset: u64,
    data: In,
    data_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let stream = stream.get(call, "stream")?;
        let data = data.input(call, "data", data_len)?;
        let Layout { data, .. } = out.output(call, "out", out_len)?.arrange(0, data, 0, [])?;
        let len = data.len();
        match stream {
            Stream::AesCtr(stream) => stream.xor(offset, data)?,
            Stream::ChaCha20(stream) => stream.xor(offset, data)?,
            Stream::XChaCha20(stream) => stream.xor(offset, data)?,
            Stream::Speck(stream) => stream.xor(offset, data)?,
        }
        Ok(count(len))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_stream_xor_under(
    stream: Shared<Stream>,
    iv: In,
    iv_len: usize,
    offset: u64,
    data: In,
    data_len: usize,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let Stream::AesCtr(stream) = stream.get(call, "stream")? else {
            let expected = "another IV can be given for aes-ctr only; make a stream for each IV";
            return Err(ArgumentError::Unsuitable(expected).into());
        };
        let (iv, data) = (iv.input(call, "iv", iv_len)?, data.input(call, "data", data_len)?);
        let Layout { data, others: [iv], .. } =
            out.output(call, "out", out_len)?.arrange(0, data, 0, [iv])?;
        // It fails only if the length is wrong.
        let iv = iv.try_into().map_err(|_| Misuse::NonceLength { got: iv_len, want: 16 })?;
        let len = data.len();
        stream.xor_under(iv, offset, data)?;
        Ok(count(len))
    })
}
