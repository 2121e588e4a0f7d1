"""Every function of every x86 row, followed by `machine_code`.

The binary was built with `-C symbol-mangling-version=v0`, which numbers the functions of a table in the order
of its rows. The tables are read from `variant/`, so a new table, row or function is checked as soon as it
stands there.

Secret is all that lies behind the pointers that a function is given, but for the lengths and addresses in
`InOut`; and every `u128`, since it may be a hash.

What is printed of a function: instructions, conditional jumps, loops; moves from vectors to other registers,
and how many of them in innermost loops; vectors parked on the stack, and how many of them in innermost loops.
"""

import pathlib
import re
import subprocess
from collections.abc import Iterator

from machine_code import PLAIN, PUBLIC, SECRET, Function, Kind, Unknown, parse

ROOT = pathlib.Path(__file__).parents[2]
# The widest register on which each x86 row computes.
WIDTH = {
    "vaes512": "zmm",
    "vaes256": "ymm",
    "aesni": "xmm",
    "avx512ifma": "zmm",
    "avx512": "zmm",
    "avx2": "ymm",
}
# A table that only tests see.
TEST = "words"
# What it computes there: AES, products, sums.
COMPUTES = ("vaesenc", "vpclmul", "vpadd", "vpmadd52", "vpmuludq")


def kinds_of(arguments: str) -> list[Kind]:
    """The registers, then words of the stack, in which these arguments come."""
    kinds: list[Kind] = []
    for argument in filter(None, re.split(r",\s*(?=\w+:)", arguments)):
        name, _, typ = argument.partition(":")
        typ = typ.strip()
        if re.match(r"(&mut )?InOut\b", typ):
            kinds.append(PLAIN)  # of 24 bytes, so it comes as a pointer also where it comes by value
        elif re.match(r"&(mut )?\[\w+\]$", typ):
            kinds += [PUBLIC, PUBLIC]
        elif typ.startswith(("&", "Option<&")) or typ in {"usize", "u64", "u32", "ByteOrder"}:
            kinds.append(PUBLIC)
        elif typ == "u128" and (len(kinds) < 5 or len(kinds) >= 6):
            kinds += [SECRET, SECRET]
        else:
            raise Unknown(f"an argument {name}: {typ}")
    return kinds


def tables() -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """Each table of `variant/`: its path, its functions with their arguments, its rows on x86-64."""
    for page in sorted((ROOT / "crates/kernels/src/variant").glob("*.rs")):
        if page.stem == TEST:
            continue
        for table in re.findall(r"^variants! \{\n(.*?)^\}", page.read_text(), re.MULTILINE | re.DOTALL):
            yield from table_of(page.stem, table)


def table_of(module: str, table: str) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    head = re.search(r"(\w+): \w+ \{", table)
    rows = re.findall(r'(?:cfg\(target_arch = "(\w+)"\)\]\s+)?"([\w-]+)" =', table)
    assert head, table
    functions = re.findall(r"\bfn (\w+)\((.*?)\) =", table)
    yield f"{module}::{head[1]}", functions, [name for arch, name in rows if arch in {"", "x86_64"}]


def number(symbol: str, table: str) -> int | None:
    """Which of a table's functions this is."""
    path = "".join(f"{len(name)}{name}" for name in ("variant", *table.split("::")))
    if not (found := re.search(rf"{path}(s([0-9a-zA-Z]*)_)?7wrapper$", symbol)):
        return None
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    n = 0
    for digit in found[2] or "":
        n = 62 * n + digits.index(digit)
    return 0 if not found[1] else 1 if not found[2] else n + 2


def check(binary: str) -> list[str]:
    """Follows everything, prints a line for each function, and returns the findings."""
    command = ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", binary]
    code = parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # How structures are wiped. What is called from a loop is a finding anyway.
    callees = {body[0].at: body for symbol, body in code.items() if "13drop_in_place" in symbol and body}
    findings: list[str] = []
    columns = ("instr.", "jumps", "loops", "leave", "inner", "spills", "inner")
    print(f"{'':32}" + "".join(f"{column:>8}" for column in columns))
    all_tables = list(tables())
    assert all_tables, "no table found"
    for table, functions, rows in all_tables:
        found = {n: symbol for symbol in code if (n := number(symbol, table)) is not None}
        wanted = range(len(rows) * len(functions))
        # LLVM keeps one of two functions with the same code and features: key schedules of portable rows.
        merged = {n for n in wanted if rows[n // len(functions)] == "portable"} - found.keys()
        assert found.keys() | merged == set(wanted), f"{table}: {wanted} functions, but symbols {found}"
        for row, row_name in enumerate(rows):
            widest = ""
            for i, (name, arguments) in enumerate(functions):
                n = row * len(functions) + i
                body = [] if n in merged else code[found[n]]
                for instruction in body:
                    if instruction.name.startswith(COMPUTES):
                        widest = max(widest, instruction.operands[0][:3])
                if row_name != "portable":
                    function = Function(f"{table} {row_name} {name}", body, kinds_of(arguments), callees)
                    print(function.row())
                    findings += function.findings.values()
            # Else the numbers do not mean what we think, or it is a new row.
            expected = "" if row_name == "portable" else WIDTH[row_name]
            assert widest == expected, f"{table} {row_name} computes on {widest!r}, not on {expected!r}"
            if row_name == "portable":
                print(f"{table} portable: not followed here, because it runs under valgrind")
    for how in ("branch", "address"):
        symbol = next(symbol for symbol in code if re.search(rf"5leaky\d{how}$", symbol))
        assert Function(how, code[symbol], [PUBLIC, PUBLIC]).findings, (
            f"{symbol} leaks, and nothing was found"
        )
        print(f"the example that leaks by {how}: found")
    return findings
