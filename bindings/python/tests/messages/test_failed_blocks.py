"""A `with` block that leaves by an exception never commits a file, whatever closes the file."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import fsspec
import pytest
import sealane
from support import leftovers, pattern

KEY = pattern(32)


class Stop(Exception):
    pass


@pytest.fixture(params=["open", "fs", "fsspec.open"])
def opened(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Opens a new encrypted file for writing."""
    monkeypatch.setenv("BLOCKS_KEY", sealane.keys.Key.from_bytes(KEY).to_text())
    path = tmp_path / "file"
    if request.param == "open":
        return lambda: sealane.open(path, "wb", key=KEY)
    if request.param == "fs":
        return lambda: fsspec.filesystem("sealane", target_protocol="file", key="env:BLOCKS_KEY").open(
            str(path), "wb"
        )
    return lambda: fsspec.open(f"sealane::file://{path}", "wb", key="env:BLOCKS_KEY")


Open = Callable[[], contextlib.AbstractContextManager[IO[bytes]]]


@contextlib.contextmanager
def generator(opened: Open) -> Iterator[IO[bytes]]:
    with opened() as file:
        yield file


@contextlib.contextmanager
def closing(opened: Open) -> Iterator[IO[bytes]]:
    file = opened()
    file = file.open() if isinstance(file, fsspec.core.OpenFile) else file
    try:
        yield file
    finally:
        file.close()


@contextlib.contextmanager
def wrapped(opened: Open) -> Iterator[IO[bytes]]:
    with opened() as file, io.BufferedWriter(file) as buffered:  # type: ignore[type-var]
        yield buffered  # type: ignore[misc]


@contextlib.contextmanager
def stack(opened: Open) -> Iterator[IO[bytes]]:
    file = opened()
    file = file.open() if isinstance(file, fsspec.core.OpenFile) else file
    with contextlib.ExitStack() as exits:
        exits.callback(file.close)
        yield file


WAYS = [lambda opened: opened(), generator, closing, wrapped, stack]


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_block_commits_nothing(opened: Open, way: Any, tmp_path: Path) -> None:
    with pytest.raises(Stop), way(opened) as file:
        file.write(b"half of it")
        raise Stop
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_block_that_raises_an_exception_that_was_handled_before(
    opened: Open, way: Any, tmp_path: Path
) -> None:
    """The exception is the same at opening and at closing, so it tells nothing about the block."""
    with pytest.raises(Stop):
        try:
            raise Stop
        except Stop:
            with way(opened) as file:
                file.write(b"half of it")
                raise
    assert leftovers(tmp_path) == []
    with pytest.raises(Stop):
        try:
            raise Stop
        except Stop as error:
            with way(opened) as file:
                raise error
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_whole_block_inside_a_handler_commits(opened: Open, way: Any, tmp_path: Path) -> None:
    try:
        raise Stop
    except Stop:
        with way(opened) as file:
            file.write(b"report")
    assert sealane.decrypt((tmp_path / "file").read_bytes(), key=KEY) == b"report"


@pytest.mark.parametrize("way", WAYS)
def test_a_whole_block_inside_the_exit_of_a_failed_block_commits(
    opened: Open, way: Any, tmp_path: Path
) -> None:
    class Reports:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None:
            with way(opened) as file:
                file.write(b"report")

    with pytest.raises(Stop), Reports():
        raise Stop
    assert sealane.decrypt((tmp_path / "file").read_bytes(), key=KEY) == b"report"


def test_an_explicit_close_in_a_handler_commits(tmp_path: Path) -> None:
    file = sealane.open(tmp_path / "file", "wb", key=KEY)
    try:
        file.write(b"data")
        raise Stop
    except Stop:
        file.close()
    assert sealane.decrypt((tmp_path / "file").read_bytes(), key=KEY) == b"data"
