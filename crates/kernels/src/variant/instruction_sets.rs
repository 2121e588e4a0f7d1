//! The instruction sets of each kind of algorithm, widest first, for the tables of variants.
//!
//! A line has the processor architecture, the name of the variant, the token, the number of vectors
//! in flight and the processor features. To add an instruction set, implement the operations in
//! [`crate::vector`] and add a line here.

/// Instruction sets with AES instructions.
macro_rules! aes_instructions {
    ($($table:tt)*) => {
        table! { { $($table)* }
            "x86_64": "vaes512" = crate::vector::x86::Vaes512, 8, ["vaes", "avx512f", "avx512bw", "avx512vl", "bmi2"];
            "x86_64": "vaes256" = crate::vector::x86::Vaes256, 8, ["vaes", "aes", "avx2"];
            "x86_64": "aesni" = crate::vector::x86::Aesni, 8, ["aes", "avx"];
            "aarch64": "neon-aes" = crate::vector::neon::Neon, 8, ["neon", "aes"];
            any: "portable" = crate::vector::portable::Portable, 1;
        }
    };
}

/// Instruction sets with AES and carry-less multiplication.
///
/// With `sha3` the compiler joins two xors of the sums of GHASH to one instruction, `EOR3`. AEGIS
/// and Speck are not compiled for it: by the estimate in `lab/record/arm-estimates-2026-11-24.md`
/// they lose on Neoverse V2, where only one of four units has this instruction and `XAR`.
macro_rules! aes_and_products {
    ($($table:tt)*) => {
        table! { { $($table)* }
            "x86_64": "vaes512" = crate::vector::x86_products::Vaes512Products, 8,
                ["vaes", "vpclmulqdq", "avx512f", "avx512bw", "avx512vl", "bmi2"];
            "x86_64": "vaes256" = crate::vector::x86_products::Vaes256Products, 8,
                ["vaes", "vpclmulqdq", "aes", "pclmulqdq", "avx2"];
            "x86_64": "aesni" = crate::vector::x86_products::AesniProducts, 8, ["aes", "pclmulqdq", "avx"];
            "aarch64": "neon-aes-sha3" = crate::vector::neon::Neon, 8, ["neon", "aes", "sha3"];
            "aarch64": "neon-aes" = crate::vector::neon::Neon, 8, ["neon", "aes"];
            any: "portable" = crate::vector::portable::Portable, 1;
        }
    };
}

/// Instruction sets with vectors of 32-bit words.
///
/// The body for `avx2` also multiplies integers, which takes half of the instructions with BMI2.
/// There is no line without it, because no processor has AVX2 alone: both came with Haswell,
/// Excavator and Zen.
macro_rules! words {
    ($($table:tt)*) => {
        table! { { $($table)* }
            "x86_64": "avx512" = crate::vector::x86_words::Avx512, 8, ["avx512f", "avx512bw", "avx512vl", "bmi2"];
            "x86_64": "avx2" = crate::vector::x86_words::Avx2, 4, ["avx2", "bmi2"];
            "aarch64": "neon" = crate::vector::neon_words::NeonWords, 4, ["neon"];
            any: "portable" = crate::vector::portable::Portable, 1;
        }
    };
}

/// Instruction sets with vectors of words of 16 to 64 bits, and shuffles of their bytes.
macro_rules! pairs_of_words {
    ($($table:tt)*) => {
        table! { { $($table)* }
            "x86_64": "avx512" = crate::vector::x86_pairs::Avx512Bytes, 12,
                ["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "bmi2"];
            "x86_64": "avx2" = crate::vector::x86_words::Avx2, 6, ["avx2"];
            "aarch64": "neon" = crate::vector::neon_words::NeonWords, 8, ["neon"];
            any: "portable" = crate::vector::portable::Portable, 2;
        }
    };
}

/// Instruction sets with products of 26-bit, 44-bit or 64-bit limbs.
macro_rules! limbs {
    ($($table:tt)*) => {
        table! { { $($table)* }
            "x86_64": "avx512ifma" = crate::vector::x86_limbs::Ifma512, 8, ["avx512f", "avx512ifma"];
            "x86_64": "avx2" = crate::vector::x86_limbs::Avx2Limbs, 4, ["avx2"];
            "aarch64": "neon" = crate::vector::neon_limbs::NeonLimbs, 4, ["neon"];
            any: "portable" = crate::vector::portable::Portable, 1;
        }
    };
}
