"""The native parts of bulk jobs: the job, and the operation on many files."""

import concurrent.futures
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


def test_a_manifest(tmp_path: pathlib.Path) -> None:
    odd = os.fsdecode(b"\xff\xc3 \n")
    source, target, path = tmp_path / odd, tmp_path / "target", tmp_path / "m"
    source.write_bytes(b"source")
    given = [(str(source), str(target))]
    job = _native.Job.pairs(given, batch=1, manifest=str(path))
    job.run(_native.Operation.encrypt(LOCK))
    with pytest.raises(OSError, match="another job") as busy:
        _native.Job.pairs(given, batch=1, manifest=str(path)).plan()
    assert (busy.value.errno, busy.value.filename) == (errno.EBUSY, str(path))
    job.close()
    job.close()
    with pytest.raises(ValueError, match="closed"):
        job.plan()

    first, line = map(json.loads, path.read_text().splitlines())
    assert first == {"sealane": "manifest", "version": 1}
    found = os.stat(line["source"])
    assert line["source"] == str(source)
    assert (line["source_len"], line["source_mtime_ns"]) == (found.st_size, found.st_mtime_ns)
    found = os.stat(line["target"])
    assert (line["target_len"], line["target_mtime_ns"]) == (found.st_size, found.st_mtime_ns)

    def again() -> str | None:
        job = _native.Job.pairs(given, batch=1, manifest=str(path))
        finished = job.plan()
        job.close()
        return finished

    path.write_text(path.read_text() + '{"source": "to')
    assert again() == str(target)
    source.write_bytes(b"another")
    assert again() is None
    # It changes while it is read: only the fingerprint from before counts.
    job = _native.Job.pairs(given, batch=1, manifest=str(path))
    job.plan()
    job.start(None)
    source.write_bytes(b"and another")
    batch = job.next_batch()
    assert batch == ([0], given)
    job.record([0], {})
    job.close()
    assert again() is None


def test_other_files_are_not_taken_for_a_manifest(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m"
    path.write_text("my thesis")
    with pytest.raises(sealane.FormatError):
        _native.Job.pairs([], batch=1, manifest=str(path)).plan()
    assert path.read_text() == "my thesis"
    with pytest.raises(FileNotFoundError):
        _native.Job.pairs([], batch=1, manifest=str(tmp_path / "no" / "m")).plan()


def test_a_manifest_that_cannot_be_written_ends_the_call(tmp_path: pathlib.Path) -> None:
    """Also on an executor. The next call continues."""
    resource = pytest.importorskip("resource")
    given, path = pairs(tmp_path, 40), tmp_path / "m"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = len(str(tmp_path)) * 4 + 600
    for executor in None, concurrent.futures.ThreadPoolExecutor(1):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            with pytest.raises(OSError, match="m") as full:
                sealane.encrypt_many(given, key=KEY, manifest=path, executor=executor)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert full.value.errno in (errno.EFBIG, errno.ENOSPC)
        assert full.value.filename == str(path)
        report = sealane.encrypt_many(given, key=KEY, manifest=path)
        assert report.skipped > 0
        assert report.done > 0
        path.unlink()


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
        file.truncate(64 << 20)
    jobs = [(str(source), str(tmp_path / f"out{i}")) for i in range(1000)]
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _native.Operation.encrypt(LOCK).run(jobs, durable=False)
    assert time.monotonic() - began < 20
    for path in tmp_path.glob("out*"):
        assert path.stat().st_size == 56 + (64 << 20) + 16 * ((1 << 12) + 1)


def test_jobs_over_folders(tmp_path: pathlib.Path) -> None:
    odd = os.fsdecode(b"\xff")
    (tmp_path / "in" / "empty").mkdir(parents=True)
    (tmp_path / "in" / odd).write_bytes(b"")
    (tmp_path / "in" / "link").symlink_to("empty")
    src, dst = str(tmp_path / "in"), str(tmp_path / "out")
    job = _native.Job.tree(src, dst, suffix=".sealed", batch=9)
    assert job.plan() is None
    assert not os.path.exists(dst)
    job.start(None)
    assert (sorted(os.listdir(tmp_path)), os.listdir(dst)) == (["in", "out"], ["empty"])
    assert job.next_batch() == ([0], [(f"{src}/{odd}", f"{dst}/{odd}.sealed")])
    assert job.next_batch() is None
    ((path, error),) = job.report()["failed"].items()
    assert path == f"{src}/link"
    assert isinstance(error, OSError)
    assert (error.filename, "link to a folder" in str(error)) == (path, True)
    os.rmdir(f"{dst}/empty")
    os.rmdir(dst)

    job = _native.Job.tree(src, suffix=".sealed", removes_suffix=True, batch=9)
    job.plan()
    job.start(None)
    assert job.next_batch() is None
    failed = job.report()["failed"]
    assert len(failed) == 2
    assert isinstance(failed[f"{src}/{odd}"], sealane.FormatError)
    with pytest.raises(ValueError, match="lies inside a source"):
        _native.Job.tree(src, f"{src}/out", batch=9)
    with pytest.raises(ValueError, match="same file"):
        _native.Job.tree(src, src, batch=9)
    with pytest.raises(ValueError, match="suffix"):
        _native.Job.tree(src, dst, suffix="a/b", batch=9)
    with pytest.raises(FileNotFoundError):
        _native.Job.tree(f"{src}/missing", dst, batch=9)
    assert not os.path.exists(dst)


def test_a_job_on_threads_of_the_core(tmp_path: pathlib.Path) -> None:
    jobs = pairs(tmp_path, 40)
    jobs[7] = (str(tmp_path / "missing"), jobs[7][1])
    seen: list[tuple[int, int]] = []
    encrypt = _native.Operation.encrypt(LOCK)
    job = _native.Job.pairs(jobs, verify=True, batch=3)
    job.run(encrypt, lambda *far: seen.append(far))
    report = job.report()
    size, failed = report["bytes"], report["failed"]
    assert (report["done"], report["skipped"], size) == (39, 0, sum(range(40)) - 7)
    assert {path: type(error) for path, error in failed.items()} == {jobs[7][0]: FileNotFoundError}
    assert seen[-1] == (size, size)
    assert _native.Operation.verify(UNLOCK).run([(jobs[8][1], "")], durable=False) == [None]
    assert encrypt.read_back([jobs[8][1], jobs[8][0]])[0] is None
    assert isinstance(encrypt.read_back([jobs[8][0]])[0], sealane.SealaneError)

    def fails(done: int, total: int) -> None:
        seen.append((done, total))
        raise LookupError("stop")

    seen.clear()
    job = _native.Job.pairs(jobs, batch=1)
    with pytest.raises(LookupError, match="stop"):
        job.run(encrypt, fails)
    assert len(seen) == 1
    assert seen[0][0] < seen[0][1]


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
