"""Keywords of S3 reach it for files of any size, and its names and properties are kept."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sealane
from parts import KEY, RAW, Place

PROPERTIES: dict[str, Any] = {
    "Metadata": {"who": "me"},
    "ContentType": "text/csv",
    "StorageClass": "STANDARD_IA",
    "ServerSideEncryption": "AES256",
}


class Stop(Exception):
    pass


def head(place: Place, name: str) -> dict[str, Any]:
    found = place.target.call_s3("head_object", Bucket=place.root, Key=name)
    return {key: found.get(key) for key in PROPERTIES}


def written(file: Any, size: int) -> None:
    with file:
        for at in range(0, size, 1 << 20):
            file.write(bytes(min(size - at, 1 << 20)))


@pytest.mark.parametrize("size", [0, 1000, 20 << 20])
def test_properties_of_a_written_file(bucket: Place, tmp_path: Path, size: int) -> None:
    fs, path = bucket.fs, bucket.path("file")
    (tmp_path / "local").write_bytes(bytes(size))
    for write in (
        lambda: written(fs.open(path, "wb", **PROPERTIES), size),
        lambda: written(fs.open(path, "wb", block_size=5 << 20, **PROPERTIES), size),
        lambda: fs.pipe_file(path, bytes(size), **PROPERTIES),
        lambda: fs.pipe({path: bytes(size)}, **PROPERTIES),
        lambda: fs.put_file(str(tmp_path / "local"), path, **PROPERTIES),
        lambda: fs.put(str(tmp_path / "local"), path, **PROPERTIES),
    ):
        write()
        assert head(bucket, "file") == PROPERTIES
        assert sealane.decrypt(bucket.stored()["file"], key=RAW) == bytes(size)
        fs.rm_file(path)
    assert bucket.uploads() == []


@pytest.mark.parametrize("acl", ["public-read", "private"])
def test_access_control_lists(bucket: Place, acl: str) -> None:
    fs, path = bucket.fs, bucket.path("file")
    for write in (
        lambda: fs.pipe_file(path, b"data", ACL=acl),
        lambda: written(fs.open(path, "wb", acl=acl), 10),
        lambda: written(fs.open(path, "wb", acl=acl), 20 << 20),
    ):
        write()
        grants = bucket.target.call_s3("get_object_acl", Bucket=bucket.root, Key="file")["Grants"]
        assert any("AllUsers" in one["Grantee"].get("URI", "") for one in grants) == (acl == "public-read")


def test_versions(bucket: Place, tmp_path: Path) -> None:
    bucket.target.call_s3(
        "put_bucket_versioning", Bucket=bucket.root, VersioningConfiguration={"Status": "Enabled"}
    )
    options = {**bucket.target_options, "version_aware": True}
    fs = fsspec.filesystem("sealane", target_protocol="s3", target_options=options, key=KEY)
    path = bucket.path("file")
    fs.pipe_file(path, b"old")
    version = bucket.target.call_s3("head_object", Bucket=bucket.root, Key="file")["VersionId"]
    fs.pipe_file(path, b"newer")
    fs.get_file(path, str(tmp_path / "got"), version_id=version)
    assert (tmp_path / "got").read_bytes() == b"old"
    assert fs.open(path, version_id=version).read() == b"old"
    assert fs.open(path, "r", version_id=version).read() == "old"
    assert fs.cat_file(path, version_id=version) == b"old"
    assert fs.cat_file(path, start=-2, version_id=version) == b"ld"
    assert fs.cat(path, version_id=version) == b"old"
    assert fs.cat_ranges([path], [1], [9], version_id=version) == [b"ld"]
    assert fs.info(path, version_id=version)["size"] == 3
    assert fs.cat_file(f"{path}?versionId={version}") == b"old"
    assert fs.cat_file(path) == b"newer"
    for write in (
        lambda: fs.pipe_file(f"{path}?versionId={version}", b"x"),
        lambda: fs.open(f"{path}?versionId=", "wb"),
        lambda: fs.mv(path, f"{path}?versionId={version}"),
    ):
        with pytest.raises(ValueError, match="choose another name"):
            write()
    assert fs.cat_file(path) == b"newer"


def test_unknown_keywords_are_refused(bucket: Place) -> None:
    fs, path = bucket.fs, bucket.path("file")
    for call in (
        lambda: fs.cat_file(path, no_such=1),
        lambda: fs.info(path, no_such=1),
        lambda: fs.exists(path, no_such=1),
        lambda: fs.ls(path, no_such=1),
        lambda: fs.makedirs(path, no_such=1),
    ):
        with pytest.raises(TypeError, match="no_such"):
            call()
    for size in 10, 20 << 20:
        with pytest.raises(ValueError, match=r"[Bb]lock size"):
            written(fs.open(path, "wb", block_size=1 << 20), size)
    assert bucket.stored() == {}


@pytest.mark.parametrize("size", [1000, 12 << 20])
def test_copies_with_a_key_for_each_file_keep_properties(bucket: Place, size: int) -> None:
    fs = bucket.sealed("each:parts:key_of")
    written(fs.open(bucket.path("a"), "wb", **PROPERTIES), size)
    fs.cp_file(bucket.path("a"), bucket.path("b"))
    fs.copy(bucket.path("a"), bucket.path("c"))
    fs.mv(bucket.path("a"), bucket.path("d"))
    assert set(bucket.stored()) == {"b", "c", "d"}
    for name in "b", "c", "d":
        assert head(bucket, name) == PROPERTIES
        assert fs.cat_file(bucket.path(name)) == bytes(size)


def test_tables_that_are_closed_in_a_handler(place: Place) -> None:
    frame = pd.DataFrame({"a": range(100)})
    fs = place.fs
    try:
        raise Stop
    except Stop:
        frame.to_csv(place.url("a.csv"), index=False, storage_options=place.options)
        frame.to_csv(place.url("a.csv.gz"), index=False, storage_options=place.options)
        frame.to_parquet(place.url("a.parquet"), storage_options=place.options)
        pq.write_table(pa.table({"a": range(100)}), place.path("b.parquet"), filesystem=fs)
        writer = pq.ParquetWriter(place.path("c.parquet"), pa.schema({"a": pa.int64()}), filesystem=fs)
        writer.write_table(pa.table({"a": pa.array(range(100), pa.int64())}))
        writer.close()
        file = fs.open(place.path("d.csv"), "w", newline="")
        frame.to_csv(file, index=False)
        file.close()
    for name in "a.csv", "a.csv.gz", "d.csv":
        assert pd.read_csv(place.url(name), storage_options=place.options).equals(frame)
    for name in "a", "b", "c":
        data = sealane.decrypt(place.stored()[f"{name}.parquet"], key=RAW)
        assert pq.read_table(io.BytesIO(data)).num_rows == 100


def test_tables_of_a_failed_block(place: Place) -> None:
    schema = pa.schema({"a": pa.int64()})
    with pytest.raises(Stop), pq.ParquetWriter(place.path("a"), schema, filesystem=place.fs) as writer:
        writer.write_table(pa.table({"a": pa.array(range(100), pa.int64())}))
        raise Stop
    with pytest.raises(Stop), place.fs.open(place.path("b"), "w") as file:
        pd.DataFrame({"a": range(100)}).to_csv(file)
        raise Stop
    assert place.stored() == {}
