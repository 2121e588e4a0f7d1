"""The command ``sealane-lab record``, which measures rows with goals beside the best other implementation.

It runs the benchmarks of a clone of the repository and writes ``lab/record/CPU-DATE.md`` with one section for
each group of rows. Measuring a group again on the same day replaces its section. Where the processor has
AVX-512, the rows that depend on it are measured again without it, for sealane (``SEALANE_CPU``) and for the
libraries that read ``OPENSSL_ia32cap``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sealane_lab import machine
from sealane_lab.text import digits

BUSY = 0.15
"""The part of the processors' time from which on the machine counts as busy."""

WITHOUT = {
    "SEALANE_CPU": "-avx512f",
    # Leaf 7, EBX: avx512f, dq, ifma, cd, bw and vl.
    "OPENSSL_ia32cap": ":~0xd0230000",
}
PROGRAM = "target/release/sealane"
BENCH = "cargo bench --locked --quiet -p sealane-lab-bench --features providers/aegis,providers/ring --bench"


@dataclass(frozen=True)
class Row:
    """One comparison. Smaller figures are better: all are times in ``unit``.

    Parameters
    ----------
    work : str
        What is measured.
    goal : float
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
    goal: float
    ours: float
    other: float
    peer: str
    bound: float | None
    unit: str = "ns"
    absolute: bool = False
    of_bound: bool = False

    @property
    def reached(self) -> bool:
        """Whether sealane reaches the goal."""
        if self.absolute:
            return self.ours <= self.goal
        # As printed, so that 1.2 next to a goal of 1.2 is never called short.
        return round((self.bound if self.of_bound and self.bound else self.other) / self.ours, 2) >= self.goal

    def line(self, features: str) -> str:
        """Returns the line of the table."""
        sign = f"<= {self.goal:g} {self.unit}" if self.absolute else f">= {self.goal:g}"
        bound = "" if self.bound is None else f"{digits(self.bound)} ({self.bound / self.ours:.2f})"
        return (
            f"| {self.work} | {features} | {sign}{' of the bound' if self.of_bound else ''} | "
            f"{digits(self.ours)} {self.unit} | {digits(self.other)} ({self.peer}) | "
            f"{self.other / self.ours:.2f} | {bound} | {'OK' if self.reached else 'SHORT'} |"
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


def aead_rows(
    text: str, goals: Mapping[tuple[str, str], float], bound: Callable[[str, str, str, int], float | None]
) -> Iterator[Row]:
    """Reads the tables of the benchmark ``aead``.

    ``goals`` has the goal of each algorithm and size. ``bound`` gets the text, the algorithm, its variant and
    the size, and returns nanoseconds.
    """
    algorithm = variant = ""
    for line in text.splitlines():
        if title := re.match(r"(\S+), native \((.*)\) and the best of", line):
            algorithm, variant = title.groups()
        row = cells(line)
        if len(row) < 7 or (goal := goals.get((algorithm, row[1]))) is None:
            continue
        if row[0] in ("seal in place", "open apart"):
            size = SIZES[row[1]]
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


def chacha20_times(text: str) -> dict[str, float]:
    """Returns the nanoseconds of ChaCha20 alone at each size, from the benchmark ``raw``."""
    rows = [row for line in text.splitlines() if len(row := cells(line)) > 6 and row[0] == "ChaCha20"]
    return {row[2]: nanoseconds(row[3], SIZES[row[2]]) for row in rows}


UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


def judged(text: str, label: str) -> tuple[float, float]:
    """Returns the nanoseconds of the peer and of sealane from the scripts that print ratios."""
    found = re.search(
        rf"^{re.escape(label)}\S* .*?([\d.e+]+) (\w+) +([\d.e+]+) (\w+) +[\d.]+x", text, re.MULTILINE
    )
    if found is None:
        raise ValueError(f"the benchmark printed no line {label!r}:\n{text[-500:]}")
    return float(found[1]) * UNITS[found[2]], float(found[3]) * UNITS[found[4]]


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
    alone = chacha20_times(run(f"{BENCH} raw -- ChaCha20"))
    goals = {("chacha20-poly1305", size): goal for size, goal in zip(WIDE, (1.2, 1.2, 1.3, 1.3), strict=True)}
    by_size = {SIZES[name]: ns for name, ns in alone.items()}
    yield from aead_rows(run(f"{BENCH} aead -- chacha20-poly1305"), goals, lambda *a: by_size.get(a[3]))


WIDE = ("64 B", "1 KiB", "16 KiB", "1 MiB")


def gcm(run: Run, wide: bool) -> Iterator[Row]:
    goals = {("aes-256-gcm", "16 KiB"): 1.25, ("aes-256-gcm", "1 MiB"): 1.4}
    yield from aead_rows(run(f"{BENCH} aead -- aes-256-gcm"), goals, aes_bound)


def siv(run: Run, wide: bool) -> Iterator[Row]:
    goals = {("aes-256-gcm-siv", "64 B"): 1.2, ("aes-256-gcm-siv", "1 KiB"): 1.3}
    yield from aead_rows(run(f"{BENCH} aead -- aes-256-gcm-siv"), goals, aes_bound)


def aegis(run: Run, wide: bool) -> Iterator[Row]:
    for name in ("aegis-256", "aegis-128x4"):
        goals = {(algorithm, size): 1.05 for algorithm in (name, "aegis-256x4") for size in WIDE}
        yield from aead_rows(run(f"{BENCH} aead -- {name}"), goals, aes_bound)


def python(run: Run, wide: bool) -> Iterator[Row]:
    alone = chacha20_times(run(f"{BENCH} raw -- ChaCha20"))["16 KiB"]
    other, ours = judged(run(f"{sys.executable} lab/bench/raw.py --quick"), "ChaCha20, 16 KiB")
    yield Row("ChaCha20 from Python, 16 KiB", 1.15, ours, other, "OpenSSL", alone)


def batches(run: Run, wide: bool) -> Iterator[Row]:
    text = run(f"{sys.executable} lab/bench/batches.py --quick --count 1000")
    figures = {name: float(ns) for name, ns in re.findall(r"([a-z][a-z_ ]+) ([\d.]+)", text.splitlines()[-1])}
    # Of a message: four blocks of data, and the one that encrypts the tag.
    variant = re.search(r"native \((\w+)\)", text)
    limit = registers(run(f"{BENCH} aead -- none"), variant[1] if variant else "", "14 + 3")
    bound = limit and 80 / limit
    for what, goal in (("seal_packed", 13 if wide else 22), ("seal_many", 33 if wide else 55)):
        name = f"AES-256-GCM, {what} of 1,000 messages of 64 B, one message"
        yield Row(
            name,
            goal,
            figures[what],
            figures["cryptography"],
            "cryptography, a call each",
            bound,
            absolute=True,
        )


def age(run: Run, wide: bool) -> Iterator[Row]:
    text = run(f"{sys.executable} lab/bench/recipients.py --rounds 3 --peers age", pinned=False)
    for what, goal in (("encrypt", 4.0 if wide else 2.2), ("decrypt", 4.0 if wide else 3.2)):
        ours, other = (column(text, f"{name}, {what}", 0) for name in ("sealane program", "age"))
        yield Row(f"age file of 1 GiB, {what}", goal, ours, other, "age", column(text, "cp", 0), "s")


def files(run: Run, wide: bool) -> Iterator[Row]:
    text = run(f"{sys.executable} lab/bench/files.py --rounds 5", pinned=False)
    for what in ("encrypt", "decrypt"):
        ours = column(text, f"sealane {what}", 0)
        yield Row(f"file of 1 GiB, {what}", 1, ours, column(text, "cp", 0), "cp", column(text, "cat", 0), "s")


def many(run: Run, wide: bool) -> Iterator[Row]:
    text = run(
        f"{sys.executable} lab/bench/many_objects.py --at-once 100 --size 1000 --rounds 7", pinned=False
    )
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
    text = run(f"{sys.executable} lab/bench/local_files.py --rounds 7", pinned=False)
    for what in ("in order", "at random"):
        for size in ("16", "64", "256", "1024", "8192"):
            plain, ours, _, _, bound, _ = (
                column(text, f"{what:<10} {size:>5} KiB", place) for place in range(6)
            )
            yield Row(
                f"local file, {what}, {size} KiB", 0.9, ours, plain, "plain", bound, "us", of_bound=True
            )


def parquet(run: Run, wide: bool) -> Iterator[Row]:
    text = run(f"{sys.executable} lab/bench/parquet.py --rounds 7 --only-cached", pinned=False)
    for what in ("all columns", "price", "name"):
        plain, ours = (column(text, f"{what:<20} {way:<12}", 0) for way in ("plain", "whole files"))
        yield Row(f"Parquet scan, {what}", 0.9, ours, plain, "plain", plain, "ms")


def rsa(run: Run, wide: bool) -> Iterator[Row]:
    text = run(f"{sys.executable} lab/bench/hybrid.py --only rsa_keys", pinned=False)
    for what in ("median", "mean"):
        other, ours = judged(text, f"RSA-3072 key, {what}")
        yield Row(f"RSA-3072 key, {what} of 101", 1, ours / 1e6, other / 1e6, "OpenSSL", None, "ms")


GROUPS: dict[str, Callable[[Run, bool], Iterator[Row]]] = {
    group.__name__: group
    for group in (chacha, gcm, siv, aegis, python, batches, age, files, many, local, parquet, rsa)
}
WIDTHS = frozenset({"chacha", "gcm", "siv", "aegis", "python", "batches", "age"})
"""The groups that are measured without AVX-512 too."""


# ---- the record


def load(seconds: float = 2.0, stat: Path = Path("/proc/stat")) -> float:
    """Returns the part of the processors' time that is in use now, from 0 to 1."""

    def times() -> tuple[int, int]:
        numbers = [int(word) for word in stat.read_text().split("\n", 1)[0].split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]

    if not stat.exists():
        return min(os.getloadavg()[0] / machine.cores(), 1.0)
    before = times()
    time.sleep(seconds)
    total, idle = (b - a for a, b in zip(before, times(), strict=True))
    return 1 - idle / total if total else 0.0


