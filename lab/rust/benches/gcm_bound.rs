//! The speed limits of AES-GCM on this machine: instructions on registers, one kind at a time and
//! mixed as in GCM.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench gcm_bound --
//! ```
//!
//! Each figure is the best of many short runs, because other load on the machine only makes a run
//! slower.

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!(
        "the GCM instruction mixes exist only for x86-64; core clock {:.2} GHz",
        1.0 / lab_bench::clock::nanoseconds_per_cycle()
    );
}

#[cfg(target_arch = "x86_64")]
fn main() {
    use lab_bench::clock::nanoseconds_per_cycle;
    println!("core clock {:.2} GHz, {}\n", 1.0 / nanoseconds_per_cycle(), kernels::cpu::Features::detect());
    instructions::print();

    println!(
        "\nBytes per cycle by the instructions of each vector: AES rounds, carry-less products, and XORs.\n"
    );
    let mixes = lab_bench::mix::mixes();
    let mut figures = lab_bench::mix::bytes_per_cycle(&mixes).into_iter();
    let lines: Vec<_> = mixes.chunk_by(|a, b| (a.rounds, a.products) == (b.rounds, b.products)).collect();
    let Some(first) = lines.first() else { return };
    println!(
        "| variant | rounds + products |{}",
        first.iter().map(|mix| format!(" + {} xor |", mix.others)).collect::<String>()
    );
    println!("|---|---|{}", "--:|".repeat(first.len()));
    for line in lines {
        print!("| {} | {} + {} |", line[0].variant, line[0].rounds, line[0].products);
        figures.by_ref().take(line.len()).for_each(|figure| print!(" {figure:.2} |"));
        println!();
    }
}

#[cfg(target_arch = "x86_64")]
mod instructions {
    use core::arch::asm;
    use lab_bench::mix::{available, cycles};

    /// Iterations of a loop in one run, and instructions in one iteration.
    const ITERATIONS: u64 = 200;
    const EACH: f64 = 24.0;

    /// Two loops of one instruction: in the first each depends on the one before, in the second
    /// none does.
    type Pair = [fn(u64); 2];

    /// Defines both loops. `$rest` is the text after the registers.
    macro_rules! pair {
        ($op:literal $v:literal $rest:literal) => {
            [
                |iterations| pair!(@iterations iterations, ".rept 24", concat!($op, " ", $v, "0, ", $v, "0, ", $v, "8", $rest)),
                |iterations| pair!(@iterations iterations, ".irp d, 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7",
                    concat!($op, " ", $v, "\\d, ", $v, "9, ", $v, "8", $rest)),
            ]
        };
        // For instructions with one source.
        (one $op:literal $v:literal $rest:literal) => {
            [
                |iterations| pair!(@iterations iterations, ".rept 24", concat!($op, " ", $v, "0, ", $v, "0", $rest)),
                |iterations| pair!(@iterations iterations, ".irp d, 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7",
                    concat!($op, " ", $v, "\\d, ", $v, "9", $rest)),
            ]
        };
        // For instructions whose destination is also a source; twelve chains hide the dependency.
        (three $op:literal $v:literal $rest:literal) => {
            [
                |iterations| pair!(@iterations iterations, ".rept 24", concat!($op, " ", $v, "0, ", $v, "9, ", $v, "8", $rest)),
                |iterations| pair!(@iterations iterations, ".irp d, 0,1,2,3,4,5,6,7,10,11,12,13,0,1,2,3,4,5,6,7,10,11,12,13",
                    concat!($op, " ", $v, "\\d, ", $v, "9, ", $v, "8", $rest)),
            ]
        };
        (@iterations $iterations:ident, $repeat:literal, $instruction:expr) => {
            // SAFETY: works on registers that it declares; `print` has detected the features.
            unsafe {
                asm!(
                    "2:", $repeat, $instruction, ".endr", "dec {iterations}", "jnz 2b",
                    iterations = inout(reg) $iterations => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _,
                    options(nomem, nostack),
                )
            }
        };
    }

    /// The loops of one instruction at each width. The zmm forms of plain operations have another
    /// name.
    macro_rules! widths {
        ($($kind:ident)? $name:literal: $wide:literal, $narrow:literal, $rest:literal) => {
            ($name, [
                pair!($($kind)? $wide "zmm" $rest),
                pair!($($kind)? $narrow "ymm" $rest),
                pair!($($kind)? $narrow "xmm" $rest),
            ])
        };
    }

    pub(super) fn print() {
        let all: [(&str, [Pair; 3]); 7] = [
            widths!("vaesenc": "vaesenc", "vaesenc", ""),
            widths!("vpclmulqdq": "vpclmulqdq", "vpclmulqdq", ", 0"),
            widths!("vpshufb": "vpshufb", "vpshufb", ""),
            widths!(one "vpshufd": "vpshufd", "vpshufd", ", 0x4e"),
            widths!("vpxor": "vpxord", "vpxor", ""),
            widths!("vpaddd": "vpaddd", "vpaddd", ""),
            widths!(three "vpternlogd": "vpternlogd", "vpternlogd", ", 0x96"),
        ];
        println!(
            "| instruction | zmm latency | per cycle | ymm latency | per cycle | xmm latency | per cycle |"
        );
        println!("|---|--:|--:|--:|--:|--:|--:|");
        for (name, widths) in all {
            print!("| {name} |");
            for (variant, pair) in ["vaes512", "vaes256", "aesni"].iter().zip(widths) {
                // vpternlogd belongs to AVX-512 at every width.
                if !available(variant) || name == "vpternlogd" && !available("vaes512") {
                    print!(" | |");
                    continue;
                }
                let [chained, free] = cycles(&pair, ITERATIONS)[..] else { unreachable!("of two") };
                print!(" {:.1} | {:.2} |", chained / EACH, EACH / free);
            }
            println!();
        }
    }
}
