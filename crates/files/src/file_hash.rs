//! The hash of a whole file, from pieces in any order, so that all threads compute it.
//!
//! ```text
//! leaf i = SHA-256(0x00 || bytes i·16384 to (i+1)·16384 of the file)
//! node   = SHA-256(0x01 || left || right)
//! hash   = SHA-256(0x02 || length of the file in bytes, 8 bytes, big-endian || root)
//! ```
//!
//! Only the last leaf may be shorter, and an empty file has one empty leaf. The root is the Merkle
//! tree hash of RFC 6962, section 2.1: the left part of a tree of n leaves has the largest power of
//! two below n. SHA-256 makes it collision-resistant for everybody, holders of the keys included.

use crate::prelude::*;
use engine::io::{Concurrency, WriteAt};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub(crate) const HASH_LEN: usize = 32;
/// Bytes per leaf. Jobs of files begin anywhere in a leaf, and the parts of a leaf are copied until
/// it is complete: with 64 KiB, that would be most bytes of a job. Leaves cost 1 % more than one
/// hash of everything.
const LEAF_LEN: u64 = 1 << 14;

type Hash = [u8; HASH_LEN];

/// The hash of a file, under construction.
pub(crate) struct FileHash {
    len: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Roots of complete subtrees by height and position. Two neighbours become one.
    roots: BTreeMap<(u32, u64), Hash>,
    /// Leaves in parts, with the number of their bytes so far.
    parts: BTreeMap<u64, (Vec<u8>, usize)>,
}

impl FileHash {
    /// Begins the hash of a file of `len` bytes.
    pub(crate) fn new(len: u64) -> Self {
        Self { len, state: Mutex::default() }
    }

    /// Adds the bytes at `offset`. Each byte of the file is added once; bytes after its end are
    /// ignored.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`].
    pub(crate) fn add(&self, mut offset: u64, bytes: &[u8]) -> Result<()> {
        let within = self.len.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (mut rest, mut done) = (&bytes[..within], Vec::new());
        while !rest.is_empty() {
            let (leaf, start) = (offset / LEAF_LEN, (offset % LEAF_LEN) as usize);
            let len = (self.len - leaf * LEAF_LEN).min(LEAF_LEN) as usize;
            let (piece, after) = rest.split_at(rest.len().min(len - start));
            let completed = if piece.len() < len { self.part(leaf, len, start, piece)? } else { None };
            match completed {
                Some(whole) => done.push((leaf, hash(0, &[&whole]))),
                None if piece.len() == len => done.push((leaf, hash(0, &[piece]))),
                None => {}
            }
            (rest, offset) = (after, offset + piece.len() as u64);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        done.into_iter().for_each(|(leaf, hash)| state.add(leaf, hash));
        Ok(())
    }

    /// Keeps a part of a leaf of `len` bytes. Returns the leaf if this completes it.
    fn part(&self, leaf: u64, len: usize, start: usize, piece: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut whole, found) = match state.parts.remove(&leaf) {
            Some(part) => part,
            None => (memory::zeroed(len)?, 0),
        };
        whole[start..start + piece.len()].copy_from_slice(piece);
        let found = found + piece.len();
        if found < len {
            state.parts.insert(leaf, (whole, found));
            return Ok(None);
        }
        Ok(Some(whole))
    }

    /// Returns the hash, or `None` if bytes are missing.
    pub(crate) fn finish(self) -> Option<Hash> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.len == 0 {
            state.add(0, hash(0, &[]));
        }
        let leaves: u64 = state.roots.keys().map(|(height, _)| 1 << height).sum();
        if leaves != self.len.div_ceil(LEAF_LEN).max(1) {
            return None;
        }
        // The lowest subtree is the last one.
        let root = state.roots.into_values().reduce(|right, left| hash(1, &[&left, &right]))?;
        Some(hash(2, &[&self.len.to_be_bytes(), &root]))
    }
}

impl State {
    fn add(&mut self, mut at: u64, mut root: Hash) {
        let mut height = 0;
        while let Some(other) = self.roots.remove(&(height, at ^ 1)) {
            root = if at & 1 == 0 { hash(1, &[&root, &other]) } else { hash(1, &[&other, &root]) };
            (height, at) = (height + 1, at >> 1);
        }
        self.roots.insert((height, at), root);
    }
}

fn hash(kind: u8, parts: &[&[u8]]) -> Hash {
    let begun = Sha256::new().chain_update([kind]);
    parts.iter().fold(begun, |hash, part| hash.chain_update(part)).finalize().into()
}

