"""Tables of operations on encrypted files on S3, which ``test_store_faults`` runs with each fault."""

from __future__ import annotations

import dataclasses
import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import sealane
import zarr
from parts import KEY, RAW, Place
from sealane.fs import SealaneFileSystem, rewrap
from support import CHUNK, pattern
from zarr.storage import FsspecStore

ALICE, BOB = sealane.keys.generate("age"), sealane.keys.generate("age")
FOLDERS = ("data", "old", "other")
"""Folders with files of the same names, sizes and key."""
SMALL = 3000
LONG = 200_001
"""Number of bytes that are read in several requests, by the limits that the tests set."""
PARTS = 11 << 20
"""Number of bytes that are sent as a multipart upload. A part has at least 5 MiB."""


@dataclasses.dataclass
class Site:
    """A bucket behind the proxy, and the filesystem under test."""

    place: Place
    """The bucket without the proxy."""
    s3: Any
    """The filesystem of S3 behind the proxy."""
    options: dict[str, Any]
    """Its options."""
    tmp: Path
    folder: str = "data"
    """The folder that an operation reads or writes."""

    def __post_init__(self) -> None:
        self.fs: Any = SealaneFileSystem(fs=self.s3, key=KEY, skip_instance_cache=True)
        self.shown: list[Any] = []

    def path(self, name: str) -> str:
        return f"{self.place.root}/{self.folder}/{name}"

    def stored(self, name: str) -> bytes | None:
        """Returns an encrypted file as the server has it; None if there is none."""
        target = self.place.target
        target.invalidate_cache()
        try:
            return bytes(target.cat_file(self.path(name)))
        except FileNotFoundError:
            return None

    def plain(self, name: str) -> bytes | None:
        """Returns the plaintext of what the server has."""
        found = self.stored(name)
        return None if found is None else sealane.decrypt(found, key=RAW)


def content(folder: str, length: int) -> bytes:
    return (folder.encode() + b": " + pattern(length))[:length]


def table(folder: str) -> pa.Table:
    return pa.table({"a": range(5000), "b": [f"{folder}-{n}" for n in range(5000)]})


TREE = {f"tree/{at % 3}/file {at}": 700 * at for at in range(12)}
ARRAY = np.arange(400, dtype="int32").reshape(20, 20)


def fill(place: Place) -> None:
    """Stores the files of all folders, without the proxy."""
    for folder in FOLDERS:
        files = {"small": SMALL, "empty": 0, "long": LONG, **TREE}
        root = f"{place.root}/{folder}/"
        place.target.pipe(
            {root + name: sealane.encrypt(content(folder, n), key=RAW) for name, n in files.items()}
        )
        buffer = io.BytesIO()
        pq.write_table(table(folder), buffer)
        place.target.pipe_file(f"{root}t.parquet", sealane.encrypt(buffer.getvalue(), key=RAW))
        store = FsspecStore.from_url(f"sealane::s3://{root}array", storage_options=place.options)
        array = zarr.create_array(store, shape=(20, 20), chunks=(10, 10), dtype="int32", fill_value=7)
        array[:] = ARRAY + FOLDERS.index(folder) + 100
    place.target.invalidate_cache()


# Reading


def opened(site: Site) -> bytes:
    with site.fs.open(site.path("long"), block_size=CHUNK) as file:
        assert file.seek(0, 2) == file.size
        file.seek(0)
        out = b"".join(iter(lambda: file.read(40_000), b""))
        assert len(out) == file.size, "the size of an open file is verified"
        return out


def sought(site: Site) -> list[Any]:
    with site.fs.open(site.path("long"), block_size=CHUNK, cache_type="none") as file:
        found: list[Any] = [file.size]
        for at, length in ((150_000, 10), (5, 20_000), (LONG - 9, 100), (100_000, CHUNK)):
            file.seek(at)
            found.append(file.read(length))
        return found


