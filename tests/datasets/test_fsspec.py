"""Features of fsspec over encrypted files on disk, in memory and on S3."""

from __future__ import annotations

import gc
import pickle
import random
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.callbacks import Callback
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.utils import tokenize
from parts import KEY, RAW, Place, Server, sealed_len
from support import BORDERS, CHUNK, pattern


def encrypted(place: Place, name: str) -> bytes:
    """Decrypts a stored file without the filesystem."""
    return sealane.decrypt(place.stored()[name], key=RAW)


def put(place: Place, name: str, data: bytes) -> None:
    """Stores an encrypted file without the filesystem."""
    place.target.pipe_file(place.path(name), sealane.encrypt(data, key=RAW))
    place.target.invalidate_cache()


def test_a_url_is_written_and_read(place: Place) -> None:
    data = pattern(3 * CHUNK + 5)
    with fsspec.open(place.url("a/b"), "wb", **place.options) as file:
        file.write(data[:CHUNK])
        file.write(memoryview(data)[CHUNK:])
    assert {name: len(stored) for name, stored in place.stored().items()} == {"a/b": sealed_len(len(data))}
    assert encrypted(place, "a/b") == data
    with fsspec.open(place.url("a/b"), "rb", **place.options) as file:
        assert file.read() == data
        assert file.seek(CHUNK - 1) == CHUNK - 1
        assert file.read(3) == data[CHUNK - 1 : CHUNK + 2]
    with fsspec.open(place.url("text"), "wt", newline="", **place.options) as file:
        file.write("a line\r\nanother, å\n")
    with fsspec.open(place.url("text"), "rt", newline="", **place.options) as file:
        assert file.readlines() == ["a line\r\n", "another, å\n"]
    # Options of the outermost filesystem may be given directly.
    below = {place.protocol: place.target_options}
    with fsspec.open(place.url("text"), "rb", key=KEY, **below) as file:
        assert file.readline() == b"a line\r\n"


@pytest.mark.parametrize("compression", ["gzip", "xz"])
def test_compression_before_encryption(place: Place, compression: str) -> None:
    with fsspec.open(place.url("c"), "wb", compression=compression, **place.options) as file:
        file.write(b"the same again " * 10_000)
    assert len(place.stored()["c"]) < 2000
    with fsspec.open(place.url("c"), "rb", compression=compression, **place.options) as file:
        assert file.read() == b"the same again " * 10_000


def test_globs(place: Place) -> None:
    with fsspec.open_files(place.url("parts/*.csv"), "wb", num=3, **place.options) as files:
        for number, file in enumerate(files):
            file.write(b"part %d\n" % number)
    files = fsspec.open_files(place.url("parts/*.csv"), "rb", **place.options)
    assert [file.path.rsplit("/", 1)[1] for file in files] == ["0.csv", "1.csv", "2.csv"]
    with files as opened:
        assert [file.read() for file in opened] == [b"part 0\n", b"part 1\n", b"part 2\n"]
    fs, _, paths = fsspec.get_fs_token_paths(place.url("parts/*.csv"), storage_options=place.options)
    assert fs.cat(paths) == {path: b"part %d\n" % number for number, path in enumerate(paths)}


def test_sizes(place: Place) -> None:
    for length in BORDERS:
        put(place, f"folder/{length}", pattern(length))
    fs, folder, last = place.fs, place.path("folder"), place.path("folder/16384")
    for row in (
        fs.ls(folder, detail=True),
        fs.find(place.root, detail=True),
        fs.glob(f"{folder}/*", detail=True),
    ):
        rows = row if isinstance(row, list) else list(row.values())
        assert {row["name"].rsplit("/", 1)[1]: row["size"] for row in rows} == {str(n): n for n in BORDERS}
    (*_, inside) = (files for *_, files in fs.walk(place.root, detail=True))
    assert {name: row["size"] for name, row in inside.items()} == {str(n): n for n in BORDERS}
    assert fs.du(place.root) == sum(BORDERS)
    assert fs.sizes([last, f"{folder}/0"]) == [16384, 0]
    assert fs.info(folder)["type"] == "directory"
    for length in BORDERS:
        path = f"{folder}/{length}"
        assert fs.size(path) == fs.info(path)["size"] == length
        with fs.open(path) as file:
            assert file.seek(0, 2) == length
            assert file.size == length
        assert fs.cat_file(path) == pattern(length)
        assert fs.tail(path, 10) == pattern(length)[-10:]
        assert fs.head(path, 10) == pattern(length)[:10]


