"""Neither key bytes nor plaintext are stored anywhere else."""

from __future__ import annotations

import gc
import io
import json
import logging
import os
import pickle
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import fsspec
import pandas as pd
import pytest
import sealane
import zarr
from fsspec.utils import tokenize
from parts import JWK, KEY, MARKER, RAW, SHAPES, VARIABLE, Place, secrets_in
from sealane.fs import SealaneFileSystem
from support import pattern


def test_the_search_finds_a_key() -> None:
    assert secrets_in(RAW) == ["raw"]
    assert secrets_in(b"..." + RAW.hex().encode()) == ["hex"]
    assert secrets_in(pickle.dumps({"key": RAW})) == ["raw"]
    assert secrets_in(JWK) == ["base64url"]
    assert secrets_in({"key": RAW}) == ["repr"]
    assert secrets_in(list(RAW)) == ["list"]
    assert len(SHAPES) == 7


def used(place: Place) -> SealaneFileSystem:
    """A filesystem that has read and written, and so has resolved the key."""
    fs = place.fs
    fs.pipe_file(place.path("file"), MARKER.encode())
    assert fs.cat_file(place.path("file")) == MARKER.encode()
    assert fs.ls(place.root)
    return fs


# claim: dataset-no-keys
def test_a_filesystem(place: Place) -> None:
    fs = used(place)
    for seen in (
        *(pickle.dumps(fs, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        cloudpickle.dumps(fs),
        fs,
        fs.to_json(),
        fs.to_json(include_password=True),
        fs.to_dict(),
        fs.storage_options,
        fs.storage_args,
        fs._fs_token,
        tokenize(fs),
        fs.get_mapper(place.root) if hasattr(fs, "get_mapper") else None,
    ):
        assert not secrets_in(seen)
    assert json.loads(fs.to_json())["key"] == KEY
    assert KEY in pickle.dumps(fs).decode("latin1"), "the reference travels"


# claim: dataset-no-keys
def test_files(place: Place) -> None:
    fs = used(place)
    with fs.open(place.path("file")) as reader, fs.open(place.path("new"), "wb") as writer:
        assert reader.read(5) == MARKER[:5].encode()
        writer.write(b"some")
        for file in reader, writer:
            assert not secrets_in(file)
        assert not secrets_in(pickle.dumps(reader))
        assert not secrets_in(cloudpickle.dumps(reader))
        with pytest.raises((TypeError, NotImplementedError, pickle.PicklingError)) as caught:
            pickle.dumps(writer)
        assert not secrets_in(caught.value)
    lazy = fsspec.open(place.url("file"), **place.options)
    mapper = fsspec.get_mapper(place.url(""), **place.options)
    for thing in lazy, mapper:
        assert not secrets_in(pickle.dumps(thing))
        assert not secrets_in(thing)


def test_the_cache_of_instances(place: Place) -> None:
    fs = used(place)
    assert fs is place.fs, "fsspec keeps instances"
    for token, cached in SealaneFileSystem._cache.items():
        for seen in (
            token,
            cached,
            cached.storage_options,
            cached.storage_args,
            cached._fs_token,
            cached.dircache,
        ):
            assert not secrets_in(seen)
        assert not secrets_in(pickle.dumps(cached))


def test_an_age_dataset_key(place: Place, tmp_path: Path) -> None:
    from sealane.fs import create_dataset_key

    reader = sealane.keys.generate("age")
    reader.save(tmp_path / "reader.key")
    place.target.makedirs(place.root, exist_ok=True)
    create_dataset_key(
        place.below("_key.age"), recipients=[reader.public], storage_options=place.target_options
    )
    fs = place.sealed(f"age:{place.path('_key.age')}", identity=f"file:{tmp_path / 'reader.key'}")
    fs.pipe_file(place.path("file"), MARKER.encode())
    text = sealane.decrypt(place.stored()["_key.age"], identities=[reader]).decode()
    raw = bytes(sealane.keys.Key.from_text(text))
    for seen in pickle.dumps(fs), fs.to_json().encode(), repr(fs).encode(), repr(fs.storage_options).encode():
        for secret in (
            raw,
            raw.hex().encode(),
            json.loads(text)["k"].encode(),
            reader.to_text().strip().encode(),
        ):
            assert secret not in seen
    assert sealane.decrypt(place.stored()["file"], key=raw) == MARKER.encode()


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    names = [
        "",
        "fsspec",
        "s3fs",
        "distributed",
        "sealane",
        "asyncio",
        "zarr",
        "fsspec.local",
        "fsspec.memory",
    ]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        caplog.set_level(logging.DEBUG, name)
    yield caplog
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


# claim: dataset-no-keys
def test_logs_at_debug(place: Place, everything_logged: pytest.LogCaptureFixture) -> None:
    used(place)
    frame = pd.DataFrame({"name": [MARKER] * 10})
    frame.to_parquet(place.url("t.parquet"), storage_options=place.options)
    pd.read_parquet(place.url("t.parquet"), storage_options=place.options)
    zarr.create_array(place.url("z"), storage_options=place.options, shape=10, dtype="i4")[:] = 3
    with pytest.raises(sealane.SealaneError):
        place.sealed("env:NOT_SET").cat_file(place.path("file"))
    with pytest.raises(sealane.SealaneError):
        place.sealed(KEY, context="other").cat_file(place.path("file"))
    said = "\n".join(
        f"{record.getMessage()} {record.args!r} {record.exc_text}" for record in everything_logged.records
    )
    assert not secrets_in(said)
    if place.protocol == "s3":
        # botocore logs a sample of the body that it sends, which is encrypted.
        assert len(said) > 1000, "s3fs logs at this level"
    assert MARKER not in said


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files of this test."""
    (folder := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


class Watch:
    """Searches all places that can hold bytes for the marker."""

    def __init__(self, *folders: Path) -> None:
        self.folders, self.looked = folders, 0

    def __call__(self, place: Place) -> None:
        for folder in self.folders:
            for path in folder.rglob("*"):
                if path.is_file():
                    self.looked += 1
                    assert MARKER.encode() not in path.read_bytes(), path
        for path, file in fsspec.filesystem("memory").store.items():
            assert MARKER.encode() not in file.getvalue(), path
        for name, data in place.stored().items():
            self.looked += 1
            assert MARKER.encode() not in data, name


def test_plaintext_is_stored_nowhere(place: Place, temporary: Path, tmp_path: Path) -> None:
    """Plaintext is not stored while files are written, nor afterwards, finished or not."""
    look, fs = Watch(temporary, tmp_path), place.fs
    text = (MARKER.encode() + b" ") * 100_000
    with fs.open(place.path("file"), "wb") as file:
        for start in range(0, len(text), 500_000):
            file.write(text[start : start + 500_000])
            look(place)
    with fs.transaction:
        fs.pipe_file(place.path("late"), text)
        look(place)
    with fs.open(place.path("file")) as file:
        file.read(100_000)
        look(place)
    with pytest.raises(RuntimeError, match="stop"), fs.open(place.path("never"), "wb") as file:
        file.write(text)
        raise RuntimeError("stop")
    look(place)
    frame = pd.DataFrame({"name": [MARKER] * 50_000})
    frame.to_csv(place.url("t.csv"), storage_options=place.options)
    frame.to_parquet(place.url("t.parquet"), compression=None, storage_options=place.options)
    with fsspec.open(f"sealane::simplecache::{place.below('file')}", **place.options) as file:
        assert file.read() == text
        look(place)
    look(place)
    assert look.looked > 10


# claim: dataset-no-keys
def test_errors_show_no_key(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    fs = used(place)
    monkeypatch.setenv("HALF_A_KEY", JWK[:-2])
    monkeypatch.setenv("SHORT_KEY", '{"kty":"oct","k":"' + SHAPES["base64url"].decode()[:20] + '"}')
    failing: list[Any] = [
        lambda: place.sealed("env:HALF_A_KEY").cat_file(place.path("file")),
        lambda: place.sealed("env:SHORT_KEY").cat_file(place.path("file")),
        lambda: place.sealed(KEY, context="other").cat_file(place.path("file")),
        lambda: fs.cat_file(place.path("none")),
        lambda: place.sealed(JWK),
        lambda: place.sealed(RAW),  # type: ignore[arg-type]
        lambda: place.sealed(RAW.hex()),
        lambda: place.sealed(sealane.keys.Key.from_text(JWK)),  # type: ignore[arg-type]
    ]
    for fail in failing:
        with pytest.raises((sealane.SealaneError, OSError, ValueError, TypeError)) as caught:
            fail()
        error: BaseException | None = caught.value
        # The frames of this test contain the key; the text of the error does not.
        while error is not None:
            assert not secrets_in(error)
            assert SHAPES["base64url"].decode()[:20] not in str(error)
            error = error.__cause__ or error.__context__
        last = traceback.format_exception_only(caught.value)
        assert not secrets_in("".join(last))


def test_rejects_key_bytes_before_they_are_cached(folder: Place) -> None:
    """fsspec caches the options of every instance, so they must never contain a key."""
    for key in RAW, JWK, RAW.hex(), sealane.keys.Key.from_text(JWK):
        with pytest.raises((TypeError, ValueError)):
            folder.sealed(key)  # type: ignore[arg-type]
    for token, cached in SealaneFileSystem._cache.items():
        assert not secrets_in([token, cached.storage_options])


def test_resolves_a_reference_when_a_key_is_needed(folder: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a filesystem can be created, sent and listed on a machine without the key."""
    fs = used(folder)
    sent = pickle.dumps(fs)
    monkeypatch.delenv(VARIABLE)
    SealaneFileSystem.clear_instance_cache()
    del fs
    gc.collect()
    there = pickle.loads(sent)
    assert [row["size"] for row in there.ls(folder.root, detail=True)] == [len(MARKER)]
    with pytest.raises(sealane.SealaneError, match=VARIABLE):
        there.cat_file(folder.path("file"))
    monkeypatch.setenv(VARIABLE, JWK)
    assert there.cat_file(folder.path("file")) == MARKER.encode()
    assert os.environ[VARIABLE] == JWK


def test_equal_plaintexts_give_different_files(place: Place) -> None:
    fs = place.fs
    for name in "a", "b":
        fs.pipe_file(place.path(name), pattern(100))
    stored = place.stored()
    assert stored["a"][:24] != stored["b"][:24]
    assert io.BytesIO(stored["a"]).read(24) not in stored["b"]