/// A file that is hashed while it is written, if there is a hash.
pub(crate) struct HashedFile<'a> {
    pub(crate) file: &'a File,
    pub(crate) hash: Option<&'a FileHash>,
}

impl WriteAt for HashedFile<'_> {
    fn write_all_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.file.write_all_at(offset, from)?;
        self.hash.map_or(Ok(()), |hash| hash.add(offset, from).map_err(Error::into_io))
    }
}

/// A source that is hashed while each byte is read once, if there is a hash.
pub(crate) struct HashedSource<'a> {
    pub(crate) source: &'a dyn ReadAt,
    pub(crate) hash: Option<&'a FileHash>,
}

impl ReadAt for HashedSource<'_> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read_at(offset, into)?;
        self.hash.map_or(Ok(()), |hash| hash.add(offset, &into[..len]).map_err(Error::into_io))?;
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.source.size()
    }

    fn concurrency(&self) -> Concurrency {
        self.source.concurrency()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// The definition of RFC 6962, without any order of pieces.
    fn root(leaves: &[&[u8]]) -> Hash {
        match leaves {
            [] => unreachable!(),
            [leaf] => hash(0, &[leaf]),
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                hash(1, &[&root(left), &root(right)])
            }
        }
    }

    fn expected(content: &[u8]) -> Hash {
        let leaves: Vec<_> = content.chunks(LEAF_LEN as usize).collect();
        let leaves = if leaves.is_empty() { vec![&[][..]] } else { leaves };
        hash(2, &[&(content.len() as u64).to_be_bytes(), &root(&leaves)])
    }

    fn found(content: &[u8], piece: usize, order: impl Fn(usize) -> usize) -> Option<Hash> {
        let hash = FileHash::new(content.len() as u64);
        let pieces: Vec<_> = content.chunks(piece).collect();
        for at in 0..pieces.len() {
            let at = order(at) % pieces.len();
            hash.add((at * piece) as u64, pieces[at]).unwrap();
        }
        hash.finish()
    }

    // claim: folder-content
    #[test]
    fn the_hash_is_the_tree_of_rfc_6962_in_any_order() {
        const LEAF: usize = LEAF_LEN as usize;
        let content: Vec<u8> = (0..9 * LEAF + 100).map(|at| (at / 3 % 251) as u8).collect();
        for len in
            [0, 1, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF, 3 * LEAF - 5, 4 * LEAF, 7 * LEAF + 9, 9 * LEAF + 100]
        {
            let content = &content[..len];
            for piece in [LEAF, 1000, 16_400, 3 * LEAF, 1 << 18] {
                let pieces = len.div_ceil(piece);
                assert_eq!(found(content, piece, |at| at), Some(expected(content)), "{len} {piece}");
                assert_eq!(found(content, piece, |at| pieces - 1 - at), Some(expected(content)));
                // 10007 is prime, so every piece comes once.
                assert_eq!(found(content, piece, |at| at * 10_007 + 3), Some(expected(content)));
            }
        }
    }

    /// Lengths of files 00 01 02 … ff 00 …, with hashes from Python's `hashlib`.
    const VECTORS: [(usize, &str); 5] = [
        (0, "c0e50f0d90d6e2fea1e6f53d4f758ed5fc9035a399a8eb215c29c6ff3ea05425"),
        (100, "d71820be2decc7d4772c36ad77a9da466ef63c7aea9cb43770dc28b5af691764"),
        (16384, "4dcbddfe7cc20e76975317a6fc3da2a0dbea0037131a30a1036cb5b87565cc77"),
        (50000, "52675392c1ce53ebf070ae272f12d51e171d1de0cf8ce5981ad3a37a89acf237"),
        (100000, "49aee07f3f1f48336131b0f0c0850b14a7a5c60196a1ac7100ab259444e414d7"),
    ];

    #[test]
    fn vectors() {
        let hex = |hash: Hash| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        for (len, expected) in VECTORS {
            let content: Vec<u8> = (0..len).map(|at| at as u8).collect();
            assert_eq!(hex(found(&content, 5000, |at| at).unwrap()), expected, "{len}");
        }
    }

    #[test]
    fn missing_bytes_and_bytes_after_the_end() {
        let content = vec![7; 40_000];
        let hash = FileHash::new(40_000);
        hash.add(0, &content[..39_999]).unwrap();
        assert_eq!(hash.finish(), None);
        let hash = FileHash::new(39_000);
        hash.add(0, &content).unwrap();
        hash.add(39_000, &content).unwrap();
        assert_eq!(hash.finish(), Some(expected(&content[..39_000])));
    }
}
