"""Disks that are full, and errors that appear only when a file is closed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import killed
import pytest
import sealane
from killed import Injection

KEY = sealane.keys.generate("aes-256")
PLAIN = bytes(3 << 20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    KEY.save(tmp_path / "key")
    (tmp_path / "plain").write_bytes(PLAIN)
    (tmp_path / "sealed").write_bytes(sealane.encrypt(PLAIN, key=KEY))
    (tmp_path / "disk").mkdir()
    return tmp_path


def on_small_disk(folder: Path, script: str, binary: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script in a folder with a disk of 1 MiB below it."""
    mounted = f"mount -t tmpfs -o size=1m none disk && {script}"
    command = ["unshare", "-m", "sh", "-euc", mounted]
    environment = {"SEALANE": str(binary), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


@pytest.fixture
def small_disks() -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("the system does not let us mount a small disk (unshare -m)")


@pytest.mark.usefixtures("small_disks")
@pytest.mark.parametrize("line", ["encrypt -k key -o OUT plain", "decrypt -k key -o OUT sealed"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_full_disk_keeps_the_old_file(folder: Path, sealane_binary: Path, line: str, threads: str) -> None:
    run = f"$SEALANE {line} --threads {threads}".replace("OUT", "disk/target")
    script = f"""
        echo old > disk/target
        if {run}; then exit 1; fi
        test "$(cat disk/target)" = old
        test "$(ls -A disk)" = target
        rm disk/target
        if {run}; then exit 1; fi
        test -z "$(ls -A disk)"
    """
    done = on_small_disk(folder, script, sealane_binary)
    assert done.returncode == 0, done.stderr
    message = "sealane: disk/target: the disk is full; free some space or choose another disk\n"
    assert done.stderr == 2 * message


@pytest.mark.usefixtures("small_disks")
def test_a_job_goes_on_when_there_is_space_again(folder: Path, sealane_binary: Path) -> None:
    (folder / "many").mkdir()
    for number in range(40):
        (folder / "many" / f"{number:02}").write_bytes(bytes(20_000))
    run = "$SEALANE encrypt --recursive -k key --manifest disk/manifest -o disk/vault many"
    script = f"""
        head -c 600000 /dev/zero > disk/filler
        if {run}; then exit 1; fi
        ls -A disk/vault | while read name; do $SEALANE verify -q -k key "disk/vault/$name"; done
        rm disk/filler
        {run}
        test "$(ls -A disk/vault | wc -l)" = 40
        $SEALANE verify -q --recursive -k key disk/vault
    """
    done = on_small_disk(folder, script, sealane_binary)
    assert done.returncode == 0, done.stderr
    assert set(re.sub(r"many/\d\d|disk/[\w/]+", "FILE", done.stderr).splitlines()) == {
        "sealane: FILE: the disk is full; free some space or choose another disk"
    }


@pytest.mark.usefixtures("small_disks")
def test_a_full_disk_removes_only_what_is_certain(folder: Path, sealane_binary: Path) -> None:
    """With `--delete`, files without a source go. One that cannot be replaced stays, and is listed."""
    (folder / "many").mkdir()
    for number in range(10):
        (folder / "many" / f"{number:02}").write_bytes(bytes(20_000))
    options = "--delete --manifest disk/manifest --inventory disk/list --sign-key sign"
    run = f"$SEALANE encrypt -q --recursive -k key {options} -o disk/vault many"
    script = f"""
        ssh-keygen -q -t ed25519 -N "" -f sign
        {run}
        rm many/00 && head -c 30000 /dev/zero > many/01
        head -c 2000000 /dev/zero > disk/filler || true
        if {run}; then exit 1; fi
        test ! -e disk/vault/00
        $SEALANE verify -q --recursive -k key --inventory disk/list --signer sign.pub disk/vault
        rm disk/filler
        {run}
        test "$(ls -A disk/vault | wc -l)" = 9
        $SEALANE verify -q --recursive -k key --inventory disk/list --signer sign.pub disk/vault
    """
    done = on_small_disk(folder, script, sealane_binary)
    assert done.returncode == 0, done.stderr


def last_close(log: str, before: str) -> killed.Point:
    """Returns the last call of ``close`` before the first line with a text, or of the whole log."""
    calls = log[: log.index(before)] if before in log else log
    closed = [point for point in killed.points(calls) if point.name == "close"]
    return closed[-1]


@pytest.mark.slow  # It needs strace.
@pytest.mark.parametrize("error", ["ENOSPC", "EDQUOT", "EIO"])
@pytest.mark.parametrize(
    ("line", "replaces"),
    [
        ("encrypt -k key --threads 1 -o target plain", True),
        ("encrypt -k key --threads 1 -o target plain", False),
        ("decrypt -k key --threads 1 -o target sealed", True),
        ("keygen -o target", False),
    ],
)
def test_an_error_at_closing_is_an_error(
    folder: Path, sealane_binary: Path, error: str, line: str, replaces: bool
) -> None:
    scene = folder / "scene"
    (folder / "disk").rmdir()
    scene.mkdir()
    for name in ("key", "plain", "sealed"):
        (folder / name).rename(scene / name)
    target = scene / "target"
    command = [sealane_binary, *line.split(), "-q"]
    target.write_bytes(b"old") if replaces else None
    done, log = killed.traced(command, scene)
    assert done.returncode == 0, done.stderr
    target.unlink()
    target.write_bytes(b"old") if replaces else None
    point = last_close(log, "linkat(")
    done, _ = killed.disturbed(command, scene, Injection(point, f"error={error}"))
    assert done.returncode == 1
    assert done.stderr.startswith("sealane: target: ")
    assert (target.read_bytes() if target.exists() else None) == (b"old" if replaces else None)
    assert not list(scene.glob(".*"))


@pytest.mark.slow  # It needs strace.
@pytest.mark.parametrize(
    "line", ["encrypt -k key plain", "decrypt -k key sealed", "cat -k key --range : sealed", "keygen"]
)
def test_an_error_at_closing_standard_output_is_an_error(
    folder: Path, sealane_binary: Path, line: str
) -> None:
    command = ["sh", "-c", f'exec "$0" {line} >>out', sealane_binary]
    scene = folder / "scene"
    scene.mkdir()
    for name in ("key", "plain", "sealed"):
        (folder / name).rename(scene / name)
    done, log = killed.traced(command, scene)
    assert done.returncode == 0, done.stderr
    # Each descriptor of the output that is closed. Without a check, the system closes the last at
    # the end.
    failed = 0
    for point in [point for point in killed.points(log) if point.name == "close"]:
        done, injected = killed.disturbed(command, scene, Injection(point, "error=ENOSPC"))
        if re.search(r"close\(\d+<[^>]*/out>\) .*INJECTED", injected):
            failed += done.returncode == 1 and "standard output: the disk is full" in done.stderr
    assert failed
