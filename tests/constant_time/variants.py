"""Analyses every function of every x86-64 variant with `machine_code`.

The binary must be built with `-C symbol-mangling-version=v0`, which numbers the functions of a table in the
order of its variants. The tables are read from the sources in `tables/`, so a new table, variant or function
is checked without a change here.

The data behind the pointers that a function receives are secret, except for the lengths and addresses in
`InOut` and in slices of slices. Every `u128` is secret too, since it may be a hash.

For each function it prints the number of instructions, conditional jumps and loops, of moves from vectors to
other registers, and of vectors spilled to the stack. The last two are also counted in innermost loops.
"""

import pathlib
import re
import subprocess
from collections.abc import Iterator

from machine_code import PLAIN, PUBLIC, SECRET, Function, Kind, Unknown, parse

ROOT = pathlib.Path(__file__).parents[2]
# The widest register on which each x86-64 variant computes.
WIDTH = {
    "vaes512": "zmm",
    "vaes256": "ymm",
    "aesni": "xmm",
    "avx512ifma": "zmm",
    "avx512": "zmm",
    "avx2": "ymm",
}
# Instructions whose operands show the width of the computation: AES, products and sums.
COMPUTES = ("vaesenc", "vpclmul", "vpadd", "vpmadd52", "vpmuludq")


def kinds_of(arguments: str) -> list[Kind]:
    """Returns the kinds of the registers, and then of the words on the stack, that hold these arguments."""
    kinds: list[Kind] = []
    for argument in filter(None, re.split(r",\s*(?=\w+:)", arguments)):
        name, _, typ = argument.partition(":")
        typ = typ.strip()
        if re.match(r"(&mut )?(InOut|WithCopy)\b", typ):
            kinds.append(PLAIN)  # it has 24 bytes or more, so it is passed as a pointer even by value
        elif re.match(r"&(mut )?\[&(mut )?\[u8\]\]$", typ):
            kinds += [PLAIN, PUBLIC]
        elif re.match(r"(Option<)?&(mut )?\[(\w+|\[u8; [\w:]+\])\]>?$", typ):
            kinds += [PUBLIC, PUBLIC]
        elif typ.startswith(("&", "Option<&")) or typ in {"usize", "u64", "u32", "ByteOrder"}:
            kinds.append(PUBLIC)
        elif typ == "u128" and (len(kinds) < 5 or len(kinds) >= 6):
            kinds += [SECRET, SECRET]
        else:
            raise Unknown(f"argument {name} has the unknown type {typ}")
    return kinds


def instruction_sets() -> dict[str, list[str]]:
    """Returns the x86-64 variants of each list in `variant/instruction_sets.rs`, by the name of the list."""
    page = (ROOT / "crates/kernels/src/variant/instruction_sets.rs").read_text()
    lists = re.findall(r"^macro_rules! (\w+) \{\n(.*?)^\}", page, re.MULTILINE | re.DOTALL)
    return {name: re.findall(r'(?:"x86_64"|any): "([\w-]+)" =', text) for name, text in lists}


def tables() -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """Yields the path of each table of `tables/`, its functions with their arguments, and its variants."""
    variants = instruction_sets()
    for page in sorted((ROOT / "crates/kernels/src/tables").glob("*.rs")):
        for table in re.findall(r"^variants! \{\n(.*?)^\}", page.read_text(), re.MULTILINE | re.DOTALL):
            head = re.search(r"(\w+): \w+ for (\w+) \{", table)
            assert head, table
            yield f"{page.stem}::{head[1]}", functions_of(table), variants[head[2]]


def functions_of(table: str) -> list[tuple[str, str]]:
    """Returns the name and the arguments of each function of a table, once for each of its bodies."""
    found = re.findall(r"\bfn (\w+)\((.*?)\)(?:\s+by \w+)?\s*=\s*\[(.*?)\];", table, re.DOTALL)
    assert len(found) == table.count("fn "), table
    functions = []
    for name, arguments, bodies in found:
        # One function for each number of rounds, or for each body.
        each = re.sub(r"<.*?>|.*; R =", "", bodies, flags=re.DOTALL).split(",")
        count = len([item for item in each if item.strip()])
        functions += [(name if count == 1 else f"{name}[{i}]", arguments) for i in range(count)]
    return functions


def number(symbol: str, table: str) -> int | None:
    """Returns the index of a function in a table, or None if the symbol is not a function of the table."""
    path = "".join(f"{len(name)}{name}" for name in ("tables", *table.split("::")))
    if not (found := re.search(rf"{path}(s([0-9a-zA-Z]*)_)?7wrapper$", symbol)):
        return None
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    n = 0
    for digit in found[2] or "":
        n = 62 * n + digits.index(digit)
    return 0 if not found[1] else 1 if not found[2] else n + 2


def check(binary: str) -> list[str]:
    """Analyses all functions, prints a line for each of them, and returns the findings."""
    command = ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", binary]
    code = parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # The functions that wipe structures. A call from a loop is a finding in any case.
    callees = {body[0].at: body for symbol, body in code.items() if "13drop_in_place" in symbol and body}
    findings: list[str] = []
    columns = ("instr.", "jumps", "loops", "leave", "inner", "spills", "inner")
    print(f"{'':32}" + "".join(f"{column:>8}" for column in columns))
    all_tables = list(tables())
    assert all_tables, "no table found"
    for table, functions, variants in all_tables:
        found = {n: symbol for symbol in code if (n := number(symbol, table)) is not None}
        wanted = range(len(variants) * len(functions))
        # LLVM merges functions with equal code and features, for example portable key schedules.
        merged = {n for n in wanted if variants[n // len(functions)] == "portable"} - found.keys()
        assert found.keys() | merged == set(wanted), f"{table}: {wanted} functions, but symbols {found}"
        for variant, variant_name in enumerate(variants):
            widest = ""
            for i, (name, arguments) in enumerate(functions):
                n = variant * len(functions) + i
                body = [] if n in merged else code[found[n]]
                for instruction in body:
                    if instruction.name.startswith(COMPUTES):
                        widest = max(widest, instruction.operands[0][:3])
                if variant_name != "portable":
                    function = Function(f"{table} {variant_name} {name}", body, kinds_of(arguments), callees)
                    print(function.summary())
                    findings += function.findings.values()
            # A difference means that the functions are numbered differently, or that the variant is
            # new.
            expected = "" if variant_name == "portable" else WIDTH[variant_name]
            assert widest == expected, f"{table} {variant_name} computes on {widest!r}, not on {expected!r}"
            if variant_name == "portable":
                print(f"{table} portable: not analysed here, because it runs under valgrind")
    for how in ("branch", "address"):
        symbol = next(symbol for symbol in code if re.search(rf"5leaky\d{how}$", symbol))
        assert Function(how, code[symbol], [PUBLIC, PUBLIC]).findings, f"the leak of {symbol} was not found"
        print(f"the example that leaks by {how}: found")
    return findings
