"""The native parts of bulk jobs: the manifest, the walk, and the operation on many files."""

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
    # It changes while it is read: only the fingerprint from before counts.
    source.write_bytes(b"and another")
    manifest.add(source, target)
    assert not manifest.finished(source, target)
    manifest.add(source, target)
    assert manifest.finished(source, target)
    with pytest.raises(FileNotFoundError) as missing:
        manifest.add(source, tmp_path / "missing")
    assert missing.value.filename == str(tmp_path / "missing")


def test_other_files_are_not_taken_for_a_manifest(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m"
    path.write_text("my thesis")
    with pytest.raises(sealane.FormatError):
        _native.Manifest(path)
    assert path.read_text() == "my thesis"
    with pytest.raises(FileNotFoundError):
        _native.Manifest(tmp_path / "no" / "m")


def test_an_operation_on_many_files(tmp_path: pathlib.Path) -> None:
    jobs = pairs(tmp_path, 50)
    missing = str(tmp_path / "missing")
    jobs[20:20] = [(missing, str(tmp_path / "never")), (jobs[0][0], jobs[0][0])]
    failures = _native.Operation.encrypt(LOCK).run(jobs, durable=False)
    assert [i for i, error in enumerate(failures) if error is not None] == [20, 21]
    assert isinstance(failures[20], FileNotFoundError)
    assert failures[20].filename == missing
    assert isinstance(failures[21], ValueError)
    assert "same file" in str(failures[21])

    sealed = [target for _, target in jobs if os.path.exists(target) and "out" in target]
    bad = pathlib.Path(sealed[7])
    data = bad.read_bytes()
    bad.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    cut = pathlib.Path(sealed[9])
    cut.write_bytes(b"short")
    decrypt = _native.Operation.decrypt(UNLOCK)
    results = decrypt.run([(path, path + ".back") for path in sealed], durable=True)
    failed = {i: error for i, error in enumerate(results) if error is not None}
    assert list(failed) == [7, 9]
    assert isinstance(failed[7], sealane.AuthenticationError)
    assert isinstance(failed[9], sealane.TruncatedError)
    assert str(failed[7]).startswith(f"{bad}: authentication failed: chunk 0 at byte 56 was changed")
    assert str(failed[9]).startswith(f"{cut}: truncated")
    for i, path in enumerate(sealed):
        assert os.path.exists(path + ".back") == (i not in failed)
        if i not in failed:
            assert pathlib.Path(path + ".back").read_bytes() == b"x" * i


# claim: input-signals
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_signal_ends_an_operation(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "big"
    with source.open("wb") as file:
        file.truncate(1 << 30)
    jobs = [(str(source), str(tmp_path / f"out{i}")) for i in range(100)]
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _native.Operation.encrypt(LOCK).run(jobs, durable=False)
    assert time.monotonic() - began < 20
    for path in tmp_path.glob("out*"):
        assert path.stat().st_size == 56 + (1 << 30) + 16 * ((1 << 16) + 1)


def test_walk(tmp_path: pathlib.Path) -> None:
    odd = os.fsdecode(b"\xff")
    (tmp_path / "in" / "empty").mkdir(parents=True)
    (tmp_path / "in" / odd).write_bytes(b"")
    (tmp_path / "in" / "link").symlink_to("empty")
    src, dst = str(tmp_path / "in"), str(tmp_path / "out")
    found = _native.walk(src, dst, ".sealed", remove_suffix=False)
    folders, files, problems = found["folders"], found["pairs"], found["problems"]
    assert folders == [dst, f"{dst}/empty"]
    assert files == [(f"{src}/{odd}", f"{dst}/{odd}.sealed")]
    ((path, error),) = problems
    assert path == f"{src}/link"
    assert isinstance(error, OSError)
    assert (error.filename, "link to a folder" in str(error)) == (path, True)

    found = _native.walk(src, None, ".sealed", remove_suffix=True)
    files, problems = found["pairs"], found["problems"]
    assert (files, len(problems)) == ([], 2)
    assert isinstance(dict(problems)[f"{src}/{odd}"], sealane.FormatError)
    with pytest.raises(ValueError, match="lies inside a source"):
        _native.walk(src, f"{src}/out", "", remove_suffix=False)
    with pytest.raises(ValueError, match="same file"):
        _native.walk(src, src, "", remove_suffix=False)
    with pytest.raises(ValueError, match="suffix"):
        _native.walk(src, dst, "a/b", remove_suffix=False)
    with pytest.raises(FileNotFoundError):
        _native.walk(f"{src}/missing", dst, "", remove_suffix=False)
    assert not os.path.exists(dst)


def test_the_scheduler_of_the_core(tmp_path: pathlib.Path) -> None:
    jobs = pairs(tmp_path, 40)
    jobs[7] = (str(tmp_path / "missing"), jobs[7][1])
    files = [(source, target, 1) for source, target in jobs]
    seen: list[tuple[int, Exception | None]] = []
    encrypt = _native.Operation.encrypt(LOCK)
    encrypt.schedule(files, read_back=True, durable=False, batch=3, listen=seen.extend)
    assert sorted(index for index, _ in seen) == list(range(40))
    assert {index: type(error) for index, error in seen if error is not None} == {7: FileNotFoundError}
    assert _native.Operation.verify(UNLOCK).run([(jobs[8][1], "")], durable=False) == [None]
    assert encrypt.read_back([jobs[8][1], jobs[8][0]])[0] is None
    assert isinstance(encrypt.read_back([jobs[8][0]])[0], sealane.SealaneError)

    def fails(ended: list[tuple[int, Exception | None]]) -> None:
        seen.extend(ended)
        raise LookupError("stop")

    seen.clear()
    with pytest.raises(LookupError, match="stop"):
        encrypt.schedule(files, read_back=False, durable=False, batch=1, listen=fails)
    assert 0 < len(seen) < 40


def test_a_finished_target_of_another_key(tmp_path: pathlib.Path) -> None:
    jobs = pairs(tmp_path, 1)
    target = jobs[0][1]
    encrypt = _native.Operation.encrypt(LOCK)
    assert encrypt.run(jobs, durable=False) == [None]
    encrypt.check_finished("manifest", target)
    other = _native.Operation.encrypt(_native.EncryptWith(key=bytes(32)))
    with pytest.raises(
        sealane.AuthenticationError, match=r"^manifest: the finished file .*out0 was encrypted with"
    ):
        other.check_finished("manifest", target)
