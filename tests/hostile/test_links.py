"""Links that another user puts into the way of a job, before it begins and while it runs."""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import sealane

KEY = sealane.keys.generate("aes-256")


def trees(folder: Path) -> tuple[Path, Path, Path]:
    """Returns a source with files in ``z`` and ``y/deep``, its target, and a folder of a victim."""
    source, target, victim = folder / "source", folder / "target", folder / "victim"
    for place in ("z", "y/deep"):
        (source / place).mkdir(parents=True)
        (source / place / "rc").write_bytes(b"text")
        (target / place).mkdir(parents=True)
    for number in range(500):
        (source / f"a{number:03}").write_bytes(b"x")
    victim.mkdir()
    (victim / "rc").write_bytes(b"of the victim")
    return source, target, victim


# claim: users-links
@pytest.mark.parametrize("place", ["z", "y", "y/deep"])
@pytest.mark.parametrize("pool", [True, False], ids=["executor", "core"])
def test_a_folder_that_becomes_a_link_during_the_job(tmp_path: Path, place: str, pool: bool) -> None:
    source, target, victim = trees(tmp_path)
    (victim / "deep").mkdir()
    (victim / "deep" / "rc").write_bytes(b"of the victim")
    large = source / "large"
    large.write_bytes(bytes(9 << 20))
    swapped = False

    def swap(done: int, total: int) -> None:
        nonlocal swapped
        if not swapped:
            swapped = True
            shutil.rmtree(target / place)
            (target / place).symlink_to(victim)

    executor = concurrent.futures.ThreadPoolExecutor(1) if pool else None
    # The files of one batch are reported together, so the job must reach the folder after the swap.
    names = [f"{place}/rc"] if place != "y" else ["y/deep/rc"]
    report = sealane.encrypt_tree(source, target, key=KEY, executor=executor, progress=swap, errors="return")
    assert swapped
    assert (victim / "rc").read_bytes() == b"of the victim"
    assert (victim / "deep" / "rc").read_bytes() == b"of the victim"
    if executor is not None:
        executor.shutdown()
        failed = {os.path.relpath(path, source): error for path, error in report.failed.items()}
        assert set(failed) <= set(names)
        for error in failed.values():
            assert "links" in str(error)


@pytest.mark.parametrize("place", ["z", "y/deep"])
def test_a_folder_that_is_a_link_when_a_file_is_written(tmp_path: Path, place: str) -> None:
    """A job refuses to write a file whose folder has become a link since the walk."""
    from sealane import _native

    source, target, victim = trees(tmp_path)
    shutil.rmtree(target / place)
    (target / place).symlink_to(victim)
    operation = _native.Operation.encrypt(_native.EncryptWith(key=KEY))
    pair = str(source / place / "rc"), str(target / place / "rc")
    (error,) = operation.run([pair], False, str(target))
    assert isinstance(error, OSError)
    assert "links" in str(error)
    # So does a job whose folders became links after it had listed them.
    (target / place).unlink()
    (source / place / "new").mkdir()
    job = _native.Job.tree(str(source), str(target), batch=64)
    (target / place).symlink_to(victim)
    job.run(operation)
    failed = job.report()["failed"]
    # Once for the folder, and nothing below it is attempted.
    (error,) = failed.values()
    assert failed.keys() == {str(source / place)}
    assert "link" in str(error)
    assert sorted(path.name for path in victim.iterdir()) == ["rc"]
    assert (victim / "rc").read_bytes() == b"of the victim"
    # The way to the target folder itself may have links.
    (tmp_path / "way").symlink_to(target)
    pair = str(source / "a000"), str(tmp_path / "way" / "a000")
    assert operation.run([pair], False, str(tmp_path / "way")) == [None]


def test_a_file_that_becomes_a_link_is_refused(tmp_path: Path) -> None:
    from sealane import _native

    source, target, victim = trees(tmp_path)
    (target / "a000").symlink_to(victim / "rc")
    operation = _native.Operation.encrypt(_native.EncryptWith(key=KEY))
    (error,) = operation.run([(str(source / "a000"), str(target / "a000"))], False, str(target))
    assert "links" in str(error)
    assert (victim / "rc").read_bytes() == b"of the victim"


def test_the_folder_of_a_file_is_found_once(tmp_path: Path) -> None:
    """A single file is written to the folder that its path led to when the job began."""
    source = tmp_path / "source"
    source.write_bytes(bytes(3 << 20))
    (tmp_path / "folder").mkdir()
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "rc").write_bytes(b"of the victim")

    def swap(done: int, total: int | None) -> None:
        if not (tmp_path / "moved").exists():
            (tmp_path / "folder").rename(tmp_path / "moved")
            (tmp_path / "folder").symlink_to("victim")

    sealane.encrypt_file(source, tmp_path / "folder" / "rc", key=KEY, progress=swap)
    assert (tmp_path / "victim" / "rc").read_bytes() == b"of the victim"
    assert sealane.decrypt((tmp_path / "moved" / "rc").read_bytes(), key=KEY) == bytes(3 << 20)


# claim: users-links
@pytest.mark.slow  # It needs strace.
def test_a_link_that_the_system_refuses_is_refused(sealane_binary: Path, tmp_path: Path) -> None:
    """``fs.protected_symlinks`` refuses links of other users in folders such as /tmp. The refusal is
    simulated for each system call that follows the link, because the setting is one for the whole machine.
    """
    strace = shutil.which("strace") or pytest.fail("apt-get install strace")
    (tmp_path / "key").write_text(KEY.to_text())
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "plain").write_bytes(b"text")
    (tmp_path / "keys").write_bytes(b"of the victim")
    link = tmp_path / "link"
    link.symlink_to("keys")
    # The first call about the link looks at the link itself. The others follow it.
    refused = "inject=newfstatat,stat,statx,faccessat,faccessat2,openat:error=EACCES:when=2+"
    follows = "trace=newfstatat,stat,statx,faccessat,faccessat2,openat,readlink,readlinkat"
    command = [strace, "-f", "-qq", "-o", "trace", "-P", str(link), "-e", follows, "-e", refused]
    done = subprocess.run(
        [*command, sealane_binary, "encrypt", "-k", "key", "-o", link, "plain"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "INJECTED" in (tmp_path / "trace").read_text()
    assert done.returncode == 1
    assert "link: permission denied" in done.stderr
    assert (tmp_path / "keys").read_bytes() == b"of the victim"
    assert link.is_symlink()
