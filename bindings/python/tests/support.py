"""Constants and functions that several of the test files in this folder use."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import pickle
import signal
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sealane

ROOT = Path(__file__).parents[3]
VECTORS = ROOT / "vectors"

ALGORITHMS = [row.name for row in sealane.algorithms()]

PAIRS = [
    (row.algorithm, row.provider)
    for row in sealane.providers()
    if row.available and row.algorithm in ALGORITHMS
]
"""Every algorithm with every provider that is available for it."""

SPECKS = {
    "speck32-64": (4, 8),
    "speck48-72": (6, 9),
    "speck48-96": (6, 12),
    "speck64-96": (8, 12),
    "speck64-128": (8, 16),
    "speck96-96": (12, 12),
    "speck96-144": (12, 18),
    "speck128-128": (16, 16),
    "speck128-192": (16, 24),
    "speck128-256": (16, 32),
}
"""Length of a block and of a key in bytes."""

CHUNK = 16384
SEALED_CHUNK = CHUNK + 16
HEADER = 56

BORDERS = [0, 1, 15, 16, *(n * CHUNK + d for n in (1, 2) for d in (-1, 0, 1)), 262143, 262144, 262145]
"""Lengths around the borders of chunks (16 KiB) and of jobs (256 KiB)."""


@functools.cache
def pattern(length: int) -> bytes:
    """Returns bytes without equal neighbouring blocks: 251 is prime, so no power of two is a period."""
    return (bytes(range(251)) * (length // 251 + 1))[:length]


def aead(algorithm: str = "aes-256-gcm", provider: str | None = None) -> sealane.Aead:
    """Returns an Aead with a fixed key, so that results can be compared."""
    lengths = {row.name: row.key_len for row in sealane.algorithms()}
    return sealane.Aead(algorithm, pattern(lengths[algorithm]), provider)


def leftovers(folder: Path, *known: str) -> list[str]:
    """Returns the names in a folder, without the known files."""
    return sorted(path.name for path in folder.iterdir() if path.name not in known)


def children() -> list[str]:
    """Returns the names of the child processes of this one, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
                found += [name] if rest.split()[1] == str(os.getpid()) else []
    return found


def in_child(work: Callable[[], Any]) -> Any:
    """Returns the result of a function in a forked child. An exception there is a failure here.

    No other function of the tests forks: a child that left its test by an exception would go on as a second
    pytest. It ends after a minute, because a lock that it inherits may never be released.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            try:
                outcome = True, work()
            except BaseException:
                outcome = False, traceback.format_exc()
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(outcome, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended with the wait status {status}"
    done, result = pickle.loads(data)
    assert done, f"in the child: {result}"
    return result


@dataclasses.dataclass(frozen=True)
class AgeCase:
    """A file of the age testkit (C2SP/CCTV) and its expected result."""

    name: str
    expect: str
    payload: str
    identities: list[str]
    passphrases: list[str]
    file: bytes


def age_testkit() -> list[AgeCase]:
    cases = []
    for path in sorted((VECTORS / "age" / "testkit").iterdir()):
        head, file = path.read_bytes().split(b"\n\n", 1)
        lines = [line.split(": ", 1) for line in head.decode().split("\n")]
        of = {key: [value for known, value in lines if known == key] for key, _ in lines}
        assert of.keys() <= {
            *("expect", "payload", "file key", "identity", "passphrase", "armored", "compressed", "comment")
        }
        if "compressed" in of:
            file = zlib.decompress(file)
        cases.append(
            AgeCase(
                path.name,
                of["expect"][0],
                of.get("payload", [""])[0],
                of.get("identity", []),
                of.get("passphrase", []),
                file,
            )
        )
    return cases
