"""Parsers and openers under limits of memory, processor time and file length.

Each case runs in a process of its own, in Python or in the program. It ends with a result or an exception
that is documented, never by a signal. The same from Rust is in ``crates/sealane/tests/it/budget.rs``.
"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20
# Memory in MiB beyond that of the process when the work begins. Python itself needs some of it.
BUDGETS = (4, 16, 40, 300)
QUICK = 16
CPU_SECONDS = 60

CASES = {
    "encrypt": ("data = bytes(24 << 20)", "sealane.encrypt(data, key=KEY)"),
    "encrypt with armor": (
        "data = bytes(24 << 20); to = [sealane.keys.generate('age').public]",
        "sealane.encrypt(data, recipients=to, armor=True)",
    ),
    "decrypt": ("data = sealane.encrypt(bytes(24 << 20), key=KEY)", "sealane.decrypt(data, key=KEY)"),
    "decrypt armor": (
        "key = sealane.keys.generate('age');"
        "data = sealane.encrypt(bytes(24 << 20), recipients=[key.public], armor=True)",
        "sealane.decrypt(data, identities=[key])",
    ),
    "decrypt_file": (
        "open('in', 'wb').write(sealane.encrypt(bytes(24 << 20), key=KEY))",
        "sealane.decrypt_file('in', 'out', key=KEY, threads=200)",
    ),
    "open": (
        "open('in', 'wb').write(sealane.encrypt(bytes(24 << 20), key=KEY))",
        "sealane.open('in', key=KEY).read()",
    ),
    # Sealed on one thread. One that is still starting when the limit is set takes memory of the
    # opener.
    "message": (
        "data = sealane.Aead('aes-256-gcm', KEY, threads=1).seal(bytes(24 << 20));"
        "aead = sealane.Aead('aes-256-gcm', KEY)",
        "aead.open(data)",
    ),
    "batch": (
        "messages = [bytes(1 << 20)] * 24; aead = sealane.Aead('aes-256-gcm', KEY)",
        "aead.seal_many(messages)",
    ),
    "packed batch": (
        "import struct; data = bytes(24 << 20); offsets = struct.pack('25q', *range(0, 25 << 20, 1 << 20));"
        "offsets = memoryview(offsets).cast('q'); aead = sealane.Aead('aes-256-gcm', KEY)",
        "aead.seal_packed(data, offsets)",
    ),
    "passphrase": (
        "data = sealane.encrypt(b'', passphrase='x')",
        "sealane.decrypt(data, passphrase='x')",
    ),
    "derive": ("", "sealane.keys.derive(b'x', bytes(16), memory_kib=100 << 10, passes=1)"),
    "header of 16 MiB": (
        "key = sealane.keys.generate('age'); data = sealane.encrypt(b'', recipients=[key.public]);"
        "at = data.index(b'\\n') + 1; data = data[:at] + b'-> a\\n\\n' * ((16 << 20) // 6 - 700) + data[at:]",
        "sealane.decrypt(data, identities=[key])",
    ),
    "key file, 1 GiB": ("", "sealane.keys.Key.from_text(scrypt_key(1 << 20, 8, 1), 'x')"),
    "key file, long blocks": ("", "sealane.keys.Key.from_text(scrypt_key(2, 1 << 22, 4), 'x')"),
    "key file, many lanes": ("", "sealane.keys.Key.from_text(scrypt_key(2, 1, 1 << 24), 'x')"),
}

SCRIPT = '''
import base64, resource, sys
import sealane
KEY = bytes(32)

def der(tag, *parts):
    body = b"".join(parts)
    return bytes([tag]) + (bytes([len(body)]) if len(body) < 128 else bytes([0x81, len(body)])) + body

def number(n):
    return der(2, n.to_bytes(n.bit_length() // 8 + 1, "big"))

def scrypt_key(n, r, p):
    """Encrypted PKCS#8 with scrypt and AES-256-CBC."""
    oid = bytes.fromhex
    parameters = der(0x30, der(4, b"saltsalt"), number(n), number(r), number(p))
    kdf = der(0x30, oid("06092b06010401da47040b"), parameters)
    cipher = der(0x30, oid("060960864801650304012a"), der(4, bytes(16)))
    algorithm = der(0x30, oid("06092a864886f70d01050d"), der(0x30, kdf, cipher))
    text = base64.encodebytes(der(0x30, algorithm, der(4, bytes(32)))).decode()
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\\n{text}-----END ENCRYPTED PRIVATE KEY-----\\n"

def work():
    <WORK>

<PREPARE>
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_CPU, (<CPU>, <CPU>))
resource.setrlimit(resource.RLIMIT_AS, (used + (<BUDGET> << 20),) * 2)
try:
    work()
except (MemoryError, sealane.SealaneError) as error:
    print(type(error).__name__)
else:
    print("ok")
'''


def outcome(folder: Path, name: str, budget: int) -> str:
    prepare, work = CASES[name]
    lines = "\n".join(part.strip() for part in prepare.split(";"))
    script = SCRIPT
    for name_of_part, part in {
        "PREPARE": lines,
        "WORK": work,
        "BUDGET": str(budget),
        "CPU": str(CPU_SECONDS),
    }.items():
        script = script.replace(f"<{name_of_part}>", part)
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert process.returncode == 0, f"{name}, {budget} MiB: status {process.returncode}\n{process.stderr}"
    return process.stdout.strip()


# claim: key-file, input-memory
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="RLIMIT_AS and /proc/self/statm are those of Linux"
)
@pytest.mark.parametrize("name", CASES)
def test_memory_with_one_budget(tmp_path: Path, name: str) -> None:
    known = {"ok", "MemoryError", "LimitExceededError", "FormatError", "NoMatchingKeyError"}
    assert outcome(tmp_path, name, QUICK) in known
    assert {path.name for path in tmp_path.iterdir()} <= {"in", "out"}


# claim: input-memory
@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="RLIMIT_AS and /proc/self/statm are those of Linux"
)
@pytest.mark.parametrize("name", CASES)
def test_memory_with_every_budget(tmp_path: Path, name: str) -> None:
    found = [outcome(tmp_path, name, budget) for budget in BUDGETS]
    for before, after in itertools.pairwise(found):
        assert before != "ok" or after == "ok", f"more memory is worse: {found}"


def program(folder: Path, *arguments: str, limits: dict[int, int]) -> subprocess.CompletedProcess[str]:
    """Runs the command line under limits of the system."""

    def limit() -> None:
        for kind, value in limits.items():
            resource.setrlimit(kind, (value, value))

    return subprocess.run(
        [sys.executable, "-m", "sealane", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=limit,
        check=False,
    )


def test_file_length_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(4 * MIB))
    assert program(tmp_path, "keygen", "-o", "k", limits={}).returncode == 0
    failed = program(tmp_path, "encrypt", "-k", "k", "-o", "out", "in", limits={resource.RLIMIT_FSIZE: MIB})
    assert failed.returncode == 1, failed
    assert "out" in failed.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"in", "k"}


# claim: input-memory
def test_memory_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(24 * MIB))
    assert program(tmp_path, "keygen", "-o", "k", limits={}).returncode == 0
    for megabytes in (200, 300, 400, 800):
        limits = {resource.RLIMIT_AS: megabytes * MIB, resource.RLIMIT_CPU: CPU_SECONDS}
        ended = program(tmp_path, "encrypt", "-k", "k", "-o", "out", "in", "--threads", "200", limits=limits)
        assert ended.returncode in (0, 1), ended
    assert ended.returncode == 0
