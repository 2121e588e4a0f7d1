"""Programs that a machine may lack. Without one, its tests are NOT RUN, and the run lists them at its end.

`tests/programs.txt` lists the programs with their packages. `SEALANE_REQUIRE` turns NOT RUN into a failure.
It is "all", or names separated by spaces.
"""

from __future__ import annotations

import glob
import os
import platform
import pty
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "programs.txt"
PACKAGES = dict(line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#"))
LIBRARIES = [
    f"/usr/lib/{platform.machine()}-linux-gnu",
    *("/usr/lib/softhsm", "/usr/lib64", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm"),
]


def find(name: str) -> str | None:
    """Returns the path of a program, or of a library, which ends in ``.so``."""
    if name.endswith(".so"):
        return next((path for folder in LIBRARIES if os.path.exists(path := f"{folder}/{name}")), None)
    # Debian's PostgreSQL is not on the path, because several versions can be installed.
    return shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))), None)


def program(name: str) -> str:
    """Returns the path of a program or a library. Skips the test without it."""
    if (path := find(name)) is not None:
        return path
    required = os.environ.get("SEALANE_REQUIRE", "").split()
    if name in required or "all" in required:
        pytest.fail(f"{name} is needed: apt-get install {PACKAGES[name]}")
    # `conftest.py` in the root folder lists the skipped tests by these words.
    pytest.skip(f"NOT RUN: needs {name}")


def run(name: str, *arguments: str | os.PathLike[str], stdin: bytes = b"") -> bytes:
    """Runs a program and returns its standard output."""
    done = subprocess.run([program(name), *arguments], input=stdin, capture_output=True)
    assert done.returncode == 0, f"{name} {arguments}: {done.stderr.decode()}"
    return done.stdout


def refused(name: str, *arguments: str | os.PathLike[str], stdin: bytes = b"") -> str:
    """Runs a program that must fail and returns its standard error."""
    done = subprocess.run([program(name), *arguments], input=stdin, capture_output=True)
    assert done.returncode != 0, f"{name} {arguments} should have failed"
    return done.stderr.decode()


# The first terminal that a session leader opens becomes the terminal of the session.
AT_TERMINAL = 'tty=$1; shift; : <>"$tty"; exec "$@"'


def typed(lines: Sequence[str], name: str, *arguments: str | os.PathLike[str]) -> tuple[int, str]:
    """Returns the exit status of a program that asks for passphrases at a terminal, and its output.

    Each line answers one question, which ends in a colon.
    """
    ours, theirs = pty.openpty()
    command = ["sh", "-c", AT_TERMINAL, "sh", os.ttyname(theirs), program(name), *arguments]
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = bytearray()
    try:
        for line in lines:
            asked = len(shown)
            while b": " not in shown[asked:]:
                shown += os.read(ours, 4096)
            os.write(ours, line.encode() + b"\n")
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # The other end is closed: the program has ended.
        pass
    finally:
        os.close(ours)
    return child.wait(), shown.decode()
