"""Bulk calls on every kind of executor: round trips, manifests, refused calls and failing files."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import errno
import json
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sealane
from executors import ELSEWHERE, EXECUTORS, KEY, Here, Pickling, opened
from sealane._bulk import executor as workers
from support import CHUNK, pattern

# A worker is forked while other threads run. It creates the locks and keys that it needs itself.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

LENGTHS = [0, 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5]

Pairs = list[tuple[Path, Path]]


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SEALANE_TEST_KEY", KEY.to_text())
    return "env:SEALANE_TEST_KEY"


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    (tmp_path / "plain").mkdir()
    made = []
    for i in range(150):
        source = tmp_path / "plain" / f"file {i}"
        source.write_bytes(bytes([i]) + pattern(LENGTHS[i % len(LENGTHS)]))
        made.append((source, tmp_path / "sealed" / f"folder {i % 3}" / source.name))
    return made


def check(pairs: Pairs) -> None:
    assert [opened(target) == source.read_bytes() for source, target in pairs] == [True] * len(pairs)


def fingerprints(pairs: Pairs) -> list[tuple[int, int]]:
    """Values that change when a target is written again."""
    return [(found.st_ino, found.st_mtime_ns) for found in (target.stat() for _, target in pairs)]


@pytest.mark.parametrize("kind", EXECUTORS)
def test_encrypt_many_and_decrypt_many_round_trip(
    pairs: Pairs, tmp_path: Path, kind: str, reference: str
) -> None:
    reported: list[tuple[int, int]] = []
    threads: set[int] = set()

    def progress(done: int, total: int) -> None:
        reported.append((done, total))
        threads.add(threading.get_ident())

    size = sum(source.stat().st_size for source, _ in pairs)
    with EXECUTORS[kind]() as executor:
        report = sealane.encrypt_many(
            pairs, key=reference, context=b"c", executor=executor, progress=progress, verify=True
        )
        assert report == sealane.BulkReport(done=150, skipped=0, bytes=size, failed={})
        assert threads == {threading.get_ident()}
        assert [done for done, _ in reported] == sorted(done for done, _ in reported)
        assert len(reported) >= 3
        assert reported[-1] == (size, size)
        back = [(target, tmp_path / "back" / source.name) for source, target in pairs]
        report = sealane.decrypt_many(back, key=reference, context=b"c", executor=executor)
        assert (report.done, report.failed) == (150, {})
    for source, target in pairs:
        assert (tmp_path / "back" / source.name).read_bytes() == source.read_bytes()
        assert opened(target, key=KEY, context=b"c") == source.read_bytes()


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize(
    "key", [KEY, bytes(KEY), sealane.keys.Keyring.from_key(KEY, "tink-4kb")], ids=["Key", "bytes", "Tink"]
)
def test_keys_other_than_references_stay_in_this_process(
    pairs: Pairs, tmp_path: Path, kind: str, key: Any
) -> None:
    with EXECUTORS[kind]() as executor:
        if kind in ELSEWHERE:
            with pytest.raises(TypeError, match=r'keys do not travel.*key="env:NAME"') as caught:
                sealane.encrypt_many(pairs, key=key, executor=executor, manifest=tmp_path / "manifest")
            text = "".join(traceback.format_exception(caught.value))
            assert repr(bytes(KEY))[2:-1] not in text
            assert [path.name for path in tmp_path.iterdir()] == ["plain"]
        else:
            assert sealane.encrypt_many(pairs, key=key, executor=executor).done == 150
            assert opened(pairs[7][1], key=key) == pairs[7][0].read_bytes()


@pytest.mark.parametrize("kind", ["threads", "pickling", *ELSEWHERE])
def test_recipients_and_identities(
    pairs: Pairs, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recipients are public. Paths of identity files and references can be sent to other processes."""
    alice, bob = sealane.keys.generate("age"), sealane.keys.generate("age")
    assert alice.public is not None
    assert bob.public is not None
    alice.save(tmp_path / "alice.key")
    monkeypatch.setenv("SEALANE_TEST_BOB", bob.to_text())
    monkeypatch.chdir(tmp_path)
    with EXECUTORS[kind]() as executor:
        sealane.encrypt_many(pairs, recipients=[str(alice.public), bob.public], executor=executor)
        for identities in [Path("alice.key")], ["env:SEALANE_TEST_BOB", tmp_path / "alice.key"]:
            back = [(target, tmp_path / "back" / source.name) for source, target in pairs]
            assert sealane.decrypt_many(back, identities=identities, executor=executor).done == 150
        for identities in [alice], [bob.to_text()], ["env:SEALANE_TEST_BOB", alice]:
            if kind in ELSEWHERE:
                with pytest.raises(TypeError, match="keys do not travel"):
                    sealane.decrypt_many(back, identities=identities, executor=executor)
            else:
                assert sealane.decrypt_many(back, identities=identities, executor=executor).done == 150
    assert (tmp_path / "back" / "file 6").read_bytes() == pairs[6][0].read_bytes()


