"""The memory of a process, as a core file would hold it, and a search for keys in it.

Two kinds of processes are examined: Python, which has failed, has dropped its objects and waits; and a
program, which is stopped with ``ptrace`` when it exits, before its memory is gone. Neither needs a setting of
the system for core files.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PIECE = 8
"""Number of bytes of a secret that count as found. So a copy whose first bytes are overwritten is found."""


def shapes(secret: bytes) -> dict[str, bytes]:
    """Returns what to search for: each piece as it is, in hexadecimal digits, and in base64.

    In base64, the place of a byte in its group of three has three values, and each gives other characters.
    """
    found = {}
    for at in range(0, len(secret) - PIECE + 1, PIECE):
        piece = secret[at : at + PIECE]
        found[f"raw, from byte {at}"] = piece
        found[f"hexadecimal, from byte {at}"] = piece.hex().encode()
        found[f"upper hexadecimal, from byte {at}"] = piece.hex().upper().encode()
    for at in range(len(secret) - 8):
        piece = secret[at : at + 9]
        found[f"base64, from byte {at}"] = base64.b64encode(piece)
        found[f"base64url, from byte {at}"] = base64.urlsafe_b64encode(piece)
    return found


def found_in(data: bytes, secrets: Mapping[str, bytes]) -> list[str]:
    """Returns the names of the secrets in ``data``, each with its shape."""
    return [
        f"{name}: {shape}"
        for name, secret in secrets.items()
        for shape, piece in {**shapes(secret), "whole": secret}.items()
        if piece in data
    ]


def image(process: int) -> bytes:
    """Returns all memory of a process that it can write to or that is no file."""
    parts = []
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, rights, _, _, inode, *name = line.split(maxsplit=5)
            if (
                rights[0] != "r"
                or (inode != "0" and rights[1] != "w")
                or name[:1] in (["[vvar]"], ["[vsyscall]"])
            ):
                continue
            start, end = (int(number, 16) for number in span.split("-"))
            # Memory of a device cannot be read.
            with contextlib.suppress(OSError):
                parts += _pages(memory.fileno(), start, end)
    return b"".join(parts)


def _pages(memory: int, start: int, end: int) -> Iterator[bytes]:
    """Yields the memory of a mapping, without the pieces that were never used."""
    step = 1 << 20
    for at in range(start, end, step):
        piece = os.pread(memory, min(step, end - at), at)
        if piece.count(0) != len(piece):
            yield piece


@dataclasses.dataclass
class MemoryImage:
    """What a process left behind."""

    memory: bytes
    said: str
    """The text, attributes, causes and frames of the exception, and all log records; or the output of a
    program.
    """
    error: str
    """The name of the exception and its text."""

    def shows(self, **secrets: bytes) -> list[str]:
        """Returns where parts of the secrets are."""
        return [f"memory: {one}" for one in found_in(self.memory, secrets)] + [
            f"text: {one}" for one in found_in(self.said.encode(errors="surrogateescape"), secrets)
        ]


_CHILD = """
import gc, io, json, logging, pickle, sys, traceback
import sealane
log = io.StringIO()
logging.basicConfig(level=logging.DEBUG, stream=log, format="%(name)s %(message)s %(args)r")
alive, lent = [], []

def secret(path):
    "Reads a secret as SECURITY.md advises: into memory that the caller wipes, here after the search."
    with open(path, "rb", buffering=0) as file:
        found = bytearray(file.seek(0, 2))
        file.seek(0)
        assert file.readinto(found) == len(found)
    lent.append(found)
    return found

def held(value, depth=4):
    'Yields what a variable holds, bytes in hexadecimal digits.'
    if isinstance(value, str):
        yield value
    elif isinstance(value, (bytes, bytearray, memoryview)):
        yield bytes(value).hex()
    elif isinstance(value, dict):
        yield from held([*value, *value.values()], depth)
    elif isinstance(value, (list, tuple, set, frozenset)) and depth:
        for one in value:
            yield from held(one, depth - 1)
    elif depth and type(value).__module__.startswith("sealane") and hasattr(value, "__dict__"):
        yield from held(vars(value), depth - 1)

