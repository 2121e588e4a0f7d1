//! scrypt (RFC 7914) with limits, for age files, key files and minisign keys.
//!
//! ```text
//! B = PBKDF2(passphrase, salt, 1 round, 128 r p bytes)
//! each of the p blocks of B: mixed with a table of N entries of 128 r bytes (section 5)
//! key = PBKDF2(passphrase, B, 1 round)
//! ```
//!
//! The memory is 128 r (N + p + 1) bytes: the table, B and one more block. The parameters come from
//! files, so [`Params::from_file`] checks them first, and we reserve the memory before the work
//! begins. The loops call the thread's check, so a cancelled derivation stops and frees its memory.
//! The crate `scrypt` aborts the process when an allocation fails, and cannot be stopped.
//!
//! Departure from section 3: the words of a block of Salsa20 are kept as diagonals instead of rows,
//! in every entry of the table. A step of the double round is then one operation on vectors of four
//! words, and the compiler finds it: 128 MiB take 0.2 s, and 0.3 s in OpenSSL 3.0.

use crate::prelude::*;
use base::interrupt::Pace;
use hkdf::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Cost of a byte of B (PBKDF2 writes and reads it), relative to a byte of the table.
const PBKDF2_WORK: u64 = 4;

const NO_MEMORY: Error = Error::LimitExceeded("scrypt needs more memory than this process can get");

/// The most that a key file may request: 1 GiB for the table, like the largest work factor of an
/// age file, and a MiB for the rest; and about 15 seconds, see [`Params::work`].
const MAX_BYTES: u64 = (1 << 30) + (1 << 20);
const MAX_WORK: u64 = 4 << 30;
const TOO_MUCH: Error = Error::LimitExceeded(
    "the key file requests more work than allowed for scrypt: 1 GiB of memory (128 * r * (N + p + 1)) and 4 GiB of \
     work (128 * r * p * (N + 4))",
);

/// A block of Salsa20: four diagonals of its 4 x 4 words.
type Block = [[u32; 4]; 4];

/// scrypt parameters from a file.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    pub(crate) log_n: u8,
    pub(crate) r: u32,
    pub(crate) p: u32,
}

impl Params {
    /// Returns the memory of the derivation in bytes; `None` above 64 bits.
    pub(crate) fn memory(self) -> Option<u64> {
        let n = 1_u64.checked_shl(self.log_n.into())?;
        let blocks = n.checked_add(self.p.into())?.checked_add(1)?;
        blocks.checked_mul(self.r.into())?.checked_mul(128)
    }

    /// Returns the computed bytes of the table plus the work of PBKDF2; `None` above 64 bits.
    pub(crate) fn work(self) -> Option<u64> {
        let n = 1_u64.checked_shl(self.log_n.into())?;
        let per_block = n.checked_add(PBKDF2_WORK)?.checked_mul(self.r.into())?.checked_mul(128)?;
        per_block.checked_mul(self.p.into())
    }

    /// Returns parameters from a key file.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if they request more than 1 GiB or about 15 seconds.
    pub fn from_file(log_n: u8, r: u64, p: u64) -> Result<Self> {
        let within = |found: Option<u64>, max| found.is_some_and(|found| found <= max);
        // A larger number is above the limits too.
        let [r, p] = [r, p].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let params = Self { log_n, r, p };
        match within(params.memory(), MAX_BYTES) && within(params.work(), MAX_WORK) {
            true => Ok(params),
            false => Err(TOO_MUCH),
        }
    }

    /// Derives a key of `len` bytes. The table is not wiped.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the memory cannot be allocated, and
    /// [`Error::Cancelled`].
    pub fn derive(self, passphrase: &[u8], salt: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        Computation::Scrypt.check()?;
        let bytes = self.memory().and_then(|bytes| usize::try_from(bytes).ok()).ok_or(NO_MEMORY)?;
        let (n, blocks) = (1_usize << self.log_n, 2 * self.r as usize);
        // Reserved together, to refuse before the work begins. Any error is a lack of memory.
        drop(memory::with_capacity::<u8>(bytes).map_err(|_| NO_MEMORY)?);
        let mut table = memory::with_capacity(n * blocks).map_err(|_| NO_MEMORY)?;
        let mut whole = Zeroizing::new(memory::zeroed(blocks * 64 * self.p as usize)?);
        let mut block = Zeroizing::new(memory::with_capacity(blocks)?);
        // bounded: the capacity is there.
        block.resize(blocks, Block::default());
        let mut next = block.clone();
        let mut pace = Pace::new();
        let prf = Hmac::<Sha256>::new_from_slice(passphrase).expect("HMAC accepts keys of any length");
        pbkdf2(&prf.clone().chain_update(salt), &mut whole, &mut pace)?;
        for bytes in whole.chunks_exact_mut(blocks * 64) {
            load(bytes, &mut block);
            ro_mix(&mut block, &mut next, &mut table, n, &mut pace)?;
            store(&block, bytes);
        }
        let mut key = Zeroizing::new(memory::zeroed(len)?);
        pbkdf2(&prf.chain_update(&*whole), &mut key, &mut pace)?;
        Ok(key)
    }
}

