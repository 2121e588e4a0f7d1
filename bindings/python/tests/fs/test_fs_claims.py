"""Sizes and ranges of another filesystem are claims: the result is verified, or an error with the path."""

from __future__ import annotations

import io
import itertools
import pathlib
import random
from collections.abc import Callable
from typing import Any

import pytest
import sealane
from fsspec.callbacks import Callback
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.memory import MemoryFileSystem
from sealane._native import sealed_len
from sealane.fs import SealaneFileSystem
from support import CHUNK, leftovers, pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


class Lying(MemoryFileSystem):
    """A filesystem that reports what it is told to report."""

    protocol = "lying"
    cachable = False

    def __init__(self, **options: Any) -> None:
        super().__init__(global_store=False, skip_instance_cache=True, **options)
        self.claims: dict[str, Any] = {}
        self.ranges: Callable[[list[bytes]], Any] | None = None
        self.requests = 0
        self.stale = True

    def info(self, path: str, **options: Any) -> Any:
        info = dict(super().info(path, **options))
        if info["name"] in self.claims:
            info["size"] = self.claims[info["name"]]
        return info

    def find(self, path: str, *args: Any, **options: Any) -> Any:
        found = super().find(path, *args, **options)
        for name, claim in self.claims.items():
            if isinstance(found, dict) and name in found:
                found[name] = {**found[name], "size": claim}
        return found

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        found = super().ls(path, detail=detail, **options)
        return [{**one, "size": self.claims.get(one["name"], one["size"])} for one in found]

    def cat_ranges(self, paths: list[str], starts: Any, ends: Any, **options: Any) -> Any:
        self.requests += len(paths)
        found = super().cat_ranges(paths, starts, ends, **options)
        return self.ranges(found) if self.ranges else found

    def invalidate_cache(self, path: str | None = None) -> None:
        if not self.stale:
            self.claims.clear()


class Wrapper(AsyncFileSystemWrapper):
    """Makes a filesystem asynchronous. The wrapper of fsspec does not pass this call on."""

    def invalidate_cache(self, path: str | None = None) -> None:
        self.sync_fs.invalidate_cache(path)


@pytest.fixture
def below() -> Lying:
    return Lying()


@pytest.fixture(params=["synchronous", "asynchronous"])
def fs(below: Lying, request: pytest.FixtureRequest) -> SealaneFileSystem:
    target: Any = below
    if request.param == "asynchronous":
        target = Wrapper(below, asynchronous=False)
    return SealaneFileSystem(fs=target, key="env:DATASET_KEY", skip_instance_cache=True)


LENGTHS = [0, 1, 100, CHUNK, CHUNK + 1, 100_000, 262_000, 300_000, 500_000]
CLAIMED = [0, 5, 200, CHUNK, 50_000, 90_000, 262_000, 310_000, 340_000, 600_000]


# claim: dataset-verified
@pytest.mark.parametrize("cache_type", ["none", "readahead"])
def test_a_claimed_size_is_never_believed(fs: SealaneFileSystem, below: Lying, cache_type: str) -> None:
    for length, claimed in itertools.product(LENGTHS, CLAIMED):
        fs.pipe_file("/f", pattern(length))
        below.claims["/f"] = sealed_len(claimed)
        try:
            with fs.open("/f", cache_type=cache_type) as file:
                assert (file.size, file.details["size"]) == (length, length), claimed
                assert file.read() == pattern(length)
                assert file.seek(0, 2) == length
                file.seek(-min(length, 9), 2)
                assert file.read() == pattern(length)[length - min(length, 9) :]
            assert fs.cat_file("/f", start=-9) == pattern(length)[-9:]
            assert claimed >= length
            error = None
        except (sealane.TruncatedError, sealane.AuthenticationError) as raised:
            error = raised
        assert error is None or ("/f" in str(error) and claimed != length)
        below.claims.clear()


def test_the_last_line_of_a_log_is_not_lost_to_a_stale_listing(fs: SealaneFileSystem, below: Lying) -> None:
    """The listing still shows the size before another client replaced the file by a shorter one."""
    fs.pipe_file("/log", pattern(900) + b"the last line: ALARM\n")
    below.claims["/log"] = sealed_len(100_000)
    with fs.open("/log", cache_type="none") as file:
        assert file.size == 921
        file.seek(-21, 2)
        assert file.read() == b"the last line: ALARM\n"
    assert fs.cat_file("/log", start=-21) == b"the last line: ALARM\n"
    assert fs.tail("/log", 6) == b"ALARM\n"


@pytest.mark.parametrize(("length", "claimed"), list(itertools.permutations([0, 300_000, 20_000_000], 2)))
@pytest.mark.parametrize("stale", [True, False])
def test_get_file_returns_the_truth_or_an_error(
    fs: SealaneFileSystem, below: Lying, tmp_path: pathlib.Path, length: int, claimed: int, stale: bool
) -> None:
    """A file that is longer than the claim is read again if the filesystem then knows its size."""
    fs.pipe_file("/f", pattern(length))
    below.claims["/f"], below.stale = sealed_len(claimed), stale
    if claimed > length or not stale:
        callback = Callback()
        fs.get_file("/f", str(tmp_path / "got"), callback=callback)
        assert (tmp_path / "got").read_bytes() == pattern(length)
        assert callback.size == callback.value == length
        return
    with pytest.raises((sealane.AuthenticationError, sealane.TruncatedError), match="/f"):
        fs.get_file("/f", str(tmp_path / "got"))
    assert leftovers(tmp_path) == []


