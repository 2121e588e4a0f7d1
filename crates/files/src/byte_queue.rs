//! Output of a stream for callers without a writer.

use crate::prelude::*;
use std::collections::VecDeque;
use std::io::Write;

/// A queue of bytes: a stream writes to it, and the caller takes bytes out when it wants them.
///
/// Bytes never taken are wiped when the queue is dropped.
///
/// ```
/// use sealane::Key;
/// use sealane::file::{ByteQueue, EncryptWith, Encryptor};
///
/// let key = Key::generate(32)?;
/// let mut encryptor = Encryptor::new(ByteQueue::default(), &EncryptWith::key(&key, b""))?;
/// encryptor.push(&[7; 3 << 20])?;
/// let mut file = vec![0; encryptor.get_mut().len()];
/// encryptor.get_mut().take(&mut file); // what is complete now
/// let mut rest = encryptor.finish()?;
/// let mut end = vec![0; rest.len()];
/// assert_eq!(rest.take(&mut end), end.len());
/// assert!(rest.is_empty());
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Default)]
pub struct ByteQueue {
    /// One element per write. A single buffer would be copied as it grows, leaving copies of
    /// plaintext in memory.
    pieces: VecDeque<Wiped>,
    /// Bytes already taken from the first piece.
    taken: usize,
    /// Bytes waiting.
    len: usize,
}

impl ByteQueue {
    /// Returns the number of bytes that can be taken.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Moves as many bytes as available, or as fit, to the start of `out`. Returns how many.
    pub fn take(&mut self, mut out: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(piece) = self.pieces.front().filter(|_| !out.is_empty()) {
            let rest = &piece[self.taken..];
            let len = rest.len().min(out.len());
            let (now, later) = out.split_at_mut(len);
            now.copy_from_slice(&rest[..len]);
            (out, done) = (later, done + len);
            self.taken += len;
            if self.taken == piece.len() {
                self.pieces.pop_front();
                self.taken = 0;
            }
        }
        self.len -= done;
        done
    }
}

impl Write for ByteQueue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut piece = Vec::new();
        piece.try_reserve_exact(bytes.len())?;
        piece.extend_from_slice(bytes);
        self.len += piece.len();
        self.pieces.push_back(Wiped(piece));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

debug_fields!(ByteQueue; |it| len: it.len);

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn bytes_come_out_in_order_for_any_cuts() {
        for cut in [1, 2, 3, 7, 100] {
            let mut queue = ByteQueue::default();
            queue.write_all(b"").unwrap();
            assert!(queue.is_empty());
            for piece in [&b"one"[..], b"", b"two", b"three"] {
                queue.write_all(piece).unwrap();
            }
            assert_eq!(queue.len(), 11);
            let (mut taken, mut room) = (Vec::new(), vec![0; cut]);
            loop {
                let len = queue.take(&mut room);
                if len == 0 {
                    break;
                }
                taken.extend_from_slice(&room[..len]);
            }
            assert_eq!(taken, b"onetwothree");
            assert!(queue.is_empty());
        }
    }

    #[test]
    fn debug_shows_no_bytes() {
        let mut queue = ByteQueue::default();
        queue.write_all(b"secret").unwrap();
        assert_eq!(format!("{queue:?}"), "ByteQueue { len: 6, .. }");
    }
}
