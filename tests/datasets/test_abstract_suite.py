"""The abstract test suite of fsspec, over encrypted files on disk, in memory and on S3.

``Threads`` is over a synchronous filesystem that may wait, so its methods run in threads. All tests of the
suite hold.
"""

from __future__ import annotations

from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.tests import abstract
from parts import KEY, Place, place_of
from sealane.fs import SealaneFileSystem


class Local(abstract.AbstractFixtures):
    kind = "file"

    @pytest.fixture
    def place(self, request: Any) -> Place:
        place = place_of(self.kind, request)
        place.target.makedirs(place.root, exist_ok=True)
        return place

    @pytest.fixture
    def fs(self, place: Place) -> Any:
        return place.fs

    @pytest.fixture
    def fs_path(self, place: Place) -> str:
        return place.root

    @pytest.fixture
    def fs_join(self) -> Any:
        return lambda *parts: "/".join(parts)


class Memory(Local):
    kind = "memory"


class Waiting(MemoryFileSystem):
    """Another class than that which is known never to wait. The files are the same."""


class Threads(Local):
    kind = "memory"

    @pytest.fixture
    def fs(self, place: Place) -> Any:
        return SealaneFileSystem(fs=Waiting(), key=KEY)


class S3(Local):
    kind = "s3"

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return False


class TestLocalCopy(abstract.AbstractCopyTests, Local):
    pass


class TestLocalGet(abstract.AbstractGetTests, Local):
    pass


class TestLocalOpen(abstract.AbstractOpenTests, Local):
    pass


class TestLocalPipe(abstract.AbstractPipeTests, Local):
    pass


class TestLocalPut(abstract.AbstractPutTests, Local):
    pass


class TestMemoryCopy(abstract.AbstractCopyTests, Memory):
    pass


class TestMemoryGet(abstract.AbstractGetTests, Memory):
    pass


class TestMemoryOpen(abstract.AbstractOpenTests, Memory):
    pass


class TestMemoryPipe(abstract.AbstractPipeTests, Memory):
    pass


class TestMemoryPut(abstract.AbstractPutTests, Memory):
    pass


class TestThreadsCopy(abstract.AbstractCopyTests, Threads):
    pass


class TestThreadsGet(abstract.AbstractGetTests, Threads):
    pass


class TestThreadsOpen(abstract.AbstractOpenTests, Threads):
    pass


class TestThreadsPipe(abstract.AbstractPipeTests, Threads):
    pass


class TestThreadsPut(abstract.AbstractPutTests, Threads):
    pass


class TestS3Copy(abstract.AbstractCopyTests, S3):
    pass


class TestS3Get(abstract.AbstractGetTests, S3):
    pass


class TestS3Open(abstract.AbstractOpenTests, S3):
    pass


class TestS3Pipe(abstract.AbstractPipeTests, S3):
    pass


class TestS3Put(abstract.AbstractPutTests, S3):
    pass
