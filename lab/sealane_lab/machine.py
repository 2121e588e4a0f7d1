"""The description of the machine and its speed limits.

A limit is a contender as any other, measured in the same rounds as the libraries, because the speed of memory
changes during a run. A limit that cannot be measured is listed with the reason and never estimated.
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

from sealane_lab.model import LIMIT, Absent, Contender, Ready, Workspace
from sealane_lab.peers import find, presences

NO_NATIVE = "sealane_lab._native is not built; pip install ./lab builds it"
try:
    from sealane_lab._native import aes_limit as measure_aes
except ImportError as error:
    measure_aes = None
    NO_NATIVE += f" ({error})"


def describe() -> dict[str, Any]:
    """Returns everything that can be looked up and that a figure depends on."""
    return {
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "sealane": sealane.__version__,
        "variants": variants(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cpu": _cpu(),
        "cores": cores(),
        "memory": memory(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "peers": [asdict(presence) for presence in presences()],
        "limits": [asdict(limit) for limit in absent_limits()],
    }


_VARIABLES = ("SEALANE_PROVIDER", "SEALANE_CPU")


def variants() -> dict[str, str]:
    """Returns the provider and the variant in use for each algorithm."""
    return {
        entry.algorithm: f"{entry.provider} {entry.variant}" for entry in sealane.providers() if entry.chosen
    }


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int | None:
    """Returns the memory of the machine in bytes, or None if the system does not report it."""
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
    """A limit that cannot be measured on this machine."""

    name: str
    reason: str


AES_LIMIT = "AES in registers"
NO_AES = "this processor has no AES instructions"


def absent_limits() -> list[MissingLimit]:
    """Lists the limits that cannot be measured on this machine."""
    missing = []
    try:
        aes_seconds(32, 0)
    except Absent as error:
        missing.append(MissingLimit(AES_LIMIT, str(error)))
    if find("numpy").version is None:
        missing.append(MissingLimit("xor in place", "NumPy is not installed"))
    if shutil.which("cp") is None:
        missing.append(MissingLimit("cp", "no such program"))
    return missing


def copy_limit(workspace: Workspace) -> Ready:
    """Copies memory with the C library, for comparison with the speed of the ciphers."""
    source, target = workspace.plain, memoryview(workspace.once("copied", lambda: bytearray(workspace.size)))

    def run() -> None:
        target[:] = source

    return Ready(run, _nothing_to_check)


def xor_limit(workspace: Workspace) -> Ready:
    """XORs a constant in place, as a stream cipher with a free keystream would."""
    if find("numpy").version is None:
        raise Absent("NumPy is not installed")
    import numpy

    data = numpy.zeros(workspace.size, numpy.uint8)
    words = data[: workspace.size // 8 * 8].view(numpy.uint64)
    mask = numpy.uint64(0x5A5A5A5A5A5A5A5A)
    return Ready(lambda: numpy.bitwise_xor(words, mask, out=words), _nothing_to_check)


def aes_limit(key_len: int) -> Callable[[Workspace], Ready]:
    """Executes the AES instructions alone, without loads and stores, and without the call from Python."""

    def prepare(workspace: Workspace) -> Ready:
        aes_seconds(key_len, 0)  # Raises Absent before the first round.
        return Ready(
            lambda: aes_seconds(key_len, workspace.size),
            _nothing_to_check,
            timed=lambda calls: aes_seconds(key_len, calls * workspace.size),
        )

    return prepare


def aes_seconds(key_len: int, size: int) -> float:
    """Returns the seconds that the AES instructions take for ``size`` bytes of keystream. Raises Absent."""
    if measure_aes is None:
        raise Absent(NO_NATIVE)
    seconds: float | None = measure_aes(key_len, size)
    if seconds is None:
        raise Absent(NO_AES)
    return seconds


def python_call(workspace: Workspace) -> Ready:
    """Calls an empty Python function. Every contender is called by one, so this is part of every figure."""
    return Ready(lambda: None, _nothing_to_check)


def native_call(workspace: Workspace) -> Ready:
    """Calls an empty Python function around a C function that compares two empty buffers."""
    call, first, second = hmac.compare_digest, b"", bytearray()
    return Ready(lambda: call(first, second), _nothing_to_check)


def _nothing_to_check() -> str:
    return ""


def memory_limits(*tasks: str) -> list[Contender]:
    """Returns the limits for plots of a rate by size."""
    limits = (("copy in memory", copy_limit), ("xor in place", xor_limit))
    return [Contender(LIMIT, name, task, prepare) for task in tasks for name, prepare in limits]


def call_limits(*tasks: str) -> list[Contender]:
    """Returns the limits for plots of the time of one call."""
    limits = (("empty Python call", python_call), ("empty call into C", native_call))
    return [Contender(LIMIT, name, task, prepare) for task in tasks for name, prepare in limits]


def aes_limits(*tasks: str, key_len: int = 32) -> list[Contender]:
    """Returns the limit for plots of the AES rate. Every AES mode computes more than the rounds."""
    return [Contender(LIMIT, AES_LIMIT, task, aes_limit(key_len)) for task in tasks]