def test_get_file_ends_when_the_data_ends(
    fs: SealaneFileSystem, below: Lying, tmp_path: pathlib.Path
) -> None:
    """268 million requests follow from the claim, of which the first already shows the end."""
    fs.pipe_file("/f", b"hello")
    below.claims["/f"] = sealed_len(1 << 51)
    fs.get_file("/f", str(tmp_path / "got"))
    assert (tmp_path / "got").read_bytes() == b"hello"
    assert below.requests == 4
    below.ranges = lambda found: [b""] * len(found)
    for out in (str(tmp_path / "other"), io.BytesIO()):
        with pytest.raises(sealane.TruncatedError, match="/f: the filesystem returned 0 of 8388608"):
            fs.get_file("/f", out)
    assert leftovers(tmp_path) == ["got"]


# claim: dataset-verified
@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("cut", [0, 1, 5 << 20, 6_000_000])
def test_a_short_piece_ends_a_transfer(
    fs: SealaneFileSystem, below: Lying, tmp_path: pathlib.Path, at: int, cut: int
) -> None:
    fs.pipe_file("/f", pattern(22 << 20))
    below.ranges = lambda found: [data[:cut] if n == at else data for n, data in enumerate(found)]
    with pytest.raises(sealane.TruncatedError, match=f"/f: the filesystem returned {cut} of"):
        fs.get_file("/f", str(tmp_path / "got"))
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("claim", [-1, 1 << 63, 1 << 80, "72", 72.5, object(), b"72"])
def test_impossible_sizes(fs: SealaneFileSystem, below: Lying, tmp_path: pathlib.Path, claim: Any) -> None:
    fs.pipe_file("/d/f", b"hello")
    below.claims["/d/f"] = claim
    assert [entry["name"] for entry in fs.ls("/d")] == ["/d/f"]
    assert list(fs.find("/d", detail=True)) == ["/d/f"]
    assert fs.info("/d/f")["size"] is claim
    for work in (lambda: fs.open("/d/f"), lambda: fs.get_file("/d/f", str(tmp_path / "got"))):
        with pytest.raises(OSError, match="size") as raised:
            work()
        assert raised.value.filename == "/d/f"
    assert fs.cat_file("/d/f") == b"hello"


@pytest.mark.parametrize("claim", [0, 71, 1 << 56, (1 << 63) - 1])
def test_sizes_that_no_encrypted_file_has(fs: SealaneFileSystem, below: Lying, claim: int) -> None:
    fs.pipe_file("/d/f", b"hello")
    below.claims["/d/f"] = claim
    # One such file does not hide the others.
    assert fs.ls("/d")[0]["size"] == fs.du("/d") == claim
    for work in (fs.info, fs.open):
        with pytest.raises(sealane.SealaneError, match="/d/f"):
            work("/d/f")


@pytest.mark.parametrize(
    "answer",
    [
        lambda found: [],
        lambda found: found * 2,
        lambda found: None,
        lambda found: [None] * len(found),
        lambda found: [5] * len(found),
        lambda found: ["text"] * len(found),
        lambda found: [data + b"more" for data in found],
        lambda found: [KeyError("of the server")] * len(found),
        lambda found: {}["a bug"],
    ],
)
def test_wrong_answers_are_errors_with_the_path(
    fs: SealaneFileSystem, below: Lying, tmp_path: pathlib.Path, answer: Any
) -> None:
    fs.pipe_file("/f", pattern(100_000))
    with fs.open("/f", block_size=CHUNK) as file:
        below.ranges = answer
        for work in (
            lambda: fs.open("/f"),
            lambda: fs.cat_file("/f", start=5, end=9),
            lambda: fs.cat_ranges(["/f"], [5], [9], on_error="raise"),
            lambda: fs.get_file("/f", str(tmp_path / "got")),
        ):
            with pytest.raises((OSError, sealane.SealaneError), match="/f"):
                work()
    big = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
    below.ranges = None
    big.pipe_file("/f", pattern(1_000_000))
    with big.open("/f", block_size=CHUNK) as file:
        below.ranges = answer
        with pytest.raises((OSError, sealane.SealaneError), match="/f"):
            file.read(10)
    assert leftovers(tmp_path) == []


def test_a_short_range_of_an_open_file_is_truncated(fs: SealaneFileSystem, below: Lying) -> None:
    fs.pipe_file("/f", pattern(1_000_000))
    chance = random.Random(1)
    with fs.open("/f", block_size=CHUNK, cache_type="none") as file:
        below.ranges = lambda found: [data[: chance.randrange(len(data))] for data in found]
        for _ in range(20):
            file.seek(chance.randrange(900_000))
            with pytest.raises(sealane.TruncatedError, match="/f: the filesystem returned"):
                file.read(100)


def test_exceptions_of_a_callback_are_raised_unchanged(fs: SealaneFileSystem, tmp_path: pathlib.Path) -> None:
    class Refusing(Callback):
        def absolute_update(self, value: int) -> None:
            raise ZeroDivisionError

    fs.pipe_file("/f", pattern(100))
    with pytest.raises(ZeroDivisionError):
        fs.get_file("/f", str(tmp_path / "got"), callback=Refusing())