/// One round of PBKDF2 (RFC 8018, section 5.2); `prf` has taken the passphrase and the salt.
fn pbkdf2(prf: &Hmac<Sha256>, out: &mut [u8], pace: &mut Pace) -> Result<()> {
    for (number, out) in (1_u32..).zip(out.chunks_mut(32)) {
        let block = prf.clone().chain_update(number.to_be_bytes()).finalize().into_bytes();
        let block: Zeroizing<[u8; 32]> = Zeroizing::new(block.into());
        out.copy_from_slice(&block[..out.len()]);
        pace.after(PBKDF2_WORK as usize * 32)?;
    }
    Ok(())
}

/// Where word `j` of diagonal `i` stands in a block.
const fn position(i: usize, j: usize) -> usize {
    4 * ((4 * i + 5 * j) % 16)
}

fn load(bytes: &[u8], blocks: &mut [Block]) {
    for (block, bytes) in blocks.iter_mut().zip(bytes.as_chunks::<64>().0) {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        *block = four(|i| four(|j| word(position(i, j))));
    }
}

fn store(blocks: &[Block], bytes: &mut [u8]) {
    for (block, bytes) in blocks.iter().zip(bytes.as_chunks_mut::<64>().0) {
        for (i, j) in (0..16).map(|at| (at / 4, at % 4)) {
            bytes[position(i, j)..][..4].copy_from_slice(&block[i][j].to_le_bytes());
        }
    }
}

/// scryptROMix (RFC 7914, section 5). `next` has the length of `block`, and `table` the capacity.
fn ro_mix(
    block: &mut [Block],
    next: &mut [Block],
    table: &mut Vec<Block>,
    n: usize,
    pace: &mut Pace,
) -> Result<()> {
    let len = block.len();
    table.clear();
    for _ in 0..n {
        // bounded: the capacity is there.
        table.extend_from_slice(block);
        next.copy_from_slice(block);
        block_mix(next, block);
        pace.after(64 * len)?;
    }
    for _ in 0..n {
        let at = block[len - 1][0][0] as usize & (n - 1);
        for ((next, block), entry) in next.iter_mut().zip(&*block).zip(&table[at * len..][..len]) {
            *next = xor(block, entry);
        }
        block_mix(next, block);
        pace.after(64 * len)?;
    }
    Ok(())
}

/// scryptBlockMix (RFC 7914, section 4): blocks at even positions come first.
fn block_mix(from: &[Block], to: &mut [Block]) {
    let mut x = from[from.len() - 1];
    let (even, odd) = to.split_at_mut(from.len() / 2);
    for ((pair, even), odd) in from.as_chunks::<2>().0.iter().zip(even).zip(odd) {
        x = salsa20_8(xor(&x, &pair[0]));
        *even = x;
        x = salsa20_8(xor(&x, &pair[1]));
        *odd = x;
    }
}

/// Salsa20/8 (RFC 7914, section 3). After each round, the diagonals change places.
#[inline(always)]
fn salsa20_8(x: Block) -> Block {
    let [mut a, mut b, mut c, mut d] = x;
    for _ in 0..8 {
        b = step(b, a, d, 7);
        c = step(c, b, a, 9);
        d = step(d, c, b, 13);
        a = step(a, d, c, 18);
        let turn = |x: [u32; 4], by| four(|i| x[(i + by) % 4]);
        (b, c, d) = (turn(d, 1), turn(c, 2), turn(b, 3));
    }
    let y = [a, b, c, d];
    four(|i| four(|j| x[i][j].wrapping_add(y[i][j])))
}

/// `array::from_fn`, but inlined in test builds too. Without that, scrypt takes eight times as long
/// there.
#[inline(always)]
fn four<T>(value: impl Fn(usize) -> T) -> [T; 4] {
    [value(0), value(1), value(2), value(3)]
}

#[inline(always)]
fn step(x: [u32; 4], a: [u32; 4], b: [u32; 4], bits: u32) -> [u32; 4] {
    four(|i| x[i] ^ a[i].wrapping_add(b[i]).rotate_left(bits))
}

#[inline(always)]
fn xor(a: &Block, b: &Block) -> Block {
    four(|i| four(|j| a[i][j] ^ b[i][j]))
}

#[cfg(test)]
mod test {
    use super::*;

    const fn params(log_n: u8, r: u32, p: u32) -> Params {
        Params { log_n, r, p }
    }

    #[test]
    fn memory_and_work() {
        // OWASP's parameters: 128 MiB and little more.
        assert_eq!(params(17, 8, 1).memory(), Some((128 << 20) + 2 * 1024));
        assert_eq!(params(17, 8, 1).work(), Some((128 << 20) + 4 * 1024));
        // The key file from an audit: a table of 1 GiB and a B of 2 GiB.
        assert_eq!(params(1, 1 << 22, 4).memory(), Some(7 << 29));
        assert_eq!(params(1, 1, 1 << 24).work(), Some(6 << 31));
        for huge in [params(63, 8, 1), params(64, 1, 1), params(255, 1, 1), params(40, u32::MAX, u32::MAX)] {
            assert_eq!((huge.memory().is_some(), huge.work()), (false, None), "{huge:?}");
        }
    }

    /// No machine has this memory: 1 EiB, and more than the address space.
    // claim: key-file
    #[test]
    fn memory_is_reserved_before_the_work_begins() {
        for params in [params(50, 8, 1), params(30, 1 << 20, 1), params(62, 8, 1)] {
            let refused = params.derive(b"passphrase", b"salt", 32);
            assert!(matches!(refused, Err(Error::LimitExceeded(_))), "{params:?}");
        }
    }
}