def test_every_read_method(place: Place) -> None:
    data = pattern(40 * CHUNK + 77)
    put(place, "file", data)
    chance = random.Random(6)
    with place.fs.open(place.path("file")) as file:
        for _ in range(60):
            at, n = chance.randrange(len(data) + 10), chance.choice([0, 1, 100, CHUNK, 3 * CHUNK])
            file.seek(at)
            assert file.read(n) == data[at : at + n]
            assert file.tell() == at + len(data[at : at + n])
        out = bytearray(CHUNK)
        file.seek(CHUNK + 1)
        assert file.readinto(out) == CHUNK
        assert out == data[CHUNK + 1 : 2 * CHUNK + 1]
        file.seek(-7, 2)
        assert file.read() == data[-7:]
        assert file.read(5) == b""
    for start, end in (
        (None, None),
        (5, None),
        (None, 9),
        (-9, None),
        (5, -9),
        (CHUNK, CHUNK),
        (10**9, 10**9 + 1),
    ):
        assert place.fs.cat_file(place.path("file"), start=start, end=end) == data[start:end]


def test_chains(place: Place, tmp_path: Path) -> None:
    """A cache above sealane holds plaintext. A cache below holds encrypted bytes."""
    data = pattern(2 * CHUNK + 5)
    put(place, "file", data)
    for cache in ("simplecache", "filecache"):
        above, below = tmp_path / f"above-{cache}", tmp_path / f"below-{cache}"
        url = f"sealane::{cache}::{place.below('file')}"
        with fsspec.open(url, **place.options, **{cache: {"cache_storage": str(below)}}) as file:
            assert file.read() == data
        (stored,) = [path.read_bytes() for path in below.iterdir() if path.name != "cache"]
        assert sealane.decrypt(stored, key=RAW) == data
        url = f"{cache}::{place.url('file')}"
        with fsspec.open(url, **place.options, **{cache: {"cache_storage": str(above)}}) as file:
            assert file.read() == data
        assert data in [path.read_bytes() for path in above.iterdir()]


# fsspec/caching.py does not close the file of its memory map.
@pytest.mark.filterwarnings("ignore:unclosed file <_io.BufferedRandom:ResourceWarning")
def test_a_cache_of_blocks(bucket: Place) -> None:
    data = pattern(20 * CHUNK)
    put(bucket, "file", data)
    with fsspec.open(f"blockcache::{bucket.url('file')}", **bucket.options) as file:
        for at in CHUNK - 3, 7 * CHUNK, len(data) - 6:
            file.seek(at)
            assert file.read(6) == data[at : at + 6]
    del file
    gc.collect()


def test_caches_support_writing(place: Place) -> None:
    for chain in f"sealane::simplecache::{place.below('new')}", f"simplecache::{place.url('new')}":
        with fsspec.open(chain, "wb", **place.options) as file:
            file.write(chain.encode())
        assert encrypted(place, "new") == chain.encode()


def test_filesystems_in_files(folder: Place) -> None:
    """An archive of encrypted files."""
    data = pattern(20 * CHUNK)
    folder.target.makedirs(folder.root, exist_ok=True)
    with zipfile.ZipFile(folder.path("archive.zip"), "w") as archive:
        archive.writestr("in/file", sealane.encrypt(data, key=RAW))
    url = f"sealane::zip://in/file::{folder.below('archive.zip')}"
    with fsspec.open(url, sealane={"key": KEY}) as file:
        assert file.read() == data
        file.seek(-5, 2)
        assert file.read() == data[-5:]


def test_over_any_filesystem(place: Place) -> None:
    """The filesystem is given as an object. If it is neither an object store nor local, files are renamed."""
    target = DirFileSystem(place.root, place.target)
    fs = fsspec.filesystem("sealane", fs=target, key=KEY)
    fs.pipe({"a/short": b"short", "a/long": bytes(20 << 20)})
    assert encrypted(place, "a/long") == bytes(20 << 20)
    assert fs.du("a") == (20 << 20) + 5
    assert pickle.loads(pickle.dumps(fs)).cat_file("a/short", start=1, end=3) == b"ho"
    with pytest.raises(RuntimeError), fs.open("a/never", "wb") as file:
        file.write(bytes(20 << 20))
        raise RuntimeError
    assert sorted(place.stored()) == ["a/long", "a/short"]


def test_dirfs(place: Place) -> None:
    fs = DirFileSystem(place.root, place.fs)
    fs.pipe({"a/b": b"one", "a/c": b"three"})
    assert encrypted(place, "a/c") == b"three"
    assert sorted(fs.find("")) == ["a/b", "a/c"]
    assert fs.info("a/c")["size"] == fs.du("a/c") == 5
    with fs.open("a/c") as file:
        assert file.read() == b"three"
    fs.mv("a/b", "a/d")
    fs.rm("a/c")
    assert list(place.stored()) == ["a/d"]
    assert encrypted(place, "a/d") == b"one"


