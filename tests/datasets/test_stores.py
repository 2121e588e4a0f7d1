"""The encrypted filesystem over object stores: S3, Azure Blob Storage and Google Cloud Storage.

S3 is moto. The others are azurite and fake-gcs-server, which ``make -C tests stores`` installs. The
environment variable STORES names the stores that are tested.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import types
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import sealane
from fsspec.asyn import sync
from parts import KEY, RAW, Place, forget_filesystems, place_of, sealed_len
from sealane.fs import SealaneFileSystem, create_dataset_key, rewrap, rewrap_dataset_key
from support import BORDERS, CHUNK, pattern

# adlfs and gcsfs give bodies of several MiB to aiohttp as bytes.
pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")

TOOLS = Path(__file__).parents[2] / "target" / "tools"
AZURITE = TOOLS / "azurite" / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
GCS = TOOLS / "bin" / "fake-gcs-server"
STORES = os.environ.get("STORES", "s3").split()
LONG = (20 << 20) + 5
"""More than the number of bytes that are sent in one request."""
NUMBERS = itertools.count()
# The account that azurite documents.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def running(command: list[str], url: str) -> Iterator[str]:
    """Runs a server until the block ends. It has 60 seconds to answer its first request."""
    # In a file: fake-gcs-server logs every request, and stops when a pipe that is not read is full.
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log) as process,
    ):
        try:
            for _ in range(600):
                assert process.poll() is None, (log.seek(0), log.read()[-2000:])[1]
                try:
                    urllib.request.urlopen(url, timeout=5).close()
                except urllib.error.HTTPError as error:
                    error.close()
                    break
                except OSError:
                    time.sleep(0.1)
                else:
                    break
            else:
                raise TimeoutError(f"{command[0]} does not answer: {(log.seek(0), log.read()[-2000:])[1]}")
            yield url
        finally:
            process.terminate()
            forget_filesystems()


@pytest.fixture(scope="session")
def azure() -> Iterator[dict[str, Any]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = ["node", str(AZURITE), "--inMemoryPersistence", "--silent", "--skipApiVersionCheck"]
    with running([*command, "--blobHost", "127.0.0.1", "--blobPort", str(port)], url):
        text = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY}"
        created: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            # adlfs would close all connections at the end, also those of event loops that have
            # ended.
            keep = types.SimpleNamespace(finalize=lambda fs, *_: created.append(fs))
            patch.setattr("adlfs.spec.weakref", keep)
            yield {"connection_string": f"{text};BlobEndpoint={url}/{ACCOUNT};"}
        for fs in created:
            if not fs.asynchronous:
                sync(fs.loop, fs.service_client.close)


@pytest.fixture(scope="session")
def google() -> Iterator[dict[str, Any]]:
    # Otherwise gcsfs asks a server of Google for the kind of each bucket, by gRPC.
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(GCS), "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    with running(
        [*command, "-external-url", url, "-public-host", f"127.0.0.1:{port}"], f"{url}/storage/v1/b"
    ):
        yield {"endpoint_url": url, "token": "anon", "project": "test"}


@pytest.fixture(params=STORES)
def store(request: Any) -> Place:
    """An empty bucket or container."""
    if request.param == "s3":
        return place_of("s3", request)
    protocol, options = {"azure": ("az", "azure"), "google": ("gs", "google")}[request.param]
    place = Place(protocol, f"bucket-{next(NUMBERS)}", request.getfixturevalue(options))
    place.target.mkdir(place.root)
    place.target.invalidate_cache()
    return place


def encrypted(store: Place, name: str) -> bytes:
    """Decrypts a stored object without the filesystem."""
    return sealane.decrypt(store.stored()[name], key=RAW)


def test_whole_files_of_all_lengths(store: Place, tmp_path: Path) -> None:
    content = {store.path(f"d/{length}"): pattern(length) for length in BORDERS}
    store.fs.pipe(content)
    assert store.fs.cat(list(content)) == content
    assert {name: len(data) for name, data in store.stored().items()} == {
        f"d/{length}": sealed_len(length) for length in BORDERS
    }
    store.fs.invalidate_cache()
    listed = {row["name"]: row["size"] for row in store.fs.ls(store.path("d"), detail=True)}
    assert listed == {path: len(data) for path, data in content.items()}
    (tmp_path / "got").mkdir()
    store.fs.get(list(content), [str(tmp_path / "got" / str(length)) for length in BORDERS])
    assert [(tmp_path / "got" / str(n)).read_bytes() for n in BORDERS] == [pattern(n) for n in BORDERS]
    store.fs.put(str(tmp_path / "got") + "/", store.path("again/"), recursive=True)
    assert {path.rpartition("/")[2] for path in store.fs.find(store.path("again"))} == {
        str(n) for n in BORDERS
    }
    assert encrypted(store, f"again/{BORDERS[-1]}") == pattern(BORDERS[-1])


def test_a_long_upload_in_parts(store: Place) -> None:
    with fsspec.open(store.url("long"), "wb", **store.options) as file:
        file.write(pattern(LONG))
    assert encrypted(store, "long") == pattern(LONG)
    assert store.fs.cat_file(store.path("long")) == pattern(LONG)


def test_ranges(store: Place) -> None:
    data = pattern(60 * CHUNK + 7)
    path = store.path("file")
    store.fs.pipe_file(path, data)
    for start, end in (
        (0, 1),
        (CHUNK - 1, CHUNK + 1),
        (-9, None),
        (5, -9),
        (30 * CHUNK, 50 * CHUNK),
        (10**9, 10**9 + 1),
    ):
        assert store.fs.cat_file(path, start=start, end=end) == data[start:end]
    assert store.fs.cat_ranges([path] * 3, [0, CHUNK, 5 * CHUNK], [9, CHUNK + 9, 6 * CHUNK]) == [
        data[:9],
        data[CHUNK : CHUNK + 9],
        data[5 * CHUNK : 6 * CHUNK],
    ]
    with store.fs.open(path) as file:
        assert file.seek(0, 2) == file.size == len(data)
        file.seek(20 * CHUNK)
        assert file.read(5) == data[20 * CHUNK : 20 * CHUNK + 5]


@pytest.mark.parametrize("length", [100, LONG])
def test_a_failed_block_changes_nothing(store: Place, length: int) -> None:
    store.fs.pipe_file(store.path("old"), b"old")
    for name in ("old", "new"):
        with pytest.raises(ZeroDivisionError), store.fs.open(store.path(name), "wb") as file:
            file.write(pattern(length))
            raise ZeroDivisionError
    store.fs.invalidate_cache()
    assert store.stored().keys() == {"old"}
    assert store.fs.cat_file(store.path("old")) == b"old"


def test_overwriting_and_exclusive_creation(store: Place) -> None:
    path = store.path("file")
    for data in pattern(9), pattern(300_000), b"":
        store.fs.pipe_file(path, data)
        assert store.fs.cat_file(path) == data
    with pytest.raises(FileExistsError):
        store.fs.pipe_file(path, b"new", mode="create")
    with pytest.raises(FileExistsError), store.fs.open(path, "xb") as file:
        file.write(b"new")
    assert store.fs.cat_file(path) == b""


def test_listing_moving_and_removing(store: Place) -> None:
    fs = store.fs
    fs.pipe({store.path(name): name.encode() for name in ("a", "d/b", "d/e/c")})
    fs.invalidate_cache()
    assert sorted(fs.find(store.root)) == [store.path(name) for name in ("a", "d/b", "d/e/c")]
    assert fs.glob(store.path("d/*")) == [store.path("d/b"), store.path("d/e")]
    assert fs.isdir(store.path("d"))
    assert not fs.exists(store.path("missing"))
    fs.mv(store.path("a"), store.path("moved"))
    fs.cp_file(store.path("d/b"), store.path("copied"))
    fs.invalidate_cache()
    assert (fs.cat_file(store.path("moved")), fs.cat_file(store.path("copied"))) == (b"a", b"d/b")
    fs.rm(store.path("d"), recursive=True)
    fs.invalidate_cache()
    assert store.stored().keys() == {"moved", "copied"}
    with pytest.raises(FileNotFoundError):
        fs.cat_file(store.path("a"))
    with pytest.raises(FileNotFoundError):
        fs.open(store.path("a"))


def test_changed_objects(store: Place) -> None:
    """A changed, a truncated and a plain object, each with its path."""
    path, data = store.path("file"), pattern(300_000)
    store.fs.pipe_file(path, data)
    whole = store.stored()["file"]
    changed = bytearray(whole)
    changed[200_000] ^= 1
    for stored in bytes(changed), whole[:-1], whole[:-20_000], whole + b"x", b"plain" * 1000:
        store.target.pipe_file(path, stored)
        store.fs.invalidate_cache()
        with pytest.raises(sealane.SealaneError, match="file"):
            store.fs.cat_file(path)
        with pytest.raises(sealane.SealaneError, match="file"), store.fs.open(path) as file:
            file.read()


def outcome(read: Callable[[], bytes]) -> tuple[bytes | None, Exception | None]:
    try:
        return read(), None
    except (sealane.SealaneError, OSError) as error:
        return None, error


def test_a_listing_that_lies(store: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sizes of a listing decide what is requested, and never what is returned."""
    path, data = store.path("file"), pattern(300_000)
    store.fs.pipe_file(path, data)
    kind = type(store.target)
    true_info, lie = kind._info, [0]

    async def info(self: Any, path: str, *args: Any, **options: Any) -> Any:
        return {**await true_info(self, path, *args, **options), "size": lie[0]}

    monkeypatch.setattr(kind, "_info", info)
    for size in 0, 71, 72, 200_000, sealed_len(300_000) - 1, sealed_len(300_000) + 1, 1 << 40:
        lie[0] = size
        fs = SealaneFileSystem(fs=store.target, key=KEY, skip_instance_cache=True)
        for read in (
            lambda fs=fs: fs.cat_file(path),
            lambda fs=fs: fs.open(path).read(),
            lambda fs=fs: (fs.get_file(path, str(tmp_path / "got")), (tmp_path / "got").read_bytes())[1],
        ):
            found, error = outcome(read)
            assert found == data if error is None else "file" in str(error)


