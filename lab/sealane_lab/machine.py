"""The machine: what it is, and what it can do at best.

A limit is a row like any other, measured in the same rounds as the libraries it stands beside: memory is not
as fast at noon as it was at nine. What cannot be measured here is listed with the reason and never guessed.
"""

from __future__ import annotations

import hmac
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sealane

from sealane_lab.model import LIMIT, Absent, Ready, Room, Row
from sealane_lab.peers import here, presences

try:
    from sealane_lab._native import aes_limit as measure_aes
except ImportError as error:
    measure_aes = None
    NO_NATIVE = f"the native module of sealane-lab is not built ({error}); pip install ./lab"


def describe() -> dict[str, Any]:
    """Everything that a figure depends on and that can be looked up."""
    return {
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "sealane": sealane.__version__,
        "variants": variants(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cpu": _cpu(),
        "cores": cores(),
        "memory": memory(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "environment": {name: os.environ[name] for name in _TELLING if name in os.environ},
        "peers": [asdict(presence) for presence in presences()],
        "limits": [asdict(limit) for limit in absent_limits()],
    }


_TELLING = ("SEALANE_PROVIDER", "SEALANE_CPU")


def variants() -> dict[str, str]:
    """Algorithm to the provider and variant that compute it here."""
    return {row.algorithm: f"{row.provider} {row.variant}" for row in sealane.providers() if row.chosen}


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int | None:
    """Bytes of the machine; None where nobody tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


@dataclass(frozen=True)
class MissingLimit:
    name: str
    reason: str


AES_BOUND = "AES in registers"
NO_AES = "this processor has no AES instructions"


def absent_limits() -> list[MissingLimit]:
    """Limits that cannot be drawn here."""
    missing = []
    try:
        aes_seconds(32, 0)
    except Absent as error:
        missing.append(MissingLimit(AES_BOUND, str(error)))
    if here("numpy").version is None:
        missing.append(MissingLimit("xor in place", "NumPy is not installed"))
    if shutil.which("cp") is None:
        missing.append(MissingLimit("cp", "no such program"))
    return missing


def copy_limit(room: Room) -> Ready:
    """Memory to memory, by the C library."""
    source, target = room.plain, memoryview(room.once("copied", lambda: bytearray(room.size)))

    def run() -> None:
        target[:] = source

    return Ready(run, _nothing_to_undo)


def xor_limit(room: Room) -> Ready:
    """What a stream cipher with a free keystream would take, in place: memory is read and written once."""
    if here("numpy").version is None:
        raise Absent("NumPy is not installed")
    import numpy

    data = numpy.zeros(room.size, numpy.uint8)
    words = data[: room.size // 8 * 8].view(numpy.uint64)
    mask = numpy.uint64(0x5A5A5A5A5A5A5A5A)
    return Ready(lambda: numpy.bitwise_xor(words, mask, out=words), _nothing_to_undo)


def aes_limit(key_len: int) -> Callable[[Room], Ready]:
    """The AES instructions alone, with nothing to load or store, and without the call from Python."""

    def prepare(room: Room) -> Ready:
        aes_seconds(key_len, 0)  # Raises Absent before the first round.
        return Ready(
            lambda: aes_seconds(key_len, room.size),
            _nothing_to_undo,
            timed=lambda calls: aes_seconds(key_len, calls * room.size),
        )

    return prepare


def aes_seconds(key_len: int, size: int) -> float:
    """Returns the seconds that the AES instructions take for ``size`` bytes of keystream. Raises Absent."""
    if measure_aes is None:
        raise Absent(NO_NATIVE)
    if (seconds := measure_aes(key_len, size)) is None:
        raise Absent(NO_AES)
    return seconds


def python_call(room: Room) -> Ready:
    """An empty function of Python's: part of every figure of the lab, as each way is called by one."""
    return Ready(lambda: None, _nothing_to_undo)


def native_call(room: Room) -> Ready:
    """The same, around an empty call into C with two buffers. (The comparison of nothing with nothing.)"""
    call, first, second = hmac.compare_digest, b"", bytearray()
    return Ready(lambda: call(first, second), _nothing_to_undo)


def _nothing_to_undo() -> str:
    return ""


def memory_limits(*tasks: str) -> list[Row]:
    """For plots of a rate by size."""
    ways = (("copy in memory", copy_limit), ("xor in place", xor_limit))
    return [Row(LIMIT, way, task, prepare) for task in tasks for way, prepare in ways]


def call_limits(*tasks: str) -> list[Row]:
    """For plots of the time of one call."""
    ways = (("empty Python call", python_call), ("empty call into C", native_call))
    return [Row(LIMIT, way, task, prepare) for task in tasks for way, prepare in ways]


def aes_limits(*tasks: str, key_len: int = 32) -> list[Row]:
    """For plots of the rate of AES, whatever the mode: most take a little more than its rounds."""
    return [Row(LIMIT, AES_BOUND, task, aes_limit(key_len)) for task in tasks]