def test_a_mapper(place: Place) -> None:
    mapper = fsspec.get_mapper(place.url("map"), **place.options)
    mapper["x/y"] = b"value"
    mapper.setitems({"z": pattern(CHUNK), "empty": b""})
    assert sorted(mapper) == ["empty", "x/y", "z"]
    assert mapper["x/y"] == b"value"
    assert mapper.getitems(["z", "empty"]) == {"z": pattern(CHUNK), "empty": b""}
    assert "z" in mapper
    assert "w" not in mapper
    with pytest.raises(KeyError):
        mapper["w"]
    assert mapper.getitems(["w", "empty"], on_error="omit") == {"empty": b""}
    del mapper["z"]
    assert sorted(place.stored()) == ["map/empty", "map/x/y"]
    assert pickle.loads(pickle.dumps(mapper))["x/y"] == b"value"


def test_move_copy_and_remove_do_not_decrypt(place: Place) -> None:
    """Nothing is decrypted: the stored bytes stay the same."""
    fs = place.fs
    put(place, "a/one", pattern(CHUNK))
    before = place.stored()["a/one"]
    fs.cp_file(place.path("a/one"), place.path("a/two"))
    fs.mv(place.path("a/two"), place.path("a/three"))
    assert place.stored() == {"a/one": before, "a/three": before}
    fs.copy(place.path("a"), place.path("b"), recursive=True)
    assert sorted(path.removeprefix(place.root) for path in fs.find(place.root)) in (
        ["/a/one", "/a/three", "/b/one", "/b/three"],
        ["/a/one", "/a/three", "/b/a/one", "/b/a/three"],
    )
    fs.rm(place.path("a"), recursive=True)
    assert not fs.exists(place.path("a/one"))
    fs.rm_file(fs.find(place.root)[0])
    assert len(place.stored()) == 1