def calm(attempts: int = 10) -> float:
    """Waits until the machine is calm, and returns its load.

    Raises
    ------
    ValueError
        If other programs are still running after all attempts.
    """
    for _ in range(attempts):
        if (busy := load()) <= BUSY:
            return busy
    raise ValueError(
        f"other programs use {busy:.0%} of the processors; stop them, or add --busy to measure anyway"
    )


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> tuple[str, str, bool]:
    """Returns the short name of the processor for a file, its full name, and whether it has AVX-512."""
    try:
        text = cpuinfo.read_text().split("\n\n", 1)[0]
    except OSError:
        text = ""
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())
    }
    full = facts.get("model name") or machine.describe()["cpu"]
    family, model = int(facts.get("cpu family", 0)), int(facts.get("model", 0))
    known = {
        ("AuthenticAMD", 23): "zen2" if model >= 0x30 else "zen1",
        ("AuthenticAMD", 25): "zen4" if model in range(0x10, 0x20) or model >= 0x60 else "zen3",
        ("AuthenticAMD", 26): "zen5",
    }
    slug = re.sub(r"[^a-z0-9]+", "-", full.lower()).strip("-")
    short = known.get((facts.get("vendor_id", ""), family), slug)
    where = f"{full} ({short}: family {family}, model {model}), {machine.cores()} cores"
    return short, where, "avx512f" in facts.get("flags", "").split()