def test_the_life_of_a_dataset_key(store: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = sealane.keys.generate("age"), sealane.keys.generate("age")
    for name, key in ("ALICE", alice), ("BOB", bob):
        monkeypatch.setenv(name, key.to_text())
    monkeypatch.setattr("sealane.fs._store.url_to_fs", lambda url, **_: (store.target, url))
    place = store.path("data/_key.age")
    create_dataset_key(place, recipients=[alice.public])

    def fs(who: str) -> Any:
        return store.sealed(f"age:{place}", identity=f"env:{who}", skip_instance_cache=True)

    fs("ALICE").pipe_file(store.path("data/a"), b"of the dataset")
    with pytest.raises(sealane.NoMatchingKeyError):
        fs("BOB").cat_file(store.path("data/a"))
    rewrap_dataset_key(place, identity="env:ALICE", recipients=[alice.public, bob.public])
    store.target.invalidate_cache()
    assert fs("BOB").cat_file(store.path("data/a")) == b"of the dataset"
    with pytest.raises(PermissionError):
        fs("ALICE").rm_file(place)
    fs("ALICE").rm(store.path("data"), recursive=True)
    assert store.stored().keys() == {"data/_key.age"}


@pytest.mark.parametrize("length", [1000, 12 << 20])
def test_other_recipients_for_age_files(store: Place, length: int) -> None:
    old, new = sealane.keys.generate("age"), sealane.keys.generate("age")
    path = store.path("file.age")
    store.target.pipe_file(path, sealane.encrypt(pattern(length), recipients=[old.public]))
    options = {store.protocol: store.target_options}
    rewrap(
        store.below("file.age"),
        identities=[old],
        recipients=[new.public],
        storage_options=options[store.protocol],
    )
    data = store.stored()["file.age"]
    assert sealane.decrypt(data, identities=[new]) == pattern(length)
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt(data, identities=[old])


def test_tables(store: Place) -> None:
    frame = pd.DataFrame({"a": range(50_000), "b": [f"name-{n % 7}" for n in range(50_000)]})
    frame.to_parquet(store.url("t.parquet"), storage_options=store.options)
    back = pd.read_parquet(store.url("t.parquet"), columns=["a"], storage_options=store.options)
    assert back["a"].equals(frame["a"])
    table = pa.Table.from_pandas(frame)
    ds.write_dataset(
        table,
        store.path("d"),
        filesystem=store.fs,
        format="parquet",
        max_rows_per_file=9000,
        max_rows_per_group=9000,
    )
    store.fs.invalidate_cache()
    assert ds.dataset(store.path("d"), filesystem=store.fs).to_table().sort_by("a")["a"] == table["a"]
    assert pq.read_table(store.path("t.parquet"), filesystem=store.fs) == table
    for data in store.stored().values():
        assert b"PAR1" not in sealane.decrypt(data, key=RAW)[4:-4]
        assert not data.startswith(b"PAR1")


# In a process of its own: when the collector frees other filesystems, s3fs closes their connections
# on the loop that runs.
COROUTINES = """
import asyncio, json, sys
from sealane.fs import SealaneFileSystem

protocol, options, folder, key = json.loads(sys.argv[1])
content = {f"{folder}/{n}": b"data" * n for n in range(30)}

async def main():
    target = {'target_protocol': protocol, 'target_options': options}
    fs = SealaneFileSystem(**target, key=key, asynchronous=True)
    await fs._pipe(content)
    found = await fs._cat(list(content))
    if protocol == "s3":
        await fs.fs._s3.close()
    elif protocol == "az":
        await fs.fs.service_client.close()
    else:
        await fs.fs.session.close()
    return found

assert asyncio.run(main()) == content
"""


def test_coroutines(store: Place) -> None:
    arguments = json.dumps([store.protocol, store.target_options, store.path("p"), KEY])
    done = subprocess.run(
        [sys.executable, "-c", COROUTINES, arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # At the end, adlfs prints an error of its own.
    assert done.returncode == 0, done.stderr
