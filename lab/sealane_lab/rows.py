"""The rows that ``sealane-lab record`` measures: which benchmarks it runs, and how their output is read.

The docstring of each group says what its bound is; the record quotes it.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sealane_lab.text import digits

PROGRAM = "target/release/sealane"
BENCH = "cargo bench --locked --quiet -p sealane-lab-bench --features providers/aegis,providers/ring --bench"
RUSTLS = "cargo bench --locked --quiet -p sealane-rustls --features aws-lc-rs --bench records"
SCRIPT = f"{sys.executable} lab/bench"


@dataclass(frozen=True)
class Row:
    """One comparison. Smaller figures are better: all are times in ``unit``.

    Parameters
    ----------
    work : str
        What is measured.
    goal : float or None
        The least ratio ``other / ours``, or the largest time if `absolute`.
    ours, other : float
        The medians of sealane and of the best other implementation.
    peer : str
        The name of that implementation.
    bound : float or None
        The time below which this work cannot go, or None if it was not measured.
    unit : str
        The unit of the times.
    absolute : bool
        Whether the goal is a time.
    of_bound : bool
        Whether the goal is the least ratio ``bound / ours``.
    """

    work: str
    goal: float | None
    ours: float
    other: float
    peer: str
    bound: float | None = None
    unit: str = "ns"
    absolute: bool = False
    of_bound: bool = False

    @property
    def reached(self) -> bool:
        """Whether sealane reaches the goal, if there is one."""
        if self.goal is None or self.absolute:
            return self.goal is None or self.ours <= self.goal
        # As printed, so that 1.2 next to a goal of 1.2 is never called short.
        return round((self.bound if self.of_bound and self.bound else self.other) / self.ours, 2) >= self.goal

    def ratio(self) -> float:
        """Returns how many times as long the other implementation takes."""
        return self.other / self.ours

    def line(self, features: str) -> str:
        """Returns the line of the table."""
        goal = verdict = ""
        if self.goal is not None:
            goal = f"<= {self.goal:g} {self.unit}" if self.absolute else f">= {self.goal:g}"
            goal += " of the bound" if self.of_bound else ""
            verdict = "OK" if self.reached else "SHORT"
        bound = "" if self.bound is None else f"{digits(self.bound)} ({self.bound / self.ours:.2f})"
        return (
            f"| {self.work} | {features} | {goal} | {digits(self.ours)} {self.unit} | "
            f"{digits(self.other)} ({self.peer}) | {self.ratio():.2f} | {bound} | {verdict} |"
        )


# ---- what the benchmarks print


def cells(line: str) -> list[str]:
    """Returns the cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def nanoseconds(figure: str, size: int) -> float:
    """Converts ``12.5 ns`` or ``3.21 GB/s`` of a message of that size."""
    number, unit = figure.split()
    return float(number) if unit == "ns" else size / float(number)


SIZES = {"64 B": 64, "256 B": 256, "1 KiB": 1 << 10, "16 KiB": 16 << 10, "1 MiB": 1 << 20}
WIDE = ("64 B", "1 KiB", "16 KiB", "1 MiB")


def aead_rows(
    text: str,
    goals: Mapping[tuple[str, str], float | None],
    bound: Callable[[str, str, str, int], float | None],
) -> Iterator[Row]:
    """Reads the tables of the benchmark ``aead``.

    ``goals`` has the algorithms and sizes to return. ``bound`` gets the text, the algorithm, its variant and
    the size, and returns nanoseconds.
    """
    algorithm = variant = ""
    for line in text.splitlines():
        if title := re.match(r"(\S+), native \((.*)\) and the best of", line):
            algorithm, variant = title.groups()
        row = cells(line)
        if len(row) < 7 or (algorithm, row[1]) not in goals:
            continue
        if row[0] in ("seal in place", "open apart"):
            goal, size = goals[algorithm, row[1]], SIZES[row[1]]
            ours, other = nanoseconds(row[2], size), nanoseconds(row[5], size)
            work = f"{algorithm}, {row[0]}, {row[1]}"
            yield Row(work, goal, ours, other, row[4], bound(text, algorithm, variant, size))


def registers(text: str, variant: str, mix: str) -> float | None:
    """Returns the bytes per nanosecond of a mix like ``14 + 3`` on registers, at the width of a variant."""
    clock = re.search(r"Core clock ([\d.]+) GHz", text)
    head: list[str] = []
    for line in text.splitlines():
        if line.startswith("| variant |"):
            head = cells(line)
        elif clock and head and cells(line)[0] == variant:
            return float(cells(line)[head.index(mix)]) * float(clock[1])
    return None


