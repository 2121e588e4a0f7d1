//! The AES speed limit of this processor: AES rounds on registers, with no load and no store
//! between them.
//!
//! The loop keeps twelve vectors in flight, half as many again as the eight of the kernels, because
//! a kernel begins the next vectors of a message while the last ones are under way.
//! The round is the `Cipher()` loop body of FIPS 197, section 5.1: SubBytes, ShiftRows, MixColumns,
//! AddRoundKey. Every round uses the same round key, because fifteen keys and twelve blocks do not
//! fit into 16 registers.

use std::hint::black_box;

/// Vectors in flight.
const VECTORS: usize = 12;
/// The blocks of twelve vectors of the widest kind, 512 bits.
const MAX_BLOCKS: usize = 4 * VECTORS;

type Block = [u8; 16];
/// Runs `rounds` rounds, at least one, on as many of the blocks as the twelve vectors hold.
type Rounds = fn(blocks: &mut [Block; MAX_BLOCKS], round_key: &Block, rounds: u64);

/// The AES instructions of one vector width.
#[derive(Clone, Copy, Debug)]
pub struct AesLimit {
    /// Name of the kernel variant with the same instructions, for example `"vaes512"`.
    pub variant: &'static str,
    /// Number of blocks in one vector.
    lanes: usize,
    rounds: Rounds,
}

impl AesLimit {
    /// Lists the widths that this processor can run, widest first.
    pub fn all() -> Vec<Self> {
        available()
    }

    /// Returns the widest instructions, or `None` if the processor has no AES instructions.
    pub fn widest() -> Option<Self> {
        available().into_iter().next()
    }

    /// Runs as many rounds as `bytes` bytes of AES-CTR keystream take, rounded up, at least one on
    /// each vector.
    ///
    /// The time of this call is the limit. `key_len` is in bytes: 16, 24 and 32 mean 10, 12 and 14
    /// rounds per block.
    pub fn run(&self, key_len: usize, bytes: u64) {
        let rounds_per_block = key_len as u128 / 4 + 6;
        let in_flight = (16 * self.lanes * VECTORS) as u128;
        let rounds = (u128::from(bytes) * rounds_per_block).div_ceil(in_flight).max(1);
        let mut blocks = [[0x5a; 16]; MAX_BLOCKS];
        (self.rounds)(&mut blocks, black_box(&[0x13; 16]), u64::try_from(rounds).unwrap_or(u64::MAX));
        black_box(&blocks);
    }
}

