//! Files of rclone crypt.
//!
//! ```text
//! file    = "RCLONE" || 00 00 || nonce[24] || chunk 0 || … || chunk n
//! chunk i = tag[16] || ciphertext      65536 plaintext bytes, the last chunk 1 to 65536
//!           XSalsa20-Poly1305 under nonce + i, a little-endian number modulo 2^192
//! ```
//!
//! The header is not authenticated by itself. A file without its first k chunks is one under the
//! nonce + k, so neither the beginning of a file nor its end is authentic.

use crate::prelude::*;
use providers::raw::XSalsa20Poly1305;

const MAGIC: [u8; 8] = *b"RCLONE\0\0";
const HEADER: usize = 32;

pub(super) const LAYOUT: Layout = Layout {
    header: HEADER as u64,
    lead: 0,
    chunk: 1 << 16,
    overhead: 16,
    end: End::Alike,
    max_chunks: u64::MAX,
};

/// An encrypted file.
pub(super) struct File {
    key: Arc<XSalsa20Poly1305>,
    nonce: [u8; 24],
}

debug_fields!(File);

impl File {
    /// Reads the header.
    pub(super) fn open(key: &Arc<XSalsa20Poly1305>, source: &dyn ReadAt) -> Result<Self> {
        let mut header = [0; HEADER];
        if source.size()? < HEADER as u64 {
            return Err(Error::Truncated);
        }
        source.read_exact_at(0, &mut header)?;
        match header.split_first_chunk() {
            Some((&MAGIC, nonce)) => {
                Ok(Self { key: Arc::clone(key), nonce: nonce.try_into().expect("24 bytes") })
            }
            _ => Err(Error::Header("expected a file of rclone crypt, which begins with RCLONE")),
        }
    }

    /// Returns the nonce of a chunk.
    fn nonce(&self, index: u64) -> [u8; 24] {
        let (mut nonce, mut carry) = (self.nonce, u128::from(index));
        for word in nonce.as_chunks_mut().0 {
            let sum = u128::from(u64::from_le_bytes(*word)) + carry;
            *word = (sum as u64).to_le_bytes();
            carry = sum >> 64;
        }
        nonce
    }
}

impl OpenChunks for File {
    fn layout(&self) -> Layout {
        LAYOUT
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        let (tag, data) = sealed.split_first_chunk().ok_or(Error::Authentication)?;
        // The dropped error says no more.
        let opened = self.key.open(&self.nonce(position.index), InOut::apart(data, plain), tag);
        opened.map_err(|_| Error::Authentication)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn nonces_carry_through_all_bytes_and_wrap() {
        let file = |nonce| File { key: Arc::new(raw::xsalsa20_poly1305(&[7; 32]).unwrap()), nonce };
        let mut expected = [0; 24];
        assert_eq!(file([0xff; 24]).nonce(1), expected);
        expected[0] = 4;
        assert_eq!(file([0xff; 24]).nonce(5), expected);
        let mut low = [0; 24];
        low[..8].fill(0xff);
        let mut carried = [0; 24];
        carried[8] = 1;
        assert_eq!(file(low).nonce(1), carried);
        carried[..8].fill(0xff);
        carried[0] = 0xfe;
        assert_eq!(file(low).nonce(u64::MAX), carried);
    }
}
