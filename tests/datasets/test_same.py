"""The encrypted filesystem behaves as the other filesystem would with the plaintext."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from parts import Place
from support import CHUNK, pattern

FILES = {
    "top": pattern(3),
    "a/one": pattern(CHUNK),
    "a/two": b"",
    "a/b/three": pattern(2 * CHUNK + 5),
    "a/b/.hidden": b"h",
    "a/with space": b"s",
    "a/100%-å": b"o",
    "a/b#c?d": b"q",
    "other/x.csv": b"x",
    "other/y.csv": b"yy",
}

QUESTIONS: dict[str, Callable[[Any, str], object]] = {
    "ls": lambda fs, root: sorted(fs.ls(root, detail=False)),
    "ls of a folder": lambda fs, root: sorted(fs.ls(f"{root}/a/", detail=False)),
    "ls of a file": lambda fs, root: fs.ls(f"{root}/top", detail=False),
    "ls of nothing": lambda fs, root: fs.ls(f"{root}/none", detail=False),
    "details": lambda fs, root: {
        row["name"]: (row["size"], row["type"]) for row in fs.ls(f"{root}/a", detail=True)
    },
    "find": lambda fs, root: fs.find(root),
    "find one": lambda fs, root: fs.find(f"{root}/top"),
    "find nothing": lambda fs, root: fs.find(f"{root}/none"),
    "find and folders": lambda fs, root: sorted(fs.find(root, withdirs=True)),
    "find to a depth": lambda fs, root: fs.find(root, maxdepth=2),
    "find sizes": lambda fs, root: {k: v["size"] for k, v in fs.find(root, detail=True).items()},
    "glob": lambda fs, root: fs.glob(f"{root}/*/*.csv"),
    "deep glob": lambda fs, root: fs.glob(f"{root}/**/*e*"),
    "glob of letters": lambda fs, root: fs.glob(f"{root}/other/[x]*"),
    "glob of nothing": lambda fs, root: fs.glob(f"{root}/none*"),
    "glob sizes": lambda fs, root: {
        k: v["size"] for k, v in fs.glob(f"{root}/**", detail=True).items() if v["type"] == "file"
    },
    "walk": lambda fs, root: sorted(
        (path, sorted(dirs), sorted(files)) for path, dirs, files in fs.walk(root)
    ),
    "du": lambda fs, root: fs.du(root),
    "du apart": lambda fs, root: fs.du(root, total=False),
    "exists": lambda fs, root: [fs.exists(f"{root}/{name}") for name in ("top", "a", "none", "a/none")],
    "isfile": lambda fs, root: [fs.isfile(f"{root}/{name}") for name in ("top", "a", "none", "a/none")],
    "isdir": lambda fs, root: [fs.isdir(f"{root}/{name}") for name in ("top", "a", "none", "a/none")],
    "lexists": lambda fs, root: fs.lexists(f"{root}/top"),
    "info": lambda fs, root: [
        (i["name"], i["size"], i["type"]) for i in map(fs.info, [f"{root}/top", f"{root}/a/two"])
    ],
    "info of a folder": lambda fs, root: fs.info(f"{root}/a")["type"],
    "info of nothing": lambda fs, root: fs.info(f"{root}/none"),
    "sizes": lambda fs, root: fs.sizes([f"{root}/top", f"{root}/a/b/three"]),
    "size of a folder": lambda fs, root: type(fs.size(f"{root}/a")),
    "cat": lambda fs, root: fs.cat(f"{root}/a/one"),
    "cat several": lambda fs, root: fs.cat([f"{root}/a/one", f"{root}/top"]),
    "cat a glob": lambda fs, root: fs.cat(f"{root}/other/*"),
    "cat a folder": lambda fs, root: fs.cat(f"{root}/other", recursive=True),
    "cat nothing": lambda fs, root: fs.cat([f"{root}/none"], on_error="omit"),
    "cat and errors": lambda fs, root: {
        k: v if isinstance(v, bytes) else type(v)
        for k, v in fs.cat([f"{root}/none", f"{root}/top"], on_error="return").items()
    },
    "cat_ranges": lambda fs, root: fs.cat_ranges(
        [f"{root}/a/b/three"] * 5, [0, 5, CHUNK - 1, 0, 30_000], [5, 9, CHUNK + 1, 2 * CHUNK + 5, 32_000]
    ),
    "read_block": lambda fs, root: fs.read_block(f"{root}/a/b/three", 100, 400, delimiter=b"\x00"),
    "head and tail": lambda fs, root: (fs.head(f"{root}/top", 2), fs.tail(f"{root}/a/one", 5)),
    "text": lambda fs, root: fs.read_text(f"{root}/a/with space"),
    "expand_path": lambda fs, root: fs.expand_path(f"{root}/other", recursive=True),
    "a mapper": lambda fs, root: sorted(fs.get_mapper(root)),
    "open nothing": lambda fs, root: fs.open(f"{root}/none"),
    "read all": lambda fs, root: fs.read_bytes(f"{root}/a/b/three"),
    "lines": lambda fs, root: fs.open(f"{root}/a/b/three").readlines(),
    "ukey differs": lambda fs, root: fs.ukey(f"{root}/top") != fs.ukey(f"{root}/a/one"),
    "checksum stays": lambda fs, root: fs.checksum(f"{root}/top") == fs.checksum(f"{root}/top"),
    "modified": lambda fs, root: type(fs.modified(f"{root}/top")),
    "rm nothing": lambda fs, root: bool(fs.rm(f"{root}/none") and 0),
    "mv nothing": lambda fs, root: fs.mv(f"{root}/none", f"{root}/more"),
    "cp nothing": lambda fs, root: fs.cp_file(f"{root}/none", f"{root}/more"),
}


def said(fs: Any, question: str, root: str) -> object:
    """Returns the result or the type of error, without the name of the folder."""

    def without(result: Any) -> Any:
        if isinstance(result, str):
            return result.replace(root.lstrip("/"), "ROOT")
        if isinstance(result, list | tuple):
            return [without(part) for part in result]
        if isinstance(result, dict):
            return {without(key): without(value) for key, value in result.items()}
        return result

    try:
        return without(QUESTIONS[question](fs, root))
    except (OSError, ValueError, NotImplementedError) as error:
        return type(error)


def test_read_operations_equal_the_plain_filesystem(place: Place) -> None:
    fs, target = place.fs, place.target
    for name, data in FILES.items():
        for below, to in (fs, "sealed"), (target, "plain"):
            below.makedirs(place.path(f"{to}/{name}").rpartition("/")[0], exist_ok=True)
            below.pipe_file(place.path(f"{to}/{name}"), data)
    target.invalidate_cache()
    fs.invalidate_cache()
    different = {}
    for question in QUESTIONS:
        expected = said(target, question, place.path("plain"))
        result = said(fs, question, place.path("sealed"))
        if result != expected:
            different[question] = (result, expected)
    assert different == {}, "\n".join(map(repr, different.items()))


def deed(fs: Any, root: str, which: str, one: str, two: str, data: bytes) -> None:
    one, two = f"{root}/{one}", f"{root}/{two}"
    match which:
        case "pipe":
            fs.pipe_file(one, data)
        case "pipe several":
            fs.pipe({one: data, two: data[::-1]})
        case "open":
            with fs.open(one, "wb") as file:
                file.write(data[:50])
                file.write(data[50:])
        case "text":
            with fs.open(one, "w") as file:
                file.write("a line\n")
        case "touch":
            fs.touch(one, truncate=True)
        case "mv":
            fs.mv(one, two)
        case "cp":
            fs.cp_file(one, two)
        case "rm":
            fs.rm(one)
        case "rm all":
            fs.rm(one.rpartition("/")[0], recursive=True)
        case "transaction":
            with fs.transaction, fs.open(one, "wb") as file:
                file.write(data)


DEEDS = ["pipe", "pipe several", "open", "text", "touch", "mv", "cp", "rm", "transaction"]


@pytest.mark.parametrize("seed", range(2))
def test_write_operations_equal_the_plain_filesystem(place: Place, seed: int) -> None:
    """After the same operations, both have the same files with the same content."""
    chance = random.Random(seed)
    names = ["p/a", "p/b", "p/q/c", "r/d"]
    for fs in place.fs, place.target:
        for root in "sealed", "plain":
            for name in names:
                fs.makedirs(place.path(f"{root}/{name}").rpartition("/")[0], exist_ok=True)
    done = []
    for _ in range(12 if place.protocol == "s3" else 40):
        which, (one, two) = chance.choice(DEEDS), chance.sample(names, 2)
        data = pattern(chance.choice([0, 1, 100, CHUNK, 3 * CHUNK + 1]))
        done.append((which, one, two, len(data)))
        outcome = []
        for fs, root in (place.target, "plain"), (place.fs, "sealed"):
            try:
                deed(fs, place.path(root), which, one, two, data)
                outcome.append(None)
            except (OSError, ValueError) as error:
                outcome.append(type(error))
        assert outcome[0] == outcome[1], done
        contents = [
            {path.rpartition(f"{root}/")[2]: fs.cat_file(path) for path in fs.find(place.path(root))}
            for fs, root in ((place.target, "plain"), (place.fs, "sealed"))
        ]
        assert contents[0] == contents[1], done


def test_threads_share_a_filesystem(place: Place) -> None:
    fs = place.fs
    data = {f"{number}": pattern(number * 5000 + 1) for number in range(24)}
    place.target.makedirs(place.root, exist_ok=True)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: fs.pipe_file(place.path(name), data[name]), data))
        assert (
            dict(zip(data, pool.map(lambda name: fs.cat_file(place.path(name)), data), strict=True)) == data
        )
        fs.pipe_file(place.path("long"), long := pattern(1 << 20))
        with fs.open(place.path("long")) as file:
            lock = threading.Lock()

            def piece(at: int) -> bytes:
                with lock:
                    file.seek(at)
                    return file.read(1000)

            starts = range(0, len(long), 9973)
            assert list(pool.map(piece, starts)) == [long[at : at + 1000] for at in starts]


def test_reads_a_rewritten_file_anew(place: Place) -> None:
    """No listing, size or block of the old file is used."""
    fs, path = place.fs, place.path("file")
    for length in (5, 3 * CHUNK, 0, CHUNK):
        fs.pipe_file(path, pattern(length))
        assert fs.size(path) == fs.info(path)["size"] == length
        assert [row["size"] for row in fs.ls(place.root, detail=True)] == [length]
        assert fs.cat_file(path) == pattern(length)
        with fs.open(path) as file:
            assert file.read() == pattern(length)
    before = fs.checksum(path), fs.ukey(path)
    fs.pipe_file(path, bytes(CHUNK))
    assert fs.checksum(path) != before[0], "Dask names its tasks by it"
    assert fs.ukey(path) != before[1], "caches know a file by it"


def test_two_writers_of_one_file(place: Place) -> None:
    """Each file is complete, and the later one stays."""
    place.target.makedirs(place.root, exist_ok=True)
    path = place.path("file")
    with place.fs.open(path, "wb") as one:
        one.write(b"1" * (9 << 20))
        with place.fs.open(path, "wb") as two:
            two.write(b"2" * (10 << 20))
        assert place.fs.cat_file(path) == b"2" * (10 << 20)
    assert place.fs.cat_file(path) == b"1" * (9 << 20)
    if place.protocol == "s3":
        assert place.uploads() == []


def test_a_transaction_of_many_kinds(place: Place, tmp_path: Path) -> None:
    """Short, long, empty and uploaded files: all of them appear or none."""
    place.target.makedirs(place.root, exist_ok=True)
    (here := tmp_path / "here").write_bytes(b"here")
    fs = place.fs

    def write(names: str) -> None:
        with fs.open(place.path(names[0]), "wb") as file:
            file.write(bytes(20 << 20))
        fs.put_file(str(here), place.path(names[1]))
        fs.touch(place.path(names[2]))
        assert not any(fs.exists(place.path(name)) for name in names)

    with fs.transaction:
        write("abc")
    assert fs.du(place.root) == (20 << 20) + 4
    with pytest.raises(KeyboardInterrupt), fs.transaction:
        write("def")
        raise KeyboardInterrupt
    assert sorted(place.stored()) == ["a", "b", "c"]
    if place.protocol == "s3":
        assert place.uploads() == []