@pytest.mark.parametrize("key", ["env:SEALANE_TEST_KEY", KEY, bytes(KEY), bytearray(bytes(KEY))], ids=type)
def test_no_secret_is_sent_to_workers(
    pairs: Pairs, tmp_path: Path, key: Any, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = [bytes(KEY), bytes(KEY).hex().encode(), json.loads(KEY.to_text())["k"].encode()]
    caplog.set_level(logging.DEBUG)
    with Pickling() as executor:
        sealane.encrypt_many(pairs, key=key, executor=executor, manifest=tmp_path / "manifest")
        pairs[0][1].write_bytes(b"damaged")
        back = [(target, tmp_path / "back" / target.name) for _, target in pairs]
        report = sealane.decrypt_many(back, key=key, executor=executor, errors="return")
    assert len(report.failed) == 1
    assert len(executor.seen) > 10
    everything = b"".join(executor.seen) + repr(report).encode() + caplog.text.encode()
    everything += (tmp_path / "manifest").read_bytes()
    assert [secret in everything for secret in secrets] == [False] * 3


def test_a_key_is_resolved_once_per_call_and_forgotten(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    monkeypatch.setattr(workers, "resolve", lambda reference: found.append(reference) or KEY)
    for _ in range(2):
        sealane.encrypt_many(pairs, key="call:some.where:key")
    assert found == ["call:some.where:key"] * 2
    assert workers._operations == {}
    with pytest.raises(ExceptionGroup):
        sealane.encrypt_many([(pairs[0][0] / "none", pairs[0][1])], key=KEY)
    assert workers._operations == {}


@pytest.mark.parametrize("kind", ["its own threads", "forked"])
def test_a_missing_key_is_an_error_before_anything_is_written(
    pairs: Pairs, tmp_path: Path, kind: str
) -> None:
    with EXECUTORS[kind]() as executor:
        for key, error in (
            ("env:SEALANE_NO_SUCH_KEY", sealane.KeyNotFoundError),
            ("call:no.such:function", sealane.KeyNotFoundError),
            (f"file:{tmp_path}/none", FileNotFoundError),
            ("env:", ValueError),
        ):
            with pytest.raises(error, match=r"NO_SUCH_KEY|no\.such|none|reference"):
                sealane.encrypt_many(pairs, key=key, executor=executor, manifest=tmp_path / "manifest")
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_a_call_with_the_same_manifest_continues(pairs: Pairs, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest"
    sealane.encrypt_many(pairs[:100], key=KEY, manifest=manifest)
    before = fingerprints(pairs[:100])
    pairs[5][0].write_bytes(b"changed")
    pairs[6][1].unlink()
    # Other content of the same size and time, in a source and in a target.
    for changed in pairs[7][0], pairs[8][1]:
        found = changed.stat()
        changed.write_bytes(bytes(found.st_size))
        os.utime(changed, ns=(found.st_atime_ns, found.st_mtime_ns))
    report = sealane.encrypt_many(pairs, key=KEY, manifest=manifest)
    assert (report.done, report.skipped) == (54, 96)
    after = fingerprints(pairs[:100])
    assert [i for i in range(100) if before[i] != after[i]] == [5, 6, 7, 8]
    assert opened(pairs[5][1]) == b"changed"
    assert opened(pairs[7][1]) == pairs[7][0].read_bytes()
    assert opened(pairs[8][1]) == pairs[8][0].read_bytes()
    check(pairs[100:])
    reported: list[tuple[int, int]] = []
    report = sealane.encrypt_many(
        pairs, key=KEY, manifest=manifest, progress=lambda *far: reported.append(far)
    )
    assert (report.done, report.skipped, report.bytes) == (0, 150, 0)
    assert reported == [(sum(source.stat().st_size for source, _ in pairs),) * 2]
    back = [(target, tmp_path / "back" / target.name) for _, target in pairs]
    for skipped in 0, 150:
        report = sealane.decrypt_many(back, key=KEY, manifest=tmp_path / "back.manifest")
        assert report.skipped == skipped


def test_a_source_that_changes_during_the_call_is_not_finished(pairs: Pairs, tmp_path: Path) -> None:
    def progress(done: int, total: int) -> None:
        # Another thread may be reading the file, so its content is replaced as a whole.
        (tmp_path / "new").write_bytes(b"later")
        (tmp_path / "new").replace(pairs[-1][0])

    for progress_, skipped in (progress, 0), (None, 149), (None, 150):
        report = sealane.encrypt_many(pairs, key=KEY, manifest=tmp_path / "m", progress=progress_)
        assert report.skipped == skipped
    assert opened(pairs[-1][1]) == b"later"


@pytest.mark.parametrize(
    "how", [{"key": bytes(32)}, {"key": KEY, "context": b"other"}, {"format": "tink-4kb"}]
)
def test_another_key_does_not_continue_a_manifest(pairs: Pairs, tmp_path: Path, how: dict[str, Any]) -> None:
    manifest = tmp_path / "manifest"
    sealane.encrypt_many(pairs[:100], key=KEY, manifest=manifest)
    for executor in None, Pickling():
        with pytest.raises(sealane.AuthenticationError, match=str(manifest)):
            sealane.encrypt_many(pairs, **{"key": KEY, **how}, manifest=manifest, executor=executor)
    assert not pairs[100][1].exists()
    assert sealane.encrypt_many(pairs, key=KEY, manifest=manifest).skipped == 100


class Stop(Exception):
    pass


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SystemExit, StopIteration])
def test_an_exception_of_progress_cancels(
    pairs: Pairs,
    tmp_path: Path,
    kind: str,
    error: type[BaseException],
    reference: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "BATCH_FILES", 2)
    monkeypatch.setattr(workers, "MAX_IN_FLIGHT", 4)
    calls = 0

    def progress(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        raise error("stop")

    manifest = tmp_path / "manifest"
    with EXECUTORS[kind]() as executor:
        with pytest.raises(error, match="stop"):
            sealane.encrypt_many(
                pairs, key=reference, executor=executor, manifest=manifest, progress=progress
            )
        assert calls == 1
        done = [pair for pair in pairs if pair[1].exists()]
        assert 0 < len(done) < 20
        # Files in progress were awaited and noted: nothing is written later.
        assert len(manifest.read_text().splitlines()) == 1 + len(done)
        check(done)
        report = sealane.encrypt_many(pairs, key=reference, executor=executor, manifest=manifest)
    assert (report.skipped, report.done) == (len(done), 150 - len(done))
    check(pairs)


def press(first: float, heard: threading.Event) -> None:
    """Presses Ctrl-C. Python loses one during a callback of its garbage collector, which executors and
    Dask have.
    """
    wait = first
    while not heard.wait(wait):
        os.kill(os.getpid(), signal.SIGINT)
        wait = 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c(pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "BATCH_FILES", 1)
    manifest = tmp_path / "manifest"
    for _ in range(8):
        with contextlib.suppress(FileNotFoundError):
            manifest.unlink()
        heard = threading.Event()
        presser = threading.Thread(target=press, args=[random.uniform(0, 0.03), heard])
        with pytest.raises(KeyboardInterrupt):
            presser.start()
            while True:
                sealane.encrypt_many(pairs, key=KEY, manifest=manifest)
        heard.set()
        presser.join()
        report = sealane.encrypt_many(pairs, key=KEY, manifest=manifest)
        assert report.done + report.skipped == 150
        check(pairs)


class Counting(concurrent.futures.ThreadPoolExecutor):
    max_pending = now = 0

    def submit(self, *given: Any, **named: Any) -> concurrent.futures.Future[Any]:
        future = super().submit(*given, **named)
        self.now += 1
        self.max_pending = max(self.max_pending, self.now)
        future.add_done_callback(lambda _: setattr(self, "now", self.now - 1))
        return future


def test_the_number_of_batches_in_flight_is_limited(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "BATCH_FILES", 1)
    monkeypatch.setattr(workers, "MAX_IN_FLIGHT", 5)
    with Counting(1) as executor:
        assert sealane.encrypt_many(pairs, key=KEY, executor=executor).done == 150
    assert executor.max_pending <= 5


class Watching(Here):
    """Remembers which of its futures someone still holds."""

    def __init__(self) -> None:
        self.futures: list[weakref.ref[concurrent.futures.Future[Any]]] = []

    def submit(self, *given: Any, **named: Any) -> concurrent.futures.Future[Any]:
        future = super().submit(*given, **named)
        self.futures.append(weakref.ref(future))
        return future


def test_no_future_with_a_result_is_held(pairs: Pairs) -> None:
    """Dask writes the files of a batch again if a worker is lost while a future for its result exists."""
    held: list[int] = []
    with Watching() as executor:
        sealane.encrypt_many(
            pairs,
            key=KEY,
            executor=executor,
            progress=lambda *_: held.append(sum(future() is not None for future in executor.futures)),
        )
    assert len(executor.futures) > 3
    assert set(held) == {0}


def test_a_large_file_is_a_batch_of_its_own(tmp_path: Path) -> None:
    lengths = [10, 5_000_000, 20, 4_194_304, 3_000_000, 3_000_000, 30]
    pairs = [(tmp_path / str(i), tmp_path / f"{i}.sealed") for i in range(len(lengths))]
    for (source, _), length in zip(pairs, lengths, strict=True):
        source.write_bytes(pattern(length))
    steps = []
    sealane.encrypt_many(pairs, key=KEY, progress=lambda done, _: steps.append(done), executor=Here())
    small = 10 + 20 + 3_000_000
    assert steps == [5_000_000, 9_194_304, 9_194_304 + small, sum(lengths)]
    check(pairs)


def test_errors_of_some_files(pairs: Pairs, tmp_path: Path) -> None:
    for name in "1", "2":
        os.mkfifo(tmp_path / f"pipe {name}")
        (tmp_path / f"folder {name}").mkdir()
    (tmp_path / "in the way").touch()
    bad = [
        (tmp_path / "missing", tmp_path / "out" / "1", FileNotFoundError, "missing"),
        (tmp_path / "folder 1", tmp_path / "out" / "2", IsADirectoryError, "folder 1"),
        (tmp_path / "pipe 1", tmp_path / "out" / "3", OSError, "pipe 1"),
        (pairs[0][0], tmp_path / "pipe 2", OSError, "pipe 2"),
        (pairs[1][0], tmp_path / "folder 2", IsADirectoryError, "folder 2"),
        (pairs[2][0], tmp_path / "in the way" / "out", OSError, "in the way"),
        (pairs[3][0], Path("/dev/full"), OSError, "/dev/full"),
    ]
    given = [pair[:2] for pair in bad] + pairs[10:]
    report = sealane.encrypt_many(given, key=KEY, errors="return")
    assert (report.done, set(report.failed)) == (140, {str(source) for source, *_ in bad})
    for source, _, kind, name in bad:
        error = report.failed[str(source)]
        assert isinstance(error, kind)
        assert str(error.filename).endswith(name)
        assert name in str(error)
    check(pairs[10:])
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []
    with pytest.raises(ExceptionGroup, match=r"^7 of 147 files failed") as caught:
        sealane.encrypt_many(given, key=KEY)
    assert len(caught.value.exceptions) == 7


@pytest.mark.parametrize("kind", EXECUTORS)
def test_errors_of_damaged_files(pairs: Pairs, tmp_path: Path, kind: str, reference: str) -> None:
    sealane.encrypt_many(pairs, key=KEY)
    first, *rest = pairs[3][1].read_bytes()
    for place, error, data in (
        (3, sealane.AuthenticationError, bytes([first ^ 1, *rest])),
        (9, sealane.AuthenticationError, b"a plain file" * 20),
        (5, sealane.TruncatedError, pairs[5][1].read_bytes()[:50]),
        (6, sealane.AuthenticationError, pairs[6][1].read_bytes()[:-100]),
        (7, sealane.TruncatedError, b""),
    ):
        pairs[place][1].write_bytes(data)
        (tmp_path / "expected").mkdir(exist_ok=True)
        (tmp_path / "expected" / str(place)).write_text(error.__name__)
    expected = {int(path.name): path.read_text() for path in (tmp_path / "expected").iterdir()}
    back = [(target, tmp_path / "back" / source.name) for source, target in pairs]
    with EXECUTORS[kind]() as executor:
        report = sealane.decrypt_many(back, key=reference, executor=executor, errors="return")
        verified = sealane.verify_tree(tmp_path / "sealed", key=reference, executor=executor, errors="return")
        with pytest.raises(ExceptionGroup, match=r"^5 of 150 files failed"):
            sealane.verify_tree(tmp_path / "sealed", key=reference, executor=executor)
    assert verified.done == report.done == 145
    for failed in report.failed, verified.failed:
        assert {path: type(error).__name__ for path, error in failed.items()} == {
            str(pairs[place][1]): name for place, name in expected.items()
        }
        assert [path in str(error) for path, error in failed.items()] == [True] * 5
    assert not [place for place in expected if back[place][1].exists()]
    assert len(list((tmp_path / "back").iterdir())) == 145


class Forgetful:
    """An operation on a disk that loses the last byte of one file."""

    def __init__(self, operation: Any) -> None:
        self.read_back = operation.read_back
        self._operation = operation

    def run(self, files: Any, durable: bool, root: str | None, preserve: bool) -> Any:
        failures = self._operation.run(files, durable, root, preserve)
        for _, target in files:
            if target.endswith("file 11"):
                Path(target).write_bytes(Path(target).read_bytes()[:-1])
        return failures


def test_a_target_that_does_not_verify(pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = workers.operation_of
    monkeypatch.setattr(workers, "operation_of", lambda task: Forgetful(real(task)))
    with (
        concurrent.futures.ThreadPoolExecutor(2) as executor,
        pytest.raises(ExceptionGroup, match="1 of 150 files failed") as caught,
    ):
        sealane.encrypt_many(pairs, key=KEY, verify=True, executor=executor, manifest=tmp_path / "manifest")
    (error,) = caught.value.exceptions
    assert isinstance(error, sealane.SealaneError)
    assert str(pairs[11][1]) in str(error)
    monkeypatch.undo()
    report = sealane.encrypt_many(pairs, key=KEY, verify=True, manifest=tmp_path / "manifest")
    assert (report.done, report.skipped) == (1, 149)
    with pytest.raises(TypeError, match="verify=True needs a key"):
        sealane.encrypt_many(pairs, recipients=[str(sealane.keys.generate("age").public)], verify=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte. Without the right to mount one, a limit of 20 kB per file."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0:
        yield disk
        subprocess.run(["umount", str(disk)], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield disk
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


# claim: disk-errors
def test_a_full_disk(pairs: Pairs, small_disk: Path) -> None:
    onto = [(source, small_disk / source.name) for source, _ in pairs]
    with pytest.raises(ExceptionGroup, match=r"^\d+ of 150 files failed") as caught:
        sealane.encrypt_many(onto, key=KEY)
    for error in caught.value.exceptions:
        assert isinstance(error, OSError)
        assert error.errno in (errno.ENOSPC, errno.EFBIG)
        assert "file " in str(error.filename)
    done = [pair for pair in onto if pair[1].exists()]
    assert len(done) == 150 - len(caught.value.exceptions) > 10
    assert len(list(small_disk.iterdir())) == len(done)
    check(done)


def test_collisions_are_refused_before_anything_is_written(pairs: Pairs, tmp_path: Path) -> None:
    """The core has a test with every kind of collision."""
    a, b, x = tmp_path / "plain" / "file 1", tmp_path / "plain" / "file 2", tmp_path / "x"
    (tmp_path / "link").symlink_to(tmp_path / "plain", target_is_directory=True)
    manifest = {"manifest": tmp_path / "manifest"}
    cases: list[tuple[Pairs, dict[str, Any], str]] = [
        ([(a, x), (b, tmp_path / "plain" / ".." / "x")], {}, "two sources have the same target: .*x"),
        ([(a, tmp_path / "link" / "file 2"), (b, x)], {}, "would replace .*file 2, which this call reads"),
        (
            [(a, tmp_path / "manifest")],
            manifest,
            "the manifest is among the sources or the targets",
        ),
    ]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for given, more, message in cases:
        for do in sealane.encrypt_many, sealane.decrypt_many:
            with pytest.raises(ValueError, match=message):
                do(given, key=KEY, **more)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_wrong_arguments_are_refused_before_anything_is_written(pairs: Pairs, tmp_path: Path) -> None:
    age = sealane.keys.generate("age")
    for error, how in (
        (TypeError, {}),
        (TypeError, {"key": KEY, "recipients": [str(age.public)]}),
        (TypeError, {"recipients": str(age.public)}),
        (TypeError, {"recipients": [3]}),
        (TypeError, {"key": 3}),
        (TypeError, {"key": KEY, "context": "text"}),
        (TypeError, {"key": KEY, "context": 5}),
        (ValueError, {"key": bytes(31)}),
        (ValueError, {"key": "correct horse"}),
        (ValueError, {"key": KEY, "format": "zip"}),
        (ValueError, {"key": "env:SEALANE_TEST_KEY", "format": "zip"}),
        (ValueError, {"key": KEY, "errors": "ignore"}),
        (sealane.FormatError, {"recipients": ["nobody"]}),
    ):
        with pytest.raises(error) as caught:
            sealane.encrypt_many(pairs, manifest=tmp_path / "manifest", **how)
        assert not isinstance(caught.value, ExceptionGroup)
        assert "horse" not in str(caught.value)
    for given in [3], [("a",)], [(pairs[0][0], 3)], [(b"bytes", "b")], 3:
        with pytest.raises((TypeError, ValueError)):
            sealane.encrypt_many(given, key=KEY)
    with pytest.raises(TypeError):
        sealane.decrypt_many(pairs, identities=age.to_text())
    with pytest.raises(TypeError):
        sealane.decrypt_many(pairs, key=KEY, identities=[age])
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]
    shut = concurrent.futures.ThreadPoolExecutor(1)
    shut.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        sealane.encrypt_many(pairs, key=KEY, executor=shut)
    (tmp_path / "text").write_text("no manifest\n")
    with pytest.raises(sealane.FormatError):
        sealane.encrypt_many(pairs, key=KEY, manifest=tmp_path / "text")


def test_an_empty_list_of_files(tmp_path: Path) -> None:
    assert sealane.encrypt_many([], key=KEY) == sealane.BulkReport(0, 0, 0, {})
    with pytest.raises(sealane.KeyNotFoundError):
        sealane.encrypt_many([], key="env:SEALANE_NO_SUCH_KEY")


@pytest.mark.parametrize(
    "options",
    [
        *({"executor": 4}, {"executor": "dask"}, {"executor": concurrent.futures.ThreadPoolExecutor}),
        *({"progress": 5}, {"progress": 5, "executor": Here()}),
    ],
    ids=["number", "name", "class", "progress", "progress of an executor"],
)
def test_options_of_another_type(options: dict[str, Any], pairs: Pairs, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="must be"):
        sealane.encrypt_many(pairs, key=KEY, **options)
    assert not pairs[0][1].exists()


def test_the_repr_of_a_report() -> None:
    report = sealane.BulkReport(97, 3, 12345, {"a": OSError()})
    assert repr(report) == "<BulkReport: 97 done, 3 skipped, 1 failed, 12345 bytes>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.done = 3  # type: ignore[misc]


def test_importing_sealane_does_not_import_executors() -> None:
    """Executors and pickle take longer to import than the rest of sealane."""
    script = "import sealane, sys; print([name for name in sys.modules if name in ('pickle', 'logging')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_relative_paths(pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = [("plain/file 1", "1.sealed"), (os.path.join("plain", "none"), "2.sealed")]
    report = sealane.encrypt_many(given, key=KEY, manifest="manifest", errors="return")
    assert set(report.failed) == {"plain/none"}
    assert opened(tmp_path / "1.sealed") == pairs[1][0].read_bytes()
    assert sealane.encrypt_many(given[:1], key=KEY, manifest="manifest").skipped == 1
