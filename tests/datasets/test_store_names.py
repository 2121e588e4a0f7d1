"""Names of objects on S3: in two cases, with dots, not UTF-8, above a folder, and of a file and a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import sealane
from parts import RAW, Place
from support import pattern

NAMES = [
    "a",
    "A",
    "a.",
    "a..",
    "...",
    " a",
    "a ",
    "ü",
    "u\u0308",
    "%41",
    "a+b",
    "a?b=c",
    "a#b",
    "a\\b",
]
"""Names that a store keeps apart, whatever a file system or a URL makes of them."""


def test_unusual_names_are_kept_apart(bucket: Place, tmp_path: Path) -> None:
    content = {bucket.path(f"d/{name}"): name.encode() * 100 for name in NAMES}
    bucket.fs.pipe(content)
    bucket.fs.invalidate_cache()
    assert sorted(bucket.fs.find(bucket.path("d"))) == sorted(content)
    assert {path: bucket.fs.cat_file(path) for path in content} == content
    for path, data in content.items():
        with bucket.fs.open(path) as file:
            assert file.read() == data
    bucket.fs.get(bucket.path("d/"), f"{tmp_path}/back/", recursive=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "back").iterdir()} == {
        name: name.encode() * 100 for name in NAMES
    }
    bucket.fs.put(f"{tmp_path}/back/", bucket.path("again/"), recursive=True)
    bucket.fs.invalidate_cache()
    assert sorted(bucket.fs.find(bucket.path("again"))) == sorted(
        bucket.path(f"again/{one}") for one in NAMES
    )


def test_a_name_that_is_not_utf_8_is_an_error_with_its_path(bucket: Place, tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / odd).write_bytes(b"odd")
    (tmp_path / "in" / "good").write_bytes(b"good")
    with pytest.raises(OSError, match="in/"):
        bucket.fs.put(f"{tmp_path}/in/", bucket.path("in/"), recursive=True)
    with pytest.raises(OSError, match="in/"):
        bucket.fs.pipe_file(bucket.path(f"in/{odd}"), b"odd")
    bucket.fs.invalidate_cache()
    assert set(bucket.stored()) <= {"in/good"}


@pytest.mark.parametrize("name", ["d/../../outside", "d/../outside", "d/x/../../../outside"])
def test_a_name_that_leaves_the_folder_is_not_written(bucket: Place, tmp_path: Path, name: str) -> None:
    """An attacker with write access stores an authentic file under such a name."""
    bucket.fs.pipe_file(bucket.path("d/good"), b"good")
    bucket.target.call_s3("put_object", Bucket=bucket.root, Key=name, Body=sealane.encrypt(b"x", key=RAW))
    bucket.fs.invalidate_cache()
    assert bucket.path(name) in bucket.fs.find(bucket.path("d"))
    with pytest.raises((ValueError, OSError), match=r"outside|\.\."):
        bucket.fs.get(bucket.path("d/"), f"{tmp_path}/far/below/", recursive=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "good"] == []


def test_a_file_and_a_folder_of_one_name(bucket: Place, tmp_path: Path) -> None:
    """An object store can have both. The file is copied, moved and read, and is never lost."""
    content = pattern(3000)
    bucket.fs.pipe({bucket.path("both"): content, bucket.path("both/below"): b"below"})
    bucket.fs.invalidate_cache()
    bucket.fs.cp_file(bucket.path("both"), bucket.path("copy"))
    bucket.fs.get_file(bucket.path("both"), str(tmp_path / "got"))
    bucket.fs.mv(bucket.path("both"), bucket.path("moved"))
    bucket.fs.invalidate_cache()
    assert (tmp_path / "got").read_bytes() == content
    assert bucket.fs.cat_file(bucket.path("copy")) == content
    assert bucket.fs.cat_file(bucket.path("moved")) == content
    assert set(bucket.stored()) == {"both/below", "copy", "moved"}
