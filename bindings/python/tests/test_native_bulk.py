"""What bulk jobs stand on: the manifest, the walk, and many files in one call."""

import errno
import json
import os
import pathlib
import signal
import sys
import threading
import time

import pytest
import sealane
from sealane import _native

KEY = bytes(range(32))
LOCK = _native.EncryptWith(key=KEY)
UNLOCK = _native.DecryptWith(key=KEY)


def pairs(folder: pathlib.Path, count: int) -> list[tuple[str, str]]:
    (folder / "in").mkdir()
    for i in range(count):
        (folder / "in" / str(i)).write_bytes(b"x" * i)
    return [(str(folder / "in" / str(i)), str(folder / f"out{i}")) for i in range(count)]


def test_manifest(tmp_path: pathlib.Path) -> None:
    odd = os.fsdecode(b"\xff\xc3 \n")
    source, target, path = tmp_path / odd, tmp_path / "target", tmp_path / "m"
    source.write_bytes(b"source")
    target.write_bytes(b"target")
    manifest = _native.Manifest(str(path))
    assert not manifest.finished(str(source), str(target))
    manifest.add(source, target)
    assert manifest.finished(source, target)
    with pytest.raises(OSError, match="another job") as busy:
        _native.Manifest(path)
    assert (busy.value.errno, busy.value.filename) == (errno.EBUSY, str(path))
    manifest.sync()
    manifest.close()
    manifest.close()
    with pytest.raises(ValueError, match="closed"):
        manifest.finished(source, target)

    first, line = map(json.loads, path.read_text().splitlines())
    assert first == {"sealane": "manifest", "version": 1}
    found = os.stat(line["source"])
    assert line["source"] == str(source)
    assert (line["source_len"], line["source_mtime_ns"]) == (found.st_size, found.st_mtime_ns)
    found = os.stat(line["target"])
    assert (line["target_len"], line["target_mtime_ns"]) == (found.st_size, found.st_mtime_ns)

    path.write_text(path.read_text() + '{"source": "to')
    manifest = _native.Manifest(path)
    assert manifest.finished(source, target)
    source.write_bytes(b"another")
    assert not manifest.finished(source, target)
    # It changes while it is read: what was asked about is what counts.
    source.write_bytes(b"and another")
    manifest.add(source, target)
    assert not manifest.finished(source, target)
    manifest.add(source, target)
    assert manifest.finished(source, target)
    with pytest.raises(FileNotFoundError) as missing:
        manifest.add(source, tmp_path / "missing")
    assert missing.value.filename == str(tmp_path / "missing")


def test_what_is_no_manifest(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m"
    path.write_text("my thesis")
    with pytest.raises(sealane.FormatError):
        _native.Manifest(path)
    assert path.read_text() == "my thesis"
    with pytest.raises(FileNotFoundError):
        _native.Manifest(tmp_path / "no" / "m")


def test_many_files_in_one_call(tmp_path: pathlib.Path) -> None:
    jobs = pairs(tmp_path, 50)
    missing = str(tmp_path / "missing")
    jobs[20:20] = [(missing, str(tmp_path / "never")), (jobs[0][0], jobs[0][0])]
    answers = _native.encrypt_paths(jobs, LOCK, durable=False)
    assert [i for i, answer in enumerate(answers) if answer is not None] == [20, 21]
    assert isinstance(answers[20], FileNotFoundError)
    assert answers[20].filename == missing
    assert isinstance(answers[21], ValueError)
    assert "same file" in str(answers[21])

    sealed = [target for _, target in jobs if os.path.exists(target) and "out" in target]
    bad = pathlib.Path(sealed[7])
    bad.write_bytes(bad.read_bytes()[:-1] + b"\0")
    cut = pathlib.Path(sealed[9])
    cut.write_bytes(b"short")
    answers = _native.decrypt_paths([(path, path + ".back") for path in sealed], UNLOCK, durable=True)
    failed = {i: answer for i, answer in enumerate(answers) if answer is not None}
    assert list(failed) == [7, 9]
    assert isinstance(failed[7], sealane.AuthenticationError)
    assert isinstance(failed[9], sealane.TruncatedError)
    assert str(failed[7]) == f"{bad}: authentication failed"
    assert str(failed[9]).startswith(f"{cut}: truncated")
    for i, path in enumerate(sealed):
        assert os.path.exists(path + ".back") == (i not in failed)
        if i not in failed:
            assert pathlib.Path(path + ".back").read_bytes() == b"x" * i


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_a_signal_gets_through(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "big"
    with source.open("wb") as file:
        file.truncate(1 << 30)
    jobs = [(str(source), str(tmp_path / f"out{i}")) for i in range(100)]
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _native.encrypt_paths(jobs, LOCK, durable=False)
    assert time.monotonic() - began < 20
    for path in tmp_path.glob("out*"):
        assert path.stat().st_size == 56 + (1 << 30) + 16 * ((1 << 16) + 1)


def test_walk(tmp_path: pathlib.Path) -> None:
    odd = os.fsdecode(b"\xff")
    (tmp_path / "in" / "empty").mkdir(parents=True)
    (tmp_path / "in" / odd).write_bytes(b"")
    (tmp_path / "in" / "link").symlink_to("empty")
    src, dst = str(tmp_path / "in"), str(tmp_path / "out")
    folders, files, problems = _native.walk(src, dst, ".sealed", take_off=False)
    assert folders == [dst, f"{dst}/empty"]
    assert files == [(f"{src}/{odd}", f"{dst}/{odd}.sealed")]
    ((path, error),) = problems
    assert path == f"{src}/link"
    assert isinstance(error, OSError)
    assert (error.filename, "link to a folder" in str(error)) == (path, True)

    _, files, problems = _native.walk(src, None, ".sealed", take_off=True)
    assert (files, len(problems)) == ([], 2)
    assert isinstance(dict(problems)[f"{src}/{odd}"], sealane.FormatError)
    with pytest.raises(ValueError, match="lies inside a source"):
        _native.walk(src, f"{src}/out", "", take_off=False)
    with pytest.raises(ValueError, match="same file"):
        _native.walk(src, src, "", take_off=False)
    with pytest.raises(ValueError, match="suffix"):
        _native.walk(src, dst, "a/b", take_off=False)
    with pytest.raises(FileNotFoundError):
        _native.walk(f"{src}/missing", dst, "", take_off=False)
    assert not os.path.exists(dst)
