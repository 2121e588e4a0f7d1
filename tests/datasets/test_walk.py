"""A backup on S3: encrypted, changed, verified with its inventory, restored elsewhere and compared.

The commands are those of docs/guide/folders.md. The test prints the time of each step.
"""

from __future__ import annotations

import filecmp
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from parts import Place
from programs import program

PROGRAM = Path(sys.executable).parent / "sealane"
OPTIONS = ["--recursive", "-q", "-k", "key.jwk", "--suffix", ".sealed"]
JOB = [*OPTIONS, "--delete", "--manifest", "done.jsonl", "--inventory", "vault.list", "--sign-key", "sign"]
CHECK = [*OPTIONS, "--inventory", "vault.list", "--signer", "sign.pub"]


def sealane(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def same(a: Path, b: Path) -> bool:
    found = names(a)
    return found == names(b) and filecmp.cmpfiles(a, b, found, shallow=False)[1:] == ([], [])


@contextmanager
def step(what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    print(f"{what:<45} {time.perf_counter() - began:7.1f} s")


def made(data: Path, count: int) -> list[str]:
    """Makes files and returns their paths."""
    chance, paths = random.Random(1), [f"{at % 100:02}/día {at}.csv" for at in range(count)]
    for path in paths:
        (data / path).parent.mkdir(parents=True, exist_ok=True)
        (data / path).write_bytes(chance.randbytes(chance.choice([0, 1, 100, 4000, 20_000])))
    return paths


@pytest.fixture(params=[200, pytest.param(10_000, marks=pytest.mark.slow)])
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_a_backup_on_s3(bucket: Place, tmp_path: Path, count: int) -> None:
    program("ssh-keygen")
    s3: Any = bucket.target
    home, other = tmp_path / "home", tmp_path / "other"
    data = home / "data"
    paths = made(data, count)
    other.mkdir()
    assert sealane(home, "keygen", "-o", "key.jwk").returncode == 0
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "sign"], check=True)

    def backup(day: str) -> None:
        with step(f"encrypt, {day}"):
            done = sealane(home, "encrypt", *JOB, "-o", "vault", "data")
        assert (done.returncode, done.stderr) == (0, "")

    backup("monday")
    for path in paths[:2]:
        s3.put_file(str(home / "vault" / f"{path}.sealed"), bucket.path(f"monday/{path}.sealed"))
    for path in paths[::50]:
        (data / path).write_bytes(b"changed")
    for path in paths[1::50]:
        (data / path).unlink()
    (data / "new").mkdir()
    (data / "new" / "file").write_bytes(b"new")
    backup("tuesday")
    with step("upload"):
        s3.put(f"{home}/vault/", bucket.path("tuesday/"), recursive=True)
    s3.put([str(home / "vault.list"), str(home / "vault.list.sig")], bucket.path("lists-tuesday/"))
    assert len(names(home / "vault")) == len(names(data)) == count - count // 50 + 1

    def tuesday(path: str) -> str:
        return bucket.path(f"tuesday/{path}.sealed")

    # What somebody may do who can write to the bucket.
    s3.cp_file(bucket.path(f"monday/{paths[0]}.sealed"), tuesday(paths[0]))
    s3.cp_file(bucket.path(f"monday/{paths[1]}.sealed"), tuesday(paths[1]))
    s3.rm_file(tuesday(paths[2]))
    s3.cp_file(tuesday(paths[3]), tuesday("moved"))
    s3.cp_file(tuesday(paths[4]), tuesday(paths[3]))
    s3.cp_file(tuesday("moved"), tuesday(paths[4]))
    s3.rm_file(tuesday("moved"))
    s3.invalidate_cache()

    with step("download"):
        s3.get(bucket.path("tuesday/"), f"{other}/vault/", recursive=True)
    s3.get(bucket.path("lists-tuesday/"), f"{other}/", recursive=True)
    for name in "key.jwk", "sign.pub":
        os.link(home / name, other / name)
    with step("verify with the inventory"):
        done = sealane(other, "verify", *CHECK, "vault")
    assert done.returncode == 1
    found = set(re.findall(r"vault/(.*)\.sealed: (\w+)", done.stderr))
    assert found == {
        (paths[0], "old"),
        (paths[1], "old"),
        (paths[2], "missing"),
        (paths[3], "exchanged"),
        (paths[4], "exchanged"),
    }, done.stderr

    # The damaged files come from another copy.
    (other / "vault" / f"{paths[1]}.sealed").unlink()
    for at in (0, 2, 3, 4):
        target = other / "vault" / f"{paths[at]}.sealed"
        target.write_bytes((home / "vault" / f"{paths[at]}.sealed").read_bytes())
    done = sealane(other, "verify", *CHECK, "vault")
    assert (done.returncode, done.stderr) == (0, "")
    with step("decrypt"):
        done = sealane(other, "decrypt", *OPTIONS, "-o", "data", "vault")
    assert (done.returncode, done.stderr) == (0, "")
    assert same(data, other / "data")


def test_a_copy_on_s3_by_sealane_fs(bucket: Place, tmp_path: Path, count: int) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    made(data, count)
    with step("encrypt to S3 with sealane.fs"):
        bucket.fs.put(f"{data}/", bucket.path("direct/"), recursive=True)
    bucket.fs.invalidate_cache()
    with step("decrypt from S3 with sealane.fs"):
        bucket.fs.get(bucket.path("direct/"), f"{other}/direct/", recursive=True)
    assert same(data, other / "direct")
