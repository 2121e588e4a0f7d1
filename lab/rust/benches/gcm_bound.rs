//! What bounds AES-GCM on this machine: instructions on registers alone, one kind at a time and mixed as GCM mixes them.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench gcm_bound --
//! ```
//!
//! Each figure is the best of many short runs, since whatever else runs here only makes it worse.

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!(
        "GCM's bound is not written for this processor; {:.2} GHz",
        1.0 / lab_bench::clock::nanoseconds_per_cycle()
    );
}

#[cfg(target_arch = "x86_64")]
fn main() {
    use lab_bench::clock::nanoseconds_per_cycle;
    println!("core clock {:.2} GHz, {}\n", 1.0 / nanoseconds_per_cycle(), kernels::cpu::Features::detect());
    instructions::print();

    println!(
        "\nBytes per cycle, by what each vector takes: AES rounds, carry-less products, and plain xors beside them.\n"
    );
    let mixes = lab_bench::mix::mixes();
    let mut figures = lab_bench::mix::bytes_per_cycle(&mixes).into_iter();
    let lines: Vec<_> = mixes.chunk_by(|a, b| (a.rounds, a.products) == (b.rounds, b.products)).collect();
    let Some(first) = lines.first() else { return };
    println!(
        "| row | rounds + products |{}",
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

    /// Turns of a loop in one run, and instructions in one turn.
    const TURNS: u64 = 200;
    const EACH: f64 = 24.0;

    /// A loop of one instruction, in which each waits for the one before, and one in which none waits.
    type Pair = [fn(u64); 2];

    /// `$rest` is what follows the registers.
    macro_rules! pair {
        ($op:literal $v:literal $rest:literal) => {
            [
                |turns| pair!(@turns turns, ".rept 24", concat!($op, " ", $v, "0, ", $v, "0, ", $v, "8", $rest)),
                |turns| pair!(@turns turns, ".irp d, 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7",
                    concat!($op, " ", $v, "\\d, ", $v, "9, ", $v, "8", $rest)),
            ]
        };
        // With one source.
        (one $op:literal $v:literal $rest:literal) => {
            [
                |turns| pair!(@turns turns, ".rept 24", concat!($op, " ", $v, "0, ", $v, "0", $rest)),
                |turns| pair!(@turns turns, ".irp d, 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7",
                    concat!($op, " ", $v, "\\d, ", $v, "9", $rest)),
            ]
        };
        // With a destination that is also a source, so that twelve chains stand for none.
        (three $op:literal $v:literal $rest:literal) => {
            [
                |turns| pair!(@turns turns, ".rept 24", concat!($op, " ", $v, "0, ", $v, "9, ", $v, "8", $rest)),
                |turns| pair!(@turns turns, ".irp d, 0,1,2,3,4,5,6,7,10,11,12,13,0,1,2,3,4,5,6,7,10,11,12,13",
                    concat!($op, " ", $v, "\\d, ", $v, "9, ", $v, "8", $rest)),
            ]
        };
        (@turns $turns:ident, $repeat:literal, $instruction:expr) => {
            // SAFETY: works on registers that it declares; `print` has asked for the features.
            unsafe {
                asm!(
                    "2:", $repeat, $instruction, ".endr", "dec {turns}", "jnz 2b",
                    turns = inout(reg) $turns => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _,
                    options(nomem, nostack),
                )
            }
        };
    }

    /// What each width has: zmm wants a letter more in the name of a plain operation.
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
            for (row, pair) in ["vaes512", "vaes256", "aesni"].iter().zip(widths) {
                // At every width vpternlogd is one of AVX-512's.
                if !available(row) || name == "vpternlogd" && !available("vaes512") {
                    print!(" | |");
                    continue;
                }
                let [chained, free] = cycles(&pair, TURNS)[..] else { unreachable!("of two") };
                print!(" {:.1} | {:.2} |", chained / EACH, EACH / free);
            }
            println!();
        }
    }
}
