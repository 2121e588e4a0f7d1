//! Keystreams at any offset: AES-CTR, ChaCha20, XChaCha20 and Speck-CTR.

use crate::call::{exports, freed};
use crate::error::ArgumentError;
use crate::memory::{Handle, Input, Layout, Output, Owned, count};
use sealane::{Misuse, named};

/// A keystream with its key and IV.
pub(crate) type Stream = named::Keystream;

impl Handle for Stream {}

exports! {
    fn sealane_hazmat_stream_new(
        cipher: &str, key: &[u8][key_len], iv: &[u8][iv_len], counter: u32, byte_order: Option<&str>
    ) -> Owned<Stream> {
        Ok(Owned::new(Stream::new(cipher, key, iv, counter.into(), byte_order)?))
    }
}

freed!(sealane_stream_free(stream: Stream));

exports! {
    fn sealane_stream_xor_at(
        stream: &Stream, offset: u64, data: Input[data_len], out: Output[out_len]
    ) -> i64 {
        let Layout { data, .. } = out.arrange(0, data, 0, [])?;
        let len = data.len();
        stream.xor(offset, data)?;
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