HEAD = """\
| work | AVX-512 | goal | ours | best other | ratio | bound (bound / ours) | |
|---|---|---|--:|--:|--:|--:|---|"""
BOUNDS = {
    "chacha": "The bound is ChaCha20 alone, by the same kernels.",
    "gcm": "The bound is the AES rounds and three products for each block, on registers.",
    "siv": "The bound is the AES rounds and three products for each block, on registers, "
    "without the keys of the message.",
    "aegis": "The bound is the AES rounds on registers. libaegis cannot be kept from AVX-512, so the lines "
    "`no` compare AVX2 with its AVX-512 where it has X2 and X4.",
    "python": "The bound is the same work called from Rust.",
    "batches": "No other library has batches, so it is called for each message. The bound is the AES rounds "
    "and three products for each of five blocks, on registers.",
    "age": "The bound is `cp`: reading and writing without encryption.",
    "files": "The bound is `cat` to `/dev/null`: reading without decrypting and writing.",
    "many": "The bound is one request.",
    "local": "The bound is reading the encrypted bytes and decrypting them in one call, divided by the cores "
    "from 512 KiB on.",
    "parquet": "Plain files are the bound.",
    "rsa": "",
}


def section(name: str, lines: list[str], busy: float) -> str:
    """Returns the section of a group."""
    said = f"{BOUNDS[name]} {busy:.0%} of the processors were in use before.".strip()
    return f"## {name}\n\n{said}\n\n{HEAD}\n" + "\n".join(lines) + "\n"


