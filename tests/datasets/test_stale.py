"""A reader whose client has cached a listing, and a writer that has replaced the files since, on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import s3fs
import sealane
from parts import KEY, Place
from sealane.fs import SealaneFileSystem, create_dataset_key
from support import pattern


@pytest.fixture
def reader(bucket: Place) -> SealaneFileSystem:
    """A filesystem of another client than that of the bucket."""
    client = s3fs.S3FileSystem(**bucket.target_options, skip_instance_cache=True)
    return SealaneFileSystem(fs=client, key=KEY, skip_instance_cache=True)


@pytest.mark.parametrize(
    ("before", "after"), [(150_007, 511), (511, 150_007), (2_000_000, 90), (90, 2_000_000)]
)
def test_the_size_is_that_of_the_file(
    bucket: Place, reader: SealaneFileSystem, tmp_path: Path, before: int, after: int
) -> None:
    path = bucket.path("log")
    for read in ("open", "cat_file", "get_file"):
        bucket.fs.pipe_file(path, pattern(before))
        reader.invalidate_cache()
        assert reader.ls(bucket.root)[0]["size"] == before
        bucket.fs.pipe_file(path, pattern(after))
        match read:
            case "open":
                with reader.open(path) as file:
                    assert file.size == after
                    file.seek(-11, 2)
                    assert file.read() == pattern(after)[-11:]
            case "cat_file":
                assert reader.cat_file(path, start=-11) == pattern(after)[-11:]
            case "get_file":
                reader.get_file(path, str(tmp_path / "got"))
                assert (tmp_path / "got").read_bytes() == pattern(after)


def test_a_parquet_file_that_was_replaced(bucket: Place, reader: SealaneFileSystem) -> None:
    path = bucket.path("part.parquet")
    pq.write_table(pa.table({"a": range(50_000)}), path, filesystem=bucket.fs)
    reader.ls(bucket.root)
    pq.write_table(pa.table({"a": [1]}), path, filesystem=bucket.fs)
    assert pq.read_table(path, filesystem=reader).num_rows == 1


def test_the_dataset_key_stays_on_a_server(bucket: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = sealane.keys.generate("age")
    monkeypatch.setenv("ALICE", alice.to_text())
    monkeypatch.setattr("sealane.fs._store.url_to_fs", lambda url, **_: (bucket.target, url))
    key = bucket.path("data/key.age")
    create_dataset_key(key, recipients=[alice.public])
    fs: Any = SealaneFileSystem(
        fs=bucket.target, key=f"age:{key}", identity="env:ALICE", skip_instance_cache=True
    )
    for pattern_, recursive in [
        ("data/*", False),
        ("data/k*", False),
        ("data", True),
        ("data/**", True),
        ("*", True),
    ]:
        fs.pipe({bucket.path("data/a"): b"one", bucket.path("data/sub/b"): b"two"})
        fs.rm(bucket.path(pattern_), recursive=recursive)
        assert bucket.stored().keys() - {"data/a", "data/sub/b"} == {"data/key.age"}
        assert pattern_ == "data/k*" or not bucket.stored().keys() & {"data/a"}
    fs.pipe({bucket.path("data/a"): b"one", bucket.path("data/sub/b"): b"two"})
    fs.mv(bucket.path("data/*"), bucket.path("moved/"), recursive=True)
    assert sorted(bucket.stored()) == ["data/key.age", "moved/a", "moved/sub/b"]
    assert fs.cat_file(bucket.path("moved/sub/b")) == b"two"
