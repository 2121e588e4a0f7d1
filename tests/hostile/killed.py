"""Runs a program once for each of its system calls, and kills it there or makes the call fail (strace)."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

TIMEOUT = 60
"""Seconds after which a run counts as one that never ends."""

CALL = re.compile(r"^(\d+) +(\w+)\((.*)")
RESUMED = re.compile(r"^\d+ +<\.\.\. \w+ resumed>(.*)")

_NAMES = (
    "access close copy_file_range dup faccessat faccessat2 fallocate fchmod fchown fcntl fdatasync "
    "fgetxattr flock fremovexattr fsetxattr fstat fsync ftruncate getdents64 getrandom link linkat "
    "lseek lstat mkdir mkdirat newfstatat open openat openat2 pread64 pwrite64 read readlink "
    "readlinkat rename renameat renameat2 stat statx unlink unlinkat write writev"
)
FAILING_CALLS = frozenset(_NAMES.split())
"""System calls for which errors are injected: about files and random bytes. Others have no such errors."""


class Point(NamedTuple):
    """One system call of a run: the N-th call of this name in its thread."""

    name: str
    number: int


class Injection(NamedTuple):
    """An error or a signal at a system call, for example ``error=EIO``; ``later="+"`` adds all later ones."""

    point: Point
    action: str
    later: str = ""

    def text(self) -> str:
        return f"inject={self.point.name}:{self.action}:when={self.point.number}{self.later}"


def strace() -> str:
    return shutil.which("strace") or pytest.fail("apt-get install strace")


def run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command without strace."""
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL
    )


def traced(
    command: Sequence[str | Path], folder: Path, *options: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Runs a command under strace. Returns its outcome and the log of its system calls."""
    log = folder.parent / "strace.log"
    log.unlink(missing_ok=True)
    done = run([strace(), "-f", "-y", "-qq", "-o", log, *options, *command], folder)
    return done, joined(log.read_text(errors="replace")) if log.exists() else ""


def disturbed(
    command: Sequence[str | Path], folder: Path, *injections: Injection
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Runs a command with injections, and logs their system calls only."""
    names = ",".join(sorted({injection.point.name for injection in injections}))
    options = [option for injection in injections for option in ("-e", injection.text())]
    if not any("signal" in injection.action for injection in injections):
        # Other system calls do not stop the program, which saves time. No signal can be sent in
        # these stops.
        options.append("--seccomp-bpf")
    return traced(command, folder, "-e", f"trace={names}", *options)


def joined(log: str) -> str:
    """Returns a log in which each call is one line. strace splits a call while another thread makes one."""
    lines: list[str] = []
    started: dict[str, int] = {}
    for line in log.splitlines():
        thread = line.split(maxsplit=1)[0]
        if line.endswith("<unfinished ...>"):
            started[thread] = len(lines)
            lines.append(line.removesuffix("<unfinished ...>").rstrip())
        elif (rest := RESUMED.match(line)) is not None and thread in started:
            lines[started.pop(thread)] += rest[1]
        else:
            lines.append(line)
    return "\n".join(lines)


def points(log: str, *, after: Iterable[str] = ("",)) -> list[Point]:
    """Returns the system calls of a run, from the first one that has one of these texts in its arguments."""
    counts: Counter[tuple[str, str]] = Counter()
    found: dict[Point, None] = {}
    counting = False
    for line in log.splitlines():
        if (call := CALL.match(line)) is None or call[2] in ("execve", "exit", "exit_group"):
            continue
        counting = counting or any(text in call[3] for text in after)
        counts[call[1], call[2]] += 1
        if counting:
            found[Point(call[2], counts[call[1], call[2]])] = None
    return list(found)


def unnamed(log: str) -> Point | None:
    """Returns the call that creates an unnamed file."""
    number: Counter[str] = Counter()
    for line in log.splitlines():
        if (call := CALL.match(line)) is not None and call[2] == "openat":
            number[call[1]] += 1
            if "O_TMPFILE" in call[3]:
                return Point("openat", number[call[1]])
    return None
