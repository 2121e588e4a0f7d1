"""External programs. They are required like any package: the tests fail if one is missing."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Sequence

import pytest

PACKAGES = {
    "age": "age",
    "age-keygen": "age",
    "openssl": "openssl",
    "ssh-keygen": "openssh-client",
    "minisign": "minisign",
    "rsync": "rsync",
}


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(
            f"the program {name} is not on PATH, and without it nobody knows whether others read our files: "
            f"apt-get install {PACKAGES[name]}"
        )
    return path


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
