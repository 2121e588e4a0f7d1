"""Estimates the cycles of the hot loops on Arm with llvm-mca. No Arm processor is measured.

It reads the assembly of the kernels, which this command writes::

    cargo rustc --release --target aarch64-unknown-linux-gnu -p sealane-kernels --lib -- \\
        --emit asm -C debuginfo=0

Usage: ``python lab/bench/arm_estimates.py target/aarch64-unknown-linux-gnu/release/deps/kernels-*.s``
(llvm-mca 22 of LLVM; ``--mca`` names another program).
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import Counter
from pathlib import Path

PROCESSORS = ("neoverse-v2", "apple-m1")
COUNTED = ("aese", "pmull", "eor", "eor3", "xar")
ITERATIONS = 200
WRAPPER = re.compile(r"^_ZN7kernels7variant\d+[a-z_]+\d+([A-Z_]+)7wrapper\w+:")
LABEL = re.compile(r"^(\.LBB\w+):")
BRANCH = re.compile(r"^\s+(?:b\.\w+|cbn?z|tbn?z|b)\s.*?(\.LBB\w+)$")


def functions(assembly: str) -> list[tuple[str, list[str]]]:
    """Returns the table and the lines of each function that is compiled for one variant."""
    found: list[tuple[str, list[str]]] = []
    ours = False
    for line in assembly.splitlines():
        if line.startswith("_ZN"):
            name = WRAPPER.match(line)
            ours = name is not None
            if name:
                found.append((name[1], []))
        elif ours:
            found[-1][1].append(line)
    return found


def inner_loops(lines: list[str]) -> list[list[str]]:
    """Returns the instructions of each loop that contains no other."""
    labels = {label[1]: i for i, line in enumerate(lines) if (label := LABEL.match(line))}
    loops = [
        (labels[branch[1]], i)
        for i, line in enumerate(lines)
        if (branch := BRANCH.match(line)) and labels.get(branch[1], len(lines)) <= i
    ]
    inner = [
        one
        for one in loops
        if not any(other != one and one[0] <= other[0] and other[1] <= one[1] for other in loops)
    ]
    return [
        [line for line in lines[begin : end + 1] if not line.lstrip().startswith((".", "//"))]
        for begin, end in inner
    ]


def cycles(loop: list[str], processor: str, mca: str) -> float:
    """Returns the cycles of one iteration by the model of LLVM."""
    command = [
        mca,
        "-mtriple=aarch64",
        f"-mcpu={processor}",
        "-mattr=+aes,+sha3",
        f"-iterations={ITERATIONS}",
    ]
    printed = subprocess.run(
        command, input="\n".join(loop), capture_output=True, text=True, check=True
    ).stdout
    total = re.search(r"Total Cycles:\s+(\d+)", printed)
    assert total, "llvm-mca prints the total"
    return int(total[1]) / ITERATIONS


def main() -> None:
    """Prints a line for each loop with instructions of AES or `XAR`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("assembly", type=Path, help="the assembly of the crate sealane-kernels")
    parser.add_argument("--mca", default="llvm-mca-22", help="the program llvm-mca")
    arguments = parser.parse_args()
    rows = set()
    for table, lines in functions(arguments.assembly.read_text()):
        for loop in inner_loops(lines):
            counts = Counter(words[0].replace("pmull2", "pmull") for line in loop if (words := line.split()))
            if counts["aese"] >= 24 or counts["xar"]:
                estimates = [f"{cycles(loop, processor, arguments.mca):.1f}" for processor in PROCESSORS]
                rows.add((table, *(counts[name] for name in COUNTED), *estimates))
    print("| table | " + " | ".join(COUNTED + PROCESSORS) + " |")
    print("|---" * (1 + len(COUNTED) + len(PROCESSORS)) + "|")
    for row in sorted(rows):
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
