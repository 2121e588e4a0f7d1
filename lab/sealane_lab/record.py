"""The command ``sealane-lab record``, which measures what README and guide show beside the best peers.

It runs the benchmarks of a clone of the repository and writes ``lab/record/CPU-DATE.md`` with one section for
each group of rows. Measuring a group again on the same day replaces its section. ``docs/site/speed.py``
writes the tables of both pages from the record. Where the processor has AVX-512, the rows that depend on it
are measured again without it, for sealane (``SEALANE_CPU``) and for the libraries that read
``OPENSSL_ia32cap``.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from sealane_lab import machine
from sealane_lab.rows import GROUPS, PROGRAM, REPEATED, WIDTHS, Row, Run

BUSY = 0.15
"""The part of the processors' time from which on the machine counts as busy."""

WITHOUT = {
    "SEALANE_CPU": "-avx512f",
    # Leaf 7, EBX: avx512f, dq, ifma, cd, bw and vl.
    "OPENSSL_ia32cap": ":~0xd0230000",
}


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


INSTRUCTION_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index1/size")


def processor(
    cpuinfo: Path = Path("/proc/cpuinfo"), cache: Path = INSTRUCTION_CACHE
) -> tuple[str, str, bool]:
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
    # Cloud machines report another model. Of the processors with AMX, this one has a larger cache.
    flags = facts.get("flags", "").split()
    if "amx_tile" in flags and cache.exists() and cache.read_text().strip() == "64K":
        known["GenuineIntel", 6] = "granite-rapids"
    slug = re.sub(r"[^a-z0-9]+", "-", full.lower()).strip("-")
    short = known.get((facts.get("vendor_id", ""), family), slug)
    where = f"{full} ({short}: family {family}, model {model}), {machine.cores()} cores"
    return short, where, "avx512f" in flags


HEAD = """\
| work | AVX-512 | goal | ours | best other | ratio | bound (bound / ours) | |
|---|---|---|--:|--:|--:|--:|---|"""


def section(name: str, lines: list[str], busy: float, anyway: bool) -> str:
    """Returns the section of a group."""
    bound = " ".join((GROUPS[name].__doc__ or "").split())
    busier = " Measured with `--busy`." if anyway else ""
    said = f"{bound} {busy:.0%} of the processors were in use before.{busier}"
    return f"## {name}\n\n{said}\n\n{HEAD}\n" + "\n".join(lines) + "\n"


def merged(old: str, title: str, sections: Mapping[str, str]) -> str:
    """Replaces the sections of the groups measured now, and keeps the others and what people wrote below."""
    parts = [part.rstrip("\n") + "\n" for part in re.split(r"^(?=## )", old, flags=re.MULTILINE)[1:]]
    named = [(part.split("\n", 1)[0][3:], part) for part in parts]
    measured = {**dict(named), **sections}
    written = (part for name, part in named if name not in GROUPS)
    return "\n".join([title, *(measured[name] for name in GROUPS if name in measured), *written])


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
        "All figures of a line are of one run. Short messages run three times, and the line is of the run\n"
        f"with the median ratio: other guests of the host can slow one run down.\n{without if wide else ''}"
    )


def record(root: Path, names: list[str], folder: Path, anyway: bool, said: Callable[[str], object]) -> Path:
    """Measures the groups and writes the record after each. A group that fails does not stop the others.

    Raises
    ------
    ValueError
        If the folder is no clone of the repository, or if a group failed or the machine was busy.
    """
    if not (root / "lab" / "rust" / "Cargo.toml").exists():
        raise ValueError(
            f"{root} is no clone of sealane's repository, which has the benchmarks; change into one"
        )
    short, where, wide = processor()
    now = datetime.now(UTC)
    path, failed = folder / f"{short}-{now:%Y-%m-%d}.md", dict[str, Exception]()
    for number, name in enumerate(names, 1):
        began = time.monotonic()
        try:
            busy = load() if anyway else calm()
            lines = measured(root, name, wide, said)
        except (ValueError, LookupError) as error:
            failed[name] = error
            said(f"{name} failed: {error}")
            continue
        old = path.read_text() if path.exists() else ""
        folder.mkdir(parents=True, exist_ok=True)
        sections = {name: section(name, lines, busy, anyway)}
        path.write_text(merged(old, title(where, wide, now), sections))
        said(f"{name}: {time.monotonic() - began:.0f} s, group {number} of {len(names)}")
    if failed:
        why = "; ".join(f"{name}: {error}" for name, error in failed.items())
        raise ValueError(f"{why}; measure again with --rows {','.join(failed)}")
    return path


def measured(root: Path, name: str, wide: bool, said: Callable[[str], object]) -> list[str]:
    """Measures a group, with and without AVX-512 where that matters, and returns its lines."""
    lines: list[str] = []
    for removed in (False, True) if wide and name in WIDTHS else (False,):
        with_it = wide and not removed
        run = runner(root, WITHOUT if removed else {})
        runs = [list(GROUPS[name](run, with_it)) for _ in range(3 if name in REPEATED else 1)]
        for same in zip(*runs, strict=True):
            row = sorted(same, key=Row.ratio)[len(same) // 2]
            lines.append(row.line("yes" if with_it else "no"))
            said(lines[-1])
    return lines


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
