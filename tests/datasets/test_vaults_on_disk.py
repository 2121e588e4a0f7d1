"""Many files on disk: init, encrypt, change, encrypt, list, verify, mount, attack, mount, decrypt."""

from __future__ import annotations

import errno
import filecmp
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "sealane"


def run(*words: str | Path, status: int = 0) -> str:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def files(place: Path) -> dict[str, Path]:
    return {str(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()}


def mount(*words: str | Path) -> None:
    done = subprocess.run([PROGRAM, "mount", *words], capture_output=True, text=True)
    if "/dev/fuse" in done.stderr or "fusermount3" in done.stderr:
        pytest.skip("NOT RUN: needs the right to mount with /dev/fuse")
    assert (done.returncode, done.stderr) == (0, "")


def unmount(point: Path) -> None:
    if subprocess.run(["umount", point], capture_output=True).returncode != 0:
        subprocess.run(["fusermount3", "-u", point], check=True)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_files(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, vault, point, out = (tmp_path / name for name in ("data", "vault", "point", "out"))
    key, log = ("-k", tmp_path / "key"), tmp_path / "log"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for at in range(count):
        (data / f"folder {at % 20}").mkdir(parents=True, exist_ok=True)
        (data / f"folder {at % 20}" / f"file {at}").write_bytes(os.urandom(at % 300))
    long = [f"folder {at}/long" for at in range(6)]
    for name in long:
        (data / name).write_bytes(os.urandom(300_000))
    run("keygen", "-o", tmp_path / "key")
    run("init", *key, "--encrypt-names", "--preserve", vault)
    assert f"{count + 6} files encrypted" in run("encrypt", *key, "--manifest", "-o", vault, data)
    for at in range(0, count, 50):
        (data / f"folder {at % 20}" / f"file {at}").write_bytes(b"changed")
        (data / f"folder {(at + 1) % 20}" / f"file {at + 1}").unlink()
    run("encrypt", *key, "--manifest", "--delete", "-o", vault, data)

    wanted = files(data)
    began = time.perf_counter()
    listed = run("ls", "-R", *key, vault).splitlines()
    print(f"ls of {len(wanted)} files {time.perf_counter() - began:.2f} s")
    assert {line for line in listed if not line.endswith("/")} == set(wanted)
    assert f"{len(wanted)} files verified" in run("verify", *key, vault)
    point.mkdir()
    mount(*key, "--log", log, vault, point)
    try:
        assert set(files(point)) == set(wanted)
        same, *others = filecmp.cmpfiles(data, point, list(wanted), shallow=False)
        assert (len(same), *others) == (len(wanted), [], [])

        # Who can write to the folder: long files have the lengths and times of their sources.
        stored = {path.parent: path for path in vault.rglob("*.sealed") if path.stat().st_size > 300_000}
        changed, cut, one, other, gone, _ = sorted(stored.values())
        content = {path: path.read_bytes() for path in stored.values()}
        changed.write_bytes(content[changed][:150_000] + b"?" + content[changed][150_001:])
        cut.write_bytes(content[cut][:200_000])
        moved = other.parent / one.name
        one.rename(moved)
        gone.unlink()
        # The lists of names are kept for a second.
        time.sleep(1.2)
        faults: dict[str, int] = {}
        for name in long:
            try:
                assert (point / name).read_bytes() == wanted[name].read_bytes()
            except OSError as error:
                faults[name] = error.errno or 0
        assert sorted(faults.values()) == [errno.ENOENT, errno.ENOENT, errno.EIO, errno.EIO]
        # The moved file is not listed.
        assert len(files(point)) == len(wanted) - 2
    finally:
        unmount(point)
    lines = log.read_text().splitlines()
    assert all(any(path.name in line for line in lines) for path in (changed, cut, moved)), lines
    report = run("verify", *key, vault, status=1)
    assert f"{len(wanted) - 4} files verified" in report
    assert "3 failed" in report
    for path, sealed in content.items():
        path.write_bytes(sealed)
    moved.unlink()
    run("decrypt", *key, "-o", out, vault)
    same, *others = filecmp.cmpfiles(data, out, list(wanted), shallow=False)
    assert (len(same), *others, set(files(out))) == (len(wanted), [], [], set(wanted))
