"""System calls that a sandbox refuses."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
from pathlib import Path

PIDFD_GETFD = 438


def refuse_sharing() -> None:
    """Refuses pidfd_getfd in this process, as the profiles of some containers do."""
    libc = ctypes.CDLL(None, use_errno=True)
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, PIDFD_GETFD), (0x06, 0, 0, 0x0005_0001), (0x06, 0, 0, 0x7FFF_0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program) == 0


# claim: passphrase-channels
def test_a_passphrase_begins_where_its_descriptor_stands(sealane_binary: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("first\nsecond\nthird\n")
    (tmp_path / "plain").write_text("data")

    def run(line: str, *, read: int = 0, words: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs the program with a descriptor from which bytes were read before."""
        opened = os.open(tmp_path / "words", os.O_RDONLY)
        os.lseek(opened, read, os.SEEK_SET)
        command = [sealane_binary, *line.replace("FD", str(opened)).split()]
        options = {"pass_fds": [opened], "preexec_fn": refuse_sharing, "cwd": tmp_path, "text": True}
        done = subprocess.run(command, input=words, capture_output=True, check=False, **options)
        os.close(opened)
        return done

    assert run("encrypt -p --passphrase-fd FD -o sealed plain", read=6).returncode == 0
    assert run("decrypt -p --passphrase-fd 0 -o - sealed", words="second\n").stdout == "data"
    # The position is not shared, so the line would be read twice.
    twice = run("rewrap -p --old-passphrase-fd FD --passphrase-fd FD sealed", read=6)
    assert twice.returncode == 1
    assert "can be read once only; use a pipe" in twice.stderr
    assert run("decrypt -p --passphrase-fd 0 -o - sealed", words="second\n").stdout == "data"