def aes_bound(text: str, algorithm: str, variant: str, size: int) -> float | None:
    """Returns the time of the AES rounds of an algorithm, and of the products of GCM, on registers alone."""
    # An AEGIS state update takes 8 rounds for two vectors, or 6 for one.
    rounds = {"aegis-128": 4, "aegis-256": 6}.get(algorithm[:9])
    rate = registers(text, variant, "14 + 0" if rounds else "14 + 3")
    if rate is None:
        return None
    return size / (rate * 14 / rounds) if rounds else size / rate


def raw_times(text: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Returns the nanoseconds of sealane and RustCrypto for each cipher and size of the benchmark ``raw``."""
    rows = [row for line in text.splitlines() if len(row := cells(line)) > 6 and row[2] in SIZES]
    return {
        (name, size): (nanoseconds(ours, SIZES[size]), nanoseconds(other, SIZES[size]))
        for name, _, size, ours, _, other, *_ in rows
    }


UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


def judged(text: str, label: str) -> tuple[float, float]:
    """Returns the nanoseconds of the peer and of sealane from the scripts that print ratios."""
    found = re.search(
        rf"^{re.escape(label)}\S* .*?([\d.e+]+) (\w+) +([\d.e+]+) (\w+) +[\d.]+x", text, re.MULTILINE
    )
    if found is None:
        raise ValueError(f"the benchmark printed no line {label!r}:\n{text[-500:]}")
    return float(found[1]) * UNITS[found[2]], float(found[3]) * UNITS[found[4]]


def judged_row(
    text: str, label: str, goal: float | None, peer: str, work: str = "", bound: float | None = None
) -> Row:
    """Makes a row of such a line, in the unit in which sealane's figure is at least 1."""
    other, ours = judged(text, label)
    unit = next((unit for unit, scale in UNITS.items() if ours >= scale), "ns")
    scale = UNITS[unit]
    return Row(work or label, goal, ours / scale, other / scale, peer, bound and bound / scale, unit)


def column(text: str, label: str, place: int) -> float:
    """Returns a figure of the line that begins with a label. Places are counted behind the label."""
    for line in text.splitlines():
        if line.startswith(label):
            return float(re.findall(r"[\d.]+", line[len(label) :])[place])
    raise ValueError(f"the benchmark printed no line {label!r}:\n{text[-500:]}")


# ---- the groups


Run = Callable[..., str]
"""Runs a benchmark and returns what it prints: ``run(command, pinned=True)``."""


def chacha(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is ChaCha20 alone, by the same kernels."""
    alone = raw_times(run(f"{BENCH} raw -- ChaCha20"))
    goals = {("chacha20-poly1305", size): goal for size, goal in zip(WIDE, (1.2, 1.2, 1.3, 1.3), strict=True)}
    by_size = {SIZES[size]: ours for (_, size), (ours, _) in alone.items()}
    yield from aead_rows(run(f"{BENCH} aead -- chacha20-poly1305"), goals, lambda *a: by_size.get(a[3]))


def gcm(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is the AES rounds and three products for each block, on registers."""
    goals = {("aes-256-gcm", size): goal for size, goal in (("64 B", 2.5), ("16 KiB", 1.25), ("1 MiB", 1.4))}
    yield from aead_rows(run(f"{BENCH} aead -- aes-256-gcm"), goals, aes_bound)


def siv(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is the AES rounds and three products for each block, on registers, without the keys of the
    message.
    """
    goals = {
        ("aes-256-gcm-siv", size): goal for size, goal in (("64 B", 1.2), ("1 KiB", 1.3), ("16 KiB", None))
    }
    yield from aead_rows(run(f"{BENCH} aead -- aes-256-gcm-siv"), goals, aes_bound)


def ctr(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is the AES rounds on registers."""
    found = re.search(r"^AES-256 +16384 +(\S+) +([\d.]+) +([\d.]+)", run(f"{BENCH} ctr"), re.MULTILINE)
    if found is None:
        raise ValueError("the benchmark ctr printed no line of AES-256 with 16384 bytes")
    limit = registers(run(f"{BENCH} aead -- none"), found[1], "14 + 0")
    ours, other = ((16 << 10) / float(found[place]) for place in (2, 3))
    yield Row("AES-256-CTR in place, 16 KiB", None, ours, other, "aws-lc", limit and (16 << 10) / limit)


def aegis(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is the AES rounds on registers. libaegis cannot be kept from AVX-512, so the lines `no`
    compare AVX2 with its AVX-512 where it has X2 and X4.
    """
    for name in ("aegis-256", "aegis-128l", "aegis-128x4"):
        goals = {(algorithm, size): 1.05 for algorithm in (name, "aegis-256x4") for size in WIDE}
        yield from aead_rows(run(f"{BENCH} aead -- {name}"), goals, aes_bound)


def speck(run: Run, wide: bool) -> Iterator[Row]:
    """No bound was measured."""
    times = raw_times(run(f"{BENCH} raw -- speck"))
    for name, goal in (("speck128-256", 10), ("speck64-128", 25)):
        work = f"{name} in counter mode, 16 KiB"
        yield Row(work, goal if wide else None, *times[name, "16 KiB"], "speck-cipher")


def tls(run: Run, wide: bool) -> Iterator[Row]:
    """No bound was measured."""
    for line in run(RUSTLS).splitlines():
        row = cells(line)
        if len(row) == 6 and row[1] in ("64", "16384"):
            what, suite = row[0].split()
            cipher = "AES-256-GCM" if "AES" in suite else "ChaCha20-Poly1305"
            ours, aws, ring = (float(cell.split()[0]) for cell in row[2:5])
            work, peer = f"TLS 1.3 record, {cipher}, {what} {row[1]} B", "aws-lc-rs" if aws < ring else "ring"
            yield Row(work, 1, ours, min(aws, ring), peer)


def python(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is the same work called from Rust."""
    alone = raw_times(run(f"{BENCH} raw -- ChaCha20") + run(f"{BENCH} raw -- Poly1305"))
    text = run(f"{SCRIPT}/raw.py --quick")
    for what, size, goal, peer in (
        ("ChaCha20", "16 KiB", 1.15, "OpenSSL"),
        ("Poly1305", "1 MiB", 2.2, "OpenSSL"),
        ("XChaCha20-Poly1305 encrypt", "16 KiB", 3, "PyNaCl"),
    ):
        bound = alone[what, size][0] if (what, size) in alone else None
        yield judged_row(text, f"{what}, {size}", goal, peer, f"{what} from Python, {size}", bound)


def calls(run: Run, wide: bool) -> Iterator[Row]:
    """The bound of a long message is a copy of it into a buffer that was used before."""
    text = run(f"{SCRIPT}/boundary.py", pinned=False)
    yield judged_row(text, "encrypt_into, 64 B", 4, "cryptography")
    yield judged_row(text, "seal with automatic nonce, 64 B", 2.5, "cryptography")
    other, ours = judged(text, "seek + read(4096) in 1024 MiB, and a plain file")
    work = "4 KiB at a random place of a file of 1 GiB"
    yield Row(work, 15, ours / 1e3, other / 1e3, "a plain file", None, "us", absolute=True)
    text = run(f"{SCRIPT}/one_message.py --algorithm aes-256-gcm", pinned=False)
    for size, goal in ((2, None), (256, 3)):
        # What is printed before: encrypt_into and decrypt_into, on one thread and on all.
        copy, ours, other = (column(text, f"{size << 10:8} KiB:", place) / 1e3 for place in (0, 6, 7))
        yield Row(f"encrypt to new bytes, {size} MiB", goal, ours, other, "cryptography", copy, "ms")


def batches(run: Run, wide: bool) -> Iterator[Row]:
    """No other library has batches, so it is called for each message. The bound of AES-GCM is the AES rounds
    and three products for each of five blocks, on registers.
    """
    gcm = "AES-256-GCM"
    for algorithm in (gcm, "AES-256-GCM-SIV", "ChaCha20-Poly1305"):
        goals = (None, None) if algorithm != gcm else (13, 33) if wide else (22, 55)
        text = run(f"{SCRIPT}/batches.py --quick --count 1000 --algorithm {algorithm.lower()}")
        line = text.splitlines()[-1]
        figures = {name: float(ns) for name, ns in re.findall(r"([a-z][a-z_ ]+) ([\d.]+)", line)}
        bound = None
        if algorithm == gcm:
            # Of a message: four blocks of data, and the one that encrypts the tag.
            variant = re.search(r"native \((\w+)\)", text)
            limit = registers(run(f"{BENCH} aead -- none"), variant[1] if variant else "", "14 + 3")
            bound = limit and 80 / limit
        for what, goal in zip(("seal_packed", "seal_many"), goals, strict=True):
            name = f"{algorithm}, {what} of 1,000 messages of 64 B, one message"
            yield Row(
                name,
                goal,
                figures[what],
                figures["cryptography"],
                "cryptography, a call each",
                bound,
                absolute=True,
            )


def hybrid(run: Run, wide: bool) -> Iterator[Row]:
    """No bound was measured."""
    text = run(f"{SCRIPT}/hybrid.py --only ecies_messages", pinned=False)
    for size, goal in (("140 B", 2), ("64 MiB", 10)):
        for way in ("encrypt", "decrypt"):
            yield judged_row(text, f"ECIES {way}, {size}", goal, "eciespy")
    text = run(f"{SCRIPT}/hybrid.py --only hpke_messages", pinned=False)
    for kem in ("X25519", "X-Wing"):
        for way in ("seal", "open"):
            yield judged_row(text, f"HPKE {kem} {way}, 1 KiB", 1, "cryptography")
    text = run(f"{SCRIPT}/rencrypt_calls.py", pinned=False)
    for size in ("64 B", "1 MiB") if "is not installed" not in text else ():
        work = f"REncrypt's encrypt, AES-256-GCM, {size}"
        yield judged_row(text, f"AES256GCM, {size}, numpy, encrypt", 1, "rencrypt", work)


def jwe(run: Run, wide: bool) -> Iterator[Row]:
    """No bound was measured."""
    for line in run(f"{SCRIPT}/jwe.py").splitlines():
        row = cells(line)
        if len(row) == 6 and row[1] in ("encrypt", "decrypt"):
            ours, _, *others = map(float, row[2:])
            other, peer = min(zip(others, ("joserfc", "jwcrypto"), strict=True))
            yield Row(f"JWE of 64 bytes, {row[0]}, {row[1]}", 1, ours, other, peer, None, "us")


def rsa(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is an exponentiation of OpenSSL for each of the 132 candidates that are left on average after
    division by small primes, on one core.
    """
    text = run(f"{SCRIPT}/hybrid.py --only rsa_keys", pinned=False)
    bound = column(text, "RSA-3072 key, exponentiations", 0) * 1e6
    for what in ("median", "mean"):
        yield judged_row(text, f"RSA-3072 key, {what} of 101", 1, "OpenSSL", bound=bound)


def places() -> Iterator[tuple[str, str]]:
    """What a row says of a place, and its folder. In memory, nothing waits for the disk."""
    return (
        (words, folder) for words, folder in (("", "."), (" in memory", "/dev/shm")) if Path(folder).is_dir()
    )


def age(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is `cp`: reading and writing without encryption."""
    goals = {"age": (4.0, 4.0) if wide else (2.2, 3.2), "rage": (6, 6), "tink": (5, 5)}
    for where, folder in places():
        command = f"{SCRIPT}/recipients.py --rounds 3 --peers age rage tink --folder {folder}"
        text = run(command, pinned=False)
        for peer, both in goals.items():
            label, file = ("sealane from Python", "Tink") if peer == "tink" else ("sealane program", "age")
            beside = ", beside rage" if peer == "rage" else ""
            for what, goal in zip(("encrypt", "decrypt"), both, strict=True):
                if peer == "rage" and f"\nrage, {what}" not in text:
                    continue
                ours, other = (column(text, f"{name}, {what}", 0) for name in (label, peer))
                work = f"{file} file of 1 GiB{where}, {what}{beside}"
                yield Row(work, goal, ours, other, peer, column(text, "cp", 0), "s")


def files(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is `cat` to `/dev/null`: reading without decrypting and writing."""
    for where, folder in places():
        text = run(f"{SCRIPT}/files.py --rounds 5 --folder {folder}", pinned=False)
        for what in ("encrypt", "decrypt"):
            ours, other, bound = (column(text, name, 0) for name in (f"sealane {what}", "cp", "cat"))
            yield Row(f"file of 1 GiB{where}, {what}", 1, ours, other, "cp", bound, "s")


def folders(run: Run, wide: bool) -> Iterator[Row]:
    """No bound was measured."""
    for where, folder in places():
        text = run(f"{SCRIPT}/bulk.py --rounds 3 --folder {folder}", pinned=False)
        for what in ("encrypt", "decrypt"):
            ours, other = (column(text, label, 0) for label in (f"{what}_tree, threads", "cp -r"))
            work = f"10,000 files of 16 KiB{where or ' on disk'}, {what}"
            yield Row(work, 1, ours, other, "cp -r", None, "s")


def many(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is one request."""
    text = run(f"{SCRIPT}/many_objects.py --at-once 100 --size 1000 --rounds 7", pinned=False)
    for what in (
        "cat, a list",
        "cat, a pattern",
        "pipe",
        "get, a list",
        "get, a folder",
        "put, a list",
        "put, a folder",
    ):
        plain, ours = column(text, what, 0), column(text, what, 1)
        yield Row(f"100 objects of 1,000 bytes: {what}", 0.8, ours, plain, "plain", 30, "ms")


def local(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is reading the encrypted bytes and decrypting them in one call, divided by the cores from
    512 KiB on.
    """
    text = run(f"{SCRIPT}/local_files.py --rounds 7", pinned=False)
    for what in ("in order", "at random"):
        for size in ("16", "64", "256", "1024", "8192"):
            plain, ours, bound = (column(text, f"{what:<10} {size:>5} KiB", place) for place in (0, 1, 4))
            yield Row(
                f"local file, {what}, {size} KiB", 0.9, ours, plain, "plain", bound, "us", of_bound=True
            )


def parquet(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is plain files."""
    text = run(f"{SCRIPT}/parquet.py --rounds 7 --only-cached", pinned=False)
    for what in ("all columns", "price", "name"):
        plain, ours = (column(text, f"{what:<20} {way:<12}", 0) for way in ("plain", "whole files"))
        yield Row(f"Parquet scan, {what}", 0.9, ours, plain, "plain", plain, "ms")


def fields(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is plain columns."""
    utils = "" if importlib.util.find_spec("sqlalchemy_utils") else " --skip-utils"
    for part in re.split(r"^## ", run(f"{SCRIPT}/fields.py{utils}"), flags=re.MULTILINE)[1:]:
        title = f"20,000 rows, {part.splitlines()[0]}"
        plain, ours = column(part, "plain", 0), column(part, "encrypted", 0)
        for kind in ("encrypted", "bound to its row", "searchable"):
            if f"\n{kind}" in part:
                yield Row(f"{title}: {kind}", 0.5, column(part, kind, 0), plain, "plain", plain, "ms")
        others = [float(time) for time in re.findall(r"^sqlalchemy-utils, \S+ +([\d.]+)", part, re.MULTILINE)]
        if others:
            work = f"{title}: encrypted, beside sqlalchemy-utils"
            yield Row(work, 1, ours, min(others), "sqlalchemy-utils", plain, "ms")


VAULTS = {
    "gocryptfs: sealane mount": ("gocryptfs: its mount", (1, 1)),
    "gocryptfs: sealane cat": ("gocryptfs: its mount", (2, 3)),
    "gocryptfs: sealane.Folder": ("gocryptfs: its mount", (2, 3)),
    "rclone: sealane.Folder": ("rclone: rclone cat", (2, 3)),
    "rclone: sealane cat": ("rclone: rclone cat", (2, 3)),
}
"""What each is compared with, and the goals in order and at random places."""


def vaults(run: Run, wide: bool) -> Iterator[Row]:
    """The bound is reading the plain file."""
    for program in ("gocryptfs", "rclone"):
        if shutil.which(program) is None:
            raise ValueError(f"the program {program} is not on PATH")
    title, times = "", dict[tuple[str, str], float]()
    for line in run(f"{SCRIPT}/vaults.py {PROGRAM} .bench-vaults", pinned=False).splitlines():
        if row := re.fullmatch(r"(.*\S) +([\d.]+) s", line):
            times[title, row[1]] = float(row[2])
        else:
            title = line
    for (title, name), ours in times.items():
        if name in VAULTS and not title.endswith("again"):
            other, goals = VAULTS[name]
            goal = goals["at random" in title]
            peer, bound = name.split(":")[0], times[title, "plain file"]
            yield Row(f"{title}: {name}", goal, ours, times[title, other], peer, bound, "s")


GROUPS: dict[str, Callable[[Run, bool], Iterator[Row]]] = {
    group.__name__: group
    for group in (
        *(gcm, siv, ctr, chacha, aegis, speck, tls, python, calls, batches, hybrid, jwe, rsa),
        *(files, age, folders, local, many, parquet, fields, vaults),
    )
}
WIDTHS = frozenset(GROUPS) - {"jwe", "rsa", "folders", "many", "parquet", "fields", "vaults"}
"""The groups that are measured without AVX-512 too."""
REPEATED = frozenset({"gcm", "siv", "ctr", "chacha", "aegis", "speck", "tls", "python", "batches"})
"""The groups of short messages, which take seconds and are measured three times."""