class ProgressRecorder(Callback):
    """Records the calls of a progress bar."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[int] = []
        self.children: list[ProgressRecorder] = []

    def call(self, *_: Any, **__: Any) -> None:
        self.values.append(self.value)

    def branched(self, *_: Any, **__: Any) -> ProgressRecorder:
        self.children.append(ProgressRecorder())
        return self.children[-1]


def test_put_and_get(place: Place, tmp_path: Path) -> None:
    length = 20 << 20 | 77
    (tmp_path / "here").write_bytes(pattern(length))
    fs, seen = place.fs, ProgressRecorder()
    fs.put_file(str(tmp_path / "here"), place.path("there"), callback=seen)
    assert (seen.size, seen.value) == (length, length)
    assert encrypted(place, "there") == pattern(length)
    seen = ProgressRecorder()
    fs.get_file(place.path("there"), str(tmp_path / "back"), callback=seen)
    assert (seen.size, seen.value) == (length, length)
    assert len(seen.values) > 2, "more than one call for 20 MiB"
    assert (tmp_path / "back").read_bytes() == pattern(length)


def test_put_and_get_folders(place: Place, tmp_path: Path) -> None:
    for name, length in ("a", 3), ("b/c", CHUNK), ("b/empty", 0):
        (tmp_path / "here" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "here" / name).write_bytes(pattern(length))
    fs, seen = place.fs, ProgressRecorder()
    fs.put(f"{tmp_path}/here/", place.path("there"), recursive=True, callback=seen)
    assert seen.size >= 3
    assert {name: sealane.decrypt(stored, key=RAW) for name, stored in place.stored().items()} == {
        "there/a": pattern(3),
        "there/b/c": pattern(CHUNK),
        "there/b/empty": b"",
    }
    fs.get(place.path("there") + "/", f"{tmp_path}/back", recursive=True, callback=ProgressRecorder())
    for name, length in ("a", 3), ("b/c", CHUNK), ("b/empty", 0):
        assert (tmp_path / "back" / name).read_bytes() == pattern(length)


def test_a_transaction(place: Place) -> None:
    fs = place.fs
    with fs.transaction:
        with fs.open(place.path("one"), "wb") as file:
            file.write(b"1")
        fs.pipe_file(place.path("two"), b"22")
        assert place.stored() == {}
    assert encrypted(place, "one") == b"1"
    assert encrypted(place, "two") == b"22"


def test_a_transaction_that_is_rolled_back(place: Place) -> None:
    fs = place.fs
    put(place, "old", b"old")
    before = place.stored()

    def several() -> None:
        with fs.transaction:
            with fs.open(place.path("new"), "wb") as file:
                file.write(pattern(CHUNK))
            with fs.open(place.path("old"), "wb") as file:
                file.write(b"newer")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        several()
    assert place.stored() == before
    with fs.open(place.path("after"), "wb") as file:
        file.write(b"no longer in a transaction")
    assert encrypted(place, "after") == b"no longer in a transaction"


def test_many_ranges_need_few_requests(
    bucket: Place, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    data = pattern(4 << 20)
    put(bucket, "sealed", data)
    bucket.target.pipe_file(bucket.path("plain"), data)
    chance = random.Random(6)
    starts = sorted(chance.randrange(len(data) - 9000) for _ in range(100))
    ends = [start + chance.randrange(1, 9000) for start in starts]
    counts = {}
    for name, fs in ("plain", bucket.target), ("sealed", bucket.fs):
        with server.counting() as requests:
            parts = fs.cat_ranges([bucket.path(name)] * 100, starts, ends)
        assert parts == [data[start:end] for start, end in zip(starts, ends, strict=True)]
        counts[name] = len(requests)
    with capsys.disabled():
        print(f"\nrequests for 100 ranges of 4 MiB on S3: {counts}")
    assert counts["sealed"] <= counts["plain"] + 5


def test_small_objects_need_no_more_requests(bucket: Place, server: Server) -> None:
    for name, fs in ("plain", bucket.target), ("sealed", bucket.fs):
        with server.counting() as written:
            fs.pipe_file(bucket.path(name), bytes(1000))
        assert len(written) == 1
        with server.counting() as read, fs.open(bucket.path(name)) as file:
            assert file.read() == bytes(1000)
        assert [method for method, _ in read] == ["HEAD", "GET"]
        with server.counting() as ranged:
            assert fs.cat_file(bucket.path(name), start=5, end=9) == bytes(4)
        assert len(ranged) == 1


def test_sequential_reading_needs_few_requests(
    bucket: Place, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    data = pattern(20 << 20)
    put(bucket, "sealed", data)
    bucket.target.pipe_file(bucket.path("plain"), data)
    counts = {}
    for name, fs in ("plain", bucket.target), ("sealed", bucket.fs):
        with server.counting() as requests, fs.open(bucket.path(name)) as file:
            assert b"".join(iter(lambda: file.read(100_000), b"")) == data
        counts[name] = len(requests)
    with capsys.disabled():
        print(f"\nrequests for 20 MiB in order from S3: {counts}")
    assert counts["sealed"] <= 8


def test_ranges_of_several_files(place: Place) -> None:
    data = {name: pattern(n * CHUNK + n) for name, n in (("a", 0), ("b", 1), ("c", 7))}
    for name, content in data.items():
        put(place, name, content)
    wanted = [
        ("c", 0, 5),
        ("b", CHUNK - 2, CHUNK + 1),
        ("c", 5, 90_000),
        ("c", 3, 3),
        ("a", 0, 0),
        ("b", 0, 1),
    ]
    names, starts, ends = zip(*wanted, strict=True)
    paths = [place.path(name) for name in names]
    parts = place.fs.cat_ranges(paths, list(starts), list(ends))
    assert parts == [data[name][start:end] for name, start, end in wanted]
    assert place.fs.cat_ranges([place.path("b")] * 2, 1, 4) == [data["b"][1:4]] * 2
    missing, there = place.fs.cat_ranges(
        [place.path("none"), place.path("b")], [0, 0], [5, 5], on_error="return"
    )
    assert isinstance(missing, FileNotFoundError)
    assert there == data["b"][:5]
    with pytest.raises(FileNotFoundError):
        place.fs.cat_ranges([place.path("none")], [0], [5], on_error="raise")


def test_pickles_and_json(place: Place) -> None:
    put(place, "file", b"content")
    fs, path = place.fs, place.path("file")
    for copy in pickle.loads(pickle.dumps(fs)), type(fs).from_json(fs.to_json()):
        assert copy.cat_file(path) == b"content"
        assert copy == fs
        assert tokenize(copy) == tokenize(fs)
    assert type(fs).from_dict(fs.to_dict()).cat_file(path) == b"content"
    assert place.sealed("env:ANOTHER") != fs
    assert place.sealed(KEY, context="another") != fs
    with fs.open(path) as file:
        file.seek(3)
        with pickle.loads(pickle.dumps(file)) as copy:
            assert copy.read() in (b"content", b"tent")
    lazy = pickle.loads(pickle.dumps(fsspec.open(place.url("file"), **place.options)))
    with lazy as file:
        assert file.read() == b"content"


def test_a_context_binds_files_to_a_purpose(place: Place) -> None:
    place.sealed(KEY, context="reports/2026").pipe_file(place.path("file"), b"content")
    assert sealane.decrypt(place.stored()["file"], key=RAW, context=b"reports/2026") == b"content"
    with pytest.raises(sealane.AuthenticationError, match="file"):
        place.fs.cat_file(place.path("file"))
