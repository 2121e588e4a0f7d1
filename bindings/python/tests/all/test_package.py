"""Tests of the installed package: its public names, its types and its program."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import sealane
from sealane.compat import rencrypt
from support import ROOT, leftovers

SCRIPT = [str(Path(sysconfig.get_path("scripts")) / "sealane")]
MODULE = [sys.executable, "-m", "sealane"]


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_public_names_are_documented() -> None:
    assert sealane.__version__ == importlib.metadata.version("sealane")
    ours = sealane.hazmat, sealane.hybrid, sealane.jwe, sealane.keys, sealane.plugins, sealane.exceptions
    for module in sealane, *ours, rencrypt:
        assert module.__doc__
        assert module.__all__ == sorted(module.__all__)
        for name in module.__all__:
            assert getattr(module, name) is not None
    raw = (getattr(sealane.hazmat, name) for name in sealane.hazmat.__all__)
    key_classes = sealane.keys.Key, sealane.keys.PublicKey, sealane.keys.Keyring, sealane.keys.KeyringKey
    for thing in sealane.Aead, sealane.Buffer, *key_classes, *raw, rencrypt.Cipher, rencrypt.REncrypt:
        for name, member in vars(thing).items():
            assert name.startswith("_") or member.__doc__, f"{thing.__name__}.{name} has no documentation"


def test_the_stubs_match_the_binary(tmp_path: Path) -> None:
    done = run(
        sys.executable, "-m", "mypy.stubtest", "sealane._native", "--ignore-disjoint-bases", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_checks_of_an_installed_wheel(tmp_path: Path) -> None:
    done = run(sys.executable, str(ROOT / "release" / "tests" / "installed.py"), str(ROOT), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(": ")[1] for line in done.stdout.splitlines()[1:]] == [
        "vectors",
        "golden",
        "files",
        "threads",
        "fork",
    ]


def test_the_package_is_typed(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import mmap, pathlib, sealane\n"
        "a = sealane.Aead('aes-256-gcm', b'', provider=None)\n"
        "n: int = a.seal_into(mmap.mmap(-1, 10), bytearray(100), aad=None)\n"
        "with sealane.open('path', 'rb', key=b'') as f: data: bytes = f.read()\n"
        "with sealane.open(f, 'wb', key=sealane.keys.load('k')) as g: g.discard()\n"
        "rows: list[str] = [row.reason for row in sealane.providers()]\n"
        "sealane.encrypt_file('a', open('b', 'wb'), key=b'', progress=lambda done, total: None)\n"
        "k = sealane.keys.generate('age')\n"
        "assert k.public is not None\n"
        "c: bytes = sealane.encrypt(b'', recipients=[k.public, 'age1'], armor=True)\n"
        "sealane.decrypt_file('a', 'b', identities=[k, 'AGE-SECRET-KEY-1', pathlib.Path('key')])\n"
        "with sealane.open('path', 'wb', passphrase='words') as h: h.write(c)\n"
        "sealane.verify_file('a', key=sealane.keys.Keyring.from_json('{}'), context=b'')\n"
        "r: int = sealane.keys.Keyring.generate().rotate()\n"
        "q: bytes = sealane.Aead(keyring=sealane.keys.Keyring.generate('aes-128-gcm')).seal(b'')\n"
        "d: bytes = sealane.hybrid.open(k, sealane.hybrid.seal('02ab', b''), suite='aes-128-gcm')\n"
        "from sealane.compat.rencrypt import Cipher, REncrypt\n"
        "e = REncrypt(Cipher.AES256GCM, Cipher.AES256GCM.generate_key())\n"
        "m: int = e.encrypt_into_buf(memoryview(b''), bytearray(28), 0, aad=bytearray())\n"
        "e.decrypt_old_file(pathlib.Path('a'), 'b', b'', plaintext_len=m)\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import sealane\n"
        "sealane.encrypt('text', key=b'')\n"
        "sealane.open('p', 'r', key=b'')\n"
        "sealane.open('p', 'rb', recipients=['age1'])\n"
        "sealane.encrypt(b'', recipients=sealane.keys.generate('age').public)\n"
        "sealane.hybrid.seal('', b'', suite='rot13')\n"
        "from sealane.compat.rencrypt import REncrypt\n"
        "REncrypt('aes-256-gcm', b'')\n"
    )
    # One run, because mypy reads the package and the library of Python first.
    done = run(sys.executable, "-m", "mypy", "--strict", "user.py", "wrong.py", cwd=tmp_path)
    files = [line.partition(":")[0] for line in done.stdout.splitlines() if ": error: " in line]
    assert files == ["wrong.py"] * 6, done.stdout + done.stderr


@pytest.mark.parametrize("program", [SCRIPT, MODULE])
def test_the_installed_program(tmp_path: Path, program: list[str]) -> None:
    (tmp_path / "plain").write_bytes(b"from the shell")
    assert run(*program, "keygen", "-o", "key", cwd=tmp_path).returncode == 0
    done = run(*program, "encrypt", "-k", "key", "-o", "sealed", "plain", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    key = sealane.keys.load(tmp_path / "key")
    assert sealane.decrypt((tmp_path / "sealed").read_bytes(), key=key) == b"from the shell"
    assert run(*program, "--version").stdout.split() == ["sealane", sealane.__version__]
    assert run(*program, "verify", "-k", "key", "plain", cwd=tmp_path).returncode == 1
    assert run(*program, "no-such-command").returncode == 2
    assert leftovers(tmp_path, "key", "plain", "sealed") == []


def test_the_doctor_names_the_interpreter() -> None:
    command = [sys.executable, "-m", "sealane", "doctor", "--json", __file__]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert report["machine"]["host"] == f"Python {platform.python_version()}"
    assert report["problems"] == []


def test_a_second_interpreter_in_one_process() -> None:
    """There, no ``except`` would catch our exceptions."""
    there = "try:\n import sealane\nexcept ImportError as error:\n print(error)"
    code = f"""
import importlib.util, sealane
name = "_interpreters" if importlib.util.find_spec("_interpreters") else "_xxsubinterpreters"
interpreters = importlib.import_module(name)
interpreters.run_string(interpreters.create(), {there!r})
importlib.reload(sealane)
"""
    done = run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    assert "interpreter" in done.stdout
