"""Without random bytes of the operating system: a right result or a typed error, no panic, no known key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import killed
import pytest
import sealane
from killed import Injection, Point

pytestmark = pytest.mark.slow

AGE = sealane.keys.generate("age")
KEY = sealane.keys.generate("aes-256")
RSA = sealane.keys.generate("rsa-2048")
PLAIN = b"plaintext" * 1000

COMMANDS = {
    "keygen": "keygen -o new",
    "keygen, age": "keygen -t age -o new",
    "keygen, age-pq": "keygen -t age-pq -o new",
    "keygen, p-256": "keygen -t p-256 -o new",
    "keygen, x25519": "keygen -t x25519 -o new",
    "keygen, secp256k1": "keygen -t secp256k1 -o new",
    "keygen, x-wing": "keygen -t x-wing -o new",
    "encrypt": "encrypt -k key -o new plain",
    "encrypt, age": "encrypt -r RECIPIENT -o new plain",
    "folder": "encrypt --recursive -k key --manifest manifest -o new folder",
}
NO_RANDOM_BYTES = "the operating system returned no random bytes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scene"
    (folder / "folder").mkdir(parents=True)
    KEY.save(folder / "key")
    for name in ("plain", "folder/plain"):
        (folder / name).write_bytes(PLAIN)
    return folder


def result(folder: Path) -> bytes:
    """Returns the result and removes it, and checks that nothing else is left."""
    (folder / "manifest").unlink(missing_ok=True)
    made = folder / "new" / "plain" if (folder / "new").is_dir() else folder / "new"
    content = made.read_bytes() if made.exists() else b""
    made.unlink(missing_ok=True)
    if (folder / "new").is_dir():
        (folder / "new").rmdir()
    assert {path.name for path in folder.iterdir()} == {"folder", "key", "plain"}
    return content


def check(content: bytes) -> None:
    """Checks a key or an encrypted file."""
    if b"-> X25519" in content:
        assert sealane.decrypt(content, identities=[AGE]) == PLAIN
    elif content.isascii():  # A chunked file can begin with any byte, such as "{".
        sealane.keys.Key.from_text(content)
    else:
        assert sealane.decrypt(content, key=KEY) == PLAIN


def check_outcome(done: subprocess.CompletedProcess[str], content: bytes, what: str) -> None:
    what = f"{what}: {done.returncode} {done.stderr}"
    assert done.returncode in (0, 1), what
    if done.returncode == 1:
        assert NO_RANDOM_BYTES in done.stderr, what
        assert content == b"", what
    else:
        check(content)


# claim: random-errors
@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_calls_that_fail(folder: Path, sealane_binary: Path, line: str) -> None:
    command = [sealane_binary, *line.replace("RECIPIENT", str(AGE.public)).split(), "-q"]
    done, log = killed.traced(command, folder)
    assert done.returncode == 0, done.stderr
    seen = {result(folder)}
    calls = [point for point in killed.points(log) if point.name == "getrandom"]
    assert calls
    failed = 0
    for error in ("EIO", "EPERM", "ENOSYS", "EAGAIN", "EINTR"):
        for point in calls:
            # A call that is interrupted for ever is repeated for ever.
            for later in ("", "+") if error != "EINTR" else ("",):
                done, _ = killed.disturbed(command, folder, Injection(point, f"error={error}", later))
                content = result(folder)
                check_outcome(done, content, f"{error} of getrandom {point.number}{later}")
                failed += done.returncode
                assert not content or content not in seen, "a second result with the same random bytes"
                seen.add(content)
    assert failed


# claim: random-errors
@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_neither_the_call_nor_the_device(folder: Path, sealane_binary: Path, line: str) -> None:
    """Without the system call, the bytes come from /dev/urandom. If that fails too, there is an error."""
    command = [sealane_binary, *line.replace("RECIPIENT", str(AGE.public)).split(), "-q"]
    missing = Injection(Point("getrandom", 1), "error=ENOSYS", "+")
    done, log = killed.traced(command, folder, "-e", missing.text())
    assert done.returncode == 0, done.stderr
    check(result(folder))
    opened = [line for line in log.splitlines() if "openat(" in line or " open(" in line]
    devices = [line for line in opened if "/dev/random" in line or "/dev/urandom" in line]
    assert devices
    for line in devices:
        name = "open" if " open(" in line else "openat"
        number = [at for at in opened if f" {name}(" in at].index(line) + 1
        broken = Injection(Point(name, number), "error=EIO")
        done, _ = killed.disturbed(command, folder, missing, broken)
        assert done.returncode == 1, line
        check_outcome(done, result(folder), line)


OF_AWS_LC = """
import os, sealane
from sealane import hybrid
key = sealane.keys.load("rsa")
try:
    os.stat("/the marker")
except OSError:
    pass
try:
    hybrid.seal(key.public, b"")
except OSError as error:
    print(error)
"""


# claim: random-errors
@pytest.mark.parametrize("error", ["EIO", "EPERM"])
def test_an_rsa_key_is_not_generated_without_random_bytes(
    folder: Path, sealane_binary: Path, error: str
) -> None:
    """AWS-LC would end the process. From Python a thread generates the key, where strace counts anew."""
    command = [sealane_binary, "keygen", "-t", "rsa-2048", "-o", "new", "-q"]
    done, _ = killed.disturbed(command, folder, Injection(Point("getrandom", 1), f"error={error}", "+"))
    assert (done.returncode, result(folder)) == (1, b"")
    assert NO_RANDOM_BYTES in done.stderr


# claim: random-errors
@pytest.mark.parametrize("error", ["EIO", "EPERM", "ENOSYS"])
def test_aws_lc_is_not_called_without_random_bytes(folder: Path, error: str) -> None:
    """AWS-LC would end the process. It draws bytes of its own to wrap a key."""
    RSA.save(folder / "rsa")
    command = [sys.executable, "-c", OF_AWS_LC]
    done, log = killed.traced(command, folder)
    assert (done.returncode, done.stdout) == (0, "")
    first = next(point for point in killed.points(log, after=["/the marker"]) if point.name == "getrandom")
    done, _ = killed.disturbed(command, folder, Injection(first, f"error={error}", "+"))
    assert done.returncode == 0, done.stderr
    assert (NO_RANDOM_BYTES in done.stdout) == (error != "ENOSYS"), done.stdout