def frames(error):
    'Yields the variables of the package in the frames of an exception, as error trackers store them.'
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_globals.get("__name__", "").startswith("sealane"):
            for value in list(at.tb_frame.f_locals.values()):
                yield from held(value)
        at = at.tb_next

def texts(error):
    for one in getattr(error, "exceptions", ()):
        yield from texts(one)
    while error is not None:
        yield from frames(error)
        yield from traceback.format_exception(error)
        yield repr(error)
        yield repr(error.args)
        yield repr(error.__dict__)
        try:
            yield repr(pickle.dumps(error))
        except Exception as refused:
            yield repr(refused)
        error = error.__cause__ or error.__context__

def attempt(source):
    try:
        exec(source, {"sealane": sealane, "secret": secret, "alive": alive})
    except Exception as error:
        return f"{type(error).__name__}: {error}", "".join(texts(error))
    return "", ""

error, said = attempt(json.loads(sys.stdin.readline()))
for one in lent:
    one[:] = bytes(len(one))
gc.collect()
print(json.dumps([error, said + log.getvalue()]), flush=True)
sys.stdin.readline()
"""


def python(source: str, folder: Path, environment: Mapping[str, str] | None = None) -> MemoryImage:
    """Runs Python statements in a new process, and returns what is left after they failed.

    They know ``sealane``, ``secret(path)``, which returns a ``bytearray``, and the list ``alive``.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD],
        cwd=folder,
        env=os.environ | (environment or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(source).encode() + b"\n")
        child.stdin.flush()
        error, said = json.loads(child.stdout.readline())
        found = MemoryImage(image(child.pid), said, error)
        child.stdin.close()
    assert child.returncode == 0
    return found


def program(
    arguments: Sequence[str | Path],
    folder: Path,
    *,
    status: int = 1,
    inherited: Sequence[int] = (),
    environment: Mapping[str, str] | None = None,
) -> MemoryImage:
    """Runs a program until it exits, and returns what is left then."""
    for descriptor in inherited:
        os.set_inheritable(descriptor, True)
    with open(folder / "said", "w+b") as said:
        # The shell waits until it is traced, and becomes the program.
        waiting = 'cd "$1"; shift; kill -STOP $$; exec "$@"'
        process = os.posix_spawn(
            "/bin/sh",
            ["/bin/sh", "-c", waiting, "sh", str(folder), *map(str, arguments)],
            os.environ | (environment or {}),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, said.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, said.fileno(), 2),
            ],
        )
        memory, ended = _at_exit(process)
        said.seek(0)
        text = said.read().decode(errors="surrogateescape")
    assert ended == status, text
    return MemoryImage(memory, text, text)


_CONT, _SEIZE, _TRACEEXIT, _EVENT_EXIT = 7, 0x4206, 0x40, 6
_WALL: Any = 0x40000000


def _at_exit(process: int) -> tuple[bytes, int]:
    """Returns the memory of a stopped process when it exits, and its exit status."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long

    def ptrace(request: int, data: int) -> None:
        assert libc.ptrace(request, process, None, data) == 0, os.strerror(ctypes.get_errno())

    os.waitpid(process, os.WUNTRACED)
    ptrace(_SEIZE, _TRACEEXIT)
    os.kill(process, signal.SIGCONT)
    memory = b""
    while True:
        _, status = os.waitpid(process, _WALL)
        if not os.WIFSTOPPED(status):
            return memory, os.waitstatus_to_exitcode(status)
        event = status >> 16
        if event == _EVENT_EXIT:
            memory = image(process)
        ptrace(_CONT, os.WSTOPSIG(status) if event == 0 else 0)