def ranges(site: Site) -> dict[str, list[bytes]]:
    names = ["long"] * 3 + ["small"]
    found = site.fs.cat_ranges(
        [site.path(name) for name in names],
        [0, 70_000, 190_000, 10],
        [9, 90_000, 250_000, 20],
        on_error="raise",
    )
    return {"long": found[:3], "small": found[3:]}


def got(site: Site, name: str) -> bytes:
    target = site.tmp / "got"
    target.write_bytes(b"before")
    try:
        site.fs.get_file(site.path(name), str(target))
    except BaseException:
        assert target.read_bytes() == b"before", "a failed get changed the local file"
        raise
    finally:
        assert [path.name for path in site.tmp.iterdir()] == ["got"]
    return target.read_bytes()


def got_to_object(site: Site) -> bytes:
    out = io.BytesIO()
    try:
        site.fs.get_file(site.path("long"), out)
    except BaseException:
        assert any(content(folder, LONG).startswith(out.getvalue()) for folder in FOLDERS)
        raise
    return out.getvalue()


def got_tree(site: Site) -> dict[str, bytes]:
    target = site.tmp / "tree"
    try:
        site.fs.get(site.path("tree/"), f"{target}/", recursive=True)
        return files_of(target)
    finally:
        found = files_of(target)
        shutil.rmtree(target, ignore_errors=True)
        # A server that lies chooses the names in the folder, and which file stands under a name.
        known = whole_files()
        for name, data in found.items():
            assert data in known, f"{name}: a failed get left unverified bytes"
        assert not list(site.tmp.parent.rglob("outside*")), "a file outside of the folder"


def whole_files() -> list[bytes]:
    """Returns the content of every file in the bucket."""
    return [content(folder, length) for folder in FOLDERS for length in (SMALL, LONG, *TREE.values())]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def zarr_read(site: Site) -> list[int]:
    options = {"sealane": {"key": KEY}, "s3": site.options}
    store = FsspecStore.from_url(
        f"sealane::s3://{site.path('array')}", storage_options=options, read_only=True
    )
    return [int(n) for n in zarr.open_array(store, mode="r")[5:15, 5:15].flatten()]


def within(path: str) -> str:
    """Returns a path without the bucket and the folder, which a server that lies may leave out."""
    return "/".join(path.split("/")[2:])


def names(found: Any) -> Any:
    return sorted((within(entry["name"]), entry["size"]) for entry in found)


Read = Callable[[Site], Any]
READS: dict[str, Read] = {
    "cat_file, small": lambda site: site.fs.cat_file(site.path("small")),
    "cat_file, empty": lambda site: site.fs.cat_file(site.path("empty")),
    "cat_file, long": lambda site: site.fs.cat_file(site.path("long")),
    "cat": lambda site: {
        path.rpartition("/")[2]: data
        for path, data in site.fs.cat([site.path("small"), site.path("long")]).items()
    },
    "cat_file, a range": lambda site: site.fs.cat_file(site.path("long"), start=70_000, end=90_000),
    "cat_file, the end": lambda site: site.fs.cat_file(site.path("long"), start=-20_000),
    "cat_ranges": ranges,
    "open and read": opened,
    "open and seek": sought,
    "get_file, small": lambda site: got(site, "small"),
    "get_file, long": lambda site: got(site, "long"),
    "get_file to an object": got_to_object,
    "get of a folder": got_tree,
    "Parquet": lambda site: pq.read_table(
        site.path("t.parquet"), filesystem=site.fs, columns=["b"]
    ).to_pydict(),
    "zarr": zarr_read,
}
"""Operations that return content."""

LISTS: dict[str, Read] = {
    "ls": lambda site: names(site.fs.ls(site.path("tree/1"), detail=True)),
    "find": lambda site: names(site.fs.find(site.path("tree"), detail=True).values()),
    "glob": lambda site: sorted(within(path) for path in site.fs.glob(site.path("tree/*/file 1*"))),
    "info": lambda site: site.fs.info(site.path("small"))["size"],
    "sizes": lambda site: site.fs.sizes([site.path("small"), site.path("long")]),
    "exists": lambda site: [site.fs.exists(site.path("small")), site.fs.isdir(site.path("tree"))],
}
"""Operations that return what the server claims."""