/// Defines the loop for one width: `$move` loads and stores a vector, `$splat` repeats the round
/// key.
#[cfg(target_arch = "x86_64")]
macro_rules! rounds {
    ($name:ident: $v:literal, $width:literal, $splat:literal, $move:literal) => {
        fn $name(blocks: &mut [Block; MAX_BLOCKS], round_key: &Block, rounds: u64) {
            // SAFETY: reads 16 bytes of the key, reads and writes twelve vectors of the blocks,
            // without alignment, and changes the registers that it declares. `AesLimit::all` has
            // detected the features.
            unsafe {
                core::arch::asm!(
                    concat!($splat, " ", $v, "12, [{key}]"),
                    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11",
                    concat!($move, " ", $v, "\\i, [{blocks} + ", $width, " * \\i]"),
                    ".endr",
                    "2:",
                    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11",
                    concat!("vaesenc ", $v, "\\i, ", $v, "\\i, ", $v, "12"),
                    ".endr",
                    "dec {rounds}",
                    "jnz 2b",
                    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11",
                    concat!($move, " [{blocks} + ", $width, " * \\i], ", $v, "\\i"),
                    ".endr",
                    key = in(reg) round_key,
                    blocks = in(reg) blocks,
                    rounds = inout(reg) rounds => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _,
                    options(nostack),
                );
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
rounds!(vaes512: "zmm", "64", "vbroadcasti32x4", "vmovdqu64");
#[cfg(target_arch = "x86_64")]
rounds!(vaes256: "ymm", "32", "vbroadcasti128", "vmovdqu");
#[cfg(target_arch = "x86_64")]
rounds!(aesni: "xmm", "16", "vmovdqu", "vmovdqu");

#[cfg(target_arch = "x86_64")]
fn available() -> Vec<AesLimit> {
    let vaes = is_x86_feature_detected!("vaes");
    let all = [
        (vaes && is_x86_feature_detected!("avx512f"), "vaes512", 4, vaes512 as Rounds),
        (vaes && is_x86_feature_detected!("avx2"), "vaes256", 2, vaes256),
        (is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx"), "aesni", 1, aesni),
    ];
    let available = all.into_iter().filter(|(detected, ..)| *detected);
    available.map(|(_, variant, lanes, rounds)| AesLimit { variant, lanes, rounds }).collect()
}

/// The loop on Arm, where a round is two instructions, AESE and AESMC, and adds the round key
/// first.
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,aes")]
fn neon_aes(blocks: &mut [Block; MAX_BLOCKS], round_key: &Block, rounds: u64) {
    // SAFETY: reads 16 bytes of the key, reads and writes twelve vectors of the blocks, without
    // alignment, and changes the registers that it declares.
    unsafe {
        core::arch::asm!(
            "ldr q12, [{key}]",
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11",
            "ldr q\\i, [{blocks}, #16 * \\i]",
            ".endr",
            "2:",
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11",
            "aese v\\i\\().16b, v12.16b",
            "aesmc v\\i\\().16b, v\\i\\().16b",
            ".endr",
            "subs {rounds}, {rounds}, #1",
            "b.ne 2b",
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11",
            "str q\\i, [{blocks}, #16 * \\i]",
            ".endr",
            key = in(reg) round_key,
            blocks = in(reg) blocks,
            rounds = inout(reg) rounds => _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _,
            out("v7") _, out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _,
            options(nostack),
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn available() -> Vec<AesLimit> {
    if !std::arch::is_aarch64_feature_detected!("aes") {
        return Vec::new();
    }
    // SAFETY: the processor has the instructions.
    let rounds: Rounds = |blocks, key, rounds| unsafe { neon_aes(blocks, key, rounds) };
    vec![AesLimit { variant: "neon-aes", lanes: 1, rounds }]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn available() -> Vec<AesLimit> {
    Vec::new()
}

#[cfg(test)]
mod test {
    use super::*;
    use reference::aes::round_vartime;

    /// The measured rounds are AES rounds: every vector in flight agrees with the reference, block
    /// by block.
    #[test]
    fn rounds_match_the_reference() {
        let round_key: Block = std::array::from_fn(|i| (37 * i) as u8);
        let start: [Block; MAX_BLOCKS] =
            std::array::from_fn(|n| std::array::from_fn(|i| (16 * n + 7 * i) as u8));
        let xor = |block: Block| std::array::from_fn(|i| block[i] ^ round_key[i]);
        for limit in AesLimit::all() {
            for rounds in [1, 2, 10, 14] {
                let (mut blocks, mut expected) = (start, start);
                (limit.rounds)(&mut blocks, &round_key, rounds);
                for block in expected.iter_mut().take(limit.lanes * VECTORS) {
                    // With one key for all rounds, Arm's order is the standard's with the key added
                    // before and after.
                    let arm = limit.variant == "neon-aes";
                    *block = if arm { xor(*block) } else { *block };
                    (0..rounds).for_each(|_| *block = round_vartime(block, &round_key));
                    *block = if arm { xor(*block) } else { *block };
                }
                assert_eq!(blocks, expected, "{} after {rounds} rounds", limit.variant);
            }
        }
    }

    /// The widths are the AES kernel variants that this processor runs, without the portable one.
    #[test]
    fn widths_are_those_of_the_kernel() {
        let features = kernels::cpu::Features::detect();
        let kernel: Vec<_> = kernels::aes::variants()
            .filter(|variant| variant.check(features).is_ok() && variant.name != "portable")
            .map(|variant| variant.name)
            .collect();
        let widths: Vec<_> = AesLimit::all().iter().map(|limit| limit.variant).collect();
        assert_eq!(widths, kernel);
        assert_eq!(AesLimit::widest().map(|limit| limit.variant), kernel.first().copied());
    }

    #[test]
    fn runs_any_number_of_bytes() {
        for limit in AesLimit::all() {
            for (key_len, bytes) in [(16, 0), (24, 1), (32, 1 << 12)] {
                limit.run(key_len, bytes);
            }
        }
    }
}
