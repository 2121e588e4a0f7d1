"""Prints how many lines the tests and the seeds reach, for each file that parses input from outside.

Reads a report of ``cargo llvm-cov --lcov``, which ``make -C fuzz coverage`` writes. Unit tests at the end of
a file are not counted.
"""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "crates"
LEAST = 95
# Folders, with their subfolders, and files.
PARSERS = re.compile(
    "keys/src/(?!approved|secret).*|(folders/src/inventory|files/src/tink)/.*"
    "|engine/src/prefix.rs|files/src/(age_file|armor|chunked|format|inspect|mark|parquet|ranges).rs"
    "|folders/src/(exclude|manifest|name).rs"
)


def end_of_product(path: Path) -> int:
    """Returns the number of the line where the unit tests of a file begin."""
    product, _, _ = path.read_text().partition("\n#[cfg(test)]\nmod test {")
    return product.count("\n") + 2


reached: dict[Path, dict[int, bool]] = {}
for line in Path(sys.argv[1]).read_text().splitlines():
    match line.split(":", 1):
        case ["SF", name]:
            path = Path(name)
        case ["DA", record]:
            number, count = record.split(",")[:2]
            lines = reached.setdefault(path, {})
            lines[int(number)] = lines.get(int(number), False) or count != "0"

total = [0, 0]
print("| file | lines | reached | % | not reached |\n|---|---|---|---|---|")
for path, lines in sorted(reached.items()):
    name = path.relative_to(SOURCES).as_posix() if path.is_relative_to(SOURCES) else ""
    if PARSERS.fullmatch(name) is None or path.name == "test.rs":
        continue
    end = end_of_product(path)
    product = {number: hit for number, hit in sorted(lines.items()) if number < end}
    missed = [str(number) for number, hit in product.items() if not hit]
    share = 100 - 100 * len(missed) / len(product)
    print(f"| {name} | {len(product)} | {len(product) - len(missed)} | {share:.1f} | {' '.join(missed)} |")
    total[0] += len(product)
    total[1] += len(product) - len(missed)
share = 100 * total[1] / total[0]
print(f"| all | {total[0]} | {total[1]} | {share:.1f} | |")
if share < LEAST:
    sys.exit(f"less than {LEAST} % of the lines are reached")