# Writing


@dataclasses.dataclass(frozen=True)
class Write:
    """An operation that changes the file "file" from the content "before" to "after"."""

    run: Callable[[Site], Any]
    length: int = 3000
    exists: bool = True
    """Whether the file exists before."""
    removes: bool = False
    """Whether there is no file afterwards."""
    recipients: bool = False
    """Whether the file is an age file, whose recipients change instead of its content."""

    def prepare(self, site: Site) -> None:
        target = site.place.target
        if self.recipients:
            data = sealane.encrypt(self.before, recipients=[ALICE.public])
        else:
            data = sealane.encrypt(self.before, key=RAW)
        target.pipe_file(site.path("source"), sealane.encrypt(self.after, key=RAW))
        if self.exists:
            target.pipe_file(site.path("file"), data)
        target.invalidate_cache()
        (site.tmp / "local").write_bytes(self.after)

    @property
    def before(self) -> bytes:
        return content("before", min(self.length, 6 << 20))

    @property
    def after(self) -> bytes:
        return content("after", self.length)

    def state(self, site: Site) -> str:
        """Returns "before" or "after". Fails for every other content."""
        data = site.stored("file")
        if data is None:
            assert self.removes or not self.exists, "the old file is lost"
            return "after" if self.removes else "before"
        if self.recipients:
            for state, key in ("before", ALICE), ("after", BOB):
                try:
                    plain = sealane.decrypt(data, identities=[key])
                except sealane.NoMatchingKeyError:
                    continue
                assert plain == self.before
                return state
        plain = sealane.decrypt(data, key=RAW)
        if self.exists and plain == self.before:
            return "before"
        assert plain == self.after, "neither the old content nor the new one"
        return "after"


def written(site: Site, length: int, mode: str = "wb") -> None:
    data = content("after", length)
    with site.fs.open(site.path("file"), mode, block_size=5 << 20) as file:
        for at in range(0, length, 1 << 20):
            file.write(data[at : at + (1 << 20)])


def moved(site: Site) -> None:
    try:
        site.fs.mv(site.path("source"), site.path("file"))
    finally:
        after = content("after", 3000)
        assert after in (site.plain("source"), site.plain("file")), "a move lost a file"


def rewrapped(site: Site) -> None:
    rewrap(
        f"s3://{site.path('file')}",
        identities=[ALICE],
        recipients=[BOB.public],
        storage_options=site.options,
    )


WRITES: dict[str, Write] = {
    "pipe_file": Write(lambda site: site.fs.pipe_file(site.path("file"), content("after", 3000))),
    "pipe_file, long": Write(
        lambda site: site.fs.pipe_file(site.path("file"), content("after", PARTS)), PARTS
    ),
    "pipe": Write(lambda site: site.fs.pipe({site.path("file"): content("after", 3000)})),
    "pipe_file, exclusive": Write(
        lambda site: site.fs.pipe_file(site.path("file"), content("after", 3000), mode="create"),
        exists=False,
    ),
    "put_file": Write(lambda site: site.fs.put_file(str(site.tmp / "local"), site.path("file"))),
    "put_file, long": Write(lambda site: site.fs.put_file(str(site.tmp / "local"), site.path("file")), PARTS),
    "open and write": Write(lambda site: written(site, 3000)),
    "open and write, long": Write(lambda site: written(site, PARTS), PARTS),
    "open, exclusive": Write(lambda site: written(site, 3000, "xb"), exists=False),
    "cp_file": Write(lambda site: site.fs.cp_file(site.path("source"), site.path("file"))),
    "mv": Write(moved),
    "rm": Write(lambda site: site.fs.rm(site.path("file")), removes=True),
    "rewrap": Write(rewrapped, recipients=True),
    "rewrap, long": Write(rewrapped, PARTS, recipients=True),
}
"""Operations that change one file."""