def merged(old: str, title: str, sections: Mapping[str, str]) -> str:
    """Replaces the sections of the groups measured now, and keeps the others and what people wrote below."""
    parts = re.split(r"^(?=## )", old, flags=re.MULTILINE)
    kept = {part.split("\n", 1)[0][3:]: part.rstrip("\n") + "\n" for part in parts[1:]}
    kept.update(sections)
    order = [*(name for name in GROUPS if name in kept), *(name for name in kept if name not in GROUPS)]
    return "\n".join([title, *(kept[name] for name in order)])


def title(where: str, wide: bool, now: datetime) -> str:
    """Returns the head of a record."""
    described = machine.describe()
    peers = ", ".join(f"{peer['name']} {peer['version']}" for peer in described["peers"] if peer["version"])
    without = (
        "`no` in the column AVX-512 means `SEALANE_CPU=-avx512f`, for aws-lc and OpenSSL `OPENSSL_ia32cap`.\n"
    )
    return (
        f"# Rows of processors with and without AVX-512, {now:%Y-%m-%d}, {where}\n\n"
        f"{described['os']}, {described['python']}, sealane {described['sealane']}; {peers}.\n\n"
        "Written by `sealane-lab record`. Times are medians of interleaved rounds, ratios are other / ours.\n"
        f"All figures of a line are of one run.\n{without if wide else ''}"
    )


def record(root: Path, names: list[str], folder: Path, anyway: bool, said: Callable[[str], object]) -> Path:
    """Measures the groups and writes the record after each.

    Raises
    ------
    ValueError
        If the folder is no clone of the repository, or if the machine is busy.
    """
    if not (root / "lab" / "rust" / "Cargo.toml").exists():
        raise ValueError(
            f"{root} is no clone of sealane's repository, which has the benchmarks; change into one"
        )
    short, where, wide = processor()
    now = datetime.now(UTC)
    path = folder / f"{short}-{now:%Y-%m-%d}.md"
    for name in names:
        busy = load() if anyway else calm()
        lines: list[str] = []
        for removed in (False, True) if wide and name in WIDTHS else (False,):
            with_it = wide and not removed
            for row in GROUPS[name](runner(root, WITHOUT if removed else {}), with_it):
                lines.append(row.line("yes" if with_it else "no"))
                said(lines[-1])
        old = path.read_text() if path.exists() else ""
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(merged(old, title(where, wide, now), {name: section(name, lines, busy)}))
    return path


def runner(root: Path, variables: Mapping[str, str]) -> Run:
    """Returns the function that runs a benchmark in a clone, on one core unless it needs all."""
    environment = {**os.environ, "SEALANE_BINARY": str(root / PROGRAM), **variables}

    def run(command: str, pinned: bool = True) -> str:
        before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        if pinned and before:
            os.sched_setaffinity(0, {max(before)})
        try:
            done = subprocess.run(
                command.split(), cwd=root, env=environment, stdout=subprocess.PIPE, text=True
            )
        finally:
            if before:
                os.sched_setaffinity(0, before)
        if done.returncode:
            raise ValueError(f"{command} failed with status {done.returncode}")
        return done.stdout

    return run
