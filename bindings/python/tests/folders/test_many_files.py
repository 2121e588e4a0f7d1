"""Ten thousand small files in a described folder: on disk through the program, and on a store."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest
import sealane

COUNT = 10_000


def program(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "sealane", *words], capture_output=True, check=True)
    return done.stdout.decode()


def same(one: Path, other: Path) -> bool:
    names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
    found = sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
    return names == found and filecmp.cmpfiles(one, other, names, shallow=False)[1:] == ([], [])


@pytest.mark.slow
def test_ten_thousand_files(tmp_path: Path) -> None:
    key, data, vault = str(tmp_path / "key"), tmp_path / "data", str(tmp_path / "vault")
    program("keygen", "-o", key)
    for at in range(COUNT):
        folder = data / f"folder {at % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file {at}").write_bytes(os.urandom(at % 300))
    program("init", "-k", key, "--encrypt-names", "--preserve", vault)
    encrypt = ("encrypt", "-k", key, "--delete", "--manifest", "-o", vault, str(data))
    program(*encrypt)
    for at in range(0, COUNT, 50):
        path = data / f"folder {at % 100}" / f"file {at}"
        path.write_bytes(b"changed") if at % 100 else path.unlink()
    (data / "folder 1" / "new").write_bytes(b"new")
    program(*encrypt)
    program("verify", "-k", key, vault)
    program("decrypt", "-k", key, "-o", str(tmp_path / "out"), vault)
    assert same(data, tmp_path / "out")
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        listed = program("ls", "-R", "-k", key, vault).splitlines()
        seconds.append(time.perf_counter() - began)
    assert len([name for name in listed if not name.endswith("/")]) == COUNT - COUNT // 100 + 1
    # A second, on a machine that may do other things.
    assert min(seconds) < 5, seconds
    print("ls of 10,000 files:", min(seconds))
    store = fsspec.filesystem("memory")
    store.put(f"{vault}/", "/many/vault/", recursive=True)
    folder = sealane.Folder("memory://many/vault", key=f"file:{key}")
    try:
        wanted = {str(path.relative_to(data)): path for path in data.rglob("*") if path.is_file()}
        assert {one.path for one in folder.walk() if one.kind == "file"} == set(wanted)
        for name in list(wanted)[::100]:
            with folder.open(name) as file:
                assert file.read() == wanted[name].read_bytes()
    finally:
        store.rm("/many", recursive=True)
